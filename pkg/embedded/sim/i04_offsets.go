package sim

import "github.com/kafkaops/kafkaops/pkg/embedded/replica"

// I4: log start <= HW <= LEO and LSO <= HW; a leader's HW never falls within an
// epoch; what ListOffsets calls the latest offset never falls, but for an unclean
// election. I19: neither retention nor DeleteRecords passes the HW.

func (w *World) checkOffsets(s *shadow) {
	st := &s.status
	if st.LogStart > st.HW || st.HW > st.LEO || st.LSO > st.HW || st.LSO < st.LogStart {
		w.fail("I4", "%s %s-%d: log start %d, LSO %d, HW %d, LEO %d", s.p.name, s.part.topic, s.part.index, st.LogStart, st.LSO, st.HW, st.LEO)
	}
	if s.end != st.LEO && st.Role != replica.Offline {
		w.fail("I4", "%s %s-%d: LEO %d, and its log was seen to end at %d", s.p.name, s.part.topic, s.part.index, st.LEO, s.end)
	}
	if x := s.part; s.log.Start() > x.hw && !x.void && !s.excused {
		w.fail("I19", "%s %s-%d: the log starts at %d, and no HW was ever above %d", s.p.name, x.topic, x.index, s.log.Start(), x.hw)
	}
	if st.Role != replica.Leader {
		return
	}
	if s.seenEpoch == st.LeaderEpoch && st.HW < s.seenHW {
		w.fail("I4", "%s %s-%d: the leader's HW fell from %d to %d in epoch %d", s.p.name, s.part.topic, s.part.index, s.seenHW, st.HW, st.LeaderEpoch)
	}
	s.seenEpoch, s.seenHW = st.LeaderEpoch, st.HW
}

// checkHWMoved is told each move of a HW, those too that a step undoes.
func (w *World) checkHWMoved(s *shadow, hw Offset) {
	if s.r != nil && s.seenEpoch >= 0 && s.status.Role == replica.Leader && !s.becameLeader {
		if hw < s.seenHW && s.r.Status().LeaderEpoch == s.seenEpoch {
			w.fail("I4", "%s %s-%d: the leader's HW fell from %d to %d in epoch %d", s.p.name, s.part.topic, s.part.index, s.seenHW, hw, s.seenEpoch)
		}
	}
}

// checkLatest compares an answer with those that had arrived before it was asked
// for: of the same leader epoch or an earlier one, they are not above it.
func (w *World) checkLatest(x *part, before []latestAnswer, epoch int32, o Offset) {
	if x.void {
		return
	}
	for _, a := range before {
		if a.epoch <= epoch && a.offset > o {
			w.fail("I4", "%s-%d: the latest offset was %d in leader epoch %d, and is %d in %d", x.topic, x.index, a.offset, a.epoch, o, epoch)
		}
	}
}

// remember keeps the highest answer of each leader epoch.
func (x *part) rememberLatest(epoch int32, o Offset) {
	for i := range x.latest {
		if x.latest[i].epoch == epoch {
			x.latest[i].offset = max(x.latest[i].offset, o)
			return
		}
	}
	x.latest = append(x.latest, latestAnswer{epoch, o})
}

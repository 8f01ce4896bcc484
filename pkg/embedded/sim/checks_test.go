package sim

import (
	"errors"
	"slices"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// TestCheckersGoRed tampers with what a healthy world was seen to do: each rule must
// notice. That they notice what the engine does wrong, mutants show.
func TestCheckersGoRed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, rule string
		tamper     func(w *World, x *part, leader, follower *shadow)
	}{
		{"nothing", "", func(*World, *part, *shadow, *shadow) {}},
		{"another batch is committed", "I1", func(_ *World, x *part, _, _ *shadow) {
			x.committed[0].chain++
			x.committed[1].chain++
		}},
		{"a follower's HW above all leaders'", "I1", func(w *World, x *part, _, f *shadow) {
			x.hw, x.committed = 1, x.committed[:1]
			w.checkAgreement(f)
		}},
		{"a member of the ISR lacks records", "I2", func(w *World, x *part, _, f *shadow) {
			f.end = 1
			w.checkStrongISR(x)
		}},
		{"a member of the ISR has others", "I2", func(w *World, x *part, _, f *shadow) {
			f.batches[1].chain++
			w.checkStrongISR(x)
		}},
		{"two lead in one epoch", "I3", func(w *World, x *part, l, _ *shadow) {
			x.leaders[l.status.LeaderEpoch] = 3
			w.checkLeader(l)
		}},
		{"an ISR that the controller did not say", "I3", func(w *World, _ *part, l, _ *shadow) {
			l.status.ISR = l.status.ISR[:1]
			w.checkLeader(l)
		}},
		{"HW above the LEO", "I4", func(w *World, _ *part, l, _ *shadow) {
			l.status.HW = l.status.LEO + 1
			w.checkOffsets(l)
		}},
		{"a leader's HW falls", "I4", func(w *World, _ *part, l, _ *shadow) {
			l.seenHW = l.status.HW + 1
			w.checkOffsets(l)
		}},
		{"the latest offset falls", "I4", func(w *World, x *part, _, _ *shadow) {
			x.rememberLatest(0, 2)
			w.checkLatest(x, x.latest, 1, 1)
		}},
		{"a new leader lacks what is committed", "I5", func(w *World, _ *part, _, f *shadow) {
			f.end = 1
			f.status.LeaderEpoch = 7
			w.checkNewLeader(f)
		}},
		{"committed records are cut off", "I5", func(w *World, _ *part, _, f *shadow) {
			f.cutTo = 0
			w.checkCut(f)
		}},
		{"cut off by the word of a leader that had committed it", "I5", func(w *World, x *part, _, f *shadow) {
			outside(x, f)
			f.cutTo = 0
			w.checkCut(f)
		}},
		{"cut off outside of the ISR, and committed by a later leader", "", func(w *World, x *part, _, f *shadow) {
			outside(x, f)
			f.cutTo, x.hwAt = 0, []Offset{0, x.hw}
			w.checkCut(f)
		}},
		{"cut off outside of the ISR, and compaction may have taken it from the leader", "", func(w *World, x *part, _, f *shadow) {
			outside(x, f)
			compactAway(w, x, f, 1)
			w.checkCut(f)
		}},
		{"the same, and one of its records has to stay", "I5", func(w *World, x *part, _, f *shadow) {
			outside(x, f)
			compactAway(w, x, f, 0)
			w.checkCut(f)
		}},
		{"compaction may have taken it from the leader, in the ISR", "I5", func(w *World, x *part, _, f *shadow) {
			compactAway(w, x, f, 1)
			w.checkCut(f)
		}},
		{"cut off in the ISR, and committed by a later leader", "I5", func(w *World, x *part, _, f *shadow) {
			f.cutTo, x.hwAt = 0, []Offset{0, x.hw}
			w.checkCut(f)
		}},
		{"the last known leader's disk has lost records", "", func(w *World, x *part, _, f *shadow) {
			f.lacks, x.lastKnown = true, 1
			w.electShorter(f, 1)
		}},
		{"the last known leader lacks what no disk has lost", "I2", func(w *World, x *part, _, f *shadow) {
			x.lastKnown = 1
			w.electShorter(f, 1)
		}},
		{"a leader that lacks what a disk has lost, and was not the last known one", "I2", func(w *World, _ *part, _, f *shadow) {
			f.lacks = true
			w.electShorter(f, 1)
		}},
		{"eligible by a min ISR that the leader had not heard of", "", func(w *World, x *part, _, f *shadow) {
			x.fromELR, x.lowFrom = f.p.id, 1
			w.electShorter(f, 1)
		}},
		{"the same, and it lacks more", "I2", func(w *World, x *part, _, f *shadow) {
			x.fromELR, x.lowFrom = f.p.id, 1
			w.electShorter(f, 0)
		}},
		{"the same, and it is of the ISR", "I2", func(w *World, x *part, _, f *shadow) {
			x.lowFrom = 1
			w.electShorter(f, 1)
		}},
		{"an older leader commits what the last of the ISR has lost", "", func(w *World, x *part, l, f *shadow) {
			w.commitTorn(x, l, f, tear{died: powerLost, isr: []int32{2}, epoch: 1, had: 2})
		}},
		{"the same, with ELRs", "I2", func(w *World, x *part, l, f *shadow) {
			w.commitTorn(x, l, f, tear{died: powerLost, isr: []int32{2}, epoch: 1, had: 2, elr: true})
		}},
		{"the same, and it was not the last", "I2", func(w *World, x *part, l, f *shadow) {
			w.commitTorn(x, l, f, tear{died: powerLost, isr: []int32{2, 3}, epoch: 1, had: 2})
		}},
		{"the same, in the leader's own epoch", "I2", func(w *World, x *part, l, f *shadow) {
			w.commitTorn(x, l, f, tear{died: powerLost, isr: []int32{2}, epoch: 0, had: 2})
		}},
		{"the same, and it never had as much", "I2", func(w *World, x *part, l, f *shadow) {
			w.commitTorn(x, l, f, tear{died: powerLost, isr: []int32{2}, epoch: 1, had: 1})
		}},
		{"the same, and it was only killed", "I2", func(w *World, x *part, l, f *shadow) {
			w.commitTorn(x, l, f, tear{died: killed, isr: []int32{2}, epoch: 1, had: 2})
		}},
		{"acknowledged before it is committed", "I5", func(w *World, x *part, l, _ *shadow) {
			x.hw = 1
			w.checkAck(l.p, x, -1, &batch{pid: -1, pepoch: -1, seq: -1}, 1)
		}},
		{"acknowledged with another offset", "I11", func(w *World, x *part, l, _ *shadow) {
			w.checkAck(l.p, x, -1, &batch{pid: 7, pepoch: 0, seq: 0}, 1)
		}},
		{"acknowledged where nothing is", "I5", func(w *World, x *part, l, _ *shadow) { w.ackHole(x, l, 0, 3) }},
		{"the same, where nothing is compacted", "I5", func(w *World, x *part, l, _ *shadow) { w.ackHole(x, l, 0, 0) }},
		{"the same, where it is not known what was", "", func(w *World, x *part, l, _ *shadow) {
			x.void = true
			w.ackHole(x, l, 0, 3)
		}},
		{"the same, past the log's end", "I5", func(w *World, x *part, l, _ *shadow) {
			x.void = true
			w.ackHole(x, l, l.end, 3)
		}},
		{"acknowledged below min ISR", "I6", func(w *World, _ *part, l, _ *shadow) {
			l.waiting[9], l.minISR, l.wasMin, l.replicas, l.wasOf = true, 4, 4, 4, 4
			w.checkMinISR(l, replica.ProduceReply{Token: 9})
		}},
		{"refused and appended", "I6", func(w *World, _ *part, l, _ *shadow) {
			l.waiting[9] = true
			w.checkMinISR(l, replica.ProduceReply{Token: 9, Err: replica.NotEnoughReplicas})
		}},
		{"a gap", "I8", func(w *World, _ *part, l, _ *shadow) { w.checkDense(l, &batch{base: 3, last: 3}) }},
		{"an epoch falls", "I8", func(w *World, _ *part, l, _ *shadow) {
			l.batches[1].epoch = 5
			w.checkDense(l, &batch{base: 2, last: 2})
		}},
		{"epochs that the log does not show", "I8", func(_ *World, _ *part, l, _ *shadow) { l.batches[1].epoch = 1 }},
		{"a fenced broker joins", "I10", func(w *World, x *part, _, _ *shadow) {
			old := *x.reg
			old.ISR = []int32{1}
			w.model.checkGrowth(x, &old, fencedImage(w))
		}},
		{"a fenced broker is the ISR that a cancelled move leaves", "", func(w *World, x *part, _, _ *shadow) {
			w.cancelMove(x, uncleanImage(w), func(*kraft.Partition, *kraft.Partition) {})
		}},
		{"the same, and nobody has allowed it", "I20", func(w *World, x *part, _, _ *shadow) {
			w.cancelMove(x, w.Image(), func(*kraft.Partition, *kraft.Partition) {})
		}},
		{"the same, and the move goes on", "I10", func(w *World, x *part, _, _ *shadow) {
			w.cancelMove(x, uncleanImage(w), func(_, now *kraft.Partition) { now.RemovingReplicas = []int32{1} })
		}},
		{"the same, and the move is done", "I10", func(w *World, x *part, _, _ *shadow) {
			w.cancelMove(x, uncleanImage(w), func(_, now *kraft.Partition) { now.Replicas = []int32{2, 3} })
		}},
		{"the same, and one that stays was in the ISR", "I10", func(w *World, x *part, _, _ *shadow) {
			w.cancelMove(x, uncleanImage(w), func(old, _ *kraft.Partition) { old.ISR = []int32{1} })
		}},
		{"a sequence is left out", "I11", func(w *World, _ *part, l, _ *shadow) {
			w.checkSequence(l, &batch{base: 2, last: 2, pid: 5, seq: 0})
			w.checkSequence(l, &batch{base: 3, last: 3, pid: 5, seq: 2})
		}},
		{"the same, by a leader that has copied what compaction had left of the producer: nothing", "", func(w *World, _ *part, l, _ *shadow) {
			w.checkSequence(l, &batch{base: 0, last: 0, pid: 5, seq: 0})
			l.batches[0].pid, l.batches[0].gone = 5, true
			w.checkSequence(l, &batch{base: 3, last: 3, pid: 5, seq: 2})
		}},
		{"the same, where something was left", "I11", func(w *World, _ *part, l, _ *shadow) {
			w.checkSequence(l, &batch{base: 0, last: 0, pid: 5, seq: 0})
			l.batches[0].pid = 5
			w.checkSequence(l, &batch{base: 3, last: 3, pid: 5, seq: 2})
		}},
		{"the same, where what is gone is not its last", "I11", func(w *World, _ *part, l, _ *shadow) {
			w.checkSequence(l, &batch{base: 1, last: 1, pid: 5, seq: 0})
			l.batches[0].pid, l.batches[0].gone = 5, true
			w.checkSequence(l, &batch{base: 3, last: 3, pid: 5, seq: 2})
		}},
		{"an older producer epoch", "I12", func(w *World, _ *part, l, _ *shadow) {
			w.checkSequence(l, &batch{base: 2, last: 2, pid: 5, pepoch: 1, seq: 0})
			w.checkSequence(l, &batch{base: 3, last: 3, pid: 5, pepoch: 0, seq: 1})
		}},
		{"another image", "I16", func(w *World, _ *part, _, _ *shadow) {
			w.model.images[len(w.model.images)-1].image = metadata.Empty()
		}},
		{"a log is shorter after a kill", "I17", func(w *World, _ *part, _, f *shadow) {
			f.died, f.hadEnd = killed, f.end+1
			w.checkRecovered(f, f.batches)
		}},
		{"what was synced is lost", "I17", func(w *World, _ *part, _, f *shadow) {
			f.died, f.synced = powerLost, f.end+1
			w.checkRecovered(f, f.batches)
		}},
		{"another log is back after a loss of power", "I17", func(w *World, _ *part, _, f *shadow) {
			w.comeBackOther(f, 0)
		}},
		{"the same, where it was cut and that was not synced", "", func(w *World, _ *part, _, f *shadow) {
			f.filesCut(1)
			w.comeBackOther(f, 1)
		}},
		{"the same, and it was synced since", "I17", func(w *World, _ *part, _, f *shadow) {
			f.filesCut(1)
			w.comeBackOther(f, 2)
		}},
		{"other bytes than were written", "I17", func(_ *World, _ *part, l, _ *shadow) { l.batches[0].crc++ }},
		{"a move ends too early", "I20", func(w *World, x *part, _, _ *shadow) {
			old := *x.reg
			old.Replicas, old.AddingReplicas = []int32{1, 2, 3, 4}, []int32{4}
			now := *x.reg
			now.Replicas = old.Replicas
			x.reg = &now
			w.model.checkReassignment(x, &old)
		}},
		{"a move ends with the old ISR, and an unclean election follows", "", func(w *World, x *part, _, _ *shadow) {
			w.endMove(x, []int32{2}, kraft.Recovering)
		}},
		{"the same, and what is added was not in the old ISR", "I20", func(w *World, x *part, _, _ *shadow) {
			w.endMove(x, []int32{3}, kraft.Recovering)
		}},
		{"the same, and the election is clean", "I20", func(w *World, x *part, _, _ *shadow) {
			w.endMove(x, []int32{2}, kraft.Recovered)
		}},
		{"the same, and the leader was in the ISR", "I20", func(w *World, x *part, _, _ *shadow) {
			w.endMove(x, []int32{2, 1}, kraft.Recovering)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := byHand(t)
			for _, value := range []string{"a", "b"} {
				call := produceOne(t, w, 1, value, -1)
				w.RunUntil(call.Done, 5000)
			}
			w.RunFor(2000)
			x := w.partNow("t", 0)
			tt.tamper(w, x, w.broker(1).shadowOf(x), w.broker(2).shadowOf(x))
			rule := ""
			if v, ok := errors.AsType[*ViolationError](w.Check()); ok {
				rule = v.Rule
			}
			if rule != tt.rule {
				t.Errorf("rule %q is broken, want %q: %v", rule, tt.rule, w.Err())
			}
		})
	}
}

// comeBackOther lets a replica's last batch be another one after a loss of power.
func (w *World) comeBackOther(s *shadow, synced Offset) {
	s.died, s.hadEnd, s.synced = powerLost, s.end, synced
	old := slices.Clone(s.batches)
	old[len(old)-1].chain++
	w.checkRecovered(s, old)
	s.died = alive
}

// outside takes a replica out of the ISR.
func outside(x *part, s *shadow) {
	now := *x.reg
	now.ISR = slices.DeleteFunc(slices.Clone(now.ISR), func(id int32) bool { return id == s.p.id })
	x.reg = &now
}

// compactAway cuts all of a log, of which every record's key has been written again so many
// offsets later.
func compactAway(w *World, x *part, s *shadow, later Offset) {
	w.plan.Keys, s.cutTo = 1, 0
	x.recs, x.lastOf = map[batchKey][]rec{}, map[hash]Offset{}
	for i := range s.batches {
		b, key := &s.batches[i], hash(i)
		x.recs[batchKey{b.epoch, b.base}] = []rec{{key: key, offset: b.base}}
		x.lastOf[key] = b.base + later
	}
}

// electShorter looks at a replica that is to lead as if its log ended there.
func (w *World) electShorter(s *shadow, end Offset) {
	whole := s.end
	s.end = end
	w.excuseElected(s)
	w.checkStrongISR(s.part)
	s.end = whole
}

// tear is how a broker's log has lost its end, and what the controller says by then.
type tear struct {
	died  fate
	isr   []int32
	epoch int32
	had   Offset // where its log ended
	elr   bool
}

// commitTorn lets a leader commit two records of which f has lost the last.
func (w *World) commitTorn(x *part, l, f *shadow, t tear) {
	reg := *x.reg
	reg.ISR, reg.LeaderEpoch = t.isr, t.epoch
	x.reg, x.hw, x.committed, w.plan.ELR = &reg, 0, nil, t.elr
	whole := f.end
	f.died, f.hadEnd, f.end = t.died, t.had, t.had-1
	w.tornLast(f)
	w.checkAgreement(l)
	w.checkStrongISR(x)
	f.died, f.end = alive, whole
}

// cancelMove looks at a move from broker 1 to 2 and 3 that is cancelled when its ISR is
// empty, which leaves broker 2, that is fenced, as the ISR.
func (w *World) cancelMove(x *part, before metadata.Image, but func(old, now *kraft.Partition)) {
	old, now := *x.reg, *x.reg
	old.Replicas, old.RemovingReplicas, old.ISR = []int32{2, 3, 1}, []int32{1}, nil
	now.Replicas, now.ISR = old.Replicas, []int32{2}
	but(&old, &now)
	x.reg = &now
	w.model.checkMembers(x, &old, before, fencedImage(w))
}

// endMove looks at a move from brokers 1 and 3 to 2 and 1 that ends while 1 is elected.
func (w *World) endMove(x *part, isr []int32, recovery kraft.RecoveryState) {
	old, now := *x.reg, *x.reg
	old.Replicas, old.AddingReplicas, old.RemovingReplicas, old.ISR, old.Leader = []int32{2, 1, 3}, []int32{2}, []int32{3}, isr, kraft.NoLeader
	now.Replicas, now.ISR, now.Leader, now.LeaderRecoveryState = []int32{2, 1}, []int32{1}, 1, recovery
	x.reg = &now
	w.model.checkReassignment(x, &old)
}

// uncleanImage is the newest image with the topic's unclean elections allowed.
func uncleanImage(w *World) metadata.Image {
	im, err := w.Image().Apply(&kraft.Config{ResourceType: 2, ResourceName: "t", Name: "unclean.leader.election.enable", Value: new("true")})
	if err != nil {
		panic(err)
	}
	return im
}

// TestEndInFile: of a log that is cut within a batch, the files hold what is before it.
func TestEndInFile(t *testing.T) {
	t.Parallel()
	log := []batch{{base: 2, last: 3}, {base: 4, last: 7}}
	for to, want := range map[Offset]Offset{1: 1, 2: 2, 3: 2, 4: 4, 6: 4, 8: 8, 9: 9} {
		if got := endInFile(log, to); got != want {
			t.Errorf("cut to %d it ends at %d, want %d", to, got, want)
		}
	}
}

// TestSkipCut: a log that was cut within a batch goes on within it, and nowhere else is
// there a gap.
func TestSkipCut(t *testing.T) {
	t.Parallel()
	cut := batch{base: 4, last: 7}
	for _, tt := range []struct {
		cut             batch
		end, base, want Offset
	}{
		{cut, 4, 6, 6},
		{cut, 4, 7, 7},
		{cut, 5, 6, 6},
		{cut, 4, 8, 4},
		{cut, 3, 6, 3},
		{cut, 4, 4, 4},
		{batch{}, 0, 1, 0},
	} {
		s := shadow{cutBatch: tt.cut, end: tt.end}
		if s.skipCut(tt.base); s.end != tt.want {
			t.Errorf("cut within %d to %d, the end %d and the next batch at %d: goes on at %d, want %d", tt.cut.base, tt.cut.last, tt.end, tt.base, s.end, tt.want)
		}
	}
}

// TestEndOfCompacted: where compaction may have removed the last batches, a log that is
// opened may end before them.
func TestEndOfCompacted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		to, want Offset
		brief    bool
	}{
		{3, 0, false}, {5, 5, false}, {5, 0, true}, {7, 7, true},
	} {
		w := byHand(t)
		x, _ := compactedPart(t, w)
		w.plan.BriefTombstones = tt.brief
		s := &shadow{p: w.broker(1), part: x}
		if got := w.endInFile(s, x.committed, tt.to); got != tt.want {
			t.Errorf("cut to %d it ends at %d, want %d", tt.to, got, tt.want)
		}
	}
}

// TestCutEpoch: the epoch of a batch within which the log was cut is known, and need not
// be seen; no other.
func TestCutEpoch(t *testing.T) {
	t.Parallel()
	type epochs = []logstate.EpochStart
	for i, tt := range []struct {
		cut              batch
		got, shown, want epochs
	}{
		{batch{last: 3}, epochs{{Epoch: 0, Start: 0}}, nil, nil},
		{batch{last: 3}, epochs{{Epoch: 0, Start: 0}, {Epoch: 9, Start: 2}}, epochs{{Epoch: 9, Start: 2}}, epochs{{Epoch: 9, Start: 2}}},
		{batch{last: 3}, epochs{{Epoch: 0, Start: 0}}, epochs{{Epoch: 0, Start: 0}}, epochs{{Epoch: 0, Start: 0}}},
		{batch{last: 3}, epochs{{Epoch: 1, Start: 0}}, nil, epochs{{Epoch: 1, Start: 0}}},
		{batch{last: 3}, epochs{{Epoch: 0, Start: 1}}, nil, epochs{{Epoch: 0, Start: 1}}},
		{batch{}, epochs{{Epoch: 0, Start: 0}}, nil, epochs{{Epoch: 0, Start: 0}}},
	} {
		if got := (&shadow{cutBatch: tt.cut}).withoutCut(tt.got, tt.shown); !slices.Equal(got, tt.want) {
			t.Errorf("%d: %v is left of %v, want %v", i, got, tt.got, tt.want)
		}
	}
}

// fencedImage is the newest image with broker 2 fenced.
func fencedImage(w *World) metadata.Image {
	im := w.Image()
	b, _ := im.Broker(2)
	im, err := im.Apply(&kraft.BrokerRegistrationChange{BrokerID: 2, BrokerEpoch: b.BrokerEpoch, Fenced: kraft.Fenced})
	if err != nil {
		panic(err)
	}
	return im
}

// TestChains: two logs agree below an offset as far as both reach back.
func TestChains(t *testing.T) {
	t.Parallel()
	var log []batch
	chain := fnvOffset
	for i := range Offset(5) {
		b := batch{base: 2 * i, last: 2*i + 1, epoch: 1, crc: uint32(i), pid: record.NoProducerID}
		b.chain = chain.with(&b)
		chain = b.chain
		log = append(log, b)
	}
	other := slices.Clone(log)
	other[3].crc = 99
	other[3].chain = other[2].chain.with(&other[3])
	for _, tt := range []struct {
		a, b []batch
		o    Offset
		want bool
	}{
		{log, other, 6, true},
		{log, other, 8, false},
		{log, other[:3], 6, true},
		{log, other[:3], 8, true}, // the other one ends
		{log, other[2:], 6, true},
		{log[3:], other, 6, true}, // nothing before is known
		{log[3:], other, 8, false},
	} {
		if got := agree(tt.a, tt.b, tt.o); got != tt.want {
			t.Errorf("agree below %d: %t, want %t", tt.o, got, tt.want)
		}
	}
}

// ackHole acknowledges an offset of a log that has lost its first batch, in a topic of so many keys.
func (w *World) ackHole(x *part, s *shadow, base Offset, keys int) {
	all := s.batches
	s.batches, w.plan.Keys = all[1:], keys
	w.checkAck(s.p, x, -1, &batch{pid: -1, pepoch: -1, seq: -1}, int64(base))
	s.batches, w.plan.Keys = all, 0
}

package sim

import "github.com/kafkaops/kafkaops/pkg/embedded/replica"

// I6: acks=all is never acknowledged while the ISR is below min.insync.replicas;
// NOT_ENOUGH_REPLICAS means that the batch was not appended,
// NOT_ENOUGH_REPLICAS_AFTER_APPEND that it was.

// leastMinISR is how large the ISR has to be by what a leader has heard. A change of the
// settings or of the assignment that waits for the disk is not in force yet: the laxer
// one counts.
func (s *shadow) leastMinISR() int {
	return min(s.minISR, s.wasMin, max(s.replicas, 1), max(s.wasOf, 1))
}

// minISRUnheard reports whether a leader commits with an ISR that is too small by what
// the controller has decided, and not by what the leader has heard: within a step it
// takes in assignments before settings, as Kafka's does (BrokerMetadataPublisher).
func (w *World) minISRUnheard(s *shadow) bool {
	n := len(s.status.ISR)
	return s.heardMin <= n && n < w.minISRNow(s.part)
}

func (w *World) checkMinISR(s *shadow, e replica.ProduceReply) {
	appended, all := s.waiting[e.Token]
	if !all {
		return
	}
	delete(s.waiting, e.Token)
	switch e.Err {
	case replica.None:
		if s.r == nil {
			return
		}
		want := s.leastMinISR()
		// The ISR may have changed within the step, before the acknowledgement and after.
		st, most := s.r.Status(), len(s.status.ISR)
		for pe := max(s.status.PartitionEpoch, 0); pe <= st.PartitionEpoch && int(pe) < len(s.part.isr); pe++ {
			most = max(most, len(s.part.isr[pe]))
		}
		if st.Role == replica.Leader && most < want {
			w.fail("I6", "%s %s-%d: acknowledges acks=all with ISR %v, and min.insync.replicas is %d", s.p.name, s.part.topic, s.part.index, st.ISR, want)
		}
	case replica.NotEnoughReplicas:
		w.stats.Refused++
		if appended {
			w.fail("I6", "%s %s-%d: NOT_ENOUGH_REPLICAS for a batch that was appended", s.p.name, s.part.topic, s.part.index)
		}
	case replica.NotEnoughReplicasAfterAppend:
		if !appended {
			w.fail("I6", "%s %s-%d: NOT_ENOUGH_REPLICAS_AFTER_APPEND for a batch that was not appended", s.p.name, s.part.topic, s.part.index)
		}
	}
}

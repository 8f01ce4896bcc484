package history

import (
	"iter"

	"github.com/kafkaops/kafkaops/internal/isrrule"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// LagState says how much is known of a lag in time.
type LagState string

// The states of a [Lag].
const (
	// LagUnknown: the replica or its leader did not answer in the newest sample,
	// or that is the only one and shows the replica behind.
	LagUnknown LagState = "unknown"
	// LagAtLeast: the replica was behind in every sample that is kept, so only a
	// lower bound is known.
	LagAtLeast LagState = "at-least"
	// LagKnown: known to within the sampling interval.
	LagKnown LagState = "known"
)

// Lag is a replica's lag in time at the newest sample.
type Lag struct {
	State LagState
	// Ms is the lag, 0 where the replica had all that its leader had. In state
	// LagAtLeast it is the lower bound.
	Ms int64
	// OverMs is the lower bound of a known lag: it lies in (OverMs, Ms], the two
	// being one sampling interval apart, or is 0.
	OverMs int64
}

// Known is the lag in milliseconds as kafkaops prints it: unknown unless it is
// known to within the sampling interval.
func (l Lag) Known() inspect.Opt[int64] {
	if l.State != LagKnown {
		return inspect.Unknown[int64]()
	}
	return inspect.Known(l.Ms)
}

// TimeLag is how old the end of a replica's log is: how long before the newest
// sample the leader's LEO last was no more than the replica's LEO is now.
//
// Time in which nothing was written does not count: a replica that is one record short of a leader that wrote
// nothing for an hour before this record lags by the record's age, not the hour's.
func (h *History) TimeLag(topic string, partition int32, broker inspect.BrokerID) Lag {
	s, replica, ok := h.replica(topic, partition, broker)
	if !ok {
		return Lag{State: LagUnknown}
	}
	last := s.last()
	return lagOf(isrrule.TimeLag(s.newestFirst(replica), int64(last.cells[replica])))
}

// Behind is how long before the newest sample a replica was last seen to have
// all that its leader had: the most that the leader's own clock for dropping it
// can show, give or take a fetch of the replica. Where a leader epoch began since,
// the leader has begun to count anew.
func (h *History) Behind(topic string, partition int32, broker inspect.BrokerID) Lag {
	s, replica, ok := h.replica(topic, partition, broker)
	if !ok {
		return Lag{State: LagUnknown}
	}
	return lagOf(isrrule.Behind(func(yield func(isrrule.Sample) bool) {
		for sample := range s.newestFirst(replica) {
			if sample.ReplicaLEO != isrrule.UnknownLEO && !yield(sample) {
				return
			}
		}
	}))
}

// ReadLag is how long a group that goes on reading at position has been behind:
// how long before the newest sample the HW last was no more than position. That is
// the age of the first record that it has yet to read, counted from its commit to
// the HW; records below the HW are read, those above are nobody's lag yet.
func (h *History) ReadLag(topic string, partition int32, position inspect.Offset) Lag {
	s := h.newest(topic, partition)
	if s == nil {
		return Lag{State: LagUnknown}
	}
	if last := s.last(); last.hw() == unknown {
		return Lag{State: LagUnknown}
	}
	return lagOf(isrrule.TimeLag(s.endsNewestFirst(), int64(position)))
}

// WrittenLag is ReadLag by the leader's LEO: how long ago the first record that is
// yet to be read was written, be it committed by now or not. Ask it only where the
// HW is known to be above position.
func (h *History) WrittenLag(topic string, partition int32, position inspect.Offset) Lag {
	s := h.newest(topic, partition)
	if s == nil {
		return Lag{State: LagUnknown}
	}
	if last := s.last(); last.leo() == unknown {
		return Lag{State: LagUnknown}
	}
	return lagOf(isrrule.TimeLag(s.newestFirst(len(s.brokers)), int64(position)))
}

// endsNewestFirst yields the samples that know the HW, in the place of a LEO.
func (s *series) endsNewestFirst() iter.Seq[isrrule.Sample] {
	return func(yield func(isrrule.Sample) bool) {
		for i := len(s.spans) - 1; i >= 0; i-- {
			e := s.at(i)
			if e.hw() == unknown {
				continue
			}
			sample := isrrule.Sample{AtMs: e.toMs, LeaderLEO: int64(e.hw()), ReplicaLEO: isrrule.UnknownLEO}
			if !yield(sample) {
				return
			}
			if sample.AtMs = e.fromMs; e.fromMs < e.toMs && !yield(sample) {
				return
			}
		}
	}
}

// replica finds the series and the replica's place in it, where the newest
// sample knows both its LEO and the leader's.
func (h *History) replica(topic string, partition int32, broker inspect.BrokerID) (*series, int, bool) {
	s := h.newest(topic, partition)
	if s == nil {
		return nil, 0, false
	}
	r, ok := s.replica(broker)
	last := s.last()
	if !ok || last.leo() == unknown || last.cells[r] == unknown {
		return nil, 0, false
	}
	return s, r, true
}

// newestFirst yields the samples that know the leader's LEO, as seen by one
// replica. Of equal samples in a row the first and the last tell all.
func (s *series) newestFirst(replica int) iter.Seq[isrrule.Sample] {
	return func(yield func(isrrule.Sample) bool) {
		for i := len(s.spans) - 1; i >= 0; i-- {
			e := s.at(i)
			if e.leo() == unknown {
				continue
			}
			sample := isrrule.Sample{AtMs: e.toMs, LeaderLEO: int64(e.leo()), ReplicaLEO: int64(e.cells[replica])}
			if !yield(sample) {
				return
			}
			if sample.AtMs = e.fromMs; e.fromMs < e.toMs && !yield(sample) {
				return
			}
		}
	}
}

func lagOf(a isrrule.Age) Lag {
	switch a.Certainty {
	case isrrule.Within:
		return Lag{State: LagKnown, Ms: a.Ms, OverMs: a.OverMs}
	case isrrule.AtLeast:
		return Lag{State: LagAtLeast, Ms: a.Ms, OverMs: a.OverMs}
	default:
		return Lag{State: LagUnknown}
	}
}

package history

import "github.com/kafkaops/kafkaops/pkg/inspect"

// WeakAcks goes over looks at a partition, one after the other, and counts what was
// appended while the ISR was certainly under its minimum at the leader: a proof that some
// producer writes with acks=0 or acks=1. With acks=all the leader would have answered
// NOT_ENOUGH_REPLICAS and appended nothing (Partition.appendRecordsToLeader).
//
// The proof is strict about time. Metadata may tell of a shrunken ISR before the leader
// knows of it, so what came between the first such look and the next is not counted, nor
// what spans a change of the leader epoch or a look that was missed.
type WeakAcks struct {
	// run is how many looks in a row had the ISR under its minimum.
	run int
	// from is the LEO up to which all is accounted for, known from the second look of a
	// run on.
	from inspect.Opt[inspect.Offset]
}

// WeakAcksLook is one look at a partition, or several that are alike.
type WeakAcksLook struct {
	// Under: by this look the ISR is below the effective min.insync.replicas.
	Under bool
	// GoesOn: it is of the same leader epoch as the one before, and none was missed between.
	GoesOn bool
	Looks  int
	// LEO is the leader's.
	LEO inspect.Opt[inspect.Offset]
}

// Add takes the next look, and returns what was certainly appended under the minimum since
// the one before.
func (w *WeakAcks) Add(l WeakAcksLook) (appended int64) {
	if !l.Under || !l.GoesOn {
		*w = WeakAcks{}
	}
	if !l.Under {
		return 0
	}
	w.run += l.Looks
	leo, ok := l.LEO.Get()
	if !ok {
		return 0
	}
	if from, ok := w.from.Get(); ok {
		appended = max(0, int64(leo-from))
	}
	if w.run >= 2 {
		w.from = l.LEO
	}
	return appended
}

// Certain reports whether the ISR has been under its minimum since the look before: as far
// as looks tell, all the time between.
func (w *WeakAcks) Certain() bool { return w.run >= 2 }

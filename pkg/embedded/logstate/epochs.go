package logstate

import "slices"

// EpochStart says that a leader epoch's records begin at Start.
type EpochStart struct {
	Epoch Epoch
	Start Offset
}

// EpochEnd is where the records of an epoch end, exclusive: the answer of
// OffsetForLeaderEpoch, and the point of divergence in a Fetch's answer.
type EpochEnd struct {
	Epoch Epoch
	End   Offset
}

// UndefinedEnd is the answer where nothing is known (OffsetsForLeaderEpochResponse.UNDEFINED_EPOCH).
var UndefinedEnd = EpochEnd{Epoch: NoEpoch, End: NoOffset}

// Defined reports whether e is an answer.
func (e EpochEnd) Defined() bool { return e.End != NoOffset }

// Epochs is a log's leader epochs and where each began (LeaderEpochFileCache,
// KIP-101). Epochs that had no records have no entry. It changes when a leader
// takes over or a batch is appended (Assign) and when the log is cut.
//
// Invariant: both columns strictly ascend.
//
// The zero value is the cache of an empty log.
type Epochs struct {
	entries []EpochStart
}

// NewEpochs returns the cache with these entries, as Entries gave them.
func NewEpochs(entries []EpochStart) Epochs { return Epochs{entries: slices.Clone(entries)} }

// Entries returns a copy of the entries, in order.
func (c *Epochs) Entries() []EpochStart { return slices.Clone(c.entries) }

// Latest returns the last entry, false if there is none.
func (c *Epochs) Latest() (EpochStart, bool) {
	if len(c.entries) == 0 {
		return EpochStart{Epoch: NoEpoch, Start: NoOffset}, false
	}
	return c.entries[len(c.entries)-1], true
}

// Earliest returns the first entry, false if there is none.
func (c *Epochs) Earliest() (EpochStart, bool) {
	if len(c.entries) == 0 {
		return EpochStart{Epoch: NoEpoch, Start: NoOffset}, false
	}
	return c.entries[0], true
}

// LatestEpoch is Latest's epoch, NoEpoch if there is none.
func (c *Epochs) LatestEpoch() Epoch {
	e, _ := c.Latest()
	return e.Epoch
}

// Assign records that epoch e begins at start, and reports whether that changed
// anything. Entries that contradict it go: of this or a later epoch, or at this
// or a later offset. So an epoch without records is forgotten when the next one
// begins at the same place.
func (c *Epochs) Assign(e Epoch, start Offset) bool {
	if e < 0 || start < 0 {
		// A batch of an old leader without epochs; not ours.
		return false
	}
	if last, ok := c.Latest(); ok && last.Epoch == e && start >= last.Start {
		return false
	}
	n := len(c.entries)
	for n > 0 && (c.entries[n-1].Epoch >= e || c.entries[n-1].Start >= start) {
		n--
	}
	c.entries = append(c.entries[:n], EpochStart{Epoch: e, Start: start})
	return true
}

// TruncateFromEnd drops what begins at end or later: the log now ends there. It
// must be called also where the log was no longer than end (KAFKA-10706): the
// cache may hold an epoch that begins at the log's very end.
func (c *Epochs) TruncateFromEnd(end Offset) bool {
	n := len(c.entries)
	for n > 0 && c.entries[n-1].Start >= end {
		n--
	}
	changed := n < len(c.entries)
	c.entries = c.entries[:n]
	return changed
}

// TruncateFromStart drops what ended before start: the log now begins there. The
// epoch that start lies in is kept, and begins there.
func (c *Epochs) TruncateFromStart(start Offset) bool {
	n := 0
	for n < len(c.entries) && c.entries[n].Start <= start {
		n++
	}
	if n == 0 || n == 1 && c.entries[0].Start == start {
		return false
	}
	c.entries[n-1].Start = start
	c.entries = slices.Delete(c.entries, 0, n-1)
	return true
}

// EndOffsetFor returns the largest epoch not above e and where it ends; leo is
// the log end offset. It is undefined for an undefined e (KAFKA-6857), and for
// one that is later than all of the log's: this log cannot know.
func (c *Epochs) EndOffsetFor(e Epoch, leo Offset) EpochEnd {
	last, ok := c.Latest()
	switch {
	case e == NoEpoch, !ok:
		return UndefinedEnd
	case e == last.Epoch:
		// The latest epoch ends where the log does.
		return EpochEnd{Epoch: e, End: leo}
	case e > last.Epoch:
		return UndefinedEnd
	}
	above := 0
	for c.entries[above].Epoch <= e {
		above++
	}
	if above == 0 {
		// All that the log has is later: whoever asks has nothing in common with
		// it but what lies before.
		return EpochEnd{Epoch: e, End: c.entries[0].Start}
	}
	// KIP-279: the answer names the epoch it speaks of, which may be below e.
	return EpochEnd{Epoch: c.entries[above-1].Epoch, End: c.entries[above].Start}
}

// Previous returns the entry of the largest epoch below e, false if there is none.
func (c *Epochs) Previous(e Epoch) (EpochStart, bool) {
	for i := len(c.entries) - 1; i >= 0; i-- {
		if c.entries[i].Epoch < e {
			return c.entries[i], true
		}
	}
	return EpochStart{Epoch: NoEpoch, Start: NoOffset}, false
}

// At returns the epoch of the record at offset o, NoEpoch if that lies before all.
func (c *Epochs) At(o Offset) Epoch {
	for i := len(c.entries) - 1; i >= 0; i-- {
		if c.entries[i].Start <= o {
			return c.entries[i].Epoch
		}
	}
	return NoEpoch
}

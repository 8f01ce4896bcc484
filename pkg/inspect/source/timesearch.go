package source

import "github.com/kafkaops/kafkaops/pkg/inspect"

// timeSearch finds the timestamp of the record at a position by asking where the
// log is at chosen times, without reading a record. ListOffsets answers for a time
// the first record of that time or later, so that an answer
//
//	at the position      is the record itself: exact
//	before the position  tells a time that the record is at least as late as
//	behind it, or none   tells that it is older than the time asked
//
// It first goes back from now in growing steps and then halves what is left, until
// that is small beside the age. Where timestamps do not rise along the log, what is
// found is the latest up to the position. Where compaction has taken the record,
// it is the one before.
type timeSearch struct {
	position inspect.Offset
	nowMs    int64
	// The record is not older than loMs, where that is known, and older than hiMs.
	loMs, hiMs int64
	loKnown    bool
	// backMs is how far before now the next step goes, while loMs is unknown.
	backMs int64
	done   bool
}

const (
	// firstStepMs back from now is asked first, then stepGrowth times as far and so
	// on: a day takes 9 steps, a year 13.
	firstStepMs = 1000
	stepGrowth  = 4
	// The age is known well enough to a twentieth, and never better than
	// fineEnoughMs.
	ageParts     = 20
	fineEnoughMs = 500
)

func newTimeSearch(position inspect.Offset, nowMs int64) *timeSearch {
	return &timeSearch{position: position, nowMs: nowMs, hiMs: nowMs + 1, backMs: firstStepMs}
}

// probe is the time to ask next; false where the search has ended.
func (s *timeSearch) probe() (atMs int64, ok bool) {
	switch {
	case s.done:
		return 0, false
	case s.loKnown:
		return s.loMs + (s.hiMs-s.loMs+1)/2, true
	}
	return max(0, s.nowMs-s.backMs), true
}

// answer takes in that the first record of atMs or later is at offset, −1 where
// there is none, and of the time foundMs. It may be of a probe for another position
// in the same partition.
func (s *timeSearch) answer(atMs int64, offset inspect.Offset, foundMs int64) {
	if s.done {
		return
	}
	switch {
	case offset == s.position:
		s.loMs, s.loKnown, s.done = foundMs, true, true
		return
	case offset >= 0 && offset < s.position:
		// The record found is of atMs at the earliest.
		if at := max(atMs, foundMs); !s.loKnown || at > s.loMs {
			s.loMs, s.loKnown = at, true
		}
	default:
		s.hiMs = min(s.hiMs, atMs)
		if s.nowMs-atMs >= s.backMs {
			s.backMs *= stepGrowth
		}
		if atMs == 0 {
			s.done = true // its records have no timestamps
			return
		}
	}
	if s.loKnown {
		left := s.hiMs - s.loMs
		s.done = left <= max(fineEnoughMs, (s.nowMs-s.loMs)/ageParts)
	}
}

// since is the time of the record, in milliseconds since 1970.
func (s *timeSearch) since() inspect.Opt[int64] {
	if !s.done || !s.loKnown {
		return inspect.Unknown[int64]()
	}
	return inspect.Known(s.loMs)
}

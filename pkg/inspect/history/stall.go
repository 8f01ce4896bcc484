package history

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Stall is a high watermark that stands still while records wait above it: they
// are written, but not committed, and no consumer sees them.
type Stall struct {
	HW inspect.Offset
	// Since is the first sample that shows it; For is the time from there to the
	// newest one, and Samples how many there are, at least 2.
	Since   time.Time
	For     time.Duration
	Samples int
	// Uncommitted is the certain LEO − HW at the newest sample.
	Uncommitted int64
	// Appended is by how much the LEO grew while the HW stood; 0 where nobody
	// writes any more.
	Appended int64
	// AppendedUnderMinISR is the part of it that was written while the ISR was
	// below the effective minimum, where a leader refuses acks=all. See
	// [Stall.ProvesWeakAcks].
	AppendedUnderMinISR int64
}

// ProvesWeakAcks reports whether some producer certainly writes with acks=0 or
// acks=1: see [WeakAcks].
func (s Stall) ProvesWeakAcks() bool { return s.AppendedUnderMinISR > 0 }

// Stall returns the stall that a partition is in at the newest sample. It needs
// two samples with the same HW and a LEO above it in both.
//
// A busy partition with a healthy HW never shows one, for its HW moves from
// sample to sample; but at intervals shorter than replica.fetch.wait.max.ms
// (500 ms) a stall may be an ordinary fetch.
func (h *History) Stall(topic string, partition int32) (Stall, bool) {
	s := h.newest(topic, partition)
	if s == nil {
		return Stall{}, false
	}
	last := s.last()
	if last.hw() == unknown || last.leo() <= last.hw() {
		return Stall{}, false
	}
	st := Stall{HW: last.hw(), Uncommitted: int64(last.leo() - last.hw())}
	sinceMs := int64(unknown)
	prev := inspect.Offset(unknown)
	var proof WeakAcks
	for i := s.stalledFrom(); i < len(s.spans); i++ {
		e := s.at(i)
		if e.flags.has(epochStart) {
			prev = unknown
		}
		st.AppendedUnderMinISR += proof.Add(e.weakAcks())
		if e.leo() == unknown || e.hw() == unknown {
			continue
		}
		if prev != unknown {
			st.Appended += int64(max(0, e.leo()-prev))
		}
		prev = e.leo()
		if sinceMs == unknown && e.leo() > e.hw() {
			sinceMs = e.fromMs
		}
		if sinceMs != unknown {
			st.Samples += int(e.samples)
		}
	}
	if st.Samples < 2 {
		return Stall{}, false
	}
	st.Since = h.timeOf(sinceMs)
	st.For = time.Duration(h.lastMs-sinceMs) * time.Millisecond
	return st, true
}

// stalledFrom is the first entry of the run that ends with the newest one and
// has no other known HW than its, nor an end of the stall: records that waited
// were committed, or cut off, if the LEO came down to the HW again.
func (s *series) stalledFrom() int {
	last := s.last()
	from := len(s.spans) - 1
	waiting := true
	for i := from - 1; i >= 0; i-- {
		e := s.at(i)
		if e.hw() == unknown || e.leo() == unknown {
			continue
		}
		if e.hw() != last.hw() {
			break
		}
		// Going back in time: once it was idle, an earlier stall is another one.
		if e.leo() > e.hw() && !waiting {
			break
		}
		waiting = e.leo() > e.hw()
		from = i
	}
	return from
}

// weakAcks is what the samples of an entry prove of acks.
func (e *entry) weakAcks() WeakAcksLook {
	l := WeakAcksLook{Under: e.flags.has(underMinISR), GoesOn: !e.flags.has(epochStart | afterGap), Looks: int(e.samples)}
	if leo := e.leo(); leo != unknown {
		l.LEO = inspect.Known(leo)
	}
	return l
}

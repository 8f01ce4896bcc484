package replica

import "slices"

// waiting is a request that waits for other replicas (DelayedOperation).
type waiting struct {
	token Token
	// base is what a produce answers; until is the offset that is waited for.
	base, until Offset
	deadlineMs  int64
}

// purgatory is those that wait, by the offset that they wait for. It reuses its
// memory: a busy leader allocates nothing here.
type purgatory struct {
	entries []waiting
	// head is the first entry that is not taken out.
	head int
	// earliestMs is not after any deadline; it may be early when the one it was
	// for has gone.
	earliestMs int64
}

func (p *purgatory) len() int { return len(p.entries) - p.head }

// add keeps the order. A later request waits for no less than those before it,
// save a duplicate, so the place is nearly always the end.
func (p *purgatory) add(w waiting) {
	if p.len() == 0 {
		p.entries, p.head, p.earliestMs = p.entries[:0], 0, w.deadlineMs
	}
	if p.head > 0 && len(p.entries) == cap(p.entries) {
		p.entries = slices.Delete(p.entries, 0, p.head)
		p.head = 0
	}
	p.earliestMs = min(p.earliestMs, w.deadlineMs)
	i := len(p.entries)
	for i > p.head && p.entries[i-1].until > w.until {
		i--
	}
	p.entries = slices.Insert(p.entries, i, w)
}

// nextMs is when to call takeExpired next, never if there is nothing.
func (p *purgatory) nextMs() int64 {
	if p.len() == 0 {
		return never
	}
	return p.earliestMs
}

// take takes out one that waits for no more than o, false if none does.
func (p *purgatory) take(o Offset) (waiting, bool) {
	if p.len() == 0 || p.entries[p.head].until > o {
		return waiting{}, false
	}
	p.head++
	return p.entries[p.head-1], true
}

// takeAll takes out all.
func (p *purgatory) takeAll() []waiting {
	all := p.entries[p.head:]
	*p = purgatory{}
	return all
}

// takeExpired takes out those whose deadline has come, in the order in which
// they waited.
func (p *purgatory) takeExpired(nowMs int64) []waiting {
	if p.nextMs() > nowMs {
		return nil
	}
	var expired []waiting
	kept := p.entries[:0]
	p.earliestMs = never
	for _, w := range p.entries[p.head:] {
		if w.deadlineMs <= nowMs {
			expired = append(expired, w)
			continue
		}
		kept = append(kept, w)
		p.earliestMs = min(p.earliestMs, w.deadlineMs)
	}
	p.entries, p.head = kept, 0
	return expired
}

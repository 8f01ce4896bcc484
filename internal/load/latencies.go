package load

import "time"

// Latencies are those of the acknowledged records of one or more Producers, to three
// digits. The zero value has none.
type Latencies struct{ all latencies }

// Add adds those since the last Reset of p.
func (l *Latencies) Add(p *Producer) {
	if l.all.h == nil {
		l.all.reset()
	}
	p.meter.mu.Lock()
	defer p.meter.mu.Unlock()
	l.all.h.Merge(p.meter.lat.h)
}

// At is what that share of the records took at most, such as 0.99; false where there are
// too few for that to be more than the slowest one.
func (l *Latencies) At(share float64) (time.Duration, bool) {
	if l.all.h == nil || float64(l.all.h.TotalCount())*(1-share) < 1-1e-9 {
		return 0, false
	}
	return l.all.at(share), true
}

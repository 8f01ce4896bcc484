package advise

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// fencings are the times at which brokers were fenced, by one source.
type fencings struct {
	open  map[inspect.BrokerID]int // into all
	all   []tuning.Fencing
	known map[inspect.BrokerID]bool // seen, by looks
}

func (f *fencings) begin(b inspect.BrokerID, atMs int64) {
	if _, ok := f.open[b]; ok {
		return // another partition of it
	}
	if f.open == nil {
		f.open = map[inspect.BrokerID]int{}
	}
	f.open[b] = len(f.all)
	f.all = append(f.all, tuning.Fencing{Broker: int32(b), AtMs: atMs})
}

// end returns the fencing that ends, nil where none is known of.
func (f *fencings) end(b inspect.BrokerID, atMs int64) *tuning.Fencing {
	i, ok := f.open[b]
	if !ok {
		return nil
	}
	delete(f.open, b)
	f.all[i].BackMs = atMs
	return &f.all[i]
}

// event learns from what happened to partitions: a broker that is fenced leaves their
// ISRs, and comes back. Only the log knows whether it is the same life of it.
func (f *fencings) event(e *inspect.IsrEvent) {
	at := e.Time.UnixMilli()
	returned := e.Type == inspect.IsrExpand || e.Type == inspect.IsrLeader && e.Cause == inspect.CauseBrokerReturned
	switch {
	case len(e.Brokers) == 0:
	case e.Cause == inspect.CauseBrokerFenced && e.Type == inspect.IsrShrink:
		for _, b := range e.Brokers {
			f.begin(b, at)
		}
	case e.Cause == inspect.CauseBrokerFenced && e.Type == inspect.IsrLeader:
		f.begin(e.Brokers[0], at) // who led before
	case returned:
		for _, b := range e.Brokers {
			was := f.end(b, at)
			if was == nil {
				continue
			}
			if d, ok := e.FencedFor.Get(); ok {
				was.BackMs = was.AtMs + d.Milliseconds()
			} else {
				was.RestartUnknown = e.Source == inspect.SourceMetadataDiff
				was.Restarted = !was.RestartUnknown
			}
		}
	}
}

// look learns from who is there: whether one that comes back was started again is not to
// be seen.
func (f *fencings) look(s *inspect.Snapshot, at int64) {
	if len(s.Brokers) == 0 {
		return
	}
	if f.known == nil {
		f.known = map[inspect.BrokerID]bool{}
	}
	for i := range s.Brokers {
		b := &s.Brokers[i]
		if b.Fenced.Or(false) {
			continue
		}
		f.known[b.ID] = true
		if was := f.end(b.ID, at); was != nil {
			was.RestartUnknown = true
		}
	}
	var gone []inspect.BrokerID
	for id := range f.known {
		if b := s.Broker(id); b == nil || b.Fenced.Or(false) {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	for _, id := range gone {
		f.begin(id, at)
	}
}

// fencingHistory is by events where they are known, else by looks.
func (c *Collector) fencingHistory() *tuning.FencingHistory {
	h := &tuning.FencingHistory{FromMs: c.first, ToMs: c.last, Fencings: c.seen.all, SessionTimeoutMs: c.settings.SessionTimeoutMs, Setting: c.session}
	if len(c.known) == 0 {
		return h
	}
	h.Fencings = c.told.all
	knownMs, until := int64(0), int64(0)
	for _, k := range c.known {
		from := max(k.Since.UnixMilli(), until)
		until = max(until, k.Until.UnixMilli())
		knownMs += max(0, until-from)
	}
	h.ToMs = until
	h.FromMs = until - knownMs
	return h
}

package isrlog

import (
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
)

// absences knows since when replicas have been out of the ISR by events that were told
// before: a reading that begins with a snapshot does not.
type absences struct {
	out  map[inspect.TopicPartition]map[inspect.BrokerID]time.Time
	gaps []recording.Gap
}

// see takes the next event, and fills in for how long who came back had been out.
func (a *absences) see(e *inspect.IsrEvent) {
	if a.out == nil {
		a.out = map[inspect.TopicPartition]map[inspect.BrokerID]time.Time{}
	}
	for len(a.gaps) > 0 && !e.Time.Before(a.gaps[0].Until) {
		clear(a.out) // who came back within a gap was not seen
		a.gaps = a.gaps[1:]
	}
	tp := inspect.TopicPartition{Topic: e.Topic, Partition: e.Partition}
	if e.Type == inspect.IsrDelete {
		delete(a.out, tp)
		return
	}
	out := a.out[tp]
	if e.Type == inspect.IsrExpand && e.Cause != inspect.CauseReassignment && !e.Out.IsKnown() {
		for _, id := range e.Brokers {
			if since, ok := out[id]; ok {
				e.Out = inspect.Known(max(e.Out.Or(0), e.Time.Sub(since)))
			}
		}
	}
	for id := range out {
		if slices.Contains(e.ISR, id) || !slices.Contains(e.Replicas, id) {
			delete(out, id)
		}
	}
	for _, id := range minus(e.ISRBefore, e.ISR) {
		if !slices.Contains(e.Replicas, id) {
			continue
		}
		if out == nil {
			out = map[inspect.BrokerID]time.Time{}
			a.out[tp] = out
		}
		if _, ok := out[id]; !ok { // two events may be of one record
			out[id] = e.Time
		}
	}
	if out != nil && len(out) == 0 {
		delete(a.out, tp)
	}
}

// remember takes in a recording.
func (a *absences) remember(name string) error {
	r, err := recording.Read(name)
	if err != nil {
		return err
	}
	a.gaps = r.Gaps()
	err = r.Events(func(e inspect.IsrEvent) error { a.see(&e); return nil })
	a.gaps = nil
	return err
}

package cli

import (
	"context"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
)

const (
	// onsetsEvery is the least time between two questions since when partitions have been
	// unhealthy: each reads the metadata log from its newest snapshot on.
	onsetsEvery = 5 * time.Second
	// onsetsWait bounds one. No look waits for it.
	onsetsWait = 5 * time.Second
)

// topOnsets are since when partitions have been unhealthy, as describe tells it, asked for
// beside the looks. The zero value knows nothing.
type topOnsets struct {
	// earlier is of the question that is under way, one at a time.
	earlier isrlog.Earlier
	asking  aside

	mu    sync.Mutex
	busy  bool
	asked time.Time
	// due: something has changed since asked.
	due   bool
	found map[onsetOf]*inspect.Onset
}

// onsetOf is a partition of one topic, whatever takes its name later.
type onsetOf struct {
	topic inspect.Opt[string]
	index int32
}

// fill puts what is known into a look, and asks for what is not; changed says that changes
// of ISRs have become known, which what is known may be older than. The question goes on
// beside the looks, and ends with its time.
func (o *topOnsets) fill(ctx context.Context, t *target, s *inspect.Snapshot, changed bool, timeout time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := map[onsetOf]*inspect.Onset{}
	var unhealthy []*inspect.Partition
	o.due = o.due || changed
	for p := range s.Partitions {
		if p.Leader != inspect.NoBroker && len(p.ISR) >= len(p.Replicas) {
			continue
		}
		unhealthy = append(unhealthy, p)
		k := onsetOf{p.TopicID, p.Index}
		if p.Onset = o.found[k]; p.Onset != nil {
			known[k] = p.Onset
		} else {
			o.due = true
		}
	}
	o.found = known // what is well again begins anew
	if len(unhealthy) == 0 || !o.due || o.busy || time.Since(o.asked) < onsetsEvery {
		return
	}
	at, ok := t.controllersOf(s)
	if !ok {
		return
	}
	o.busy, o.due, o.asked = true, false, time.Now()
	ask := make([]*inspect.Partition, len(unhealthy)) // the look is no longer to be changed
	for i, p := range unhealthy {
		ask[i] = &inspect.Partition{Topic: p.Topic, TopicID: p.TopicID, Index: p.Index}
	}
	wait := min(onsetsWait, timeout)
	ctx, cancel := context.WithTimeout(ctx, wait)
	o.asking.Go(func() {
		defer cancel()
		err := isrlog.NewLog(t.brokers, &at, wait).Onsets(ctx, ask, &o.earlier)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.busy = false
		if err != nil {
			return
		}
		for _, p := range ask {
			if k := (onsetOf{p.TopicID, p.Index}); p.Onset != nil {
				o.found[k] = p.Onset
			} else {
				delete(o.found, k)
			}
		}
	})
}

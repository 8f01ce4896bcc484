package advise

import (
	"cmp"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// Restarts is an order in which brokers may be restarted one by one.
type Restarts struct {
	// Brokers are those with the fewest leaders first, for each leader moves; a broker
	// that is the active controller too comes last, so that it is elected anew once only.
	Brokers []int32
	// Controller is that one, unknown where it is none of the brokers.
	Controller inspect.Opt[inspect.BrokerID]
}

// Restarts is the order by what was seen last.
func (c *Collector) Restarts() Restarts {
	leaders := map[int32]int{}
	for _, t := range c.topics {
		for i := range t.partitions {
			if n := len(t.partitions[i].states); n > 0 && t.partitions[i].states[n-1].Leader != tuning.Unknown {
				leaders[t.partitions[i].states[n-1].Leader]++
			}
		}
	}
	r := Restarts{Brokers: slices.Clone(c.brokers)}
	if id, ok := c.controller.Get(); ok && slices.Contains(c.brokers, int32(id)) {
		r.Controller = c.controller
	}
	last := func(b int32) int {
		if r.Controller == inspect.Known(inspect.BrokerID(b)) {
			return 1
		}
		return 0
	}
	slices.SortFunc(r.Brokers, func(a, b int32) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(leaders[a], leaders[b]), cmp.Compare(a, b))
	})
	return r
}

package advise

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestRestarts: fewest leaders first, and the active controller last where it is a broker.
func TestRestarts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		controller inspect.Opt[inspect.BrokerID]
		want       []int32
	}{
		"apart":    {inspect.Known(inspect.BrokerID(101)), []int32{2, 3, 1}},
		"combined": {inspect.Known(inspect.BrokerID(2)), []int32{3, 1, 2}},
		"unknown":  {inspect.Unknown[inspect.BrokerID](), []int32{2, 3, 1}},
	} {
		s := look(0, 0, 1, 2, 3)
		s.Controller = tt.controller
		s.Brokers = []inspect.Broker{{ID: 1}, {ID: 2}, {ID: 3}}
		p := s.Topics[0].Partitions[0]
		for i, leader := range (brokers{1, 3, inspect.NoBroker}) {
			p.Index, p.Leader = int32(i+1), leader
			s.Topics[0].Partitions = append(s.Topics[0].Partitions, p)
		}
		r := collect(s).Restarts()
		if diff := cmp.Diff(tt.want, r.Brokers); diff != "" || r.Controller.IsKnown() != (name == "combined") {
			t.Errorf("%s: %+v %s", name, r, diff)
		}
	}
}

package source_test

import (
	"testing"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestFencedReachable: of brokers that are fenced those that answer are told, where that was
// asked; of the others, which are not asked otherwise, nothing is, and none is a failure.
func TestFencedReachable(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(4)
	m.Broker(3).Fenced, m.Broker(4).Fenced = true, true
	c := fakekafka.Start(t, m)
	c.Break(4, fakekafka.Faults{Refuse: true})
	for parts, answers := range map[inspect.Parts]bool{
		inspect.PartFenced | inspect.PartReachable:                               false,
		inspect.PartFenced | inspect.PartFencedReachable:                         true,
		inspect.PartFenced | inspect.PartReachable | inspect.PartFencedReachable: true,
	} {
		s := snapshot(t, c.Bootstrap(), parts, ample)
		if got := s.Broker(3).Reachable; got.Or(false) != answers || got.IsKnown() != answers {
			t.Errorf("parts %b: broker 3 is reachable: %v", parts, got)
		}
		if got := s.Broker(4).Reachable; got.IsKnown() {
			t.Errorf("parts %b: broker 4, which is down, is reachable: %v", parts, got)
		}
		if !s.Complete() {
			t.Errorf("parts %b: failures: %s", parts, texts(s.Failures))
		}
	}
}

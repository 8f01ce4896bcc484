package source_test

import (
	"testing"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestFeatures(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(4)
	m.Features = map[string]int16{"metadata.version": 25, "kraft.version": 0}
	m.Broker(2).Supported = map[string]fakekafka.VersionRange{"metadata.version": {Min: 7, Max: 33}}
	m.Broker(3).APIs = fakekafka.APIs()
	m.Broker(3).APIs[kmsg.ApiVersions] = fakekafka.VersionRange{Max: 2} // tells no features
	c := fakekafka.Start(t, m)
	c.Break(4, fakekafka.Faults{Refuse: true})
	s := snapshot(t, c.Bootstrap(), inspect.PartFeatures, ample)
	if s.Broker(3).Features.IsKnown() || s.Broker(4).Features.IsKnown() || s.Complete() {
		t.Errorf("brokers = %+v, want 3 without features, 4 failed", s.Brokers)
	}
	fs := s.Features()
	if len(fs) != 2 || fs[0].Name != "kraft.version" || fs[0].Level != inspect.Known[int16](0) {
		t.Fatalf("features = %+v, want kraft.version at 0 first", fs)
	}
	if f := fs[1]; f.Level != inspect.Known[int16](25) || f.Status[0] != inspect.FeatureDisagree || f.Brokers[1].Max != 33 {
		t.Errorf("feature = %+v, want level 25, brokers that disagree", f)
	}
}

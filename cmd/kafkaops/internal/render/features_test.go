package render

import (
	"io"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// halfUpgraded is a cluster on 4.0 of which broker 2 already runs 4.4.
func halfUpgraded() *inspect.Snapshot {
	s := healthy()
	for i := range s.Brokers {
		f := inspect.BrokerFeatures{
			Epoch: inspect.Known[int64](812), Levels: map[string]int16{"metadata.version": 25, "group.version": 1},
			Supported: map[string]inspect.FeatureRange{
				"metadata.version": {Min: 7, Max: 25}, "group.version": {Max: 1}, "kraft.version": {Max: 1},
			},
		}
		if i == 1 {
			f.Supported["metadata.version"] = inspect.FeatureRange{Min: 7, Max: 33}
			f.Supported["share.version"] = inspect.FeatureRange{Max: 1}
		}
		s.Brokers[i].Features = inspect.Known(f)
	}
	return s
}

func features(w io.Writer, v View, s *inspect.Snapshot) error { return Features(w, v, s, s.Features()) }

func TestFeaturesScreens(t *testing.T) {
	t.Parallel()
	down := halfUpgraded()
	down.Brokers = down.Brokers[:2]
	down.Brokers[0].Fenced, down.Brokers[0].Features = inspect.Known(true), inspect.Unknown[inspect.BrokerFeatures]()
	down.Gone = []inspect.BrokerID{3}
	checkFacets(t, "features.txtar",
		facet{"half upgraded", halfUpgraded(), features}, facet{"brokers down", down, features}, facet{"none", healthy(), features})
}

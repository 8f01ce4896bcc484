package render

import (
	"cmp"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// KindFeature is describe features: FeatureItem, sorted by name.
const KindFeature Kind = "Feature"

// FeatureItem is one feature of the cluster (KIP-584), as its brokers tell it.
type FeatureItem struct {
	Name string `json:"name"`
	// FinalizedLevel is in force, 0 where the feature is off; null where no broker
	// tells. Release is its name for metadata.version, such as 4.4-IV2, else null.
	FinalizedLevel inspect.Opt[int16]  `json:"finalizedLevel"`
	Release        inspect.Opt[string] `json:"release"`
	// Epoch is the offset in the metadata log at which the level was told.
	Epoch inspect.Opt[int64] `json:"epoch"`
	// MinSupported and MaxSupported are what all brokers that told have in common;
	// null where that is nothing.
	MinSupported inspect.Opt[int16] `json:"minSupported"`
	MaxSupported inspect.Opt[int16] `json:"maxSupported"`
	// Status has unsupported (a broker does not support the finalized level),
	// disagree (brokers differ), unknown (a broker did not tell), upgradable (all
	// support a higher level), or ok alone.
	Status []inspect.FeatureStatus `json:"status"`
	// Brokers is sorted by id. Of those that told nothing all but Error is null.
	Brokers []BrokerFeatureItem `json:"brokers"`
}

// BrokerFeatureItem is what one broker tells of a feature.
type BrokerFeatureItem struct {
	Broker         inspect.BrokerID   `json:"broker"`
	Epoch          inspect.Opt[int64] `json:"epoch"`
	FinalizedLevel inspect.Opt[int16] `json:"finalizedLevel"`
	// MinSupported and MaxSupported are both 0 where it does not know the feature.
	MinSupported inspect.Opt[int16] `json:"minSupported"`
	MaxSupported inspect.Opt[int16] `json:"maxSupported"`
	// Error is why it told nothing: fenced, not among the live brokers, no answer or
	// not told; null where it told.
	Error inspect.Opt[string] `json:"error"`
}

// FeatureItems are the items of describe features.
func FeatureItems(features []inspect.Feature) []FeatureItem {
	items := make([]FeatureItem, 0, len(features))
	for i := range features {
		f := &features[i]
		item := FeatureItem{
			Name: f.Name, FinalizedLevel: f.Level, Epoch: f.Epoch, MinSupported: f.Min, MaxSupported: f.Max,
			Status: list(f.Status), Brokers: []BrokerFeatureItem{},
		}
		if level, ok := f.Level.Get(); ok && f.Name == inspect.MetadataVersion {
			item.Release = inspect.Known(f.LevelName(level))
		}
		for _, b := range f.Brokers {
			item.Brokers = append(item.Brokers, BrokerFeatureItem{
				Broker: b.Broker, Epoch: b.Epoch, FinalizedLevel: b.Level,
				MinSupported: inspect.Known(b.Min), MaxSupported: inspect.Known(b.Max),
			})
		}
		for _, u := range f.Untold {
			item.Brokers = append(item.Brokers, BrokerFeatureItem{Broker: u.Broker, Error: inspect.Known(string(u.Cause))})
		}
		slices.SortFunc(item.Brokers, func(a, b BrokerFeatureItem) int { return cmp.Compare(a.Broker, b.Broker) })
		items = append(items, item)
	}
	return items
}

package source

import (
	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// featuresOf is what an answer to ApiVersions tells of features; unknown before
// Kafka 2.7, which has none.
func featuresOf(resp *sarama.ApiVersionsResponse) inspect.Opt[inspect.BrokerFeatures] {
	const versionWithFeatures = 3
	if resp.Version < versionWithFeatures || len(resp.SupportedFeatures)+len(resp.FinalizedFeatures) == 0 {
		return inspect.Unknown[inspect.BrokerFeatures]()
	}
	f := inspect.BrokerFeatures{Levels: map[string]int16{}, Supported: map[string]inspect.FeatureRange{}}
	for _, s := range resp.SupportedFeatures {
		f.Supported[s.Name] = inspect.FeatureRange{Min: s.MinVersion, Max: s.MaxVersion}
	}
	if resp.FinalizedFeaturesEpoch < 0 {
		return inspect.Known(f)
	}
	f.Epoch = inspect.Known(resp.FinalizedFeaturesEpoch)
	for _, l := range resp.FinalizedFeatures {
		f.Levels[l.Name] = l.MaxVersionLevel
	}
	return inspect.Known(f)
}

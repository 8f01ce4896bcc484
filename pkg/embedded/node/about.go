package node

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// toldFeatures are those of supportedFeatures that ApiVersions tells of: a client that
// sees group.version or transaction.version goes by APIs that are not here.
var toldFeatures = []string{"eligible.leader.replicas.version", "kraft.version", "metadata.version"}

// about is what ApiVersions says of this broker. Finalized levels are those of its own
// image, as in Kafka: a broker that is behind says so by the epoch.
func (n *Node) about() wire.About {
	a := wire.About{ClusterID: n.opts.ClusterID, NodeID: n.opts.ID, Epoch: n.follow.applied - 1}
	for _, f := range supportedFeatures {
		if slices.Contains(toldFeatures, f.Name) {
			a.Supported = append(a.Supported, wire.Feature{Name: f.Name, Lowest: f.MinSupportedVersion, Highest: f.MaxSupportedVersion})
		}
	}
	for name, level := range n.follow.image.Features() {
		if slices.Contains(toldFeatures, name) {
			a.Finalized = append(a.Finalized, wire.FeatureLevel{Name: name, Level: level})
		}
	}
	return a
}

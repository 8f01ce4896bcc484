package quorum

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// apiVersions is ControllerApis.handleApiVersionsRequest. What it says of features is
// durable.
func (n *Node) apiVersions(req *kmsg.ApiVersionsRequest) kmsg.Response {
	opts := n.opts.Controller
	about := wire.About{ClusterID: opts.ClusterID, NodeID: opts.NodeID, Epoch: n.durable - 1}
	for _, f := range opts.Features {
		about.Supported = append(about.Supported, wire.Feature{Name: f.Name, Lowest: f.MinSupportedVersion, Highest: f.MaxSupportedVersion})
	}
	about.Supported = append(about.Supported, wire.Feature{Name: kraftVersion, Highest: 1})
	for name, level := range n.image.Features() {
		if slices.ContainsFunc(opts.Features, func(f kraft.FeatureRange) bool { return f.Name == name }) {
			about.Finalized = append(about.Finalized, wire.FeatureLevel{Name: name, Level: level})
		}
	}
	if n.voters != nil {
		about.Finalized = append(about.Finalized, wire.FeatureLevel{Name: kraftVersion, Level: 1})
	}
	return n.opts.APIs.AnswerApiVersions(wire.Controller, req, about)
}

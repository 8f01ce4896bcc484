package source

import (
	"context"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// facetParts are the parts that facets asks of every broker.
const facetParts = inspect.PartFeatures | inspect.PartReplicaLogs | inspect.PartConfigs

// facets asks one broker for what describe's subcommands show of it, over the
// connection that is open.
func (p *pass) facets(ctx context.Context, conn *connect.Conn, b *inspect.Broker) {
	if p.query.Parts.Has(inspect.PartFeatures) {
		b.Features = featuresOf(conn.APIVersions())
	}
	if p.query.Parts.Has(inspect.PartReplicaLogs) {
		p.replicaLogs(ctx, conn, b) // over a connection of its own
	}
	if p.query.Parts.Has(inspect.PartConfigs) {
		p.brokerConfigs(ctx, conn, b)
	}
}

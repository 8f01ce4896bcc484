package source

import (
	"context"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// facetParts are the parts that facets asks of every broker.
const facetParts = inspect.PartFeatures | inspect.PartReplicaLogs | inspect.PartConfigs

// tellDown tells of brokers that were not asked, because the cluster itself says
// that they are not there. That is an answer, so it costs no data.
func (p *pass) tellDown() {
	f := inspect.Failure{Phase: inspect.PhaseRequest, Notice: true}
	switch {
	case p.query.Parts.Has(inspect.PartFeatures):
		f.Lost = "its features are unknown"
	case p.query.Parts.Has(inspect.PartReplicaLogs):
		f.Lost = "its log directories are unknown"
	default:
		f.Lost = "its settings are unknown"
	}
	for _, u := range p.snap.Untold(func(*inspect.Broker) bool { return false }) {
		if !u.Cause.Down() {
			continue
		}
		f.Broker, f.Address = inspect.Known(u.Broker), ""
		f.Error = "not among the live brokers, and replicas are assigned to it"
		if b := p.snap.Broker(u.Broker); b != nil {
			f.Address, f.Error = b.Address(), "fenced: the controller does not hear from it"
		}
		p.fail(f)
	}
}

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

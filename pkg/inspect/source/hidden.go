package source

import (
	"context"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// tellHidden is for a list of topics that is empty: brokers leave out without a
// word what the credentials may not see, so that a cluster full of topics looks
// like a new one. About a name they do tell, whether there is such a topic or
// not. Where they do not answer, nothing is told.
//
// Who may see some topics and not others cannot be known: for those an answer is
// about what they may see.
func (p *pass) tellHidden(ctx context.Context, boot *connect.Conn) {
	all := len(p.query.Topics) == 0 && (p.query.Keep == nil || p.query.Keep(offsetsTopic, false))
	version, ok := boot.Version(keyMetadata, 11)
	if p.visible > 0 || !all || !ok || version < oldestSafeMetadata {
		return
	}
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	req := &sarama.MetadataRequest{Version: version, Topics: []string{offsetsTopic}}
	resp, err := connect.Ask(ctx, boot, "Metadata", func(b *sarama.Broker) (*sarama.MetadataResponse, error) {
		return b.GetMetadata(req)
	})
	if err != nil || len(resp.Topics) != 1 || resp.Topics[0].Err != sarama.ErrTopicAuthorizationFailed {
		return
	}
	f := refusal(inspect.Unknown[inspect.BrokerID](), boot.Addr(), "Metadata", int16(resp.Topics[0].Err))
	f.Lost, f.Hint = "no topic is visible", "grant DESCRIBE on the topics"
	p.fail(f)
}

package source

import (
	"context"
	"maps"
	"slices"
	"strings"

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

// unseenTopicsOfGroups asks by name for the topics that groups have to do with and
// that the list of all topics did not hold: they were deleted, or may not be seen,
// and then Kafka hides what was committed for them as well. It has a connection of
// its own, for the groups took the other.
func (p *pass) unseenTopicsOfGroups(ctx context.Context, boot *connect.Conn, used map[string]bool) {
	unseen := maps.Clone(used)
	for i := range p.snap.Topics {
		delete(unseen, p.snap.Topics[i].Name)
	}
	version, ok := boot.Version(keyMetadata, 11)
	if len(unseen) == 0 || !ok || version < oldestSafeMetadata {
		return
	}
	names := slices.Sorted(maps.Keys(unseen))
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	resp, err := p.topicsByName(ctx, boot.Addr(), version, names)
	if err != nil {
		f := failureOf(inspect.Unknown[inspect.BrokerID](), err)
		all := &refused{count: len(names), first: names[0]}
		f.Lost = "whether there is " + all.what("topic") + " that groups read is unknown"
		p.fail(f)
		for _, name := range names {
			p.snap.Topics = append(p.snap.Topics, inspect.Topic{Name: name, Error: "not told"})
		}
		return
	}
	no := newRefusals()
	for _, t := range resp.Topics {
		if _, hidden := unauthorized(int16(t.Err)); hidden && unseen[t.Name] {
			no.add(int16(t.Err), t.Name)
			p.snap.Topics = append(p.snap.Topics, inspect.Topic{Name: t.Name, Error: codeName(int16(t.Err))})
		}
	}
	slices.SortFunc(p.snap.Topics, func(a, b inspect.Topic) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range no.sorted() {
		f := refusal(inspect.Unknown[inspect.BrokerID](), boot.Addr(), "Metadata", e.code)
		f.Lost = "the lag of groups that read " + e.what("topic") + " is unknown"
		p.fail(f)
	}
}

func (p *pass) topicsByName(ctx context.Context, addr string, version int16, names []string) (*sarama.MetadataResponse, error) {
	conn, err := p.src.conf.Open(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return connect.Ask(ctx, conn, "Metadata", func(b *sarama.Broker) (*sarama.MetadataResponse, error) {
		return b.GetMetadata(&sarama.MetadataRequest{Version: version, Topics: names})
	})
}

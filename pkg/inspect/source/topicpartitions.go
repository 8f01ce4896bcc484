package source

import (
	"cmp"
	"context"
	"encoding/base64"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// pagePartitions is how many partitions a page may hold: what brokers allow by
// default (max.request.partition.size.limit).
const pagePartitions = 2000

// elrFeature is finalized at level 1 where the controller keeps eligible leader
// replicas (KIP-966).
const elrFeature = "eligible.leader.replicas.version"

// describeTopicPartitions learns topics and partitions with their ELR, page by
// page, over a connection of its own (sarama has no types for it).
func (p *pass) describeTopicPartitions(ctx context.Context, boot *connect.Conn) *inspect.Failure {
	raw, err := p.src.conf.OpenRaw(boot.Addr())
	if err != nil {
		f := failureOf(inspect.Unknown[inspect.BrokerID](), err)
		return &f
	}
	defer raw.Close()
	level, _ := boot.Feature(elrFeature)
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = pagePartitions
	for _, name := range p.query.Topics {
		t := kmsg.NewDescribeTopicPartitionsRequestTopic()
		t.Topic = name
		req.Topics = append(req.Topics, t)
	}
	seen := map[string]int{} // places in p.snap.Topics
	for {
		resp, err := p.page(ctx, raw, req)
		if err != nil {
			f := failureOf(inspect.Unknown[inspect.BrokerID](), err)
			return &f
		}
		for i := range resp.Topics {
			p.addPage(&resp.Topics[i], level > 0, seen)
		}
		if resp.NextCursor == nil {
			return nil
		}
		if next := resp.NextCursor; req.Cursor != nil &&
			cmp.Or(cmp.Compare(next.Topic, req.Cursor.Topic), cmp.Compare(next.Partition, req.Cursor.Partition)) <= 0 {
			f := failureOf(inspect.Unknown[inspect.BrokerID](), &connect.Error{
				Address: boot.Addr(), Phase: inspect.PhaseRequest, Request: "DescribeTopicPartitions",
				Cause: "its pages do not go on: the cursor stands still",
			})
			return &f
		}
		cursor := kmsg.NewDescribeTopicPartitionsRequestCursor()
		cursor.Topic, cursor.Partition = resp.NextCursor.Topic, resp.NextCursor.Partition
		req.Cursor = &cursor
	}
}

func (p *pass) page(
	ctx context.Context, raw *connect.Raw, req *kmsg.DescribeTopicPartitionsRequest,
) (*kmsg.DescribeTopicPartitionsResponse, error) {
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	return connect.AskRaw[*kmsg.DescribeTopicPartitionsResponse](ctx, raw, req)
}

// addPage adds a topic of one page; a topic may go on in the next one.
func (p *pass) addPage(t *kmsg.DescribeTopicPartitionsResponseTopic, keepsELR bool, seen map[string]int) {
	name := ""
	if t.Topic != nil {
		name = *t.Topic
	}
	// Kafka puts refused topics behind the others on every page, so the topic that
	// goes on need not be the last one.
	at, again := seen[name]
	if !again {
		topic := inspect.Topic{Name: name, Internal: t.IsInternal}
		if t.TopicID != ([16]byte{}) {
			topic.ID = inspect.Known(base64.RawURLEncoding.EncodeToString(t.TopicID[:]))
		}
		if t.ErrorCode != 0 {
			topic.Error = codeName(t.ErrorCode)
		} else if p.query.Parts.Has(inspect.PartAccess) && t.AuthorizedOperations != notTold {
			topic.Operations = inspect.Known(operationsOf(t.AuthorizedOperations))
		}
		at = len(p.snap.Topics)
		seen[name] = at
		p.snap.Topics = append(p.snap.Topics, topic)
	}
	topic := &p.snap.Topics[at]
	for i := range t.Partitions {
		m := &t.Partitions[i]
		part := inspect.Partition{
			Index: m.Partition, Leader: leaderOf(m.LeaderID),
			Replicas: brokerIDs(m.Replicas), ISR: brokerIDs(m.ISR), Offline: brokerIDs(m.OfflineReplicas),
		}
		if m.LeaderEpoch >= 0 {
			part.LeaderEpoch = inspect.Known(inspect.Epoch(m.LeaderEpoch))
		}
		if keepsELR {
			part.ELR = inspect.Known(brokerIDs(m.EligibleLeaderReplicas))
			part.LastKnownELR = inspect.Known(brokerIDs(m.LastKnownELR))
		}
		topic.Partitions = append(topic.Partitions, part)
	}
}

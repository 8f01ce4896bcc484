package source

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// oldestSafeMetadata is the first version that can say "do not create the topic
// that I ask about" (KIP-4).
const oldestSafeMetadata = 4

// metadata asks Metadata once, about the query's topics or all.
func (p *pass) metadata(ctx context.Context, boot *connect.Conn) error {
	version, ok := boot.Version(keyMetadata, 11)
	if _, _, offered := boot.Offered(keyMetadata); !offered { // every broker has it, and no controller
		return &connect.Error{
			Address: boot.Addr(), Phase: inspect.PhaseRequest, Request: "Metadata",
			Cause: "it does not offer Metadata: is this a controller's listener? A bootstrap server is a broker; a controller goes to --controller",
		}
	}
	if !ok || version < oldestSafeMetadata {
		return &connect.Error{
			Address: boot.Addr(), Phase: inspect.PhaseRequest, Request: "Metadata",
			Cause: fmt.Sprintf("the broker offers Metadata up to version %d; kafkaops needs %d (Kafka 1.0), which cannot create topics", version, oldestSafeMetadata),
		}
	}
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	req := &sarama.MetadataRequest{Version: version, Topics: p.query.Topics}
	resp, err := connect.Ask(ctx, boot, "Metadata", func(b *sarama.Broker) (*sarama.MetadataResponse, error) {
		return b.GetMetadata(req)
	})
	if err != nil {
		return err
	}
	p.snap.ClusterID = inspect.Unknown[string]()
	if resp.ClusterID != nil && *resp.ClusterID != "" {
		p.snap.ClusterID = inspect.Known(*resp.ClusterID)
	}
	p.toldController = leaderOf(resp.ControllerID)
	p.snap.Brokers = make([]inspect.Broker, 0, len(resp.Brokers))
	for _, b := range resp.Brokers {
		host, port := splitAddr(b.Addr())
		rack := b.Rack()
		p.snap.Brokers = append(p.snap.Brokers, inspect.Broker{
			ID: inspect.BrokerID(b.ID()), Host: host, Port: port, Rack: rackOf(&rack),
		})
	}
	p.snap.Topics = make([]inspect.Topic, 0, len(resp.Topics))
	for _, t := range resp.Topics {
		p.snap.Topics = append(p.snap.Topics, topicOf(t, version))
	}
	return nil
}

func topicOf(t *sarama.TopicMetadata, version int16) inspect.Topic {
	out := inspect.Topic{Name: t.Name, Internal: t.IsInternal, Partitions: make([]inspect.Partition, 0, len(t.Partitions))}
	const versionWithTopicID, versionWithEpoch = 10, 7
	if version >= versionWithTopicID && t.Uuid != (sarama.Uuid{}) {
		out.ID = inspect.Known(t.Uuid.String())
	}
	if t.Err != sarama.ErrNoError && len(t.Partitions) == 0 {
		out.Error = codeName(int16(t.Err))
	}
	for _, m := range t.Partitions {
		// A partition's own error (leader or replica not available) says what
		// leader −1 and the offline replicas say too.
		part := inspect.Partition{
			Index: m.ID, Leader: leaderOf(m.Leader),
			Replicas: brokerIDs(m.Replicas), ISR: brokerIDs(m.Isr), Offline: brokerIDs(m.OfflineReplicas),
		}
		if version >= versionWithEpoch && m.LeaderEpoch >= 0 {
			part.LeaderEpoch = inspect.Known(inspect.Epoch(m.LeaderEpoch))
		}
		out.Partitions = append(out.Partitions, part)
	}
	return out
}

func leaderOf(id int32) inspect.BrokerID {
	if id < 0 {
		return inspect.NoBroker
	}
	return inspect.BrokerID(id)
}

func splitAddr(addr string) (string, int32) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr, 0
	}
	n, _ := strconv.ParseInt(port, 10, 32) // sarama built it from an int32
	return host, int32(n)
}

package source

import (
	"context"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// describeCluster learns the brokers by DescribeCluster. From version 2 (Kafka
// 4.0, KIP-1073) fenced brokers are among them, each marked; before, whether a
// broker is fenced stays unknown. The controller in the answer is a random live
// broker and is not taken.
func (p *pass) describeCluster(ctx context.Context, boot *connect.Conn) error {
	const versionWithFenced, endpointBrokers = 2, 1
	version, _ := boot.Version(keyDescribeCluster, versionWithFenced)
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	req := &sarama.DescribeClusterRequest{
		Version: version, EndpointType: endpointBrokers, IncludeFencedBrokers: version >= versionWithFenced,
	}
	resp, err := connect.Ask(ctx, boot, describeCluster, func(b *sarama.Broker) (*sarama.DescribeClusterResponse, error) {
		return b.DescribeCluster(req)
	})
	if err != nil {
		return err
	}
	if resp.Err != sarama.ErrNoError {
		return &connect.Error{
			Address: boot.Addr(), Phase: inspect.PhaseRequest, Request: describeCluster, Cause: codeName(int16(resp.Err)),
		}
	}
	if resp.ClusterID != "" {
		p.snap.ClusterID = inspect.Known(resp.ClusterID)
	}
	p.toldController = leaderOf(resp.ControllerID)
	p.snap.Brokers = make([]inspect.Broker, 0, len(resp.Brokers))
	for _, b := range resp.Brokers {
		broker := inspect.Broker{ID: inspect.BrokerID(b.BrokerID), Host: b.Host, Port: b.Port, Rack: rackOf(b.Rack)}
		if version >= versionWithFenced {
			broker.Fenced = inspect.Known(b.IsFenced)
		}
		p.snap.Brokers = append(p.snap.Brokers, broker)
	}
	return nil
}

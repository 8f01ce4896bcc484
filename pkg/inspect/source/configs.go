package source

import (
	"context"
	"fmt"
	"strconv"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

const minInsyncReplicas = "min.insync.replicas"

// minInsyncReplicas asks the value in force of one config for every topic, in
// one request: brokers answer topic configs from metadata, defaults included.
func (p *pass) minInsyncReplicas(ctx context.Context, boot *connect.Conn) {
	if p.noPartitions() {
		return
	}
	const request = "DescribeConfigs"
	const keyDescribeConfigs, newest = 32, 4
	nobody := inspect.Unknown[inspect.BrokerID]()
	version, _ := boot.Version(keyDescribeConfigs, newest)
	req := &sarama.DescribeConfigsRequest{Version: version}
	for i := range p.snap.Topics {
		if t := &p.snap.Topics[i]; len(t.Partitions) > 0 {
			req.Resources = append(req.Resources, &sarama.ConfigResource{
				Type: sarama.TopicResource, Name: t.Name, ConfigNames: []string{minInsyncReplicas},
			})
		}
	}
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	resp, err := connect.Ask(ctx, boot, request, func(b *sarama.Broker) (*sarama.DescribeConfigsResponse, error) {
		return b.DescribeConfigs(req)
	})
	if err != nil {
		f := failureOf(nobody, err)
		f.Lost = minInsyncReplicas + " is unknown for every topic"
		p.fail(f)
		return
	}
	values := map[string]int32{}
	refused := newRefusals()
	for _, r := range resp.Resources {
		if r.ErrorCode != 0 {
			refused.add(r.ErrorCode, r.Name)
			continue
		}
		for _, entry := range r.Configs {
			if n, err := strconv.ParseInt(entry.Value, 10, 32); err == nil && entry.Name == minInsyncReplicas {
				values[r.Name] = int32(n)
			}
		}
	}
	p.setMinInsyncReplicas(values)
	for _, r := range refused.sorted() {
		f := refusal(nobody, boot.Addr(), request, r.code)
		f.Lost = fmt.Sprintf("%s is unknown for %s", minInsyncReplicas, r.what("topic"))
		p.fail(f)
	}
}

func (p *pass) setMinInsyncReplicas(values map[string]int32) {
	for i := range p.snap.Topics {
		t := &p.snap.Topics[i]
		n, ok := values[t.Name]
		if !ok {
			continue
		}
		t.MinInsyncReplicas = inspect.Known(n)
		for j := range t.Partitions {
			t.Partitions[j].MinInsyncReplicas = t.MinInsyncReplicas
		}
	}
}

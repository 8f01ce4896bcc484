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
	const request, newest = "DescribeConfigs", 4
	nobody := inspect.Unknown[inspect.BrokerID]()
	version, ok := p.version(boot, nobody, keyDescribeConfigs, newest, minInsyncReplicas+" is unknown for every topic")
	if !ok {
		return
	}
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
			// Kafka takes no minimum below 1.
			if n, err := strconv.ParseInt(entry.Value, 10, 32); err == nil && n >= 1 && entry.Name == minInsyncReplicas {
				values[r.Name] = int32(n)
			}
		}
	}
	p.setMinInsyncReplicas(values)
	p.tellNoValue(values, resp, boot.Addr())
	for _, r := range refused.sorted() {
		f := refusal(nobody, boot.Addr(), request, r.code)
		f.Lost = fmt.Sprintf("%s is unknown for %s", minInsyncReplicas, r.what("topic"))
		p.fail(f)
	}
}

// tellNoValue makes a failure of topics that were neither refused nor given a
// value that can be one.
func (p *pass) tellNoValue(values map[string]int32, resp *sarama.DescribeConfigsResponse, addr string) {
	refused := map[string]bool{}
	for _, r := range resp.Resources {
		refused[r.Name] = refused[r.Name] || r.ErrorCode != 0
	}
	missing := newRefusals()
	for i := range p.snap.Topics {
		t := &p.snap.Topics[i]
		if _, ok := values[t.Name]; !ok && !refused[t.Name] && len(t.Partitions) > 0 {
			missing.add(0, t.Name)
		}
	}
	for _, m := range missing.sorted() {
		p.fail(inspect.Failure{
			Address: addr, Request: "DescribeConfigs", Phase: inspect.PhaseRequest,
			Error: "the answer holds no value that can be one",
			Lost:  fmt.Sprintf("%s is unknown for %s", minInsyncReplicas, m.what("topic")),
		})
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

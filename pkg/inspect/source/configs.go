package source

import (
	"context"
	"fmt"
	"strconv"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

const (
	minInsyncReplicas = "min.insync.replicas"
	uncleanElection   = "unclean.leader.election.enable"
)

// minInsyncReplicas asks the value in force of two configs for every topic, in
// one request: brokers answer topic configs from metadata, defaults included. What
// is lost without the answer is told of the one that verdicts need.
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
				Type: sarama.TopicResource, Name: t.Name, ConfigNames: []string{minInsyncReplicas, uncleanElection},
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
	values, unclean := map[string]int32{}, map[string]bool{}
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
			if may, err := strconv.ParseBool(entry.Value); err == nil && entry.Name == uncleanElection {
				unclean[r.Name] = may
			}
		}
	}
	p.setConfigs(values, unclean)
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

func (p *pass) setConfigs(least map[string]int32, unclean map[string]bool) {
	for i := range p.snap.Topics {
		t := &p.snap.Topics[i]
		if may, ok := unclean[t.Name]; ok {
			t.UncleanElection = inspect.Known(may)
		}
		n, ok := least[t.Name]
		if !ok {
			continue
		}
		t.MinInsyncReplicas = inspect.Known(n)
		for j := range t.Partitions {
			t.Partitions[j].MinInsyncReplicas = t.MinInsyncReplicas
		}
	}
}

package source

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What is asked with synonyms goes through franz-go: sarama turns a value that
// is null into an empty one.

const (
	describeConfigs = "DescribeConfigs"
	newestConfigs   = 4
)

// brokerConfigs asks one broker for its own settings: no other one can tell what
// is in force there.
func (p *pass) brokerConfigs(ctx context.Context, conn *connect.Conn, b *inspect.Broker) {
	if _, ok := p.version(conn, inspect.Known(b.ID), keyDescribeConfigs, newestConfigs, "brokers' settings are unknown"); !ok {
		return
	}
	asked := kmsg.NewDescribeConfigsRequestResource()
	asked.ResourceType, asked.ResourceName = kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(b.ID))
	asked.ConfigNames = inspect.BrokerConfigNames[:]
	resp, err := p.askConfigs(ctx, b.Address(), []kmsg.DescribeConfigsRequestResource{asked})
	var f inspect.Failure
	switch {
	case err != nil:
		f = failureOf(inspect.Known(b.ID), err)
	case len(resp.Resources) != 1:
		f = refusal(inspect.Known(b.ID), b.Address(), describeConfigs, kerr.UnknownServerError.Code)
	case resp.Resources[0].ErrorCode != 0:
		f = refusal(inspect.Known(b.ID), b.Address(), describeConfigs, resp.Resources[0].ErrorCode)
	default:
		b.Configs = inspect.Known(configsOf(resp.Resources[0].Configs))
		return
	}
	f.Lost = "its settings are unknown"
	p.fail(f)
}

// topicConfigs asks for the settings of all topics in one request.
func (p *pass) topicConfigs(ctx context.Context, boot *connect.Conn) {
	addr := boot.Addr()
	var asked []kmsg.DescribeConfigsRequestResource
	at := map[string]*inspect.Topic{}
	for i := range p.snap.Topics {
		t := &p.snap.Topics[i]
		if len(t.Partitions) == 0 {
			continue
		}
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceTypeTopic, t.Name, inspect.TopicConfigNames[:]
		asked = append(asked, r)
		at[t.Name] = t
	}
	if len(asked) == 0 {
		return
	}
	nobody := inspect.Unknown[inspect.BrokerID]()
	if _, ok := p.version(boot, nobody, keyDescribeConfigs, newestConfigs, "settings are unknown for every topic"); !ok {
		return
	}
	resp, err := p.askConfigs(ctx, addr, asked)
	if err != nil {
		f := failureOf(nobody, err)
		f.Lost = "settings are unknown for every topic"
		p.fail(f)
		return
	}
	refused := newRefusals()
	for i := range resp.Resources {
		r := &resp.Resources[i]
		switch t := at[r.ResourceName]; {
		case r.ErrorCode != 0:
			refused.add(r.ErrorCode, r.ResourceName)
		case t != nil:
			t.Configs = inspect.Known(configsOf(r.Configs))
		}
	}
	for _, r := range refused.sorted() {
		f := refusal(nobody, addr, describeConfigs, r.code)
		f.Lost = fmt.Sprintf("settings are unknown for %s", r.what("topic"))
		p.fail(f)
	}
}

func (p *pass) askConfigs(
	ctx context.Context, addr string, asked []kmsg.DescribeConfigsRequestResource,
) (*kmsg.DescribeConfigsResponse, error) {
	client, err := p.src.conf.Kgo(addr)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Resources, req.IncludeSynonyms = asked, true
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	began := time.Now()
	resp, err := req.RequestWith(ctx, client.SeedBrokers()[0])
	if err != nil {
		return nil, connect.Wrap(addr, describeConfigs, err, time.Since(began))
	}
	return resp, nil
}

// configsOf drops what is sensitive, whatever a broker sends for it.
func configsOf(in []kmsg.DescribeConfigsResponseResourceConfig) []inspect.Config {
	out := make([]inspect.Config, 0, len(in))
	for i := range in {
		m := &in[i]
		value := func(v *string) inspect.Opt[string] {
			if v == nil || m.IsSensitive {
				return inspect.Unknown[string]()
			}
			return inspect.Known(*v)
		}
		c := inspect.Config{
			Name: m.Name, Value: value(m.Value), Source: sourceOf(m.Source), Sensitive: m.IsSensitive, ReadOnly: m.ReadOnly,
		}
		for j := range m.ConfigSynonyms {
			s := &m.ConfigSynonyms[j]
			c.Synonyms = append(c.Synonyms, inspect.ConfigSynonym{Name: s.Name, Value: value(s.Value), Source: sourceOf(s.Source)})
		}
		out = append(out, c)
	}
	return out
}

func sourceOf(s kmsg.ConfigSource) inspect.ConfigSource {
	switch s {
	case kmsg.ConfigSourceDynamicTopicConfig:
		return inspect.SourceTopic
	case kmsg.ConfigSourceDynamicBrokerConfig:
		return inspect.SourceBroker
	case kmsg.ConfigSourceDynamicDefaultBrokerConfig:
		return inspect.SourceClusterDefault
	case kmsg.ConfigSourceStaticBrokerConfig:
		return inspect.SourceStatic
	case kmsg.ConfigSourceDefaultConfig:
		return inspect.SourceDefault
	}
	return inspect.SourceOther
}

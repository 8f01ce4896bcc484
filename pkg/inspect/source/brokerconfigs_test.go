package source_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestConfigs(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	m.MinInsyncReplicas = 2
	m.AddTopic("t", 1, 3)
	m.AddTopic("secret", 1, 3).DenyDescribeConfigs = true
	m.Broker(1).Configs = map[string]string{"num.replica.fetchers": "4", "not.asked.for": "x"}
	c := fakekafka.Start(t, m)
	c.Break(3, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.DescribeConfigs}})
	c.Intercept(func(broker int32, req kmsg.Request) (kmsg.Response, bool) {
		asked, ok := req.(*kmsg.DescribeConfigsRequest)
		if !ok || broker != 2 {
			return nil, false
		}
		resp := asked.ResponseKind().(*kmsg.DescribeConfigsResponse)
		rr := kmsg.NewDescribeConfigsResponseResource()
		hidden := kmsg.NewDescribeConfigsResponseResourceConfig()
		hidden.Name, hidden.IsSensitive, hidden.Value = "p", true, new("hunter2")
		hidden.ConfigSynonyms = []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{{Name: "p", Value: new("hunter2")}}
		rr.Configs = append(rr.Configs, hidden)
		resp.Resources = append(resp.Resources, rr)
		return resp, true
	})
	s := snapshot(t, c.Addr(1), inspect.PartConfigs, 3*time.Second)
	configs := s.Broker(1).Configs.Or(nil)
	if len(configs) != 1 || configs[0].Value != inspect.Known("4") || configs[0].Source != inspect.SourceStatic {
		t.Errorf("broker 1 = %+v, want the fetchers alone", configs)
	}
	if p := s.Broker(2).Configs.Or(nil)[0]; !p.Sensitive || p.Value.IsKnown() || p.Synonyms[0].Value.IsKnown() {
		t.Errorf("a secret was taken: %+v", p)
	}
	if s.Broker(3).Configs.IsKnown() {
		t.Error("broker 3 did not answer")
	}
	topic := s.Topics[1].Configs.Or(nil)
	if len(topic) != 1 || topic[0].Value != inspect.Known("2") || topic[0].Source != inspect.SourceClusterDefault || topic[0].Default() != inspect.Known("1") {
		t.Errorf("topic t = %+v, want min ISR 2 by the cluster's default", topic)
	}
	for _, want := range []string{"settings are unknown for topic secret", "its settings are unknown", "no reply to DescribeConfigs within "} {
		if got := texts(s.Failures); !strings.Contains(got, want) {
			t.Errorf("failures lack %q:\n%s", want, got)
		}
	}
}

package render

import (
	"io"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// setting has synonyms "SOURCE=value", the one that wins first.
func setting(name, inForce string, synonyms ...string) inspect.Config {
	c := inspect.Config{Name: name, Value: inspect.Known(inForce), ReadOnly: !strings.HasPrefix(name, "num.")}
	for _, s := range synonyms {
		source, value, _ := strings.Cut(s, "=")
		c.Synonyms = append(c.Synonyms, inspect.ConfigSynonym{Name: name, Value: inspect.Known(value), Source: inspect.ConfigSource(source)})
	}
	c.Source = c.Synonyms[0].Source
	return c
}

func configured() *inspect.Snapshot {
	s := healthy()
	for i := range s.Brokers {
		lag := []string{"30000", "12000", "30000"}[i]
		s.Brokers[i].Configs = inspect.Known([]inspect.Config{
			setting("replica.lag.time.max.ms", lag, "STATIC_BROKER_CONFIG="+lag, "DEFAULT_CONFIG=30000"),
			setting("num.replica.fetchers", "1", "DYNAMIC_DEFAULT_BROKER_CONFIG=5", "DEFAULT_CONFIG=1"),
			setting("num.io.threads", "8", "DEFAULT_CONFIG=8"),
			{Name: "replica.selector.class", Source: inspect.SourceDefault, ReadOnly: true},
			{Name: "secret", Source: inspect.SourceStatic, Sensitive: true},
		})
	}
	s.Topics[1].Configs = inspect.Known([]inspect.Config{
		setting("unclean.leader.election.enable", "true", "DYNAMIC_TOPIC_CONFIG=true", "DEFAULT_CONFIG=false"),
		setting("leader.replication.throttled.replicas", "", "DEFAULT_CONFIG="),
	})
	s.Topics[0].Configs = inspect.Known([]inspect.Config{
		setting("unclean.leader.election.enable", "true", "DYNAMIC_TOPIC_CONFIG=true", "DEFAULT_CONFIG=false"),
	})
	return s
}

func TestConfigsScreens(t *testing.T) {
	t.Parallel()
	screen := func(all bool) func(io.Writer, View, *inspect.Snapshot) error {
		return func(w io.Writer, v View, s *inspect.Snapshot) error { return Configs(w, v, s, s.Configs(), all) }
	}
	racks := healthy()
	for i, rack := range []string{"a", "b", "a"} {
		const source = "STATIC_BROKER_CONFIG"
		racks.Brokers[i].Configs = inspect.Known([]inspect.Config{
			setting("broker.rack", rack, source+"="+rack), setting("cordoned.log.dirs", "/d", source+"=/d", "DEFAULT_CONFIG="),
		})
	}
	racks.Brokers[1].Configs, racks.Brokers[1].Fenced = inspect.Unknown[[]inspect.Config](), inspect.Known(true)
	racks.Brokers = append(racks.Brokers, racks.Brokers[2])
	racks.Brokers[3].ID = 4
	racks.Brokers[3].Configs = inspect.Known([]inspect.Config{setting("broker.rack", "b", "STATIC_BROKER_CONFIG=b")})
	racks.Gone = []inspect.BrokerID{5}
	defer checkFacets(t, "racks.txtar", facet{"racks", racks, screen(false)})
	checkFacets(t, "configs.txtar", facet{"remarkable", configured(), screen(false)}, facet{"all", configured(), screen(true)})
}

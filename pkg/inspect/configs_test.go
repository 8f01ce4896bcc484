package inspect

import (
	"slices"
	"strings"
	"testing"
)

// conf is a setting with its synonyms: "SOURCE=value", the one that wins first.
func conf(name, inForce string, synonyms ...string) Config {
	c := Config{Name: name, Source: SourceOther}
	if inForce != "" {
		c.Value = Known(inForce)
	}
	for _, s := range synonyms {
		source, value, set := strings.Cut(s, "=")
		syn := ConfigSynonym{Name: name, Source: ConfigSource(source)}
		if set {
			syn.Value = Known(value)
		}
		c.Synonyms = append(c.Synonyms, syn)
	}
	if len(c.Synonyms) > 0 {
		c.Source = c.Synonyms[0].Source
	}
	return c
}

func TestConfig(t *testing.T) {
	t.Parallel()
	secret := conf("x", "", "STATIC_BROKER_CONFIG=a", "DEFAULT_CONFIG=b")
	secret.Sensitive = true
	foreign := conf("log.flush.interval.ms", "", "STATIC_BROKER_CONFIG=5")
	foreign.Synonyms[0].Name = "log.flush.scheduler.interval.ms"
	for _, tt := range []struct {
		name       string
		c          Config
		deviates   bool
		notApplied string
	}{
		{"default", conf("x", "1", "DEFAULT_CONFIG=1"), false, "-"},
		{"set", conf("x", "2", "STATIC_BROKER_CONFIG=2", "DEFAULT_CONFIG=1"), true, "-"},
		{"set to the default", conf("x", "1", "STATIC_BROKER_CONFIG= 01", "DEFAULT_CONFIG=1"), false, "-"},
		{"set, no default", conf("x", "a", "STATIC_BROKER_CONFIG=a"), true, "-"},
		{"stored and refused", conf("x", "1", "DYNAMIC_DEFAULT_BROKER_CONFIG=5", "DEFAULT_CONFIG=1"), false, "5"},
		{"no synonyms", conf("x", "1"), false, "-"},
		{"sensitive", secret, true, "-"},
		{"a synonym by another name", foreign, false, "-"},
	} {
		if got := tt.c.Deviates(); got != tt.deviates {
			t.Errorf("%s: deviates = %t, want %t", tt.name, got, tt.deviates)
		}
		if got := tt.c.NotApplied().String(); got != tt.notApplied {
			t.Errorf("%s: not applied = %s, want %s", tt.name, got, tt.notApplied)
		}
	}
}

func TestConfigs(t *testing.T) {
	t.Parallel()
	s := cluster(part(1, "123", "123", 2))
	for i := range s.Brokers[:2] {
		lag := []string{"8000", "30000"}[i]
		s.Brokers[i].Configs = Known([]Config{
			conf("replica.lag.time.max.ms", lag, "STATIC_BROKER_CONFIG="+lag, "DEFAULT_CONFIG=30000"),
			conf("num.replica.fetchers", "1", "DYNAMIC_DEFAULT_BROKER_CONFIG=5", "DEFAULT_CONFIG=1"),
			conf("broker.session.timeout.ms", "9000", "DEFAULT_CONFIG=9000"),
			conf("broker.rack", []string{"a", "b"}[i], "STATIC_BROKER_CONFIG=a"),
		})
	}
	s.Topics[0].Configs = Known([]Config{
		conf("min.insync.replicas", "4", "DYNAMIC_TOPIC_CONFIG=4", "DEFAULT_CONFIG=1"),
		conf("unclean.leader.election.enable", "true", "STATIC_BROKER_CONFIG=true", "DEFAULT_CONFIG=false"),
		conf("leader.replication.throttled.replicas", "*", "DYNAMIC_TOPIC_CONFIG=*", "DEFAULT_CONFIG="),
	})
	reports := s.Configs()
	find := func(entity, name string) ConfigReport {
		i := slices.IndexFunc(reports, func(r ConfigReport) bool { return r.Entity == entity && r.Name == name })
		if i < 0 {
			t.Fatalf("no %s of %s", name, entity)
		}
		return reports[i]
	}
	for _, tt := range []struct {
		entity, name         string
		disagree, remarkable bool
		note                 string
	}{
		{"1", "replica.lag.time.max.ms", true, true, "below broker.session.timeout.ms (9000)"},
		{"2", "replica.lag.time.max.ms", true, true, ""},
		{"1", "num.replica.fetchers", false, true, "stored as 5 in DYNAMIC_DEFAULT_BROKER_CONFIG, but not in force"},
		{"1", "broker.session.timeout.ms", false, false, ""},
		{"1", "broker.rack", false, true, ""},
		{"t", "min.insync.replicas", false, true, "Kafka uses 3"},
		{"t", "unclean.leader.election.enable", false, true, "records are lost"},
		{"t", "leader.replication.throttled.replicas", false, true, "left behind"},
	} {
		r := find(tt.entity, tt.name)
		notes := strings.Join(r.Notes, "\n")
		if r.Disagree != tt.disagree || r.Remarkable() != tt.remarkable || !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
			t.Errorf("%s %s: disagree %t, remarkable %t, notes %q; want %t, %t, %q", tt.entity, tt.name, r.Disagree, r.Remarkable(), notes, tt.disagree, tt.remarkable, tt.note)
		}
	}
	if reports[0].Name != "broker.rack" || reports[len(reports)-1].Entity != "t" {
		t.Errorf("order: first %s, last of %s", reports[0].Name, reports[len(reports)-1].Entity)
	}
}

func TestConfigNamesAreSorted(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(BrokerConfigNames[:]) || !slices.IsSorted(TopicConfigNames[:]) {
		t.Error("not sorted")
	}
}

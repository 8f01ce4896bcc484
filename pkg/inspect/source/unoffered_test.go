package source_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// passesOfAll have every request among them.
func passesOfAll(t *testing.T, bootstrap string) []*inspect.Snapshot {
	t.Helper()
	const all = everything | transactionParts | inspect.PartFeatures | inspect.PartReplicaLogs | inspect.PartConfigs
	return []*inspect.Snapshot{
		snapshot(t, bootstrap, all, ample), groupPass(t, bootstrap, ample, source.GroupQuery{Times: true}),
	}
}

func transactionalGroups() *fakekafka.Model {
	m := transactional()
	for name, kind := range map[string]string{"classic": fakekafka.ClassicGroup, "modern": fakekafka.ConsumerGroup} {
		g := m.AddGroup(name, kind)
		g.Coordinator = 2
		g.Commit("t", 0, 5)
	}
	return m
}

// TestUnoffered: a broker is never asked for what it does not have. What is unknown
// by it is a notice, one line for an API however many brokers there are, and no
// failure; and no line at all where another API tells the same.
func TestUnoffered(t *testing.T) {
	t.Parallel()
	silent := []kmsg.Key{
		kmsg.DescribeTopicPartitions, kmsg.DescribeCluster, kmsg.DescribeQuorum, kmsg.ConsumerGroupDescribe, kmsg.FindCoordinator,
	}
	for key := range fakekafka.APIs() {
		if key == kmsg.ApiVersions || key == kmsg.Metadata {
			continue
		}
		for where, lacks := range map[string]func(*fakekafka.Model){
			"anywhere": func(m *fakekafka.Model) { m.APIs = fakekafka.APIs(key) },
			"at one":   func(m *fakekafka.Model) { m.Broker(2).APIs = fakekafka.APIs(key) },
		} {
			t.Run(key.Name()+" "+where, func(t *testing.T) {
				t.Parallel()
				m := transactionalGroups()
				lacks(m)
				c := fakekafka.Start(t, m)
				total := 0
				for _, s := range passesOfAll(t, c.Bootstrap()) {
					var notices []string
					if !s.Complete() {
						t.Errorf("failures: %s", texts(s.Failures))
					}
					for _, f := range s.Failures {
						if f.Request != key.Name() || !strings.Contains(f.Error, "not offer it") || f.Lost == "" {
							t.Errorf("an odd line: %s", texts([]inspect.Failure{f}))
						}
						if slices.Contains(notices, f.Lost) {
							t.Errorf("twice the same line: %s", texts(s.Failures))
						}
						notices = append(notices, f.Lost)
					}
					total += len(notices)
				}
				for _, r := range c.Requests() {
					if r.Key == key && (where == "anywhere" || r.Broker == 2) {
						t.Errorf("broker %d is asked for %s version %d, which it does not have", r.Broker, key.Name(), r.Version)
					}
				}
				// What the bootstrap broker alone is asked for is lost only where that one lacks it.
				lost := where == "anywhere" || key != kmsg.ListPartitionReassignments
				if quiet := slices.Contains(silent, key) || !lost; quiet != (total == 0) {
					t.Errorf("%d notices", total)
				}
			})
		}
	}
}

// TestOfferedToOthers: an API that a broker has only in versions that are newer
// than ours could be asked by somebody: that is a failure.
func TestOfferedToOthers(t *testing.T) {
	t.Parallel()
	m := transactionalGroups()
	m.APIs = fakekafka.APIs()
	m.APIs[kmsg.DescribeConfigs] = fakekafka.VersionRange{Min: 9, Max: 10}
	c := fakekafka.Start(t, m)
	s := snapshot(t, c.Bootstrap(), inspect.PartELR, ample)
	if got := texts(s.Failures); s.Complete() || !strings.Contains(got, "the broker offers it from version 9 on") {
		t.Errorf("failures: %s", got)
	}
	if n := c.Count(kmsg.DescribeConfigs); n != 0 {
		t.Errorf("%d requests of a version that the broker does not have", n)
	}
}

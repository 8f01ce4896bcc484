package exporter

import (
	"fmt"
	"testing"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What a broker is asked, at most. At one broker, questions about the whole cluster
// come on top.
const (
	mostInCollection = 10
	mostInSample     = 2
	// wholeInCollection are Metadata, DescribeCluster, DescribeConfigs,
	// ListPartitionReassignments and DescribeQuorum.
	wholeInCollection = 5
	wholeInSample     = 1
	// wholeIfLeaderless is DescribeTopicPartitions, in both.
	wholeIfLeaderless = 1
	// groupsAtOnce is how many groups one OffsetFetch has.
	groupsAtOnce = 100
)

// TestRequests: what is asked does not depend on how many partitions and groups
// there are, but for one OffsetFetch for every hundred groups.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ topics, groups int }{{1, 1}, {20, 150}, {60, 650}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			const brokers = 3
			m := fakekafka.NewModel(brokers)
			m.AddTopics("t", size.topics, 10, 3)
			for i := range size.groups {
				kind := fakekafka.ClassicGroup
				if i%2 == 0 {
					kind = fakekafka.ConsumerGroup
				}
				g := m.AddGroup(fmt.Sprintf("g-%04d", i), kind)
				g.Join("m", "t-0000", 0)
				g.Commit("t-0000", 0, 0)
			}
			c := fakekafka.Start(t, m)
			r := newRig(t, c, patience, nil)
			r.collectNow() // opens the connections
			r.sampleNow()
			c.Reset()
			r.collectNow()
			for broker, n := range asked(c) {
				fetches := n[kmsg.OffsetFetch]
				// A broker has a third of the groups, give or take.
				if most := 1 + size.groups/groupsAtOnce; fetches > most {
					t.Errorf("collection: %d OffsetFetch to broker %d, want at most %d", fetches, broker, most)
				}
			}
			wantMost(t, "collection", asked(c), mostInCollection, wholeInCollection, brokers)
			c.Reset()
			r.sampleNow()
			wantMost(t, "sample", asked(c), mostInSample, wholeInSample, brokers)
			c.Reset()
			for range 10 {
				r.scrape()
			}
			if n := len(c.Requests()); n > 0 {
				t.Errorf("10 scrapes sent %d requests", n)
			}
		})
	}
}

// TestRequestsIfLeaderless: one more, of one broker, for the ELR.
func TestRequestsIfLeaderless(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) {
		p := m.Topic("t").Partitions[0]
		p.Leader, p.ISR = fakekafka.NoLeader, nil
	})
	r := newRig(t, c, patience, nil)
	r.collectNow()
	r.sampleNow()
	for _, tt := range []struct {
		what        string
		pass        func()
		most, whole int
	}{
		{"collection", r.collectNow, mostInCollection, wholeInCollection},
		{"sample", r.sampleNow, mostInSample, wholeInSample},
	} {
		c.Reset()
		tt.pass()
		wantMost(t, tt.what, asked(c), tt.most, tt.whole+wholeIfLeaderless, 3)
		if n := c.Count(kmsg.DescribeTopicPartitions); n != wholeIfLeaderless {
			t.Errorf("%s: %d DescribeTopicPartitions, want %d", tt.what, n, wholeIfLeaderless)
		}
		if n := c.Count(kmsg.ApiVersions); n > 0 {
			t.Errorf("%s: %d connections were opened", tt.what, n)
		}
	}
}

// wantMost allows every broker most, and one of them whole on top.
func wantMost(t *testing.T, what string, all map[int32]perKey, most, whole, brokers int) {
	t.Helper()
	if len(all) != brokers {
		t.Errorf("%s: %d brokers were asked, want %d", what, len(all), brokers)
	}
	over := 0
	for broker, n := range all {
		sum := n.sum() - n[kmsg.OffsetFetch]
		if sum > most {
			over++
		}
		if sum > most+whole {
			t.Errorf("%s: %d requests to broker %d, want at most %d: %v", what, sum, broker, most+whole, n)
		}
	}
	if over > 1 {
		t.Errorf("%s: %d brokers got more than %d requests: %v", what, over, most, all)
	}
}

type perKey map[fakekafka.Key]int

func (k perKey) sum() int {
	n := 0
	for _, of := range k {
		n += of
	}
	return n
}

// asked counts requests by broker and API.
func asked(c *fakekafka.Cluster) map[int32]perKey {
	out := map[int32]perKey{}
	for _, q := range c.Requests() {
		if out[q.Broker] == nil {
			out[q.Broker] = perKey{}
		}
		out[q.Broker][q.Key]++
	}
	return out
}

// TestConnectionsAreKept: passes do not shake hands again.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	c := startS0(t, nil)
	r := newRig(t, c, patience, nil)
	r.collectNow()
	r.sampleNow()
	c.Reset()
	for range 5 {
		r.sampleNow()
	}
	if n := c.Count(kmsg.ApiVersions); n > 0 {
		t.Errorf("5 samples opened %d connections", n)
	}
	// A broker that was restarted meanwhile is asked over a new one, and is no failure.
	for id := range int32(3) {
		c.Break(id, fakekafka.Faults{Refuse: true})
		c.Heal(id)
	}
	r.collectNow()
	r.scrape().is(t, `kafkaops_collections_total{result="partial"} 0`, `kafkaops_collections_total{result="complete"} 2`)
}

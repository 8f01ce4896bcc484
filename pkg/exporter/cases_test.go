package exporter

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The tests in this file are public reports of other exporters, each as a small
// case with the output that would have been right: values, and what is absent.
// KE is danielqsj/kafka_exporter, KM redpanda-data/kminion.

// soon is what a scrape takes at most, on a machine that is busy with other things:
// less than any timeout of a collection that hangs, for it waits for nothing.
const soon = 30 * time.Second

// scrapeSoon scrapes, and is not made to wait.
func (r *rig) scrapeSoon() scraped {
	r.t.Helper()
	began := time.Now()
	s := r.scrape()
	if took := time.Since(began); took > soon {
		r.t.Errorf("scrape took %s, want at most %s", took, soon)
	}
	return s
}

// TestGroupOnTwoCoordinators: KE #280 #306 #157, KM #133 #335. The whole scrape was
// HTTP 500.
func TestGroupOnTwoCoordinators(t *testing.T) {
	t.Parallel()
	for _, knowsToo := range []bool{false, true} {
		t.Run(fmt.Sprintf("the other describes it too %v", knowsToo), func(t *testing.T) {
			t.Parallel()
			c := startS0(t, nil)
			c.Intercept(func(broker int32, req kmsg.Request) (kmsg.Response, bool) {
				if broker != 0 {
					return nil, false
				}
				return secondCoordinator(req, knowsToo)
			})
			r := newRig(t, c, patience, nil)
			r.collectNow()
			s := r.scrapeSoon()
			s.is(t, lagLines(10, 0, 20)...)
			s.is(t,
				`kafka_consumergroup_members{consumergroup="g"} 1`,
				`kafka_consumergroup_lag_sum{consumergroup="g",topic="t"} 30`,
				`kafka_topic_partition_in_sync_replica{topic="t",partition="2"} 3`,
				`kafkaops_up 1`,
			)
			s.count(t, 1, `kafkaops_collection_errors_total\{broker="[01]",kind="duplicate-group"} 1`)
			s.count(t, 1, `kafka_consumergroup_members.*`)
		})
	}
}

// secondCoordinator lists g as its own, and tells of it or says that it is not its.
func secondCoordinator(req kmsg.Request, knows bool) (kmsg.Response, bool) {
	const notCoordinator = 16
	code := int16(notCoordinator)
	if knows {
		code = 0
	}
	switch req := req.(type) {
	case *kmsg.ListGroupsRequest:
		resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
		g := kmsg.NewListGroupsResponseGroup()
		g.Group, g.ProtocolType, g.GroupState, g.GroupType = "g", "consumer", "Stable", "classic"
		resp.Groups = append(resp.Groups, g)
		return resp, true
	case *kmsg.DescribeGroupsRequest:
		resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
		g := kmsg.NewDescribeGroupsResponseGroup()
		g.Group, g.ErrorCode, g.State, g.ProtocolType = "g", code, "Stable", "consumer"
		g.Members = append(g.Members, kmsg.NewDescribeGroupsResponseGroupMember())
		resp.Groups = append(resp.Groups, g)
		return resp, true
	case *kmsg.OffsetFetchRequest:
		resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
		g := kmsg.NewOffsetFetchResponseGroup()
		g.Group, g.ErrorCode = "g", code
		if knows {
			topic := kmsg.NewOffsetFetchResponseGroupTopic()
			topic.Topic = "t"
			for i, at := range []int64{90, 100, 80} {
				p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
				p.Partition, p.Offset = int32(i), at
				topic.Partitions = append(topic.Partitions, p)
			}
			g.Topics = append(g.Topics, topic)
		}
		resp.Groups = append(resp.Groups, g)
		return resp, true
	}
	return nil, false
}

func lagLines(lags ...int) []string {
	var out []string
	for i, lag := range lags {
		out = append(out, fmt.Sprintf(`kafka_consumergroup_lag{consumergroup="g",topic="t",partition="%d"} %d`, i, lag))
	}
	return out
}

// TestNoCommitOnOnePartition: KE #28, PR #520. −1 was in the sum: 169.
func TestNoCommitOnOnePartition(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{true, false} { // as −1, or not at all
		c := startS0(t, func(m *fakekafka.Model) {
			if told {
				m.Group("g").Commit("t", 1, -1)
			} else {
				delete(m.Group("g").Commits["t"], 1)
			}
		})
		r := newRig(t, c, patience, nil)
		r.collectNow()
		s := r.scrapeSoon()
		s.is(t,
			`kafka_consumergroup_current_offset{consumergroup="g",topic="t",partition="0"} 90`,
			`kafka_consumergroup_lag{consumergroup="g",topic="t",partition="2"} 20`,
			`kafka_consumergroup_current_offset_sum{consumergroup="g",topic="t"} 170`,
			`kafka_consumergroup_lag_sum{consumergroup="g",topic="t"} 30`,
		)
		s.count(t, 0, `kafka_consumergroup_.*partition="1".*`)
		s.count(t, 0, `.* -1`)
	}
}

// TestCommittedBeyondEnd: KE #437 #76, lag-exporter #197, Burrow #256. The topic was
// created anew: KE had a sum of −255, KM a lag of 0 and no signal.
func TestCommittedBeyondEnd(t *testing.T) {
	t.Parallel()
	c := startS0(t, nil)
	r := newRig(t, c, patience, nil)
	r.collectNow()
	r.scrape().is(t, `kafka_consumergroup_committed_beyond_end{consumergroup="g",topic="t",partition="0"} 0`)
	c.Change(func(m *fakekafka.Model) {
		topic := m.Topic("t")
		topic.ID = [16]byte{1}
		for _, p := range topic.Partitions {
			p.HW = 5
		}
	})
	r.collectNow()
	s := r.scrapeSoon()
	s.is(t, lagLines(0, 0, 0)...)
	s.count(t, 3, `kafka_consumergroup_committed_beyond_end.* 1`)
	s.count(t, 0, `.* -\d+`)
}

// TestLeaderlessPartition: KE #397 #311. The scrape took 6 s; KM's sum was 10, as
// if it were whole.
func TestLeaderlessPartition(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) {
		p := m.Topic("t").Partitions[2]
		p.Leader, p.ISR, p.Offline = fakekafka.NoLeader, []int32{2}, []int32{2, 0, 1}
	})
	r := newRig(t, c, patience, nil)
	r.collectNow()
	s := r.scrapeSoon()
	s.is(t,
		`kafka_topic_partition_offline{topic="t",partition="2"} 1`,
		`kafka_topic_partition_offline{topic="t",partition="1"} 0`,
		`kafka_topic_partition_under_replicated_partition{topic="t",partition="2"} 1`,
		`kafka_topic_partition_leader{topic="t",partition="2"} -`,
		`kafka_topic_partition_leader_is_preferred{topic="t",partition="2"} -`,
		`kafka_topic_partition_leader{topic="t",partition="1"} 1`,
		`kafka_topic_partition_current_offset{topic="t",partition="2"} -`,
		`kafka_topic_partition_replica_lag_records{topic="t",partition="2",broker="1"} -`,
		`kafka_topic_partition_replica_log_end_offset{topic="t",partition="2",broker="1"} 100`,
		`kafka_consumergroup_lag_sum{consumergroup="g",topic="t"} -`,
		`kafka_consumergroup_current_offset_sum{consumergroup="g",topic="t"} -`,
		`kafka_consumergroup_current_offset{consumergroup="g",topic="t",partition="2"} 80`,
		`kafka_consumergroup_lag{consumergroup="g",topic="t",partition="0"} 10`,
		`kafka_consumergroup_lag{consumergroup="g",topic="t",partition="2"} -`,
		`kafka_consumergroup_lag_seconds{consumergroup="g",topic="t",partition="2"} -`,
		`kafka_cluster_offline_partitions 1`,
	)
	s.count(t, 0, `kafka_(consumergroup|topic_partition_(leader|current)).* -1`)
}

// TestBrokerDead: KE #210 #467, bitnami/containers #48530. The scrape took 53 s, no
// metric said offline, KM had a lag of 0.
func TestBrokerDead(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) {
		rf1 := m.AddTopic("rf1", 10, 1)
		for i, p := range rf1.Partitions {
			p.Replicas, p.ISR, p.Leader = []int32{2}, []int32{2}, fakekafka.NoLeader
			m.Group("g").Commit("rf1", int32(i), 7)
		}
		for _, p := range m.Topic("t").Partitions {
			p.ISR = []int32{0, 1}
		}
		m.Topic("t").Partitions[2].Leader = 0
		m.Brokers = m.Brokers[:2]
	})
	r := newRig(t, c, patience, nil)
	r.collectNow()
	s := r.scrapeSoon()
	s.is(t,
		`kafka_brokers 2`,
		`kafka_cluster_offline_partitions 10`,
		`kafka_cluster_under_replicated_partitions 3`,
		`kafka_broker_out_of_sync_replicas{broker="2"} 3`,
		`kafka_broker_up{broker="2"} 0`, // not listed, and has replicas
		`kafka_broker_up{broker="1"} 1`,
	)
	s.count(t, 10, `kafka_topic_partition_offline\{topic="rf1".* 1`)
	s.count(t, 3, `kafka_topic_partition_under_replicated_partition\{topic="t".* 1`)
	s.count(t, 0, `kafka_consumergroup_lag.*topic="rf1".*`)
}

// TestHungBroker: KE #279 #497, KM #253. It accepts and never answers: 180 s and 60 s,
// and with KM no offsets at all.
func TestHungBroker(t *testing.T) {
	t.Parallel()
	const timeout = 3 * time.Second // one request gets a second of it
	c := startS0(t, nil)
	r := newRig(t, c, timeout, nil)
	r.collectNow()
	c.Break(2, fakekafka.Faults{Mute: true})
	for i := range 2 { // over connections that were open when it hung, and without
		began := time.Now()
		r.collectNow()
		if took := time.Since(began); took > 3*timeout {
			t.Errorf("collection %d took %s with a timeout of %s", i, took, timeout)
		}
		s := r.scrapeSoon()
		s.is(t,
			`kafka_topic_partition_current_offset{topic="t",partition="0"} 100`,
			`kafka_topic_partition_current_offset{topic="t",partition="1"} 100`,
			`kafka_topic_partition_current_offset{topic="t",partition="2"} -`,
			`kafka_topic_partition_in_sync_replica{topic="t",partition="2"} 3`,
			`kafka_topic_partition_replica_log_end_offset{topic="t",partition="0",broker="2"} -`,
			`kafka_consumergroup_members{consumergroup="g"} 1`,
			`kafka_consumergroup_current_offset{consumergroup="g",topic="t",partition="2"} 80`,
			`kafka_consumergroup_lag{consumergroup="g",topic="t",partition="0"} 10`,
			`kafka_consumergroup_lag{consumergroup="g",topic="t",partition="2"} -`,
			`kafka_consumergroup_lag_sum{consumergroup="g",topic="t"} -`,
			`kafka_broker_up{broker="1"} 1`,
			`kafka_broker_up{broker="2"} 0`,
			`kafkaops_up 1`,
			fmt.Sprintf(`kafkaops_collections_total{result="partial"} %d`, i+1),
		)
		s.count(t, 1, `kafkaops_collection_errors_total\{broker="2",kind="timeout"} .*`)
	}
	// The samples between do not wait for it again.
	c.Reset()
	began := time.Now()
	r.sampleNow()
	if took := time.Since(began); took > timeout {
		t.Errorf("sample took %s", took)
	}
	for _, q := range c.Requests() {
		if q.Broker == 2 && q.Key == kmsg.ListOffsets {
			t.Error("a sample asked the broker that is hung")
		}
	}
	c.Heal(2)
	r.collectNow()
	r.scrape().is(t, `kafka_broker_up{broker="2"} 1`, `kafka_topic_partition_current_offset{topic="t",partition="2"} 100`)
	c.Reset()
	r.sampleNow()
	if n := asked(c)[2][kmsg.ListOffsets]; n == 0 {
		t.Error("the samples do not ask the broker that is well again")
	}
}

// TestRefusingBroker: KM #253, #93. One broker's port is closed: all groups and lags
// were lost.
func TestRefusingBroker(t *testing.T) {
	t.Parallel()
	c := startS0(t, nil)
	c.Break(2, fakekafka.Faults{Refuse: true})
	r := newRig(t, c, patience, nil)
	r.collectNow()
	s := r.scrapeSoon()
	s.is(t, lagLines(10, 0)...)
	s.is(t,
		`kafka_broker_up{broker="2"} 0`, `kafka_brokers 3`,
		`kafka_consumergroup_members{consumergroup="g"} 1`,
		`kafkaops_collection_errors_total{broker="2",kind="dial"} 1`,
		`kafka_consumergroup_lag{consumergroup="g",topic="t",partition="2"} -`,
	)
}

// TestClusterGoesAway: KE #148 #153 #207. 200 with an ISR of 3 and no under-replicated
// partition, from a cache; /ready said 200.
func TestClusterGoesAway(t *testing.T) {
	t.Parallel()
	c := startS0(t, nil)
	r := newRig(t, c, patience, nil)
	if code := r.get("/readyz").Code; code != http.StatusServiceUnavailable {
		t.Errorf("/readyz before anything was observed: got %d, want 503", code)
	}
	r.collectNow()
	if code := r.get("/readyz").Code; code != http.StatusOK {
		t.Errorf("/readyz: got %d, want 200", code)
	}
	for id := range int32(3) {
		c.Break(id, fakekafka.Faults{Refuse: true})
	}
	r.collectNow()
	// It was observed a moment ago, and that is how old it is said to be.
	r.scrapeSoon().is(t,
		`kafkaops_up 0`,
		`kafka_topic_partition_in_sync_replica{topic="t",partition="0"} 3`,
		`kafkaops_collection_errors_total{broker="",kind="bootstrap"} 1`,
		`kafkaops_collections_total{result="failed"} 1`,
	)
	r.clock.at = r.clock.at.Add(31 * time.Second)
	for range 2 {
		s := r.scrapeSoon()
		s.is(t, `kafkaops_up 0`)
		s.count(t, 0, `kafka_.*`)
		if code := r.get("/readyz").Code; code != http.StatusServiceUnavailable {
			t.Errorf("/readyz: got %d, want 503", code)
		}
		if code := r.get("/healthz").Code; code != http.StatusOK {
			t.Errorf("/healthz: got %d, want 200: the process is well", code)
		}
	}
	for id := range int32(3) {
		c.Heal(id)
	}
	r.collectNow()
	r.scrapeSoon().is(t, `kafkaops_up 1`, `kafka_topic_partition_in_sync_replica{topic="t",partition="0"} 3`)
}

// TestShortISRShrink: KE PR #75. A shrink of 14 s was shown after it had healed, or
// not at all; no counter told of it.
func TestShortISRShrink(t *testing.T) {
	t.Parallel()
	c := startS0(t, nil)
	r := newRig(t, c, patience, nil)
	shrunken := func(yes bool) {
		c.Change(func(m *fakekafka.Model) {
			m.Topic("t").Partitions[0].ISR = []int32{0, 1, 2}
			if yes {
				m.Topic("t").Partitions[0].ISR = []int32{0, 1}
			}
		})
	}
	const (
		shrinks = `kafka_topic_partition_isr_shrinks_total{topic="t",partition="0"} `
		expands = `kafka_topic_partition_isr_expands_total{topic="t",partition="0"} `
		left    = `kafka_broker_isr_shrinks_total{broker="2",cause="unknown"} `
		came    = `kafka_broker_isr_expands_total{broker="2",cause="caught-up"} `
		under   = `kafka_topic_partition_under_replicated_partition{topic="t",partition="0"} `
	)
	r.collectNow()
	r.scrape().is(t, shrinks+"0", expands+"0", left+"0", came+"0", under+"0")
	shrunken(true)
	r.sampleNow()
	r.collectNow()
	r.scrape().is(t, shrinks+"1", expands+"0", left+"1", came+"0", under+"1")
	r.sampleNow()
	shrunken(false)
	r.sampleNow()
	// One that heals between two collections is counted by the samples.
	shrunken(true)
	r.sampleNow()
	shrunken(false)
	r.sampleNow()
	r.collectNow()
	s := r.scrape()
	s.is(t, shrinks+"2", expands+"2", left+"2", came+"2", under+"0",
		`kafka_broker_isr_shrinks_total{broker="1",cause="unknown"} 0`, `kafkaops_isr_source{source="metadata-diff"} 1`, `kafkaops_isr_source{source="metadata-log"} 0`,
		`kafkaops_isr_gaps_total 0`)
}

// TestReassignmentInProgress: apache/kafka #7361 (KIP-352). What is being added is
// not missing.
func TestReassignmentInProgress(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) {
		p := m.Topic("t").Partitions[0]
		p.ISR, p.Adding, p.Removing = []int32{0, 1}, []int32{2}, []int32{1}
	})
	r := newRig(t, c, patience, nil)
	r.collectNow()
	r.scrapeSoon().is(t,
		`kafka_topic_partition_under_replicated_partition{topic="t",partition="0"} 0`,
		`kafka_topic_partition_reassigning{topic="t",partition="0"} 1`,
		`kafka_topic_partition_reassigning{topic="t",partition="1"} 0`,
		`kafka_cluster_under_replicated_partitions 0`,
	)
	// Where nobody says so, a lost replica must not hide behind it.
	c.Change(func(m *fakekafka.Model) { m.Deny = []fakekafka.Key{kmsg.ListPartitionReassignments} })
	r.collectNow()
	r.scrapeSoon().is(t,
		`kafka_topic_partition_under_replicated_partition{topic="t",partition="0"} 1`,
		`kafka_topic_partition_reassigning{topic="t",partition="1"} -`,
		`kafkaops_collection_errors_total{broker="",kind="authorization"} 1`,
	)
}

// TestEffectiveMinISR: KE PR #96, KM #116, cruise-control #319.
func TestEffectiveMinISR(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) {
		single := m.AddTopic("single", 1, 1)
		single.MinInsyncReplicas = 2
		m.Topic("t").Partitions[0].ISR = []int32{0}
	})
	r := newRig(t, c, patience, nil)
	r.collectNow()
	r.scrapeSoon().is(t,
		`kafka_topic_partition_min_insync_replicas{topic="single",partition="0"} 1`,
		`kafka_topic_partition_isr_headroom{topic="single",partition="0"} 0`,
		`kafka_topic_partition_under_min_isr{topic="single",partition="0"} 0`,
		`kafka_topic_partition_at_min_isr{topic="single",partition="0"} 0`,
		`kafka_topic_partition_isr_headroom{topic="t",partition="0"} -1`,
		`kafka_topic_partition_under_min_isr{topic="t",partition="0"} 1`,
		`kafka_cluster_under_min_isr_partitions 1`,
	)
	c.Change(func(m *fakekafka.Model) { m.Topic("single").DenyDescribeConfigs = true })
	r.collectNow()
	r.scrapeSoon().is(t,
		`kafka_topic_partition_min_insync_replicas{topic="single",partition="0"} -`,
		`kafka_topic_partition_isr_headroom{topic="single",partition="0"} -`,
		`kafka_topic_partition_under_min_isr{topic="single",partition="0"} -`,
		`kafka_topic_partition_under_min_isr{topic="t",partition="0"} 1`,
		`kafka_cluster_under_min_isr_partitions -`,
	)
}

// TestConsumerProtocolGroup: KE #533, KM #294, PR #352 (KIP-848). It had 0 members, or
// was missing.
func TestConsumerProtocolGroup(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) { m.Group("g").Type = fakekafka.ConsumerGroup })
	r := newRig(t, c, patience, nil)
	r.collectNow()
	s := r.scrapeSoon()
	s.is(t, lagLines(10, 0, 20)...)
	s.is(t,
		`kafka_consumergroup_members{consumergroup="g"} 1`,
		`kafka_consumergroup_info{consumergroup="g",type="consumer",state="Stable"} 1`,
		`kafka_consumergroup_lag_sum{consumergroup="g",topic="t"} 30`,
	)
}

// TestManyPartitions: KE #377 #505 #9. 600 partitions, 50 groups of 60 and 2 ms for
// every answer were 4,256 requests and 8 s.
func TestManyPartitions(t *testing.T) {
	t.Parallel()
	m := s0()
	m.AddTopics("many", 10, 60, 3)
	for i := range 50 {
		g := m.AddGroup(fmt.Sprintf("group-%02d", i), fakekafka.ClassicGroup)
		for p := range int32(60) {
			g.Commit(fmt.Sprintf("many-%04d", i%10), p, 0)
		}
	}
	c := fakekafka.Start(t, m)
	slow := map[fakekafka.Key]time.Duration{}
	for key := range fakekafka.APIs() {
		slow[key] = 2 * time.Millisecond
	}
	for id := range int32(3) {
		c.Break(id, fakekafka.Faults{Delay: slow})
	}
	r := newRig(t, c, patience, nil)
	r.collectNow()
	s := r.scrapeSoon()
	s.count(t, 603, `kafka_topic_partition_current_offset.*`)
	s.count(t, 3003, `kafka_consumergroup_lag\{.*`)
	body := r.get("/metrics").Body.String()
	for _, word := range []string{"# HELP ", "# TYPE "} {
		if n := strings.Count(body, word+"kafka_consumergroup_lag "); n != 1 {
			t.Errorf("%q stands %d times before one metric", word, n)
		}
	}
}

// TestNoSeriesComesAndGoes: KE #513 #526. The last series was missing from 181 of 300
// scrapes.
func TestNoSeriesComesAndGoes(t *testing.T) {
	t.Parallel()
	r := newRig(t, startS0(t, nil), patience, nil)
	r.collectNow()
	want := len(r.scrape())
	for i := range 300 {
		if i%100 == 0 {
			r.collectNow()
		}
		s := r.scrape()
		s.is(t, `kafka_consumergroup_lag_sum{consumergroup="g",topic="t"} 30`)
		// Requests that are first sent later have series of their own.
		if got := len(s); got != want {
			t.Fatalf("scrape %d: got %d series, want %d", i, got, want)
		}
	}
}

// TestOlderState: the broker that is asked first was paused, and tells what was before.
// That is not shown, and never for longer than --max-age.
func TestOlderState(t *testing.T) {
	t.Parallel()
	var older atomic.Int32 // how many answers to Metadata are
	c := startS0(t, nil)
	c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		if _, ok := req.(*kmsg.MetadataRequest); ok && older.Add(-1) >= 0 {
			c.Change(func(m *fakekafka.Model) {
				m.Topic("t").Partitions[0].LeaderEpoch, m.Topic("t").Partitions[0].ISR = 3, []int32{0, 1, 2}
			})
		} else if ok {
			c.Change(func(m *fakekafka.Model) {
				m.Topic("t").Partitions[0].LeaderEpoch, m.Topic("t").Partitions[0].ISR = 4, []int32{0, 1}
			})
		}
		return nil, false
	})
	r := newRig(t, c, patience, nil)
	const isr = `kafka_topic_partition_in_sync_replica{topic="t",partition="0"} `
	r.collectNow()
	r.scrape().is(t, isr+"2", `kafkaops_collections_total{result="complete"} 1`)
	older.Store(1)
	r.collectNow()
	r.scrape().is(t, isr+"2", `kafkaops_collections_total{result="complete"} 2`, `kafka_topic_partition_isr_expands_total{topic="t",partition="0"} 0`)
	older.Store(100)
	r.collectNow()
	r.scrape().is(t, isr+"2", "kafkaops_up 0", `kafkaops_collections_total{result="failed"} 1`,
		`kafkaops_collection_errors_total{broker="",kind="older"} 1`)
	older.Store(0)
	r.collectNow()
	r.scrape().is(t, isr+"2", "kafkaops_up 1", `kafka_broker_isr_shrinks_total{broker="2",cause="unknown"} 0`)
}

package source_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestSilentAddressesComeFirst: each address has a share of its own, so that the
// silent ones cannot use up that of the good one.
func TestSilentAddressesComeFirst(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(1)
	m.AddTopic("t", 1, 1)
	c := fakekafka.Start(t, m)
	list := fakekafka.SilentPort(t) + "," + fakekafka.SilentPort(t) + "," + fakekafka.SilentPort(t) + "," + c.Addr(1)
	s := snapshot(t, list, inspect.PartOffsets, 3*time.Second)
	if !s.Complete() || len(s.Failures) != 3 {
		t.Errorf("failures = %s, want a notice for each silent address", texts(s.Failures))
	}
}

// TestSlowAddressIsNotStruckOff: one that was only slow is asked again where the
// one that was quicker then fails.
func TestSlowAddressIsNotStruckOff(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(2)
	m.AddTopic("t", 1, 2)
	c := fakekafka.Start(t, m)
	c.Break(1, fakekafka.Faults{Delay: map[kmsg.Key]time.Duration{kmsg.ApiVersions: 700 * time.Millisecond}})
	c.Break(2, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.Metadata}})
	s := snapshot(t, c.Bootstrap(), inspect.PartOffsets, ample)
	partition(t, s, 0)
}

// TestReplicaRefusesForItself: a replica that cannot answer is no sign that the
// service does not know replica id −2; what the leader told stays.
func TestReplicaRefusesForItself(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(2)
	p := m.AddTopic("t", 1, 2).Partitions[0]
	p.HW = 50
	p.SetLEO(1, 75)
	m.Broker(2).LogDirs = []fakekafka.LogDir{{Path: "/d", Offline: true}}
	s := snapshot(t, fakekafka.Start(t, m).Bootstrap(), inspect.PartOffsets, ample)
	l := partition(t, s, 0).Lag()
	if l.LEO != inspect.Known(inspect.Offset(75)) || l.Uncommitted != inspect.Known(int64(25)) {
		t.Errorf("LEO %s, uncommitted %s; want 75 and 25", l.LEO, l.Uncommitted)
	}
	if s.Complete() || !strings.Contains(texts(s.Failures), "KAFKA_STORAGE_ERROR") || strings.Contains(texts(s.Failures), "this service") {
		t.Errorf("failures = %s, want KAFKA_STORAGE_ERROR of one replica", texts(s.Failures))
	}
}

// TestReplicaReadsAreProven: a leader that told an LEO above its HW knows replica
// id −2, whatever a follower says.
func TestReplicaReadsAreProven(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(2)
	p := m.AddTopic("t", 1, 2).Partitions[0]
	p.HW = 50
	p.SetLEO(1, 75)
	c := fakekafka.Start(t, m)
	c.Break(2, fakekafka.Faults{ReplicaReads: fakekafka.ReplicaReadsAsConsumer})
	s := snapshot(t, c.Bootstrap(), inspect.PartOffsets, ample)
	if l := partition(t, s, 0).Lag(); l.LEO != inspect.Known(inspect.Offset(75)) || s.Complete() {
		t.Errorf("LEO %s, failures %s; want 75 and a failure of the follower's", l.LEO, texts(s.Failures))
	}
}

// TestControllerIsDown: brokers hold ListPartitionReassignments while there is no
// controller; min ISR, which they know themselves, must not be lost with it.
func TestControllerIsDown(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	topic := m.AddTopic("t", 1, 3)
	topic.MinInsyncReplicas = 2
	topic.Partitions[0].Shrink(2, 3)
	c := fakekafka.Start(t, m)
	for id := int32(1); id <= 3; id++ {
		c.Break(id, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.ListPartitionReassignments}})
	}
	s := snapshot(t, c.Bootstrap(), inspect.PartELR, 3*time.Second)
	h := partition(t, s, 0).Health()
	if !h.Has(inspect.StatusUnderMinISR) || !h.Has(inspect.StatusUnknown) {
		t.Errorf("status = %v, want under-min-isr and unknown; failures %s", h.Status, texts(s.Failures))
	}
}

// TestCursorStandsStill: pages that do not go on end at once, and Metadata is
// asked instead.
func TestCursorStandsStill(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(1)
	m.AddTopic("t", 1, 1)
	c := fakekafka.Start(t, m)
	c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		if _, ok := req.(*kmsg.DescribeTopicPartitionsRequest); !ok {
			return nil, false
		}
		resp := kmsg.NewPtrDescribeTopicPartitionsResponse()
		cursor := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
		cursor.Topic = "t"
		resp.NextCursor = &cursor
		return resp, true
	})
	s := snapshot(t, c.Bootstrap(), inspect.PartELR, ample)
	if n := c.Count(kmsg.DescribeTopicPartitions); n != 2 || !strings.Contains(texts(s.Failures), "cursor stands still") {
		t.Errorf("%d pages, failures %s; want 2 and the cursor named", n, texts(s.Failures))
	}
	partition(t, s, 0)
}

// TestRefusedTopicBesidePages: Kafka puts a refused topic behind the others on
// every page, so that the topic that goes on is not the last one.
func TestRefusedTopicBesidePages(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	m.AddTopic("t", 2500, 3)
	m.AddTopic("a", 1, 3).DenyDescribe = true
	s := snapshot(t, fakekafka.Start(t, m).Bootstrap(), inspect.PartELR, ample, "a", "t")
	if len(s.Topics) != 2 || len(s.Topics[1].Partitions) != 2500 {
		t.Errorf("%d topics, want a refused and t with 2500 partitions", len(s.Topics))
	}
}

// TestConfigWithoutValue: an answer that leaves a topic out, or gives it a minimum
// that cannot be one, is a failure and no minimum.
func TestConfigWithoutValue(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "none", "-3"} {
		m := fakekafka.NewModel(1)
		m.AddTopic("t", 1, 1)
		c := fakekafka.Start(t, m)
		c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
			if _, ok := req.(*kmsg.DescribeConfigsRequest); !ok {
				return nil, false
			}
			resp := kmsg.NewPtrDescribeConfigsResponse()
			r := kmsg.NewDescribeConfigsResponseResource()
			r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, "t"
			entry := kmsg.NewDescribeConfigsResponseResourceConfig()
			entry.Name, entry.Value = "min.insync.replicas", &value
			r.Configs = append(r.Configs, entry)
			if value != "" {
				resp.Resources = append(resp.Resources, r)
			}
			return resp, true
		})
		s := snapshot(t, c.Bootstrap(), inspect.PartELR, ample)
		if p := partition(t, s, 0); p.MinInsyncReplicas.IsKnown() || s.Complete() {
			t.Errorf("value %q: min ISR %s, failures %s; want unknown and a failure", value, p.MinInsyncReplicas, texts(s.Failures))
		}
	}
}

// TestUncleanElection: whether a topic allows unclean elections comes with its minimum.
func TestUncleanElection(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(1)
	for _, value := range []string{"false", "true"} {
		m.AddTopic(value, 1, 1).Configs = map[string]string{"unclean.leader.election.enable": value}
	}
	m.AddTopic("untold", 1, 1)
	s := snapshot(t, fakekafka.Start(t, m).Bootstrap(), inspect.PartELR, ample)
	for i, want := range []inspect.Opt[bool]{inspect.Known(false), inspect.Known(true), inspect.Unknown[bool]()} {
		if topic := &s.Topics[i]; topic.UncleanElection != want || !topic.MinInsyncReplicas.IsKnown() {
			t.Errorf("%s: got %v, min ISR %s; want %v and a known one", topic.Name, topic.UncleanElection, topic.MinInsyncReplicas, want)
		}
	}
}

// TestAddressFailsHalfWay: what an address could not answer is no failure where
// the next one answers it all.
func TestAddressFailsHalfWay(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(2)
	m.AddTopic("t", 1, 2)
	c := fakekafka.Start(t, m)
	c.Break(1, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.DescribeTopicPartitions, kmsg.Metadata}})
	s := snapshot(t, c.Bootstrap(), inspect.PartELR, ample)
	if p := partition(t, s, 0); !s.Complete() || !p.ELR.IsKnown() || s.Verdict().Level != inspect.LevelOK {
		t.Errorf("ELR %s, failures %s; want all of it from the second address", p.ELR, texts(s.Failures))
	}
}

// TestHeldRequest: a request that is not answered costs its own answer, on the
// bootstrap broker and on the others, and not those that come after it.
func TestHeldRequest(t *testing.T) {
	t.Parallel()
	const timeout = 3 * time.Second
	start := func(broker int32, held kmsg.Key) string {
		m := movingModel()
		m.AddTopic("u", 1, 2)
		c := fakekafka.Start(t, m)
		c.Break(broker, fakekafka.Faults{HangOn: []kmsg.Key{held}})
		return c.Bootstrap()
	}
	only := func(s *inspect.Snapshot, request string) {
		t.Helper()
		if len(s.Failures) != 1 || s.Failures[0].Request != request || !strings.Contains(s.Failures[0].Error, "no reply to "+request) {
			t.Errorf("failures = %s, want one, of %s", texts(s.Failures), request)
		}
	}
	s := snapshot(t, start(1, kmsg.DescribeConfigs), inspect.PartReachable, timeout)
	only(s, "DescribeConfigs")
	for p := range s.Partitions {
		if p.MinInsyncReplicas.IsKnown() || !p.Adding.IsKnown() {
			t.Errorf("%s-%d: min ISR %s, adding %s; want unknown and known", p.Topic, p.Index, p.MinInsyncReplicas, p.Adding)
		}
	}
	s = snapshot(t, start(2, kmsg.ListOffsets), inspect.PartOffsets|inspect.PartLogDirs, timeout)
	only(s, "ListOffsets")
	for i := range s.Brokers {
		if b := &s.Brokers[i]; !b.LogDirs.IsKnown() {
			t.Errorf("the log directories of broker %d are unknown", b.ID)
		}
	}
}

// TestNotTheController: with ZooKeeper a broker does not pass on what the
// controller alone can tell; that one is asked then.
func TestNotTheController(t *testing.T) {
	t.Parallel()
	for _, parts := range []inspect.Parts{0, inspect.PartELR} { // by Metadata, by DescribeCluster
		c := fakekafka.Start(t, movingModel())
		var controller atomic.Int32
		controller.Store(1) // as fakekafka calls it
		c.Intercept(func(broker int32, req kmsg.Request) (kmsg.Response, bool) {
			if _, ok := req.(*kmsg.ListPartitionReassignmentsRequest); !ok || broker == controller.Load() {
				return nil, false
			}
			resp := kmsg.NewPtrListPartitionReassignmentsResponse()
			resp.ErrorCode = kerr.NotController.Code
			return resp, true
		})
		s := snapshot(t, c.Addr(2), parts, ample)
		if p := partition(t, s, 0); !s.Complete() || len(p.Adding.Or(nil)) != 1 || s.Controller.IsKnown() {
			t.Errorf("adding %s, controller %s, failures %s; want what broker 1 tells, which is no quorum", p.Adding, s.Controller, texts(s.Failures))
		}
		controller.Store(3) // and nobody knows yet
		s = snapshot(t, c.Addr(2), parts, ample)
		if p := partition(t, s, 0); p.Adding.IsKnown() || !strings.Contains(texts(s.Failures), "NOT_CONTROLLER; reassignments are unknown; the controller moved") {
			t.Errorf("adding %s, failures %s; want a failure", p.Adding, texts(s.Failures))
		}
	}
}

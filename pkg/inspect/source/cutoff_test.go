package source_test

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// startCutOff starts a cluster whose brokers 1 and 2 reach no controller: they hold
// what they pass on, and tell of a time before they left the ISR.
func startCutOff(t *testing.T) *fakekafka.Cluster {
	t.Helper()
	m := fakekafka.NewModel(3)
	m.AddTopic("t", 1, 3)
	c := fakekafka.Start(t, m)
	c.Change(func(m *fakekafka.Model) {
		p := m.Topic("t").Partitions[0]
		p.Leader, p.ISR = 3, []int32{3}
	})
	for _, id := range []int32{1, 2} {
		c.Break(id, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.DescribeQuorum, kmsg.ListPartitionReassignments}})
	}
	c.Intercept(func(broker int32, req kmsg.Request) (kmsg.Response, bool) {
		if _, ok := req.(*kmsg.MetadataRequest); !ok || broker == 3 {
			return nil, false
		}
		return allIsWell(c, req), true
	})
	return c
}

// allIsWell is Metadata of three brokers and t, led by 1, with all in the ISR.
func allIsWell(c *fakekafka.Cluster, req kmsg.Request) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	for i, addr := range c.Addrs() {
		host, port, _ := net.SplitHostPort(addr)
		n, _ := strconv.Atoi(port)
		b := kmsg.NewMetadataResponseBroker()
		b.NodeID, b.Host, b.Port = int32(i+1), host, int32(n)
		resp.Brokers = append(resp.Brokers, b)
	}
	p := kmsg.NewMetadataResponseTopicPartition()
	p.Leader, p.Replicas, p.ISR = 1, []int32{1, 2, 3}, []int32{1, 2, 3}
	topic := kmsg.NewMetadataResponseTopic()
	topic.Topic, topic.Partitions = kmsg.StringPtr("t"), append(topic.Partitions, p)
	resp.Topics = append(resp.Topics, topic)
	return resp
}

// TestCutOff: a broker that is cut off from the controllers is first in the list, and
// its cache says that all is well. What it tells is not shown.
func TestCutOff(t *testing.T) {
	t.Parallel()
	t.Run("the quorum is asked through brokers", func(t *testing.T) {
		t.Parallel()
		testCutOff(t)
	})
	t.Run("at the controllers", func(t *testing.T) {
		t.Parallel()
		controllers := fakekafka.Start(t, fakekafka.NewControllers(3))
		testCutOff(t, source.WithControllers(connect.Config{Bootstrap: controllers.Addrs()}))
	})
}

func testCutOff(t *testing.T, opts ...source.Option) {
	c := startCutOff(t)
	pool := &connect.Pool{}
	t.Cleanup(pool.Close)
	const timeout = 6 * time.Second
	src := source.New(connect.Config{Bootstrap: c.Addrs(), Pool: pool}, timeout, opts...)
	isr := func(src *source.Source, q source.Query) []inspect.BrokerID {
		t.Helper()
		s, err := src.Snapshot(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if s.ToldBy != c.Addr(3) {
			t.Errorf("told by %s, want broker 3 at %s", s.ToldBy, c.Addr(3))
		}
		if !s.Complete() {
			t.Errorf("not complete: %s", texts(s.Failures))
		}
		return s.Topics[0].Partitions[0].ISR
	}
	whole := source.Query{Parts: inspect.PartQuorum | inspect.PartOffsets}
	want := []inspect.BrokerID{3}
	if got := isr(src, whole); !slices.Equal(got, want) {
		t.Errorf("first pass: ISR %v, want %v", got, want)
	}
	// Who is asked next begins there, and is not held.
	began := time.Now()
	if got := isr(src, whole); !slices.Equal(got, want) {
		t.Errorf("second pass: ISR %v, want %v", got, want)
	}
	if got := isr(src.Within(timeout/2), source.Query{Sample: source.SampleLeaders}); !slices.Equal(got, want) {
		t.Errorf("sample: ISR %v, want %v", got, want)
	}
	if took := time.Since(began); took > timeout/3 {
		t.Errorf("both took %s: they waited for who is cut off", took)
	}
}

// TestStrangeCluster: an address that was a broker's belongs to another cluster now. Its
// answers are not taken for this one's; those of the bootstrap list are.
func TestStrangeCluster(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, fakekafka.NewModel(2))
	src := source.New(connect.Config{Bootstrap: []string{c.Addr(1)}}, time.Minute)
	take := func() error {
		_, err := src.Snapshot(t.Context(), source.Query{Sample: source.SampleLeaders})
		return err
	}
	if err := take(); err != nil {
		t.Fatal(err)
	}
	c.Break(1, fakekafka.Faults{Refuse: true})
	if err := take(); err != nil {
		t.Errorf("by an address that was learned: %v", err)
	}
	c.Change(func(m *fakekafka.Model) { m.ClusterID = "YW5vdGhlcmNsdXN0ZXIxMg" })
	var none *source.BootstrapError
	if err := take(); !errors.As(err, &none) || !strings.Contains(err.Error(), "another cluster answers now: YW5vdGhlcmNsdXN0ZXIxMg") {
		t.Errorf("got %v, want no bootstrap server, and that another cluster answers", err)
	}
	c.Heal(1)
	if err := take(); err != nil {
		t.Errorf("by the bootstrap list: %v", err)
	}
}

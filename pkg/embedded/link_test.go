package embedded_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
)

func isr(n int) func(kmsg.MetadataResponseTopicPartition) bool {
	return func(p kmsg.MetadataResponseTopicPartition) bool { return led(p) && len(p.ISR) == n }
}

// onOne makes a topic of one partition whose leader is broker 1, with followers 2 and 3.
func onOne(t *testing.T, cl *kgo.Client, topic string, configs ...string) {
	t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, -1, -1
	where := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
	where.Replicas = []int32{1, 2, 3}
	rt.ReplicaAssignment = append(rt.ReplicaAssignment, where)
	for i := 0; i < len(configs); i += 2 {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = configs[i], kmsg.StringPtr(configs[i+1])
		rt.Configs = append(rt.Configs, config)
	}
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(within(t), cl)
	if err != nil || resp.Topics[0].ErrorCode != 0 {
		t.Fatalf("create %s: %+v, %v", topic, resp, err)
	}
	partition(t, cl, topic, 0, isr(3))
}

// sendSync produces one record and says how long that took.
func sendSync(t *testing.T, cl *kgo.Client, topic string) time.Duration {
	t.Helper()
	began := time.Now()
	r := kgo.StringRecord("one")
	r.Topic = topic
	if err := cl.ProduceSync(within(t), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// TestCutLinks: a follower whose requests, or whose answers, do not get through leaves
// the ISR; its broker stays alive, for the controller hears it.
func TestCutLinks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		from, to int
	}{
		{"from the follower", 3, 1},
		{"to the follower", 1, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := embeddedtest.New(t, embedded.Options{})
			cl := client(t, c)
			onOne(t, cl, "orders")
			sendSync(t, cl, "orders")
			c.Link(tt.from, tt.to).Cut()
			sendSync(t, cl, "orders") // waits until the ISR is smaller
			p := partition(t, cl, "orders", 0, isr(2))
			if p.Leader != 1 || len(p.OfflineReplicas) > 0 {
				t.Errorf("leader %d, offline %v; want 1 and none", p.Leader, p.OfflineReplicas)
			}
			c.Link(tt.from, tt.to).Heal()
			partition(t, cl, "orders", 0, isr(3))
		})
	}
}

// TestCutFromController: a broker that the controller does not hear is fenced, and its
// partitions are led elsewhere; the same if only its heartbeats are lost.
func TestCutFromController(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		do, undo func(c *embedded.Cluster)
	}{
		{
			"all",
			func(c *embedded.Cluster) { c.Link(1, embedded.ControllerID).Cut() },
			func(c *embedded.Cluster) { c.Link(1, embedded.ControllerID).Heal() },
		},
		{
			"heartbeats",
			func(c *embedded.Cluster) { c.Broker(1).Fence() },
			func(c *embedded.Cluster) { c.Broker(1).Unfence() },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := embeddedtest.New(t, embedded.Options{})
			cl := client(t, c)
			onOne(t, cl, "orders")
			tt.do(c)
			p := partition(t, cl, "orders", 0, func(p kmsg.MetadataResponseTopicPartition) bool { return led(p) && p.Leader != 1 })
			if len(p.ISR) != 2 {
				t.Errorf("ISR %v, want two of them", p.ISR)
			}
			sendSync(t, cl, "orders")
			tt.undo(c)
			partition(t, cl, "orders", 0, isr(3))
			tt.do(c)
			partition(t, cl, "orders", 0, isr(2))
			if err := c.Heal(within(t)); err != nil {
				t.Fatal(err)
			}
			for id := 1; id <= 3; id++ {
				resp, err := cl.Broker(id).Request(within(t), metadataRequest())
				if err != nil {
					t.Fatal(err)
				}
				if n := len(brokersOf(resp)); n != 3 {
					t.Errorf("healed, and broker %d knows %d that are alive, want 3", id, n)
				}
			}
			if got := c.Broker(1).State(); got != embedded.Running {
				t.Errorf("broker 1 is %s, want running", got)
			}
		})
	}
}

// TestSlowLink: what is acknowledged by all has gone both ways between them.
func TestSlowLink(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{})
	cl := client(t, c)
	onOne(t, cl, "orders")
	sendSync(t, cl, "orders")
	const oneWay = 150 * time.Millisecond
	c.Link(1, 3).Slow(oneWay)
	c.Link(3, 1).Slow(oneWay)
	sendSync(t, cl, "orders") // what is under way is over
	// The records go in an answer, and what says that they are there comes with a request.
	if took := sendSync(t, cl, "orders"); took < 2*oneWay {
		t.Errorf("acknowledged after %v, want %v or more", took, 2*oneWay)
	}
	partition(t, cl, "orders", 0, isr(3))
	c.Link(1, 3).Slow(time.Hour)
	c.Link(3, 1).Slow(time.Hour)
	sendSync(t, cl, "orders") // without broker 3
	partition(t, cl, "orders", 0, isr(2))
	if err := c.Heal(within(t)); err != nil {
		t.Fatal(err)
	}
	partition(t, cl, "orders", 0, isr(3))
}

// TestReset: lost connections are opened again, and nobody leaves the ISR.
func TestReset(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{})
	cl := client(t, c)
	onOne(t, cl, "orders")
	w := startWorkload(t, cl, "orders")
	ids := []int{1, 2, 3, embedded.ControllerID}
	for range 10 {
		w.goOn(50)
		for _, from := range ids {
			for _, to := range ids {
				c.Link(from, to).Reset()
			}
		}
	}
	w.end(c)
	partition(t, cl, "orders", 0, isr(3))
}

// TestSlowDisk: a follower whose disk is slow holds up what wants all of the ISR, until
// it has left it.
func TestSlowDisk(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{})
	cl := client(t, c)
	onOne(t, cl, "orders")
	sendSync(t, cl, "orders")
	const perWrite = 200 * time.Millisecond
	c.Broker(3).SlowDisk(perWrite)
	if took := sendSync(t, cl, "orders"); took < perWrite {
		t.Errorf("acknowledged after %v, want %v or more", took, perWrite)
	}
	c.Broker(3).SlowDisk(time.Hour)
	sendSync(t, cl, "orders")
	partition(t, cl, "orders", 0, isr(2))
	c.Broker(3).HealDisk()
	partition(t, cl, "orders", 0, isr(3))
}

// TestPause: a paused leader keeps its connections, and who it led goes to another.
func TestPause(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{})
	cl := client(t, c)
	onOne(t, cl, "orders")
	nc := dial(t, c.Broker(1).Address())
	c.Broker(1).Pause()
	if _, err := nc.Write(frame(int16(kmsg.ApiVersions), 0)); err != nil {
		t.Fatal(err)
	}
	partition(t, cl, "orders", 0, func(p kmsg.MetadataResponseTopicPartition) bool { return led(p) && p.Leader != 1 })
	if got := c.Broker(1).State(); got != embedded.Paused {
		t.Errorf("broker 1 is %s, want paused", got)
	}
	c.Broker(1).Resume()
	if _, err := nc.Read(make([]byte, 1)); err != nil {
		t.Errorf("what came while it was paused is not answered: %v", err)
	}
	partition(t, cl, "orders", 0, isr(3))
}

// TestJumpClock: timestamps of records go by the broker's time of day.
func TestJumpClock(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{Brokers: 1})
	cl := client(t, c, kgo.ConsumeTopics("orders"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	create(t, cl, "orders", 1, 1, "message.timestamp.type", "LogAppendTime")
	partition(t, cl, "orders", 0, led)
	c.Broker(1).JumpClock(-48 * time.Hour)
	sendSync(t, cl, "orders")
	f := cl.PollFetches(within(t))
	if f.Err() != nil {
		t.Fatal(f.Err())
	}
	for _, r := range f.Records() {
		if ago := time.Since(r.Timestamp); ago < 47*time.Hour {
			t.Errorf("stamped %v ago, want two days", ago)
		}
	}
}

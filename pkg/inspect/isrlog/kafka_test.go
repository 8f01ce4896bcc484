package isrlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var shared = kafkatest.Share(kafkatest.Options{
	Engine:  engine.FromEnv(),
	Brokers: 3,
	Properties: map[string]string{
		"replica.lag.time.max.ms":      "60000",
		"broker.session.timeout.ms":    "15000",
		"broker.heartbeat.interval.ms": "1000",
		"auto.leader.rebalance.enable": "false",
	},
	// Broker 1 drops a silent follower long before the controller fences that one.
	BrokerProperties: map[int32]map[string]string{1: {"replica.lag.time.max.ms": "5000"}},
})

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// provoking is a cluster to which things are done, and a reader that follows.
type provoking struct {
	*kafkatest.Cluster
	log *Log
	// seen are the events of one reading after the other.
	seen []inspect.IsrEvent

	mu       sync.Mutex
	followed []string
}

// reads is a listener that keeps events.
func reads(events *[]inspect.IsrEvent) Listener {
	return Listener{
		Event: func(e inspect.IsrEvent) { *events = append(*events, e) }, Evidence: func(Evidence) {}, Note: func(string, bool) {},
	}
}

// step does something, and compares what the log tells of it: each event as its
// partition, type, cause, brokers and the ISR after it, in any order.
func (p *provoking) step(t *testing.T, name string, do func(), want ...string) {
	t.Helper()
	const linger = time.Second // far more than a batch is older than its records
	from := time.Now().Add(-linger)
	do()
	var all []inspect.IsrEvent
	var got []string
	kafkatest.Eventually(t, time.Minute, func() error {
		all = nil
		if err := p.log.Read(t.Context(), Span{}, reads(&all)); err != nil {
			return err
		}
		if got = nil; len(all) < len(p.seen) {
			return fmt.Errorf("%d events where there were %d", len(all), len(p.seen))
		}
		for _, e := range all[len(p.seen):] {
			got = append(got, brief(&e))
		}
		if len(got) < len(want) {
			return fmt.Errorf("%s: %q, want %q", name, got, want)
		}
		return nil
	})
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", name, diff)
	}
	until := time.Now()
	for _, e := range all[len(p.seen):] {
		if e.Time.Before(from) || e.Time.After(until) {
			t.Errorf("%s: %s is of %s, not within %s to %s", name, brief(&e), e.Time, from, until)
		}
	}
	p.seen = all
}

func brief(e *inspect.IsrEvent) string {
	isr := slices.Sorted(slices.Values(e.ISR))
	return fmt.Sprintf("%s-%d %s %s %v isr %v leader %d", e.Topic, e.Partition, e.Type, e.Cause, e.Brokers, isr, e.Leader)
}

func lines(events []inspect.IsrEvent) (out []string) {
	for i := range events {
		out = append(out, line(&events[i]))
	}
	return out
}

// lagAndFencing is what every version is made to do first.
func (p *provoking) lagAndFencing(t *testing.T) {
	t.Helper()
	c := p.Cluster
	p.step(t, "creation", func() { c.CreateTopic(t, "t", [][]int32{{1, 2, 3}}, map[string]string{"min.insync.replicas": "2"}) },
		"t-0 create topic-created [1 2 3] isr [1 2 3] leader 1")
	c.ProduceRecords(t, "t", 0, 1, -1, 10) // so that the leader has heard of its followers
	p.step(t, "lag", func() {
		c.Pause(t, 3)
		c.ProduceRecords(t, "t", 0, 10, 1, 10)
		c.AwaitISR(t, "t", 0, 1, 2)
		c.Resume(t, 3)
		c.AwaitISR(t, "t", 0, 1, 2, 3)
	},
		"t-0 shrink replica-lag [3] isr [1 2] leader 1",
		"t-0 expand caught-up [3] isr [1 2 3] leader 1")
	p.step(t, "a session that ends", func() {
		c.Pause(t, 1)
		c.AwaitFenced(t, 1)
		c.Resume(t, 1)
		c.AwaitISR(t, "t", 0, 1, 2, 3)
	},
		"t-0 shrink broker-fenced [1] isr [2 3] leader 2",
		"t-0 leader broker-fenced [1 2] isr [2 3] leader 2",
		"t-0 expand caught-up [1] isr [1 2 3] leader 2")
	p.step(t, "preferred election", func() { p.elect(t, "t", 0) },
		"t-0 leader preferred-election [2 1] isr [1 2 3] leader 1")
}

// moveAndDelete is about a topic of its own.
func (p *provoking) moveAndDelete(t *testing.T) {
	t.Helper()
	c := p.Cluster
	p.step(t, "reassignment", func() {
		c.CreateTopic(t, "u", [][]int32{{1, 2}}, nil)
		c.Reassign(t, "u", 0, []int32{2, 3})
		c.AwaitISR(t, "u", 0, 2, 3)
	},
		"u-0 create topic-created [1 2] isr [1 2] leader 1",
		"u-0 reassign reassignment [1 3] isr [1 2] leader 1",
		"u-0 shrink reassignment [1] isr [2 3] leader 2",
		"u-0 expand reassignment [3] isr [2 3] leader 2",
		"u-0 leader reassignment [1 2] isr [2 3] leader 2",
		"u-0 reassign reassignment [1 3] isr [2 3] leader 2")
	p.step(t, "deletion", func() { p.delete(t, "u") },
		"u-0 delete topic-deleted [2 3] isr [] leader -1")
}

// TestProvoked does to a cluster what can be done to an ISR, and finds each of it in
// the metadata log, with its cause, and nothing else: by readings, by following all
// the time and, of a real Kafka, in the directories of a broker and the controller. Looks
// at the metadata beside that tell what they must, and invent nothing.
func TestProvoked(t *testing.T) {
	c := shared.Get(t)
	p := &provoking{Cluster: c, log: NewLog(
		connect.Config{Bootstrap: c.Bootstrap()}, &connect.Config{Bootstrap: []string{c.ControllerAddr()}}, 30*time.Second,
	)}
	// Topics of other tests are history.
	if err := p.log.Read(t.Context(), Span{}, reads(&p.seen)); err != nil {
		t.Fatal(err)
	}
	stop := p.follow(t)
	looks, stopLooking := lookOn(t, c)

	p.lagAndFencing(t)
	p.step(t, "a stop", func() {
		c.Stop(t, 1)
		c.StartNode(t, 1)
		c.AwaitISR(t, "t", 0, 1, 2, 3)
		p.elect(t, "t", 0)
	},
		"t-0 shrink controlled-shutdown [1] isr [2 3] leader 2",
		"t-0 leader controlled-shutdown [1 2] isr [2 3] leader 2",
		"t-0 expand caught-up [1] isr [1 2 3] leader 2",
		"t-0 leader preferred-election [2 1] isr [1 2 3] leader 1")
	p.step(t, "a stop of one that leads nothing", func() {
		c.Stop(t, 3)
		c.StartNode(t, 3)
		c.AwaitISR(t, "t", 0, 1, 2, 3)
	},
		"t-0 shrink broker-fenced [3] isr [1 2] leader 1",
		"t-0 expand caught-up [3] isr [1 2 3] leader 1")
	p.moveAndDelete(t)
	p.outage(t)
	stop()
	stopLooking()
	looks.check(t, p.seen)

	p.mu.Lock()
	defer p.mu.Unlock()
	// The last ones may have been held when it ended.
	if diff := cmp.Diff(lines(p.seen), p.followed); diff != "" {
		t.Errorf("events by following (-want +got):\n%s", diff)
	}
	if engine.FromEnv() == nil {
		p.compareDirs(t)
	}
}

// outage takes down all brokers, one after the other, with a topic for each way in
// which a partition can come back.
func (p *provoking) outage(t *testing.T) {
	p.step(t, "more topics", func() {
		p.CreateTopic(t, "c", [][]int32{{1, 2}}, map[string]string{"min.insync.replicas": "2"})
		p.CreateTopic(t, "x", [][]int32{{2}}, nil)
		p.CreateTopic(t, "y", [][]int32{{3, 2}}, nil)
		p.ProduceRecords(t, "y", 0, 1, -1, 10)
	},
		"c-0 create topic-created [1 2] isr [1 2] leader 1",
		"x-0 create topic-created [2] isr [2] leader 2",
		"y-0 create topic-created [3 2] isr [2 3] leader 3")
	p.step(t, "kill -9 of 3", func() { p.Kill(t, 3); p.AwaitFenced(t, 3) },
		"t-0 shrink broker-fenced [3] isr [1 2] leader 1",
		"y-0 shrink broker-fenced [3] isr [2] leader 2",
		"y-0 leader broker-fenced [3 2] isr [2] leader 2")
	p.step(t, "kill -9 of 2", func() { p.Kill(t, 2); p.AwaitFenced(t, 2) },
		"t-0 shrink broker-fenced [2] isr [1] leader 1",
		"c-0 shrink broker-fenced [2] isr [1] leader 1",
		"x-0 shrink broker-fenced [2] isr [] leader -1",
		"x-0 leader broker-fenced [2] isr [] leader -1",
		"y-0 shrink broker-fenced [2] isr [] leader -1",
		"y-0 leader broker-fenced [2] isr [] leader -1")
	p.step(t, "min.insync.replicas", func() { p.AlterConfig(t, "c", "min.insync.replicas", "1") },
		"c-0 elr config-change [2] isr [1] leader 1")
	p.step(t, "unclean election", func() {
		p.StartNode(t, 3)
		p.elect(t, "y", 1)
		p.AwaitISR(t, "y", 0, 3)
		p.AwaitISR(t, "t", 0, 1, 3)
	},
		"t-0 expand caught-up [3] isr [1 3] leader 1",
		"y-0 expand unclean-election [3] isr [3] leader 3",
		"y-0 leader unclean-election [3] isr [3] leader 3")
	p.step(t, "kill -9 of 3 again", func() { p.Kill(t, 3); p.AwaitFenced(t, 3) },
		"t-0 shrink broker-fenced [3] isr [1] leader 1",
		"y-0 shrink broker-fenced [3] isr [] leader -1",
		"y-0 leader broker-fenced [3] isr [] leader -1")
	p.step(t, "nobody is left", func() {
		p.Pause(t, 1)
		p.awaitELR(t, "t", "c")
	},
		"t-0 shrink broker-fenced [1] isr [] leader -1",
		"t-0 leader broker-fenced [1] isr [] leader -1",
		"c-0 shrink broker-fenced [1] isr [] leader -1",
		"c-0 leader broker-fenced [1] isr [] leader -1")
	p.step(t, "unclean restarts", func() {
		p.StartNode(t, 3)
		p.StartNode(t, 2)
	},
		"t-0 elr unclean-restart [3] isr [] leader -1",
		"y-0 elr unclean-restart [3] isr [] leader -1",
		"y-0 expand last-known-leader [3] isr [3] leader 3",
		"y-0 leader last-known-leader [3] isr [3] leader 3",
		"y-0 expand caught-up [2] isr [2 3] leader 3",
		"x-0 elr unclean-restart [2] isr [] leader -1",
		"x-0 expand last-known-leader [2] isr [2] leader 2",
		"x-0 leader last-known-leader [2] isr [2] leader 2")
	p.step(t, "the ELR returns", func() {
		p.Pause(t, 3) // so that who comes back first is not left to chance
		p.Resume(t, 1)
		p.AwaitISR(t, "c", 0, 1, 2)
		p.AwaitISR(t, "t", 0, 1, 2)
		p.Resume(t, 3)
		p.AwaitISR(t, "t", 0, 1, 2, 3)
	},
		"c-0 expand elr-election [1] isr [1] leader 1",
		"c-0 leader elr-election [1] isr [1] leader 1",
		"c-0 expand caught-up [2] isr [1 2] leader 1",
		"t-0 expand elr-election [1] isr [1] leader 1",
		"t-0 leader elr-election [1] isr [1] leader 1",
		"t-0 expand caught-up [2] isr [1 2] leader 1",
		"t-0 expand caught-up [3] isr [1 2 3] leader 1")
}

func (p *provoking) awaitELR(t *testing.T, topics ...string) {
	t.Helper()
	kafkatest.Eventually(t, time.Minute, func() error {
		var all []inspect.IsrEvent
		if err := p.log.Read(t.Context(), Span{}, reads(&all)); err != nil {
			return err
		}
		for _, topic := range topics {
			i := slices.IndexFunc(all[len(p.seen):], func(e inspect.IsrEvent) bool { return e.Topic == topic && len(e.ISR) == 0 })
			if i < 0 {
				return fmt.Errorf("topic %s still has an ISR", topic)
			}
		}
		return nil
	})
}

// follow follows the log from where it is now to when the returned function is called.
func (p *provoking) follow(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{})
	var once sync.Once
	done := make(chan error, 1)
	to := Listener{
		Event: func(e inspect.IsrEvent) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.followed = append(p.followed, line(&e))
		},
		Evidence: func(Evidence) { once.Do(func() { close(begun) }) },
		Note:     func(s string, _ bool) { t.Log("follower: " + s) },
	}
	go func() { done <- p.log.Read(ctx, Span{Follow: true}, to) }()
	select {
	case <-begun:
	case err := <-done:
		t.Fatal(err)
	}
	return func() {
		kafkatest.Eventually(t, time.Minute, func() error {
			p.mu.Lock()
			defer p.mu.Unlock()
			if len(p.followed) < len(p.seen) {
				return fmt.Errorf("%d events followed of %d", len(p.followed), len(p.seen))
			}
			return nil
		})
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("following ended with %v", err)
		}
	}
}

// compareDirs finds the same in the directories of the controller and of a broker,
// and for every record of Kafka's own dump tool that changes a partition an event.
func (p *provoking) compareDirs(t *testing.T) {
	t.Helper()
	for _, id := range []int32{1, kafkatest.FirstController} {
		kafkatest.Eventually(t, time.Minute, func() error { // a broker's copy is a moment behind
			d, err := OpenDir(p.LogDirs(id)[0])
			if err != nil {
				return err
			}
			var events []inspect.IsrEvent
			if err := d.Read(t.Context(), Span{}, reads(&events)); err != nil {
				return err
			}
			if diff := cmp.Diff(lines(p.seen), lines(events)); diff != "" {
				return fmt.Errorf("events in the directory of node %d (-want +got):\n%s", id, diff)
			}
			return nil
		})
	}
	told := map[int64]bool{}
	for _, e := range p.seen {
		told[int64(e.Offset.Or(-1))] = true
	}
	dumped := p.dump(t)
	for offset, text := range dumped {
		if !told[offset] {
			t.Errorf("no event at offset %d: %s", offset, text)
		}
		delete(told, offset)
	}
	if len(told) > 0 {
		t.Errorf("events at %v, where kafka-dump-log has no such record", told)
	}
}

// dump returns the records that change a partition, by kafka-dump-log.
func (p *provoking) dump(t *testing.T) map[int64]string {
	t.Helper()
	found := map[int64]string{}
	for _, r := range p.DumpMetadata(t, kafkatest.FirstController) {
		// Of those that clear ELRs, the one that had something to clear.
		cleared := r.Type == "CLEAR_ELR_RECORD" && slices.ContainsFunc(p.seen, func(e inspect.IsrEvent) bool {
			return e.Cause == inspect.CauseConfigChange && int64(e.Offset.Or(-1)) == r.Offset
		})
		if cleared || r.ChangesPartition() {
			found[r.Offset] = r.Payload
		}
	}
	return found
}

// elect asks for an election of a topic's first partition: 0 preferred, 1 unclean.
func (p *provoking) elect(t *testing.T, topic string, kind int8) {
	t.Helper()
	req := kmsg.NewPtrElectLeadersRequest()
	req.ElectionType = kind
	one := kmsg.NewElectLeadersRequestTopic()
	one.Topic, one.Partitions = topic, []int32{0}
	req.Topics = append(req.Topics, one)
	kafkatest.Eventually(t, time.Minute, func() error {
		answer, err := p.AskController(t.Context(), req)
		if err != nil {
			return err
		}
		resp := answer.(*kmsg.ElectLeadersResponse)
		if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
			return err
		}
		err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
		if errors.Is(err, kerr.ElectionNotNeeded) { // an earlier try was heard, and its answer was not
			return nil
		}
		return err
	})
}

func (p *provoking) delete(t *testing.T, topic string) {
	t.Helper()
	req := kmsg.NewPtrDeleteTopicsRequest()
	one := kmsg.NewDeleteTopicsRequestTopic()
	one.Topic = &topic
	req.Topics = append(req.Topics, one)
	answer, err := p.AskController(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if err := kerr.ErrorForCode(answer.(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode); err != nil {
		t.Fatal(err)
	}
}

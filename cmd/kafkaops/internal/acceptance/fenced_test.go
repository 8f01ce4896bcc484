package acceptance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kerr"
)

// TestKilledBroker kills a broker: first its connections are refused, then it is
// fenced and out of every ISR.
func TestKilledBroker(t *testing.T) {
	c := shared.Get(t)
	const minOne, minTwo, minThree, alone = "killed-min-1", "killed-min-2", "killed-min-3", "killed-rf-1"
	createTopic(t, c, minOne, [][]int32{{1, 2, 3}, {1, 2, 4}}, minISR(1))
	createTopic(t, c, minTwo, [][]int32{{2, 3, 1}, {3, 1, 2}}, minISR(2))
	createTopic(t, c, minThree, [][]int32{{1, 3, 2}}, minISR(3))
	createTopic(t, c, alone, [][]int32{{4}}, minISR(1))
	for _, topic := range []string{minOne, minTwo, minThree} {
		c.ProduceRecords(t, topic, 0, 20, kafkatest.AcksAll, 100)
		awaitQuiet(t, c, topic, 0)
	}
	c.Kill(t, 3)

	t.Run("not fenced yet", func(t *testing.T) {
		r := kafkaops(c, "describe -o json -b "+servers(c, 3, 1)).want(t, 1)
		d, err := decode[render.ClusterItem](r)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "verdict", only(t, d).Verdict, inspect.LevelDegraded)
		if !slices.ContainsFunc(d.Errors, func(e render.Error) bool {
			return e.Broker.Equal(inspect.Known[inspect.BrokerID](3)) && e.Phase == inspect.PhaseDial
		}) {
			t.Errorf("no error of broker 3 in phase dial: %v", r)
		}
	})

	c.AwaitFenced(t, 3)
	c.AwaitISR(t, minThree, 0, 1, 2)
	c.AwaitISR(t, minTwo, 1, 1, 2)
	t.Run("describe", func(t *testing.T) { describeKilled(t, c) })
	t.Run("describe brokers", func(t *testing.T) { brokersKilled(t, c) })
	t.Run("lag", func(t *testing.T) {
		item := lagItem(t, lag(t, c, 0, "killed-*"), minTwo, 0)
		equal(t, "status", item.Status, "[at-min-isr under-replicated]")
		r := replica(t, item, 3)
		equal(t, "state of replica 3", r.State, inspect.ReplicaOffline)
		equal(t, "LEO of replica 3", r.LogEndOffset, unknown)
		equal(t, "lag of replica 3", r.Lag, unknown)
		kafkaops(c, "lag --exit-code").want(t, 3)
	})
	t.Run("check health", func(t *testing.T) {
		kafkaops(c, "check health").want(t, 3)
		r := kafkaops(c, "check health --nagios").want(t, 2)
		if !strings.HasPrefix(r.stdout, "KAFKA AT-RISK - ") {
			t.Errorf("not a plugin's critical line: %v", r)
		}
	})
	t.Run("writes below min ISR", func(t *testing.T) { writesBelowMinISR(t, c, minThree) })
}

func describeKilled(t *testing.T, c *kafkatest.Cluster) {
	theirs := sameAsTopics(t, c)
	item := describe(t, c, 0, "")
	equal(t, "verdict", item.Verdict, inspect.LevelAtRisk)
	equal(t, "brokers", item.Brokers, 3)
	equal(t, "partitions", item.Partitions, len(theirs[""]))
	equal(t, "under-replicated", item.UnderReplicated, len(theirs["under-replicated"]))
	equal(t, "under-min-isr", item.UnderMinISR, len(theirs["under-min-isr"]))
	equal(t, "offline", item.Offline, len(theirs["unavailable"]))
	equal(t, "unhealthy", len(item.Unhealthy), 4)
	// Where the rules do not differ, our words list what kafka-topics.sh lists.
	equal(t, "--under-replicated", named(t, c, "--under-replicated"), theirs["under-replicated"])
	equal(t, "--under-min-isr", named(t, c, "--under-min-isr"), theirs["under-min-isr"])
	// kafka-topics.sh has a partition with one replica at its minimum for ever.
	equal(t, "--at-min-isr", named(t, c, "--at-min-isr"), "[killed-min-2-0 killed-min-2-1]")
	equal(t, "kafka-topics.sh's", theirs["at-min-isr"], "[killed-min-2-0 killed-min-2-1 killed-rf-1-0]")
	below := partitionItem(t, item.Unhealthy, "killed-min-3", 0)
	equal(t, "elr below min ISR", below.ELR, "[3]")
	equal(t, "headroom below min ISR", below.Headroom, -1)
	sinceOf(t, c, "killed-min-3", 0, "broker-fenced")
	sinceOf(t, c, "killed-min-2", 1, "broker-fenced")
	kafkaops(c, "describe --exit-code").want(t, 3)

	r := screen(c, "describe").want(t, 0)
	for _, words := range []string{"AT RISK", "1 partition accepts no acks=all write", "broker 3", "killed-min-3-0"} {
		if !strings.Contains(r.stdout, words) {
			t.Errorf("the screen does not say %q: %v", words, r)
		}
	}
	checkScreen(t, r)
}

// checkScreen checks what holds of every screen without colour.
func checkScreen(t *testing.T, r *result) {
	t.Helper()
	for line := range strings.Lines(r.stdout) {
		text := strings.TrimSuffix(line, "\n")
		if len([]rune(text)) > 120 || strings.TrimRight(text, " \t") != text || strings.Contains(text, "\x1b") {
			t.Errorf("a line is too wide, ends in blanks or has escape bytes: %q", text)
		}
	}
}

func brokersKilled(t *testing.T, c *kafkatest.Cluster) {
	d := run[render.BrokerItem](t, c, 0, "describe brokers")
	equal(t, "brokers", len(d.Items), 4)
	for id := range inspect.BrokerID(4) {
		b := brokerItem(t, d, id+1)
		dead := b.ID == 3
		equal(t, fmt.Sprintf("broker %d fenced", b.ID), b.Fenced, dead)
		equal(t, fmt.Sprintf("broker %d has log dirs", b.ID), b.LogDirs.IsKnown(), !dead)
	}
	dead := brokerItem(t, d, 3)
	equal(t, "reachable", dead.Reachable, unknown)
	equal(t, "leaders", dead.Leaders, 0)
	equal(t, "replicas", dead.Replicas, 4)
	equal(t, "out of sync", dead.OutOfSync, 4)
}

// writesBelowMinISR: a leader whose ISR is too small refuses acks=all, takes
// acks=1, and its HW stands.
func writesBelowMinISR(t *testing.T, c *kafkatest.Cluster, topic string) {
	hw := mustOffset(t, c, 1, topic, 0, consumer, latest)
	if err := c.Produce(t.Context(), topic, 0, 1, kafkatest.AcksAll, 100); !errors.Is(err, kerr.NotEnoughReplicas) {
		t.Fatalf("acks=all below min ISR: %v, want NOT_ENOUGH_REPLICAS", err)
	}
	c.ProduceRecords(t, topic, 0, 41, 1, 100)
	equal(t, "the broker's own HW", mustOffset(t, c, 1, topic, 0, consumer, latest), hw)
	kafkatest.Eventually(t, soon, func() error { // followers go on fetching
		leo, err := rawOffset(t.Context(), c, 2, topic, 0, debugging, latest)
		if err == nil && leo != hw+41 {
			err = fmt.Errorf("the follower ends at %d", leo)
		}
		return err
	})
	item := only(t, lag(t, c, 0, topic))
	equal(t, "uncommitted", item.Uncommitted, 41)
	equal(t, "uncommittedMax", item.UncommittedMax, 41)
	equal(t, "HW", item.HighWatermark, inspect.Offset(hw))
	equal(t, "status", item.Status, "[under-min-isr under-replicated]")
	equal(t, "lag of replica 2", replica(t, item, 2).Lag, 0)
	equal(t, "hwFrozenMs of one look", item.HWFrozenMs, unknown)

	stop := trickle(t, c, topic)
	item = only(t, lag(t, c, 0, topic+" --samples 3 --interval 500ms"))
	r := screen(c, "lag "+topic+" --samples 3 --interval 500ms").want(t, 0)
	stop()
	if ms := item.HWFrozenMs.Or(0); ms < 1000 {
		t.Errorf("hwFrozenMs = %d, want what passed between three samples", ms)
	}
	if item.Rates == nil || item.Rates.AppendPerSecond.Or(0) <= 0 || item.Rates.CommitPerSecond.Or(-1) != 0 {
		t.Errorf("rates = %+v, want appends and no commits", item.Rates)
	}
	for _, words := range []string{"HW frozen for ", "a producer is not using acks=all"} {
		if !strings.Contains(r.stdout, words) {
			t.Errorf("the screen does not say %q: %v", words, r)
		}
	}
	checkScreen(t, r)
}

// trickle writes a few records with acks=1 again and again until stop.
func trickle(t *testing.T, c *kafkatest.Cluster, topic string) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := c.Produce(t.Context(), topic, 0, 3, 1, 100); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

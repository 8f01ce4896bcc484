package acceptance

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestPausedFollower freezes a follower while acks=1 writes go on: first it is
// silent and still in every ISR, then the impatient leaders drop it.
func TestPausedFollower(t *testing.T) {
	c := shared.Get(t)
	const inISR, atMin, underMin, minOne = "paused-in-isr", "paused-at-min", "paused-under-min", "paused-min-1"
	createTopic(t, c, inISR, [][]int32{{patient, 2, 3}}, minISR(2))
	createTopic(t, c, atMin, [][]int32{{1, 2, 3}}, minISR(2))
	createTopic(t, c, underMin, [][]int32{{1, 3, 2}}, minISR(3))
	createTopic(t, c, minOne, [][]int32{{3, 2, 1}}, minISR(1))
	for _, topic := range []string{inISR, atMin, underMin, minOne} {
		c.ProduceRecords(t, topic, 0, 10, kafkatest.AcksAll, 100)
		awaitQuiet(t, c, topic, 0)
	}
	c.Pause(t, 2)
	for _, topic := range []string{atMin, underMin, minOne} { // a follower with the whole log is never dropped
		c.ProduceRecords(t, topic, 0, 5, 1, 100)
	}

	t.Run("still in the ISR", func(t *testing.T) {
		c.ProduceRecords(t, inISR, 0, 100, 1, 100)
		r := kafkaops(c, "lag "+inISR+" -o json --timeout 5s").want(t, 1)
		if !strings.Contains(r.stderr, "broker 2 ("+c.BrokerAddr(2)+")") {
			t.Errorf("stderr does not name broker 2: %v", r)
		}
		d, err := decode[render.LagItem](r)
		if err != nil {
			t.Fatal(err)
		}
		checkFrozen(t, only(t, d), 110, 10)
		c.ProduceRecords(t, inISR, 0, 50, 1, 100)
		checkFrozen(t, only(t, lag(t, c, 1, inISR+" --timeout 5s")), 160, 10)

		p, err := c.Partition(t.Context(), inISR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(p.ISR, 2) || len(p.Offline) > 0 {
			t.Fatalf("the ISR is %v and the offline replicas are %v: broker 2 was fenced too soon for this test", p.ISR, p.Offline)
		}
	})

	t.Run("dropped for its lag", func(t *testing.T) {
		c.AwaitISR(t, atMin, 0, 1, 3)
		c.AwaitISR(t, underMin, 0, 1, 3)
		c.AwaitISR(t, minOne, 0, 1, 3)
		// Nothing here depends on broker 2 itself: the answer is complete.
		d := run[render.PartitionItem](t, c, 0, "describe topics paused-*")
		for topic, want := range map[string]string{
			inISR: "[ok]", minOne: "[under-replicated]",
			atMin: "[at-min-isr under-replicated]", underMin: "[under-min-isr under-replicated]",
		} {
			item := partitionItem(t, d.Items, topic, 0)
			equal(t, "status of "+topic, item.Status, want)
			if len(item.OfflineReplicas) > 0 {
				t.Fatalf("broker 2 was fenced too soon for this test: %+v", item)
			}
		}
		item := describe(t, c, 1, "--timeout 5s")
		equal(t, "verdict", item.Verdict, inspect.LevelAtRisk)
		equal(t, "brokers", item.Brokers, 4)
		equal(t, "brokers answering", item.BrokersAnswering, 3)
		equal(t, "under min ISR", item.UnderMinISR, 1)
		equal(t, "at min ISR", item.AtMinISR, 1)
		equal(t, "under-replicated", item.UnderReplicated, 3)
		for _, topic := range []string{atMin, underMin, minOne} {
			sinceOf(t, c, topic, 0, "replica-lag")
		}
		if why := strings.Join(item.Reasons, "\n"); !strings.Contains(why, "broker 2 ("+c.BrokerAddr(2)+") does not answer") {
			t.Errorf("the reasons do not name broker 2:\n%s", why)
		}
	})

	t.Run("fenced", func(t *testing.T) {
		c.AwaitFenced(t, 2)
		c.AwaitISR(t, inISR, 0, 3, patient)
		// All that is left of min.insync.replicas=2 acknowledges what waited.
		awaitQuiet(t, c, inISR, 0)
		item := only(t, lag(t, c, 0, inISR))
		equal(t, "HW", item.HighWatermark, 160)
		equal(t, "uncommitted", item.Uncommitted, 0)
		equal(t, "state of replica 2", replica(t, item, 2).State, inspect.ReplicaOffline)
	})
}

// checkFrozen checks a partition whose in-sync replica 2 does not answer: leader
// and HW are exact, its own offset and lag unknown.
func checkFrozen(t *testing.T, item *render.LagItem, leo, hw inspect.Offset) {
	t.Helper()
	equal(t, "LEO", item.LogEndOffset, leo)
	equal(t, "HW", item.HighWatermark, hw)
	equal(t, "uncommitted", item.Uncommitted, int64(leo-hw))
	equal(t, "uncommittedMax", item.UncommittedMax, int64(leo-hw))
	equal(t, "status", item.Status, "[ok]")
	silent, other := replica(t, item, 2), replica(t, item, 3)
	equal(t, "state of replica 2", silent.State, inspect.ReplicaUnknown)
	equal(t, "membership of replica 2", silent.InSync, true)
	equal(t, "LEO of replica 2", silent.LogEndOffset, unknown)
	equal(t, "lag of replica 2", silent.Lag, unknown)
	equal(t, "state of replica 3", other.State, inspect.ReplicaInSync)
	equal(t, "LEO of replica 3", other.LogEndOffset, leo)
	equal(t, "lagMax of replica 3", other.LagMax, 0)
}

// TestHungBroker freezes one broker of a healthy, quiet cluster: the others'
// answers are complete, within the time that was given, whatever address the
// command begins with.
func TestHungBroker(t *testing.T) {
	// Within its timeout, and what a busy machine takes beside that; a command that waits for
	// the hung broker takes until it goes on.
	const timeout, atMost = "--timeout 5s", 20 * time.Second
	c := shared.Get(t)
	createTopic(t, c, "hung", [][]int32{{1, 2, 3}, {2, 3, 1}, {3, 1, 2}, {4, 2, 3}}, minISR(2))
	for p := range int32(4) {
		c.ProduceRecords(t, "hung", p, 10+int(p), kafkatest.AcksAll, 100)
		awaitQuiet(t, c, "hung", p)
	}
	c.Pause(t, 1)
	hungFirst, hungLast := "-b "+servers(c, 1, 2, 3, 4), "-b "+servers(c, 2, 1)
	commands := []struct {
		words string
		exit  int
	}{
		{"lag hung -o json " + hungFirst, 1},
		{"lag hung -o json " + hungLast, 1},
		{"describe -o json " + hungFirst, 1},
		{"describe topics hung -o json " + hungFirst, 0},
		{"check health -o json " + hungFirst, 1},
		{"check health --nagios " + hungFirst, 1}, // a warning, by a plugin's codes
		{"lag hung -o json -b " + servers(c, 1), 1},
	}
	results := make([]*result, len(commands))
	var wg sync.WaitGroup
	for i, cmd := range commands { // at once: the broker will be fenced some day
		wg.Go(func() { results[i] = kafkaops(c, cmd.words+" "+timeout) })
	}
	wg.Wait()
	for i, r := range results {
		if r.exit != commands[i].exit {
			t.Errorf("want exit %d: %v", commands[i].exit, r)
		}
		if r.took > atMost {
			t.Errorf("it took longer than %s: %v", atMost, r)
		}
		if !strings.Contains(r.stderr, c.BrokerAddr(1)) {
			t.Errorf("stderr does not name the hung broker: %v", r)
		}
	}
	if p, err := c.Partition(t.Context(), "hung", 1); err != nil || !slices.Contains(p.ISR, 1) {
		t.Fatalf("the ISR is %v (%v): broker 1 was fenced too soon for this test", p.ISR, err)
	}

	for _, r := range results[:2] {
		d, err := decode[render.LagItem](r)
		if err != nil {
			t.Fatal(err)
		}
		checkHung(t, d, hungReplica)
	}
	d, err := decode[render.ClusterItem](results[2])
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "verdict", only(t, d).Verdict, inspect.LevelDegraded)
	equal(t, "brokers answering", d.Items[0].BrokersAnswering, 3)
	if !strings.HasPrefix(results[5].stdout, "KAFKA DEGRADED - ") {
		t.Errorf("not a plugin's warning: %v", results[5])
	}
	if results[6].stdout != "" {
		t.Errorf("nothing answered, and stdout is not empty: %v", results[6])
	}
}

// hungReplica is the broker that TestHungBroker freezes.
const hungReplica = 1

func checkHung(t *testing.T, d *render.Document[render.LagItem], hung inspect.BrokerID) {
	t.Helper()
	equal(t, "partitions", len(d.Items), 4)
	for i := range d.Items {
		item := &d.Items[i]
		if err := sane(item); err != nil {
			t.Error(err)
		}
		end := inspect.Known(inspect.Offset(10 + item.Partition))
		led := !item.Leader.Equal(inspect.Known(hung))
		if led {
			equal(t, "HW", item.HighWatermark, end)
			equal(t, "LEO", item.LogEndOffset, end)
		} else {
			equal(t, "HW", item.HighWatermark, unknown)
			equal(t, "LEO", item.LogEndOffset, unknown)
		}
		for _, r := range item.Replicas {
			if r.Broker == hung {
				equal(t, "state of the hung replica", r.State, inspect.ReplicaUnknown)
				equal(t, "LEO of the hung replica", r.LogEndOffset, unknown)
				continue
			}
			equal(t, "LEO of a replica", r.LogEndOffset, end)
			equal(t, "whether its lag is known", r.Lag.IsKnown(), led)
		}
	}
}

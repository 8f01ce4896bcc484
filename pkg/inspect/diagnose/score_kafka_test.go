package diagnose_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// Seeds of the score on a real Kafka.
const (
	firstKafkaIncident = 4201
	firstKafkaHealthy  = 5201
	kafkaHealthyRuns   = 6
)

// kafkaIncident is something that is done to a real Kafka; see incident.
type kafkaIncident struct {
	name  string
	rate  float64
	looks int
	do    func(w *kafkaWard, rng *rand.Rand) []string
}

// kafkaKinds are the incidents of the score, each with how many are drawn.
var kafkaKinds = []struct {
	times int
	kafkaIncident
}{
	{2, kafkaIncident{name: "slow follower", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		return []string{w.slowFollower(anyOf(rng), between(rng, 1800, 3000))}
	}}},
	{1, kafkaIncident{name: "slow leader", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		id, late := anyOf(rng), between(rng, 1800, 3000)
		a, b := others(id)
		w.links.slow(id, a, late)
		w.links.slow(id, b, late)
		return []string{cause(diagnose.SlowLeader, id)}
	}}},
	{1, kafkaIncident{name: "slow link", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string { return []string{w.slowLink(rng)} }}},
	{1, kafkaIncident{name: "cut link, and a group that reads", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		w.read("billing", "orders")
		a, b := twoOf(rng)
		w.links.slow(a, b, held)
		return []string{cause(diagnose.SlowLink, b)}
	}}},
	{1, kafkaIncident{name: "stands still and runs, by turns", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		id := anyOf(rng)
		w.stutter(int32(id), between(rng, 2500, 3500), 300*time.Millisecond)
		return []string{cause(diagnose.SlowFollower, id) + "|" + cause(diagnose.SlowBroker, id) + "|" + cause(diagnose.BrokerStalls, id) + "|" + either(id)}
	}}},
	{1, kafkaIncident{name: "paused", rate: pace, looks: 5, do: func(w *kafkaWard, rng *rand.Rand) []string { return []string{w.pause(anyOf(rng))} }}},
	{1, kafkaIncident{name: "paused, and fenced for it", rate: pace, looks: 6, do: func(w *kafkaWard, rng *rand.Rand) []string {
		id := anyOf(rng)
		w.pause(id)
		w.AwaitFenced(w.t, int32(id))
		return []string{cause(diagnose.BrokerDown, id)}
	}}},
	{1, kafkaIncident{name: "killed", rate: pace, looks: 6, do: func(w *kafkaWard, rng *rand.Rand) []string { return []string{w.kill(anyOf(rng))} }}},
	{1, kafkaIncident{name: "killed, hardly any traffic", rate: 2, looks: 6, do: func(w *kafkaWard, rng *rand.Rand) []string { return []string{w.kill(anyOf(rng))} }}},
	{1, kafkaIncident{name: "killed, with min.insync.replicas 3", rate: pace, looks: 6, do: func(w *kafkaWard, rng *rand.Rand) []string {
		w.topic("strict", all(3), map[string]string{"min.insync.replicas": "3"})
		w.write("strict", 30)
		return []string{w.down(anyOf(rng)), string(tuning.FindingRFNotAboveMinISR)}
	}}},
	{1, kafkaIncident{name: "the only replica", rate: pace, looks: 6, do: func(w *kafkaWard, rng *rand.Rand) []string {
		id := anyOf(rng)
		w.topic("single", [][]int32{{int32(id)}}, map[string]string{"min.insync.replicas": "1"})
		return []string{w.down(id)}
	}}},
	{1, kafkaIncident{name: "fenced again and again", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		id := anyOf(rng)
		w.flap(int32(id))
		w.flap(int32(id))
		w.Heal(w.t) // for its leaders have other ones now
		return []string{cause(diagnose.Flapping, id)}
	}}},
	{1, kafkaIncident{name: "a reassignment that its throttle holds", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		id := anyOf(rng)
		a, b := others(id)
		w.topic("moving", [][]int32{{int32(a), int32(b)}}, map[string]string{"min.insync.replicas": "1"})
		w.ProduceRecords(w.t, "moving", 0, 5000, 1, 1000)
		w.throttle("moving")
		w.Reassign(w.t, "moving", 0, []int32{int32(a), int32(id)})
		w.t.Cleanup(func() { w.Reassign(w.t, "moving", 0, nil) })
		time.Sleep(5 * time.Second) // the first fetches go through before the rate is known
		return []string{string(diagnose.ReassignmentStuck)}
	}}},
	{1, kafkaIncident{name: "a throttle that was left", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		id := int32(anyOf(rng))
		w.throttle("orders") // who is in sync is not held
		w.Stop(w.t, id)
		w.ProduceRecords(w.t, "orders", 0, 5000, 1, 1000)
		w.StartNode(w.t, id)
		time.Sleep(3 * time.Second)
		// Of what it held nothing comes back, of the rest nobody moves the leaders back.
		return []string{string(diagnose.ThrottleLeft), string(diagnose.LeadersAway)}
	}}},
	{1, kafkaIncident{name: "a transaction that nobody ends", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		return []string{w.hanging(rng)}
	}}},
	{1, kafkaIncident{name: "one broker takes larger messages", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		return []string{w.differ(anyOf(rng), rng)}
	}}},
	{1, kafkaIncident{name: "a topic whose leaders may be unclean", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		w.topic("risky", all(3+rng.IntN(4)), map[string]string{"unclean.leader.election.enable": "true"})
		return []string{string(tuning.FindingUncleanElection)}
	}}},
	{1, kafkaIncident{name: "a topic with min.insync.replicas 1", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		w.topic("lax", all(3+rng.IntN(4)), map[string]string{"min.insync.replicas": "1"})
		return []string{string(tuning.FindingMinISROne)}
	}}},
	{1, kafkaIncident{name: "leaders that nobody moves back", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		w.Restart(w.t, int32(anyOf(rng)))
		w.observed().awaitCaughtUp()
		return []string{string(diagnose.LeadersAway)}
	}}},
	{1, kafkaIncident{name: "all leaders on one broker", rate: 30, do: func(w *kafkaWard, rng *rand.Rand) []string { return []string{w.hot(anyOf(rng))} }}},
	{1, kafkaIncident{name: "a log directory is gone", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		id := anyOf(rng)
		w.loseDir(int32(id))
		return []string{cause(diagnose.DirOffline, id)}
	}}},
	{1, kafkaIncident{name: "a controller of three is killed", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string { return []string{w.loseVoter(rng)} }}},
	{1, kafkaIncident{name: "two controllers of three are killed", rate: pace, looks: 5, do: func(w *kafkaWard, rng *rand.Rand) []string {
		for _, i := range rng.Perm(3)[:2] {
			w.Kill(w.t, kafkatest.FirstController+int32(i))
		}
		time.Sleep(4 * time.Second)
		return []string{string(diagnose.NoController)}
	}}},

	{1, kafkaIncident{name: "two are killed", rate: pace, looks: 6, do: func(w *kafkaWard, rng *rand.Rand) []string {
		a, b := twoOf(rng)
		w.kill(a)
		return []string{cause(diagnose.BrokerDown, a), w.down(b)}
	}}},
	{1, kafkaIncident{name: "killed, and a slow link", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		p := rng.Perm(3)
		a, b, c := p[0]+1, p[1]+1, p[2]+1
		down := w.down(a)
		w.links.slow(b, c, between(rng, 1800, 3000))
		// Of two brokers that are left nobody can tell.
		return []string{down, cause(diagnose.SlowFollower, c) + "|" + cause(diagnose.SlowLink, c) + "|" + cause(diagnose.SlowLeader, b)}
	}}},
	{1, kafkaIncident{name: "paused, and another takes larger messages", rate: pace, looks: 6, do: func(w *kafkaWard, rng *rand.Rand) []string {
		a, id := twoOf(rng) // who is fenced tells no settings
		differ := w.differ(a, rng)
		w.pause(id)
		w.AwaitFenced(w.t, int32(id))
		return []string{cause(diagnose.BrokerDown, id), differ}
	}}},
	{1, kafkaIncident{name: "a controller is killed, and a slow link", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		link := w.slowLink(rng)
		return []string{w.loseVoter(rng), link}
	}}},
	{1, kafkaIncident{name: "a transaction that nobody ends, and a slow follower", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		hanging := w.hanging(rng)
		return []string{hanging, w.slowFollower(anyOf(rng), between(rng, 1800, 3000))}
	}}},
	{1, kafkaIncident{name: "all leaders on one broker, and a controller is killed", rate: 30, do: func(w *kafkaWard, rng *rand.Rand) []string {
		hot := w.hot(anyOf(rng))
		return []string{w.loseVoter(rng), hot}
	}}},
}

func (w *kafkaWard) slowFollower(id int, late time.Duration) string {
	a, b := others(id)
	w.links.slow(a, id, late)
	w.links.slow(b, id, late)
	return cause(diagnose.SlowFollower, id)
}

func (w *kafkaWard) slowLink(rng *rand.Rand) string {
	a, b := twoOf(rng)
	w.links.slow(a, b, between(rng, 1800, 3000))
	return cause(diagnose.SlowLink, b)
}

func (w *kafkaWard) hanging(rng *rand.Rand) string {
	w.topic("payments", all(3), nil)
	w.hang("payments", int32(rng.IntN(3)), between(rng, 1_500_000, 90_000_000))
	return string(diagnose.HangingTransaction)
}

func (w *kafkaWard) differ(id int, rng *rand.Rand) string {
	const key = "message.max.bytes"
	w.AlterBrokerConfig(w.t, int32(id), key, fmt.Sprint(2_000_000+rng.IntN(1_000_000)))
	w.t.Cleanup(func() {
		w.Heal(w.t) // itself has to take it back
		w.AlterBrokerConfig(w.t, int32(id), key, "")
	})
	return string(diagnose.ConfigsDiffer)
}

func (w *kafkaWard) hot(id int) string {
	a, b := others(id)
	var assignment [][]int32
	for range 24 {
		assignment = append(assignment, []int32{int32(id), int32(a), int32(b)})
	}
	w.topic("hot", assignment, nil)
	w.write("hot", 600)
	return cause(diagnose.HotBroker, id)
}

// kafkaWells are runs in which nothing is wrong.
var kafkaWells = []kafkaIncident{
	{name: "idle", do: func(*kafkaWard, *rand.Rand) []string { return nil }},
	{name: "hardly any traffic", rate: 2, do: func(*kafkaWard, *rand.Rand) []string { return nil }},
	{name: "busy", rate: pace, do: func(*kafkaWard, *rand.Rand) []string { return nil }},
	{name: "busy, and a group that reads", rate: pace, do: func(w *kafkaWard, _ *rand.Rand) []string {
		w.read("audit", "orders")
		return nil
	}},
	{name: "busier", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		w.write("orders", float64(800+rng.IntN(1200)))
		return nil
	}},
	{name: "rolling restart", rate: pace, do: func(w *kafkaWard, rng *rand.Rand) []string {
		for _, id := range rng.Perm(3) {
			w.Restart(w.t, int32(id+1))
			w.observed().awaitCaughtUp()
		}
		w.Heal(w.t) // auto.leader.rebalance.enable is off: who restarts elects the preferred leaders
		return nil
	}},
}

// TestScoreOnKafka is TestScoreOnEngine on Apache Kafka itself.
func TestScoreOnKafka(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("takes 20 minutes: KAFKAOPS_LONG=1")
	}
	w := startKafka(t)
	incidents, healthy := []scored{}, []scored{}
	run := func(in *kafkaIncident, seed uint64, to *[]scored) {
		at := len(*to)
		*to = append(*to, scored{seed, in.name, []string{"it could not be made"}, nil})
		t.Run(fmt.Sprintf("%s %d", in.name, seed), func(t *testing.T) {
			got, want := w.in(t).run(in, seed)
			(*to)[at] = scored{seed, in.name, got, want}
		})
	}
	for i := range kafkaHealthyRuns {
		run(&kafkaWells[i%len(kafkaWells)], uint64(firstKafkaHealthy+i), &healthy)
	}
	seed := uint64(firstKafkaIncident)
	for i := range kafkaKinds {
		for range kafkaKinds[i].times {
			run(&kafkaKinds[i].kafkaIncident, seed, &incidents)
			seed++
		}
	}
	score(t, "On Apache Kafka "+kafkatest.DefaultVersion, fmt.Sprintf(`Three brokers with two log directories each and three controllers, twelve partitions of three replicas, looked at ten times (fewer where a broker does not answer), %s
between looks. Replication goes through relays, which slow and cut it; brokers and controllers are killed and stopped (SIGSTOP) as processes. One cluster for all, made whole in between.`, kafkaInterval), incidents, healthy)
}

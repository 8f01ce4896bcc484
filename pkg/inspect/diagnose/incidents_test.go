package diagnose_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
)

// incident is something that is done to a cluster, and what its causes are.
type incident struct {
	name    string
	options embedded.Options
	// rate is what is written to orders, records a second; 0: nothing.
	rate float64
	// do breaks something, by figures drawn from rng, and returns the causes, the gravest
	// first; none where nothing is wrong. A cause is "id broker", or several with | between.
	do func(w *ward, rng *rand.Rand) []string
	// looks is how many are taken; 0 is 10.
	looks int
}

// anyOf draws a broker.
func anyOf(rng *rand.Rand) int { return 1 + rng.IntN(3) }

// twoOf draws two brokers.
func twoOf(rng *rand.Rand) (a, b int) {
	p := rng.Perm(3)
	return p[0] + 1, p[1] + 1
}

// between draws a duration, in ms.
func between(rng *rand.Rand, low, high int) time.Duration {
	return time.Duration(low+rng.IntN(high-low+1)) * time.Millisecond
}

func cause(id diagnose.ID, broker int) string { return fmt.Sprintf("%s %d", id, broker) }

// slowDisk slows the disk of a broker: it lags, and with it what it leads does, where that
// still takes in anything.
func slowDisk(w *ward, id int, each time.Duration) string {
	w.Broker(id).SlowDisk(each)
	return cause(diagnose.SlowFollower, id) + "|" + cause(diagnose.SlowBroker, id)
}

// pace is a rate at which each partition of orders has something to show at each look.
const pace = 400

// ordinary are the incidents that every test run has.
var ordinary = []incident{
	{name: "idle", do: func(*ward, *rand.Rand) []string { return nil }},
	{name: "busy", rate: pace, do: func(*ward, *rand.Rand) []string { return nil }},
	{name: "slow disk", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		return []string{slowDisk(w, anyOf(rng), between(rng, 1500, 2500))}
	}},
	{name: "slow link", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		a, b := twoOf(rng)
		w.Link(a, b).Slow(between(rng, 1500, 2500))
		// Fetches that go the other way wait for answers that come this way.
		return []string{cause(diagnose.SlowLink, b) + "|" + string(diagnose.SlowLink)}
	}},
	{name: "paused", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		id := anyOf(rng)
		w.Broker(id).Pause()
		return []string{cause(diagnose.BrokerSilent, id) + "|" + cause(diagnose.BrokerDown, id)}
	}},
	{name: "no controller", rate: pace, looks: 4, do: func(w *ward, _ *rand.Rand) []string {
		w.Controller().Kill()
		return []string{string(diagnose.NoController)}
	}},
	{name: "killed, and a slow disk", rate: pace, options: embedded.Options{Config: map[string]string{"broker.session.timeout.ms": "1500"}}, do: func(w *ward, rng *rand.Rand) []string {
		a, b := twoOf(rng)
		w.Broker(a).Kill()
		w.awaitFenced(a)
		return []string{cause(diagnose.BrokerDown, a), slowDisk(w, b, between(rng, 1500, 2500))}
	}},
}

// TestIncidents: what was broken is named first, two that were are the first two, and
// nothing else is; where nothing was, nothing is.
func TestIncidents(t *testing.T) {
	t.Parallel()
	for i := range ordinary {
		t.Run(ordinary[i].name, func(t *testing.T) {
			t.Parallel()
			got, want := ordinary[i].run(t, uint64(i+1))
			if !named(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func matches(got, want string) bool { return slices.Contains(strings.Split(want, "|"), got) }

// run breaks and looks, and returns what was found, see ranked, and the causes that were
// made.
func (in *incident) run(t *testing.T, seed uint64) (got, want []string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0x64696167))
	o := in.options
	o.Brokers = 3
	config := map[string]string{"broker.session.timeout.ms": "6000", "replica.lag.time.max.ms": "10000"}
	for k, v := range o.Config {
		config[k] = v
	}
	o.Config = config
	w := newWard(t, o)
	w.topic("orders", all(12)...)
	if in.rate > 0 {
		w.write("orders", in.rate)
	}
	want = in.do(w, rng)
	if len(want) > 0 {
		time.Sleep(time.Second) // an incident is looked at after it has begun
	}
	n := in.looks
	if n == 0 {
		n = 10
	}
	c, r := w.look(n)
	t.Logf("%s", show(r))
	for _, l := range c.Links() {
		t.Logf("%+v", l)
	}
	return ranked(r), want
}

// awaitFenced waits until the cluster does without a broker.
func (w *ward) awaitFenced(id int) {
	w.t.Helper()
	w.await(fmt.Sprintf("broker %d is fenced", id), func() bool {
		s := w.snapshot(inspect.PartFenced)
		if s == nil {
			return false
		}
		b := s.Broker(inspect.BrokerID(id))
		return b == nil || b.Fenced.Or(false)
	})
}

package acceptance

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
)

// TestPredictedRemovals holds tune's prediction to a real Kafka. Two followers stand still
// now and then, as by SIGSTOP, for 2 to 9 s. Of what is led by a broker with a long
// replica.lag.time.max.ms a recording is made, with nobody removed; other leaders of the same
// followers have the value that is predicted for, and what they do is counted in the
// metadata log. So all see the same pauses. Each leader's timer has a phase of its own, and
// the prediction is an average over it: it is held to the mean of three.
//
// Long: it takes six minutes.
func TestPredictedRemovals(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: records for five minutes; set KAFKAOPS_LONG=1")
	}
	const lagMaxMs = 5000
	topicOf := map[int32]string{1: "recorded", 4: "led-by-4", 5: "led-by-5", 6: "led-by-6"}
	opts := kafkatest.Options{
		Engine: engine.FromEnv(), Brokers: 6, StartTimeout: 4 * time.Minute,
		Properties: map[string]string{
			"replica.lag.time.max.ms": strconv.Itoa(lagMaxMs), "auto.leader.rebalance.enable": "false",
			"broker.session.timeout.ms": "120000", "broker.heartbeat.interval.ms": "1000", // who stands still is not fenced
		},
		BrokerProperties: map[int32]map[string]string{1: {"replica.lag.time.max.ms": "60000"}},
	}
	c := kafkatest.Start(t, opts)
	var producers []*load.Producer
	for id, topic := range topicOf {
		createTopic(t, c, topic, [][]int32{{id, 2, 3}}, nil)
		// It asks nobody who may stand still: all leaders are written to all the time.
		p, err := load.StartProducer(connect.Config{Bootstrap: []string{c.BrokerAddr(id)}},
			load.Options{Topic: topic, Acks: load.AcksLeader, Rate: 20, StayWithLeader: true})
		if err != nil {
			t.Fatal(err)
		}
		producers = append(producers, p)
	}

	file := filepath.Join(t.TempDir(), "a.rec")
	recorded := make(chan *result, 1)
	go func() {
		// From who does not stand still, who is asked for no longer than looks are apart.
		recorded <- kafkaops(c, "record "+file+" recorded --for 315s --interval 500ms --timeout 1500ms -b "+servers(c, 1, 4, 5, 6))
	}()
	// What happens before there is a look nobody could predict.
	kafkatest.Eventually(t, time.Minute, func() error {
		r, err := recording.Read(file)
		if err == nil && len(r.Looked()) == 0 {
			err = errors.New("no look is recorded yet")
		}
		return err
	})
	const seed = 77
	rng := rand.New(rand.NewPCG(seed, 1))
	for end := time.Now().Add(4*time.Minute + 40*time.Second); time.Now().Before(end); {
		id := int32(2 + rng.IntN(2))
		c.Pause(t, id)
		time.Sleep(time.Duration(2000+rng.IntN(7000)) * time.Millisecond)
		c.Resume(t, id)
		time.Sleep(time.Duration(2500+rng.IntN(3000)) * time.Millisecond)
	}
	r := <-recorded
	if r.exit != 1 { // looks at those that stood still were not answered in full
		t.Fatal(r)
	}
	for _, p := range producers {
		if s := p.Stop(t.Context()); s.Acknowledged < 20*240 {
			t.Fatalf("only %d records were written", s.Acknowledged)
		}
	}
	for id, topic := range topicOf {
		c.AwaitISR(t, topic, 0, id, 2, 3)
	}

	advice := run[render.AdviceItem](t, c, 0, "tune --from "+file)
	figures := advice.Items[0].Evidence
	if advice.Items[0].Setting != "replica.lag.time.max.ms" || figures["removalsObserved"] != 0 {
		t.Fatalf("advice on %s, with %v", advice.Items[0].Setting, figures)
	}
	t.Logf("%.0f looks, %.0f missed; %.0f excursions, %.0f brief, %.0f cut off, the longest %.1f s",
		figures["looks"], figures["looksMissed"], figures["excursions"], figures["excursionsBrief"], figures["excursionsCutOff"], figures["longestMs"]/1000)
	const at, leaders = "At5000", 3
	var removals, outMs float64
	for id, topic := range topicOf {
		if id == 1 {
			continue
		}
		n, out := removalsOf(t, c, topic)
		t.Logf("%s: %.0f removals, %.1f s out of the ISR", topic, n, out/1000)
		removals, outMs = removals+n/leaders, outMs+out/leaders
	}
	t.Logf("replica.lag.time.max.ms %d: %.2f removals predicted, %.2f seen; %.1f s out of the ISR predicted, %.1f s seen",
		lagMaxMs, figures["removals"+at], removals, figures["outMs"+at]/1000, outMs/1000)
	if removals < 5 {
		t.Errorf("%.2f removals test nothing", removals)
	}
	if math.Abs(figures["removals"+at]-removals) > max(1, 0.15*removals) {
		t.Error("the removals were not predicted")
	}
	if math.Abs(figures["outMs"+at]-outMs) > max(lagMaxMs/2, 0.15*outMs) {
		t.Error("the time out of the ISR was not predicted")
	}
}

// removalsOf are how often a replica left a topic's ISRs, and for how long they were out in
// all.
func removalsOf(t *testing.T, c *kafkatest.Cluster, topic string) (removals, outMs float64) {
	t.Helper()
	r := kafkaops(c, "isr "+topic+" -o json --controller "+c.ControllerAddr()).want(t, 0)
	var d render.IsrDocument[render.IsrEventItem]
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatal(err)
	}
	for _, e := range d.Items {
		switch e.Type {
		case inspect.IsrShrink:
			removals += float64(len(e.Brokers))
		case inspect.IsrExpand:
			outMs += float64(e.DurationMs.Or(0))
		}
	}
	return removals, outMs
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func tuningScenario() scenario {
	return scenario{
		name: "tuning", short: "a lag time that is too short: recorded, advised on, applied, and what was predicted happens (a minute and a half)",
		settings: tuningSettings("2000"), tell: tellTuning,
	}
}

// lagTime is the setting that is advised on.
const lagTime = "replica.lag.time.max.ms"

func tuningSettings(lagMs string) map[string]string {
	return map[string]string{lagTime: lagMs, sessionTimeout: "1500", "broker.heartbeat.interval.ms": "300"}
}

// tuningTopic is written to; broker 1 leads it, so that who stalls follows.
const tuningTopic = "orders"

// stall is how long a follower's disk stands still. A short one no lag time minds; a long
// one is longer than one and a half times the lag time, so that the follower is removed
// whenever the leader looks.
const shortStall, longStall = 400 * time.Millisecond, 3100 * time.Millisecond

// stallsOf is the pattern: as many episodes as advice needs, and a few to spare.
func stallsOf() (all []time.Duration) {
	const rounds, shortOnes = 5, 4
	for range rounds {
		for range shortOnes {
			all = append(all, shortStall)
		}
		all = append(all, longStall)
	}
	return all
}

func tellTuning(ctx context.Context, d *demo) (err error) {
	dir, err := os.MkdirTemp("", "kafkaops-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "orders.rec")
	before, err := d.stallAndCount(ctx, file)
	if err != nil {
		return err
	}
	tune := "tune --from " + file + " --topic " + tuningTopic
	d.say("What should the lag time be, by what was seen?", "")
	if err := d.kafkaops(ctx, tune); err != nil {
		return err
	}
	a, err := d.lagAdvice(ctx, tune)
	if err != nil {
		return err
	}
	was, will := a.Current.Or(""), a.Recommended.Or("")
	if will == "" || will == was {
		return errStory("%s is %q and %q is recommended: %s", lagTime, was, will, a.Why)
	}
	predicted, after := a.Evidence["removalsAt"+was], a.Evidence["removalsAt"+will]
	if math.Abs(predicted-float64(before)) > max(1, 0.15*float64(before)) {
		return errStory("with %s the replay removes %.1f replicas, and %d were removed", was, predicted, before)
	}
	d.say(fmt.Sprintf("The advice is applied, which takes a restart of each broker: here a new cluster with %s=%s. The same again.", lagTime, will), "")
	if err := d.restartAll(ctx, tuningSettings(will)); err != nil {
		return err
	}
	then, err := d.stallAndCount(ctx, "")
	if err != nil {
		return err
	}
	d.say("How often a replica was removed from the ISR:",
		fmt.Sprintf("  %s=%s  replayed %.1f, happened %d", lagTime, was, predicted, before),
		fmt.Sprintf("  %s=%s  predicted %.1f, happened %d", lagTime, will, after, then))
	if math.Abs(after-float64(then)) > 1 {
		return errStory("%.1f removals were predicted, and %d happened", after, then)
	}
	return nil
}

// stallAndCount puts load on a topic, lets the disk of the slow broker stand still by the
// pattern, and returns how often a replica was removed. It is recorded unless file is "".
func (d *demo) stallAndCount(ctx context.Context, file string) (removed int, err error) {
	const rate, every = 200, 100 * time.Millisecond
	if err := d.kafkaops(ctx, "cluster topics create "+tuningTopic+" --replica-assignment 1:2:3 --config min.insync.replicas=2"); err != nil {
		return 0, err
	}
	fast, err := d.produce(load.Options{Topic: tuningTopic, Acks: load.AcksLeader, Rate: rate})
	if err != nil {
		return 0, err
	}
	if err := d.settle(ctx, rate/2, fast); err != nil {
		return 0, err
	}
	recording, stop := context.WithCancel(ctx)
	defer stop()
	recorded := make(chan int, 1)
	if file == "" {
		recorded <- exitOK
	} else {
		d.say("It is recorded, as one would for a day, but ten times a second:", "")
		line := fmt.Sprintf("record %s %s --interval %s", file, tuningTopic, every)
		d.show("kafkaops " + line)
		d.say("")
		go func() {
			recorded <- run(recording, strings.Fields(line), Env{Terminal: term.NewDouble(0, 0).Terminal, Getenv: d.getenv})
		}()
		if _, err := d.until(ctx, "it is recorded", func() bool { _, err := os.Stat(file); return err == nil }); err != nil {
			return 0, err
		}
	}
	stalls := stallsOf()
	d.say(fmt.Sprintf("Meanwhile the disk of broker %d stands still %d times, mostly for %s, at times for %s.", slowBroker, len(stalls), shortly(shortStall), shortly(longStall)), "")
	for _, stall := range stalls {
		if err := d.stallDisk(ctx, stall); err != nil {
			return 0, err
		}
	}
	stop()
	if code := <-recorded; code != exitOK && code != exitInterrupted {
		return 0, errStory("the recording ended with exit code %d", code)
	}
	d.finish(ctx, fast)
	const line = "isr " + tuningTopic + " --cause replica-lag"
	if err := d.kafkaops(ctx, line); err != nil {
		return 0, err
	}
	var events []render.IsrEventItem
	if err := d.items(ctx, line, &events); err != nil {
		return 0, err
	}
	for i := range events {
		if events[i].Type == inspect.IsrShrink {
			removed++
		}
	}
	return removed, nil
}

// stallDisk lets it stand still once, and waits until the broker is in sync again and
// some looks have seen that.
func (d *demo) stallDisk(ctx context.Context, stall time.Duration) error {
	const between = 300 * time.Millisecond
	b := d.up.cluster.Broker(int(slowBroker))
	b.SlowDisk(time.Hour)
	err := sleep(ctx, stall)
	b.HealDisk()
	if err != nil {
		return err
	}
	_, err = d.until(ctx, fmt.Sprintf("broker %d is in sync again", slowBroker), func() bool {
		return every(d.look(ctx, tuningTopic, inspect.PartOffsets), func(p *inspect.Partition) bool {
			return len(p.ISR) == len(p.Replicas) && p.Lag().Uncommitted.Or(math.MaxInt64) < 10
		})
	})
	if err != nil {
		return err
	}
	return sleep(ctx, between)
}

// lagAdvice is what tune says of the lag time.
func (d *demo) lagAdvice(ctx context.Context, line string) (render.AdviceItem, error) {
	var all []render.AdviceItem
	if err := d.items(ctx, line, &all); err != nil {
		return render.AdviceItem{}, err
	}
	for i := range all {
		if all[i].Setting == lagTime {
			return all[i], nil
		}
	}
	return render.AdviceItem{}, errStory("nothing is said of %s", lagTime)
}

// items runs a command without showing it, for the items of its JSON.
func (d *demo) items(ctx context.Context, line string, into any) error {
	out := term.NewDouble(0, 0)
	code := run(ctx, strings.Fields(line+" -o json"), Env{Terminal: out.Terminal, Getenv: d.getenv})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if code != exitOK {
		return errStory("kafkaops %s ended with exit code %d: %s", line, code, out.Stderr.String())
	}
	doc := struct{ Items any }{into}
	if err := json.Unmarshal(out.Stdout.Bytes(), &doc); err != nil {
		return fmt.Errorf("demo: kafkaops %s: %w", line, err)
	}
	return nil
}

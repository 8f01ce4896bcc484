package cli

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func flappingScenario() scenario {
	return scenario{
		name: "flapping", short: "leaders that keep moving: a session timeout that is too short fences a healthy broker again and again",
		settings: map[string]string{sessionTimeout: "800", "broker.heartbeat.interval.ms": "400"},
		tell:     tellFlapping,
	}
}

const (
	sessionTimeout = "broker.session.timeout.ms"
	// watchFlapping is how long fencings are counted.
	watchFlapping = 6 * time.Second
)

func tellFlapping(ctx context.Context, d *demo) error {
	before, err := d.countFlaps(ctx)
	if err != nil {
		return err
	}
	if before.fenced == 0 {
		return errStory("the broker was not fenced within %s", watchFlapping)
	}
	d.say(fmt.Sprintf("The remedy: a session longer than the worst delay. The same again with %s=9000, Kafka's default.", sessionTimeout), "")
	if err := d.restartAll(ctx, map[string]string{sessionTimeout: "9000", "broker.heartbeat.interval.ms": "400"}); err != nil {
		return err
	}
	after, err := d.countFlaps(ctx)
	if err != nil {
		return err
	}
	if after.fenced > 0 {
		return errStory("with the longer session broker %d was fenced %d times all the same", flapping, after.fenced)
	}
	d.say(fmt.Sprintf("In %s each: fenced %d times with the short session, %d times with the long one; slowest record %s and %s.",
		watchFlapping, before.fenced, after.fenced, shortly(before.slowest), shortly(after.slowest)))
	return nil
}

// flapping is the broker whose heartbeats are late.
const flapping inspect.BrokerID = 3

// flaps is what was seen in watchFlapping.
type flaps struct {
	// fenced is how often the broker was gone from the brokers that clients are told of,
	// moved how often a partition got another leader.
	fenced, moved int
	slowest       time.Duration
}

func (d *demo) countFlaps(ctx context.Context) (f flaps, err error) {
	const topic, rate = "orders", 200
	if err := d.kafkaops(ctx, "cluster topics create "+topic+" --partitions 6 --config min.insync.replicas=2"); err != nil {
		return f, err
	}
	safe, err := d.produce(load.Options{Topic: topic, Partition: load.AnyPartition, Acks: load.AcksAll, Rate: rate, Timeout: time.Second, KeepAcknowledged: true})
	if err != nil {
		return f, err
	}
	if _, err := d.until(ctx, "the workload runs", func() bool { return safe.Stats().Acknowledged > rate/2 }); err != nil {
		return f, err
	}
	d.say(fmt.Sprintf("Broker %d is well, but what it sends to the controller takes longer, as over a busy network:", flapping), "")
	safe.Reset()
	if err := d.kafkaops(ctx, fmt.Sprintf("cluster fault slow-link --from %d --to controller --one-way 700ms", flapping)); err != nil {
		return f, err
	}
	if err := d.watchFlaps(ctx, topic, &f); err != nil {
		return f, err
	}
	d.say(fmt.Sprintf("Within %s broker %d was seen fenced %d times, and partitions got another leader %d times.", watchFlapping, flapping, f.fenced, f.moved), "")
	if err := d.kafkaops(ctx, "describe", exitOK, exitFailed); err != nil {
		return f, err
	}
	if f.fenced > 0 {
		if err := d.nameFlapping(ctx); err != nil {
			return f, err
		}
		d.say("kafkaops export counts it as well: its counters of ISR changes stay when a broker is back.", "")
	}
	if err := d.kafkaops(ctx, "cluster heal"); err != nil {
		return f, err
	}
	s := d.finish(ctx, safe)
	f.slowest = s.Max
	missing, err := d.audit(ctx, "acks=all", topic, safe, s)
	if err == nil && missing > 0 {
		err = errStory("%d acknowledged records are missing", missing)
	}
	d.say("")
	return f, err
}

// nameFlapping lets diagnose name it. A look may meet the broker while it is fenced, which is
// told beside it.
func (d *demo) nameFlapping(ctx context.Context) error {
	d.say("That is one moment. The history of the ISRs has them all, and what they have in common:", "")
	return d.kafkaops(ctx, "diagnose --for 2s --interval 500ms", exitUnhealthy)
}

// watchFlaps looks again and again who is there and who leads.
func (d *demo) watchFlaps(ctx context.Context, topic string, f *flaps) error {
	leaders := map[int32]inspect.BrokerID{}
	there := true
	for begun := time.Now(); time.Since(begun) < watchFlapping; {
		if snap := d.look(ctx, topic, inspect.PartFenced); snap != nil {
			b := snap.Broker(flapping)
			is := b != nil && !b.Fenced.Or(false)
			if there && !is {
				f.fenced++
			}
			there = is
			now := map[int32]inspect.BrokerID{}
			for p := range snap.Partitions {
				if p.Leader == inspect.NoBroker {
					now[p.Index] = leaders[p.Index]
					continue
				}
				if was, ok := leaders[p.Index]; ok && was != p.Leader {
					f.moved++
				}
				now[p.Index] = p.Leader
			}
			maps.Copy(leaders, now)
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// restartAll is a new cluster with other settings in the same place.
func (d *demo) restartAll(ctx context.Context, settings map[string]string) error {
	if err := d.end(); err != nil {
		return err
	}
	if d.wasStopped() {
		return ctx.Err()
	}
	return d.start(ctx, settings)
}

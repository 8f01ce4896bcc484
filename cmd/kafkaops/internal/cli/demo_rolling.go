package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func rollingRestartScenario() scenario {
	return scenario{
		name: "rolling-restart", short: "one broker after the other restarts under load, and nothing is lost",
		// The controller lets a broker in again when the session of its last life is over.
		settings: map[string]string{"broker.session.timeout.ms": "1000", "broker.heartbeat.interval.ms": "200"},
		tell:     tellRollingRestart,
	}
}

func tellRollingRestart(ctx context.Context, d *demo) error {
	const topic, rate = "orders", 500
	if err := d.kafkaops(ctx, "cluster topics create "+topic+" --partitions 6 --config min.insync.replicas=2"); err != nil {
		return err
	}
	safe, err := d.produce(load.Options{
		Topic: topic, Partition: load.AnyPartition, Acks: load.AcksAll, Rate: rate, Timeout: time.Second, KeepAcknowledged: true,
	})
	if err != nil {
		return err
	}
	if err := d.settle(ctx, rate/2, safe); err != nil {
		return err
	}
	d.say(fmt.Sprintf("The workload: %d records a second with acks=all; each takes %s (p50).", rate, shortly(safe.Stats().P50)), "")
	safe.Reset()
	if err := d.restartInSteps(ctx, topic); err != nil {
		return err
	}
	for id := 2; id <= defaultBrokers; id++ {
		if err := d.kafkaops(ctx, fmt.Sprintf("cluster restart --broker %d", id)); err != nil {
			return err
		}
		if err := d.backInSync(ctx, topic, id); err != nil {
			return err
		}
	}
	if err := d.kafkaops(ctx, "describe"); err != nil {
		return err
	}
	s := d.finish(ctx, safe)
	d.say(fmt.Sprintf("Through all of it: half of the records took at most %s, 99 %% at most %s, the slowest %s.",
		shortly(s.P50), shortly(s.P99), shortly(s.Max)))
	missing, err := d.audit(ctx, "acks=all", topic, safe, s)
	if err == nil && (missing > 0 || s.Failed > 0) {
		err = errStory("%d acknowledged records are missing, %d failed (%v)", missing, s.Failed, s.FirstError)
	}
	return err
}

// restartInSteps shows with broker 1 what a restart is.
func (d *demo) restartInSteps(ctx context.Context, topic string) error {
	if err := d.kafkaops(ctx, "cluster fault stop --broker 1"); err != nil {
		return err
	}
	d.say("It gave its leaderships away before it went (a controlled shutdown), so every partition has a leader:", "")
	led := func(p *inspect.Partition) bool { return p.Leader != inspect.NoBroker && p.Leader != 1 }
	if _, err := d.until(ctx, "every partition is led by another broker", func() bool { return every(d.look(ctx, topic, 0), led) }); err != nil {
		return err
	}
	if err := d.kafkaops(ctx, "describe"); err != nil {
		return err
	}
	if err := d.kafkaops(ctx, "cluster restart --broker 1"); err != nil {
		return err
	}
	return d.backInSync(ctx, topic, 1)
}

// backInSync waits until nobody is missing: the next broker may go only then.
func (d *demo) backInSync(ctx context.Context, topic string, id int) error {
	took, err := d.until(ctx, fmt.Sprintf("broker %d is back in every ISR", id), func() bool {
		return every(d.look(ctx, topic, 0), func(p *inspect.Partition) bool { return len(p.ISR) == len(p.Replicas) })
	})
	if err == nil {
		d.say(fmt.Sprintf("Back in every ISR %s after that: only then the next one may go.", shortly(took)), "")
	}
	return err
}

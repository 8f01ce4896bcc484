package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func slowAcksScenario() scenario {
	return scenario{
		name: "slow-acks", short: "writes with acks=all take long, and every ISR is full: traced to the one follower that they wait for",
		tell: tellSlowAcks,
	}
}

func tellSlowAcks(ctx context.Context, d *demo) error {
	const topic, delay, enough, settled = "payments", 600 * time.Millisecond, 20, 200
	fast, safe, before, err := d.ordersLoad(ctx, topic, "1:2:3,2:1:3")
	if err != nil {
		return err
	}
	d.say(fmt.Sprintf("The incident: each write to the disk of broker %d takes %s. That is far from %s.", slowBroker, shortly(delay), lagTime), "")
	if err := d.kafkaops(ctx, fmt.Sprintf("cluster fault slow-disk --broker %d --per-write %s", slowBroker, delay)); err != nil {
		return err
	}
	for _, p := range []*load.Producer{fast, safe} {
		p.Reset()
	}
	// By how much they take longer, and not how many times: where the machine is busy they
	// took long before.
	if _, err := d.until(ctx, "records with acks=all wait for that disk", func() bool {
		s := safe.Stats()
		return s.Acknowledged > enough && s.P50 > before.P50+delay/2
	}); err != nil {
		return err
	}
	during, beside := safe.Stats(), fast.Stats()
	d.say(fmt.Sprintf("Records with acks=all take %s now (p50), those with acks=1 take %s. Nobody has left an ISR:", shortly(during.P50), shortly(beside.P50)), "")
	if err := d.kafkaops(ctx, "check health"); err != nil {
		return err
	}
	d.say("A record is committed when the last of the ISR has it, so that one slow follower sets the pace of all. Which one is it?", "")
	const diagnose = "diagnose --for 4s --interval 250ms " + topic
	if err := d.kafkaops(ctx, diagnose, exitUnhealthy); err != nil {
		return err
	}
	if out := outOfISR(d.look(ctx, topic, 0)); out {
		return errStory("broker %d left the ISR, which is another story", slowBroker)
	}
	d.say("The remedy: a disk that works; or stopping that broker cleanly, which ends the waiting at once. Here the disk heals.", "")
	if err := d.kafkaops(ctx, "cluster heal"); err != nil {
		return err
	}
	if _, err := d.until(ctx, "the followers have caught up", func() bool {
		return every(d.look(ctx, topic, inspect.PartOffsets), func(p *inspect.Partition) bool { return p.Lag().Uncommitted.Or(enough) < enough })
	}); err != nil {
		return err
	}
	if err := d.settle(ctx, settled, safe); err != nil {
		return err
	}
	after := safe.Stats()
	d.finish(ctx, fast)
	missing, err := d.audit(ctx, "acks=all", topic, safe, d.finish(ctx, safe))
	if err != nil {
		return err
	}
	d.say(fmt.Sprintf("Their records took %s before, %s while the disk was slow, %s since (p50).", shortly(before.P50), shortly(during.P50), shortly(after.P50)))
	if missing > 0 {
		return errStory("%d acknowledged records are missing", missing)
	}
	return nil
}

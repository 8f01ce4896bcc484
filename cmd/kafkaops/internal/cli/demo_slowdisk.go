package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func slowDiskScenario() scenario {
	return scenario{
		name: "slow-disk", short: "a follower's disk slows: what shows it before the replica leaves the ISR",
		settings: map[string]string{lagTime: strconv.FormatInt(slowDiskLagTime.Milliseconds(), 10)},
		tell:     tellSlowDisk,
	}
}

// slowDiskLagTime is how long a follower may lag in this story.
const slowDiskLagTime = 6 * time.Second

// slowDiskAssignment is the replicas of the story's partitions. The slow broker leads none:
// a leader whose disk is slow drops its followers too, which is another story.
const slowDiskAssignment = "1:2:3,2:1:3,1:3:2,2:3:1"

// slowBroker is the one whose disk slows.
const slowBroker inspect.BrokerID = 3

func tellSlowDisk(ctx context.Context, d *demo) error {
	const topic, early = "orders", 500
	fast, safe, _, err := d.ordersLoad(ctx, topic, slowDiskAssignment)
	if err != nil {
		return err
	}
	if err := d.kafkaops(ctx, "describe"); err != nil {
		return err
	}
	d.say("The incident: the disk of broker 3 slows. The broker goes on answering.", "")
	safe.Reset()
	if err := d.kafkaops(ctx, fmt.Sprintf("cluster fault slow-disk --broker %d --per-write 8s", slowBroker)); err != nil {
		return err
	}
	begun := time.Now()
	what := fmt.Sprintf("LEO-HW grows to %d on a partition that broker %d follows", early, slowBroker)
	if _, err := d.until(ctx, what, func() bool { return uncommittedFollowed(d.look(ctx, topic, inspect.PartOffsets)) >= early }); err != nil {
		return err
	}
	seen := time.Since(begun)
	if err := d.kafkaops(ctx, "lag "+topic+" --top 2"); err != nil {
		return err
	}
	d.say("What is written does not get committed: the HW waits for broker 3, which is still in the ISR.", "")
	if err := d.kafkaops(ctx, fmt.Sprintf("check health --max-uncommitted %d", early/2), exitUnhealthy); err != nil {
		return err
	}
	d.say("How long a record has waited needs no number to compare with: producers with acks=all alone wait for their",
		"answers, so that few records pile up. It looks twice:", "")
	if err := d.kafkaops(ctx, "check health --max-uncommitted-age 1s", exitUnhealthy); err != nil {
		return err
	}
	out := func() bool { return outOfISR(d.look(ctx, topic, 0)) }
	if out() {
		return errStory("broker %d left the ISR before LEO-HW could be shown", slowBroker)
	}
	during := safe.Stats()
	if _, err := d.until(ctx, fmt.Sprintf("broker %d leaves the ISR of what it follows", slowBroker), out); err != nil {
		return err
	}
	left := time.Since(begun)
	if left-seen < slowDiskLagTime/2 {
		return errStory("LEO-HW told of it only %s before the replica left the ISR", shortly(left-seen))
	}
	d.say(fmt.Sprintf("LEO-HW told of it %s after the disk slowed. After %s the replica left the ISR, %s later:", shortly(seen), shortly(left), shortly(left-seen)),
		"only now do the ISR, and all that looks at it alone, show anything.", "")
	if err := d.kafkaops(ctx, "describe"); err != nil {
		return err
	}
	if err := d.healSlowDisk(ctx, topic); err != nil {
		return err
	}
	return d.endSlowDisk(ctx, topic, fast, safe, during)
}

// ordersLoad creates a topic and puts the workload on it, and says how long its records
// take: what before is of.
func (d *demo) ordersLoad(ctx context.Context, topic, assignment string) (fast, safe *load.Producer, before load.Stats, err error) {
	if fast, safe, err = d.startOrders(ctx, topic, assignment, true); err != nil {
		return nil, nil, before, err
	}
	const some = 100
	if err := d.settle(ctx, some, fast, safe); err != nil {
		return nil, nil, before, err
	}
	if _, err := d.until(ctx, "the workload is read", func() bool { return d.follower.Records() > 2*some }); err != nil {
		return nil, nil, before, err
	}
	before = safe.Stats()
	d.say(fmt.Sprintf("The workload: one producer with acks=1, one with acks=all, whose records take %s (p50), %s (p99).",
		shortly(before.P50), shortly(before.P99)), "")
	return fast, safe, before, nil
}

// startOrders creates a topic and begins the workload: records that the leaders acknowledge,
// records that wait for the ISR, and a reader. audited keeps the numbers of what was
// acknowledged, for as long as it runs.
func (d *demo) startOrders(ctx context.Context, topic, assignment string, audited bool) (fast, safe *load.Producer, err error) {
	const fastRate, safeRate = 1500, 100
	if err := d.kafkaops(ctx, "cluster topics create "+topic+" --replica-assignment "+assignment+" --config min.insync.replicas=2"); err != nil {
		return nil, nil, err
	}
	if err := d.follow(topic); err != nil {
		return nil, nil, err
	}
	if fast, err = d.produce(load.Options{Topic: topic, Partition: load.AnyPartition, Acks: load.AcksLeader, Rate: fastRate}); err != nil {
		return nil, nil, err
	}
	safe, err = d.produce(load.Options{Topic: topic, Partition: load.AnyPartition, Acks: load.AcksAll, Rate: safeRate, KeepAcknowledged: audited})
	return fast, safe, err
}

// uncommittedFollowed is the largest LEO-HW of a partition that the slow broker
// follows, in the ISR.
func uncommittedFollowed(snap *inspect.Snapshot) int64 {
	var most int64
	if snap == nil {
		return 0
	}
	for p := range snap.Partitions {
		if p.Leader != slowBroker && slices.Contains(p.ISR, slowBroker) {
			most = max(most, p.Lag().Uncommitted.Or(0))
		}
	}
	return most
}

// outOfISR: the slow broker is in no ISR but those of partitions that it leads.
func outOfISR(snap *inspect.Snapshot) bool {
	return every(snap, func(p *inspect.Partition) bool {
		return p.Leader == slowBroker || !slices.Contains(p.ISR, slowBroker)
	})
}

func (d *demo) healSlowDisk(ctx context.Context, topic string) error {
	d.say("The remedy: a disk that works. Until there is one, a broker that is out of the ISR holds nobody up.",
		"Here the disk heals.", "")
	if err := d.kafkaops(ctx, "cluster heal"); err != nil {
		return err
	}
	took, err := d.until(ctx, "every replica is back in the ISR", func() bool {
		return every(d.look(ctx, topic, 0), func(p *inspect.Partition) bool { return len(p.ISR) == len(p.Replicas) })
	})
	if err != nil {
		return err
	}
	d.say(fmt.Sprintf("Broker %d has caught up and is back in every ISR %s after that.", slowBroker, shortly(took)), "")
	return d.kafkaops(ctx, "describe")
}

func (d *demo) endSlowDisk(ctx context.Context, topic string, fast, safe *load.Producer, during load.Stats) error {
	d.finish(ctx, fast)
	end := d.finish(ctx, safe)
	missing, err := d.audit(ctx, "acks=all", topic, safe, end)
	if err != nil {
		return err
	}
	d.say(fmt.Sprintf("Since the disk slowed their slowest took %s; of those sent until the check above, %d of %d had been acknowledged.",
		shortly(end.Max), during.Acknowledged, during.Sent))
	if missing > 0 {
		return errStory("%d acknowledged records are missing", missing)
	}
	return nil
}

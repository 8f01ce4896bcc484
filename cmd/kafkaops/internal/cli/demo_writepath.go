package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func writePathScenario() scenario {
	return scenario{
		name: "write-path", short: "one record traced from append to acknowledgement, with acks 0, 1 and all",
		tell: tellWritePath,
	}
}

func tellWritePath(ctx context.Context, d *demo) error {
	const topic = "traced"
	if err := d.kafkaops(ctx, "cluster topics create "+topic+" --config min.insync.replicas=2"); err != nil {
		return err
	}
	p, err := d.partition(ctx, topic)
	if err != nil {
		return err
	}
	d.say("So that the steps can be told apart, what the followers and the leader send each other takes a while:", "")
	for i, id := range followers(p) {
		delay := []time.Duration{20 * time.Millisecond, 60 * time.Millisecond}[i%2]
		if err := d.kafkaops(ctx, fmt.Sprintf("cluster fault slow-link --from %d --to %d --both --one-way %s", p.Leader, id, delay)); err != nil {
			return err
		}
	}
	d.say(fmt.Sprintf("One record is sent to broker %d, the leader, and every replica is asked again and again for its log end", p.Leader),
		"offset, the leader for its high watermark too. Times are since it was sent; ± is how long nobody had looked:",
		"where two steps are within that, the one that has to come first is shown first.",
		"Before each there is another record, not shown, that opens the client's connections.", "")
	var acked [3]time.Duration
	for i, acks := range load.AllAcks() {
		steps, err := d.trace(ctx, p, acks)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(steps, func(s load.Step) bool { return s.What == load.StepAcknowledged })
		acked[i] = steps[at].After
		d.say(fmt.Sprintf("acks=%s", acks))
		for _, s := range inOrder(steps, p.Leader, acks) {
			d.say(stepLine(s, p, acks))
		}
		d.say("")
	}
	d.say("What an acknowledgement promised when it came:",
		fmt.Sprintf("  acks=0    after %s: nothing; no broker had been heard of", shortly(acked[0])),
		fmt.Sprintf("  acks=1    after %s: the leader had it; it goes with the leader unless a follower has fetched it", shortly(acked[1])),
		fmt.Sprintf("  acks=all  after %s: every member of the ISR had it, and so whoever leads next", shortly(acked[2])), "",
		"Three records traced and three before them, so the log ends at 6:", "")
	return d.kafkaops(ctx, "lag "+topic+" --all")
}

// partition is partition 0 of a topic that has just been made.
func (d *demo) partition(ctx context.Context, topic string) (*inspect.Partition, error) {
	var found *inspect.Partition
	_, err := d.until(ctx, "every replica of "+topic+"-0 is in the ISR", func() bool {
		return every(d.look(ctx, topic, 0), func(p *inspect.Partition) bool {
			found = p
			return p.Index == 0 && p.Leader != inspect.NoBroker && len(p.ISR) == len(p.Replicas)
		})
	})
	return found, err
}

func followers(p *inspect.Partition) []inspect.BrokerID {
	return slices.DeleteFunc(slices.Clone(p.Replicas), func(id inspect.BrokerID) bool { return id == p.Leader })
}

func (d *demo) trace(ctx context.Context, p *inspect.Partition, acks load.Acks) ([]load.Step, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	return load.Trace(ctx, d.conn, load.Traced{Topic: p.Topic, Partition: p.Index, Leader: p.Leader, Replicas: p.Replicas}, acks)
}

// inOrder puts steps, which come by the time when they were seen, into the order in which
// they have to be where the times allow both: all followers are in the ISR.
func inOrder(steps []load.Step, leader inspect.BrokerID, acks load.Acks) []load.Step {
	// stage is how far the record has come with the step.
	stage := func(s load.Step) int {
		const sent, appended, fetched, committed, answered = 0, 1, 2, 3, 4
		switch {
		case s.What == load.StepAcknowledged && acks == load.AcksNone:
			return sent
		case s.What == load.StepAcknowledged && acks == load.AcksLeader:
			return fetched // after the leader has it, whatever becomes of the others
		case s.What == load.StepAcknowledged:
			return answered
		case s.What == load.StepCommitted:
			return committed
		case s.Broker == leader:
			return appended
		}
		return fetched
	}
	out := slices.Clone(steps)
	for range out {
		for i := 1; i < len(out); i++ {
			a, b := out[i-1], out[i]
			free := acks == load.AcksLeader && (a.What == load.StepAcknowledged || b.What == load.StepAcknowledged) && stage(a)+stage(b) > 3
			if !free && stage(b) < stage(a) && b.After-b.Unseen <= a.After {
				out[i-1], out[i] = b, a
			}
		}
	}
	return out
}

// stepLine is one step in words.
func stepLine(s load.Step, p *inspect.Partition, acks load.Acks) string {
	at := fmt.Sprintf("  %8s  ", shortly(s.After))
	switch {
	case s.What == load.StepAcknowledged && acks == load.AcksNone:
		return at + "the client has sent it, and takes that for an acknowledgement"
	case s.What == load.StepAcknowledged:
		return at + "the client has the acknowledgement"
	case s.What == load.StepCommitted:
		return at + fmt.Sprintf("the leader's high watermark has passed it: consumers see it  ±%s", shortly(s.Unseen))
	case s.Broker == p.Leader:
		return at + fmt.Sprintf("broker %d, the leader, has appended it: its LEO is one more  ±%s", s.Broker, shortly(s.Unseen))
	}
	return at + fmt.Sprintf("broker %d has fetched and appended it  ±%s", s.Broker, shortly(s.Unseen))
}

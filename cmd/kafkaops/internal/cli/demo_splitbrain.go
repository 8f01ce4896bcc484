package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

func splitBrainScenario() scenario {
	return scenario{
		name: "split-brain", short: "a leader is cut off and does not know: what it takes with acks=1 is lost",
		settings: map[string]string{"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "400"},
		tell:     tellSplitBrain,
	}
}

func tellSplitBrain(ctx context.Context, d *demo) error {
	const topic, rate = "ledger", 200
	if err := d.kafkaops(ctx, "cluster topics create "+topic+" --config min.insync.replicas=2"); err != nil {
		return err
	}
	p, err := d.partition(ctx, topic)
	if err != nil {
		return err
	}
	old := p.Leader
	weak, err := d.produce(load.Options{
		Topic: topic, Acks: load.AcksLeader, Rate: rate, StayWithLeader: true, KeepAcknowledged: true,
	})
	if err != nil {
		return err
	}
	safe, err := d.produce(load.Options{Topic: topic, Acks: load.AcksAll, Rate: rate, Timeout: time.Second, KeepAcknowledged: true})
	if err != nil {
		return err
	}
	const some = 100
	running := func() bool { return weak.Stats().Acknowledged > some && safe.Stats().Acknowledged > some }
	if _, err := d.until(ctx, "the workload runs", running); err != nil {
		return err
	}
	d.say(fmt.Sprintf("Two producers write to %s-0, whose leader is broker %d: one with acks=1, one with acks=all.", topic, old),
		fmt.Sprintf("Broker %d is cut off from the other brokers and from the controller. Its clients still reach it.", old), "")
	atCut := weak.Stats().Acknowledged
	for _, other := range append(idWords(followers(p)), controllerWord) {
		if err := d.kafkaops(ctx, fmt.Sprintf("cluster fault cut --from %d --to %s --both", old, other)); err != nil {
			return err
		}
	}
	if err := d.twoLeaders(ctx, topic, old); err != nil {
		return err
	}
	return d.afterSplit(ctx, topic, old, weak, safe, atCut)
}

func idWords(ids []inspect.BrokerID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = fmt.Sprint(id)
	}
	return out
}

// twoLeaders waits for another leader and shows what both sides say.
func (d *demo) twoLeaders(ctx context.Context, topic string, old inspect.BrokerID) error {
	cut := d.conn.Bootstrap[old-1]
	var others []string
	for i, addr := range d.conn.Bootstrap {
		if i != int(old-1) {
			others = append(others, addr)
		}
	}
	// From here on the commands ask those that are not cut off.
	d.conn = connect.Config{Bootstrap: others}
	var leader inspect.BrokerID
	took, err := d.until(ctx, "another broker leads", func() bool {
		return every(d.look(ctx, topic, 0), func(p *inspect.Partition) bool {
			leader = p.Leader
			return leader != old && leader != inspect.NoBroker
		})
	})
	if err != nil {
		return err
	}
	d.say(fmt.Sprintf("After %s, when the session of broker %d was over, broker %d was elected.", shortly(took), old, leader),
		fmt.Sprintf("Asked of broker %d, which is cut off, kafkaops looks for one that reaches the controller:", old), "")
	return d.kafkaops(ctx, "describe topics "+topic+" --timeout 5s -b "+cut, exitOK, exitFailed)
}

// afterSplit lets both producers go on, heals, and counts. atCut is what acks=1 had
// acknowledged when the leader was cut off.
func (d *demo) afterSplit(ctx context.Context, topic string, old inspect.BrokerID, weak, safe *load.Producer, atCut int64) error {
	const some = 200
	weakBefore, safeBefore := weak.Stats().Acknowledged, safe.Stats().Acknowledged
	_, err := d.until(ctx, "both producers get acknowledgements", func() bool {
		return weak.Stats().Acknowledged > weakBefore+some && safe.Stats().Acknowledged > safeBefore+some
	})
	if err != nil {
		return err
	}
	safeSince := safe.Stats().Acknowledged - safeBefore
	weakStats := d.finish(ctx, weak)
	cut := weakStats.Acknowledged - atCut
	d.say(fmt.Sprintf("Broker %d, which does not know, has acknowledged %d records to acks=1 since it was cut off: %d before the",
		old, cut, weakBefore-atCut),
		fmt.Sprintf("election, %d after it. To acks=all it could not: its ISR did not answer. That producer went on at the new", weakStats.Acknowledged-weakBefore),
		fmt.Sprintf("leader, with %d records since the election.", safeSince), "")
	if err := d.kafkaops(ctx, "cluster heal"); err != nil {
		return err
	}
	_, err = d.until(ctx, "every replica is back in the ISR", func() bool {
		return every(d.look(ctx, topic, 0), func(p *inspect.Partition) bool { return len(p.ISR) == len(p.Replicas) })
	})
	if err != nil {
		return err
	}
	d.say(fmt.Sprintf("Broker %d has cut off its log what the new leader does not have, and follows. The count:", old), "")
	safeStats := d.finish(ctx, safe)
	lost, err := d.audit(ctx, "acks=1  ", topic, weak, weakStats)
	if err != nil {
		return err
	}
	missing, err := d.audit(ctx, "acks=all", topic, safe, safeStats)
	switch {
	case err != nil:
		return err
	case lost == 0:
		return errStory("nothing of acks=1 was lost: there was no split to be seen")
	case missing > 0:
		return errStory("%d records acknowledged with acks=all are missing", missing)
	}
	d.say(fmt.Sprintf("acks=1 counts from the start, %d of it before the cut: what is missing is of the %d since the cut, of which the", atCut, cut),
		"other brokers had at most the first few.", "")
	return d.kafkaops(ctx, "describe")
}

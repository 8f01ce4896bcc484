package controller

import (
	"fmt"
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// operation is one decision in the making. Each record is applied to its image
// at once, so that what comes later in the operation sees it: two changes of one
// partition in one request cannot contradict each other.
type operation struct {
	c       *Controller
	nowMs   int64
	base    int64
	image   metadata.Image
	records []kraft.Record
}

func (c *Controller) begin(nowMs int64) *operation {
	return &operation{c: c, nowMs: nowMs, base: c.next, image: c.image}
}

// write adds a record. That it contradicts the image is a bug of this package.
func (op *operation) write(rec kraft.Record) {
	image, err := op.image.Apply(rec)
	if err != nil {
		panic(fmt.Sprintf("controller: at offset %d: %v", op.end(), err))
	}
	op.image = image
	op.records = append(op.records, rec)
}

// end is the offset that the next record will have.
func (op *operation) end() int64 { return op.base + int64(len(op.records)) }

// rollback takes back all that was written, as a dry run does.
func (op *operation) rollback() {
	op.image, op.records = op.c.image, nil
}

func (op *operation) commit() Batch {
	op.c.image, op.c.next = op.image, op.end()
	return Batch{op.base, op.records}
}

// broker checks that the sender is the life of the broker that is registered
// (Kafka's ClusterControlManager.checkBrokerEpoch).
func (op *operation) broker(id int32, epoch int64) (*metadata.Broker, *Error) {
	b, ok := op.image.Broker(id)
	if !ok {
		return nil, errorf(StaleBrokerEpoch, "broker %d is not registered: it has to register before anything else", id)
	}
	if b.BrokerEpoch != epoch {
		return nil, errorf(StaleBrokerEpoch, "broker %d is registered with epoch %d, not %d", id, b.BrokerEpoch, epoch)
	}
	return b, nil
}

// partition finds a partition by its topic's name.
func (op *operation) partition(topic string, id int32) (*kraft.Partition, *Error) {
	if t, ok := op.image.Topic(topic); ok {
		if p, ok := t.Partition(id); ok {
			return p, nil
		}
	}
	return nil, errorf(UnknownTopicOrPartition, "there is no partition %s-%d", topic, id)
}

// elrEnabled reports whether ISR members that leave below min ISR stay eligible
// (KIP-966).
func (op *operation) elrEnabled() bool { return op.image.Feature(featureELR) >= 1 }

// effectiveMinISR is Kafka's getTopicEffectiveMinIsr: the replica count is that of
// partition 0, whichever partition is asked about.
func (op *operation) effectiveMinISR(topic *metadata.Topic) int {
	minISR := op.topicInt(topic.Name, minISRKey)
	first, ok := topic.Partition(0)
	if !ok {
		return minISR
	}
	return min(minISR, len(first.Replicas))
}

// change starts a change of a partition, which is none yet.
func (op *operation) change(topic *metadata.Topic, p *kraft.Partition) *change {
	return &change{
		old:      p,
		minISR:   op.effectiveMinISR(topic),
		elr:      op.elrEnabled(),
		election: electOnline,
		acceptable: func(id int32) bool {
			return op.acceptable(p, id)
		},
		defaultDir: op.defaultDirectory,
		isr:        slices.Clone(p.ISR),
		replicas:   p.Replicas,
		adding:     p.AddingReplicas,
		removing:   p.RemovingReplicas,
		eligible:   p.EligibleLeaderReplicas,
		recovery:   p.LeaderRecoveryState,
		lost:       noBroker,
	}
}

// acceptable is Kafka's LeaderAcceptor: the broker is active, and the directory
// of its replica online.
func (op *operation) acceptable(p *kraft.Partition, id int32) bool {
	b, ok := op.image.Broker(id)
	i := slices.Index(p.Replicas, id)
	return ok && i >= 0 && b.Active() && online(b, p.Directories[i])
}

// apply writes what the change comes to and reports whether it is anything.
func (op *operation) apply(ch *change) bool {
	rec := ch.record()
	if rec == nil {
		return false
	}
	op.write(rec)
	return true
}

package controller

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// What happens to partitions when a broker goes or comes, each with the records
// in Kafka's order, from which the cause can be told.

// fence takes the broker out of its ISRs, finds other leaders, and only then
// fences it (Kafka's handleBrokerFenced). It is written again for a broker that is
// fenced already.
func (op *operation) fence(b *metadata.Broker) {
	op.updatePartitions(inISR(b.BrokerID), b.BrokerID, noBroker)
	op.write(&kraft.BrokerRegistrationChange{BrokerID: b.BrokerID, BrokerEpoch: b.BrokerEpoch, Fenced: kraft.Fenced})
}

// unfence lets the broker lead again, which only partitions without a leader
// need at once: its leaders take it back into ISRs one by one
// (handleBrokerUnfenced).
func (op *operation) unfence(b *metadata.Broker) {
	op.write(&kraft.BrokerRegistrationChange{BrokerID: b.BrokerID, BrokerEpoch: b.BrokerEpoch, Fenced: kraft.Unfenced})
	op.updatePartitions(leaderless, noBroker, noBroker)
}

// startShutdown keeps the broker from coming back into an ISR or leading while it
// is on its way out (KIP-841, handleBrokerInControlledShutdown).
func (op *operation) startShutdown(b *metadata.Broker) {
	if !b.InControlledShutdown {
		op.write(&kraft.BrokerRegistrationChange{
			BrokerID: b.BrokerID, BrokerEpoch: b.BrokerEpoch, InControlledShutdown: kraft.InControlledShutdown,
		})
	}
	op.updatePartitions(inISR(b.BrokerID), b.BrokerID, noBroker)
}

// endLife is for what the life before left behind when a broker registers anew
// (handleBrokerShutdown). Without proof of a clean stop its disk may have lost
// records that it had acknowledged, so it is not eligible any more (KIP-966).
func (op *operation) endLife(id int32, clean bool) {
	if op.elrEnabled() && !clean {
		op.updatePartitions(inISR(id), noBroker, id)
		op.updatePartitions(func(p *kraft.Partition) bool { return slices.Contains(p.EligibleLeaderReplicas, id) }, noBroker, id)
		return
	}
	op.updatePartitions(inISR(id), id, noBroker)
}

func inISR(id int32) func(*kraft.Partition) bool {
	return func(p *kraft.Partition) bool { return slices.Contains(p.ISR, id) }
}

func leaderless(p *kraft.Partition) bool { return p.Leader == kraft.NoLeader }

// leads reports whether the broker leads any partition.
func (op *operation) leads(id int32) bool {
	for _, topic := range op.image.Topics() {
		for _, p := range topic.Partitions() {
			if p.Leader == id {
				return true
			}
		}
	}
	return false
}

// updatePartitions updates each partition that is selected by the image from before,
// as a broker leaves its ISRs, or finds it a leader (Kafka's
// generateLeaderAndIsrUpdates). Neither leaves nor lost, if not noBroker, may lead
// or stay in the ISR; lost is not eligible either.
func (op *operation) updatePartitions(selected func(*kraft.Partition) bool, leaves, lost int32) {
	for _, topic := range op.image.Topics() {
		op.updateTopic(topic, selected, leaves, lost)
	}
}

func (op *operation) updateTopic(topic *metadata.Topic, selected func(*kraft.Partition) bool, leaves, lost int32) {
	for _, p := range topic.Partitions() {
		if !selected(p) {
			continue
		}
		ch := op.change(topic, p)
		if op.uncleanAllowed(topic.Name) {
			ch.election = electUnclean
		}
		ch.acceptable = func(id int32) bool { return id != leaves && id != lost && op.acceptable(p, id) }
		ch.isr, ch.lost = without(p.ISR, leaves, lost), lost
		op.apply(ch)
	}
}

package node

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// alterPauseMs is the pause after a request that failed as a whole
// (DefaultAlterPartitionManager.handleResponse).
const alterPauseMs = 50

// alterer asks the controller for ISRs: all proposals that wait in one request,
// and one request in flight (DefaultAlterPartitionManager). There is no end to the
// asking: a proposal stays in force until it is answered.
type alterer struct {
	waiting []*partition // whose proposal is not sent
	sent    []sentProposal
	// resting: not before the pause is over.
	resting bool
	pause   alarm
}

type sentProposal struct {
	p        *partition
	proposal replica.AlterPartition
}

func (a *alterer) begin() {
	a.pause.Ring = func() { a.resting = false }
}

// propose takes a replica's proposal, instead of one that was not sent yet.
func (a *alterer) propose(p *partition, e replica.AlterPartition) {
	if p.proposal == nil {
		a.waiting = append(a.waiting, p)
	}
	p.proposal = &e
}

func (a *alterer) forget(p *partition) {
	p.proposal = nil
	a.waiting = slices.DeleteFunc(a.waiting, func(other *partition) bool { return other == p })
}

// send sends what waits, at the end of a step.
func (a *alterer) send(n *Node) {
	if len(a.waiting) == 0 || len(a.sent) > 0 || a.resting || n.life.epoch < 0 || n.life.state == closing {
		return
	}
	slices.SortStableFunc(a.waiting, comparePartitions)
	req := kmsg.NewPtrAlterPartitionRequest()
	req.Version = req.MaxVersion()
	req.BrokerID, req.BrokerEpoch = n.opts.ID, n.life.epoch
	for _, p := range a.waiting {
		e := *p.proposal
		p.proposal = nil
		a.sent = append(a.sent, sentProposal{p, e})
		if last := len(req.Topics) - 1; last < 0 || req.Topics[last].TopicID != p.id.topic {
			topic := kmsg.NewAlterPartitionRequestTopic()
			topic.TopicID = p.id.topic
			req.Topics = append(req.Topics, topic)
		}
		topic := &req.Topics[len(req.Topics)-1]
		topic.Partitions = append(topic.Partitions, alterRequest(p, e))
	}
	a.waiting = a.waiting[:0]
	n.send(machine.Controller, req, a)
}

func alterRequest(p *partition, e replica.AlterPartition) kmsg.AlterPartitionRequestTopicPartition {
	part := kmsg.NewAlterPartitionRequestTopicPartition()
	part.Partition, part.LeaderEpoch, part.PartitionEpoch = p.id.index, int32(e.LeaderEpoch), e.PartitionEpoch
	for _, m := range e.ISR {
		member := kmsg.NewAlterPartitionRequestTopicPartitionNewEpochISR()
		member.BrokerID, member.BrokerEpoch = int32(m.ID), m.BrokerEpoch
		part.NewEpochISR = append(part.NewEpochISR, member)
	}
	return part
}

// ended is ender's.
func (a *alterer) ended(n *Node, body kmsg.Response) {
	sent := a.sent
	a.sent = nil
	resp, ok := body.(*kmsg.AlterPartitionResponse)
	if !ok || resp.ErrorCode != 0 {
		if ok {
			n.notef("change of ISRs refused with error %d", resp.ErrorCode)
		}
		for _, s := range sent {
			a.again(s)
		}
		a.rest(n)
		return
	}
	for i := range resp.Topics {
		t := &resp.Topics[i]
		for j := range t.Partitions {
			answer := &t.Partitions[j]
			id := partitionID{t.TopidID, answer.Partition}
			at := slices.IndexFunc(sent, func(s sentProposal) bool { return s.p.id == id })
			if at < 0 {
				continue
			}
			s := sent[at]
			sent = slices.Delete(sent, at, at+1)
			n.step(s.p, replica.AlterPartitionResponse{
				Proposal: s.proposal.Proposal, Err: replica.Code(answer.ErrorCode),
				LeaderEpoch: replica.Epoch(answer.LeaderEpoch), PartitionEpoch: answer.PartitionEpoch, ISR: brokerIDs(answer.ISR),
			})
			if s.p.proposal != nil && s.p.proposal.Proposal == s.proposal.Proposal {
				// It asks for the same again.
				a.rest(n)
			}
		}
	}
	for _, s := range sent {
		// Not in the answer: it is not known what became of it.
		a.again(s)
	}
	if len(sent) > 0 {
		a.rest(n)
	}
}

// again lets a proposal wait anew, unless there is a newer one.
func (a *alterer) again(s sentProposal) {
	if s.p.closed || s.p.proposal != nil {
		return
	}
	a.propose(s.p, s.proposal)
}

func (a *alterer) rest(n *Node) {
	a.resting = true
	n.alarms.set(&a.pause, n.now.Mono+alterPauseMs)
}

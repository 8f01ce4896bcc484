package node

import (
	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// partitionID is a partition's name for good.
type partitionID struct {
	topic kraft.UUID
	index int32
}

// partition is a replica with its log, and those who wait for it.
//
//	made -> live    its log is open
//	any  -> closed  no longer hosted; its log is deleted behind what the disk has
type partition struct {
	name storage.TopicPartition
	id   partitionID
	lane uint64

	log     *storage.Log
	replica *replica.Replica // nil until the log is there
	// leaving: what is answered from now on is that there is no such leader here.
	leaving, closed bool

	// meta is the newest metadata; the replica's once it is there.
	meta replica.Partition
	cfg  topicConfig
	// directory is where the metadata has the log.
	directory kraft.UUID

	// busy: the disk has the replica's one order.
	busy bool
	// fetched are the answers of a leader whose bytes the replica may yet order to
	// append; more than one only where the first waits for the disk.
	fetched []fetched
	entry   fetchEntry

	proposal *replica.AlterPartition // that is not sent
	// coordinator is that of the groups in it, while it is led here.
	coordinator *coordinator
	// followers and consumers are parked fetches that this partition may wake.
	followers, consumers []*fetchRequest
	// readers are the sessions that this partition is part of, changes counts what could
	// concern them.
	readers []*sessionPart
	changes uint64

	deadline alarm
	// flush is when a sync is due that nobody waits for; flushing: it is under way.
	flush    alarm
	flushing bool
	// retaining: its retention is being looked at.
	retaining bool
}

// fetched is a leader's answer: its bytes, and where each batch ends.
type fetched struct {
	token replica.Token
	bytes []byte
	frame *frame
	ends  []int
}

func (p *partition) live() bool { return p != nil && p.replica != nil && !p.closed }

// step steps the partition's replica and carries out what it orders.
func (n *Node) step(p *partition, in replica.Input) {
	if p.replica == nil || p.closed {
		return
	}
	switch in.(type) {
	case replica.FollowerFetch, replica.FetchesRepeated:
		// Of what they move the effects tell.
	default:
		n.unsettle(p)
	}
	base := len(n.effects)
	n.effects = p.replica.Step(n.now.Mono, in, n.effects)
	effects := n.effects[base:]
	if n.opts.Observe != nil {
		n.opts.Observe(Partition{Topic: p.name.Topic, ID: p.id.topic, Index: p.name.Partition}, in, effects)
	}
	for _, e := range effects {
		n.carryOut(p, e)
	}
	clear(effects)
	n.effects = n.effects[:base]
	if !p.busy && len(p.fetched) > 0 {
		// Nothing is being written and nothing waits: the bytes are of no use.
		for _, f := range p.fetched {
			n.letGo(f.frame)
		}
		clear(p.fetched)
		p.fetched = p.fetched[:0]
	}
	n.setDeadline(p)
}

func (n *Node) setDeadline(p *partition) {
	if ms, ok := p.replica.NextDeadline(); ok {
		// One that is in the past already is for the next Tick.
		n.alarms.set(&p.deadline, max(ms, n.now.Mono))
		return
	}
	n.alarms.Clear(&p.deadline)
}

// carryOut has one line for each effect.
func (n *Node) carryOut(p *partition, e replica.Effect) {
	switch e := e.(type) {
	case replica.Append:
		n.orderAppend(p, e)
	case replica.Sync:
		n.order(p, &syncOrder{p: p, upTo: e.UpTo, wall: n.now.Wall})
	case replica.Truncate:
		n.orderTruncate(p, e)
	case replica.StoreEpoch:
		n.order(p, &epochOrder{p: p, entry: e.Entry})
	case replica.ProduceReply:
		n.produced(e)
	case replica.FetchReply:
		n.fetchBounded(e)
	case replica.DeleteRecordsReply:
		n.recordsDeleted(e)
	case replica.AlterPartition:
		n.alter.propose(p, e)
	case replica.FetchFrom:
		n.fetchFrom(p, e)
	case replica.FetchStop:
		n.fetchStop(p)
	case replica.FetchFailed:
		n.notef("%s: the fetcher has stopped with error %d until the metadata changes", p.name, e.Err)
		n.fetchStop(p)
	case replica.AskOffset:
		n.askOffset(p, e)
	case replica.HWMoved:
		p.log.SetHW(e.HW)
		n.groupsHW(p, e.HW)
		n.unsettle(p)
		n.wakeConsumers(p)
	case replica.LogGrew:
		n.wakeFollowers(p)
	case replica.LogStartMoved:
		n.unsettle(p)
		if e.Start > p.log.Start() {
			n.run(p.lane, &startOrder{p: p, start: e.Start})
		}
	case replica.RoleChanged:
		n.wakeFollowers(p)
		n.wakeConsumers(p)
		n.groupRole(p, e.Role)
	case replica.ISRChanged:
		// For meters, which there are none of yet.
	}
}

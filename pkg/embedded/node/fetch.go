package node

import (
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// Replica ids of a Fetch that are no broker's (FetchRequest).
const (
	// futureReplica reads to the log end without being a follower. Kafka means it for
	// moves between log directories, and answers it to all.
	futureReplica int32 = -3
)

const fetchSessionIDNotFound replica.Code = 70

// fetchRequest is a Fetch from its arrival to its answer, a follower's or a
// consumer's.
//
//	asking -> answered   an error, a divergence, or enough to read
//	asking -> parked     too little to read
//	parked -> asking     one of its partitions has more, or another role; time is up
type fetchRequest struct {
	token machine.Token
	req   *kmsg.FetchRequest
	resp  *kmsg.FetchResponse
	parts []fetchPart

	replicaID   int32
	brokerEpoch int64
	maxBytes    int
	minBytes    int
	// open is how many replicas have not said yet what may be read.
	open int
	// parked: its partitions know it. again: it is to be looked at when the step
	// ends. expired: whatever there is, is the answer.
	parked, again, expired bool
	deadline               alarm
}

// fetchPart is one partition of it.
type fetchPart struct {
	p                *partition // nil if there is none, and bounds say why
	topic, partition int        // in request and answer
	bounds           replica.FetchBounds
	preferred        replica.BrokerID
}

// fetchAsked is what a replica was asked for a follower.
type fetchAsked struct {
	r    *fetchRequest
	part int
}

func (r *fetchRequest) follower() bool { return r.replicaID >= 0 }

// handleFetch begins a Fetch (KafkaApis.handleFetchRequest). There are no sessions
// (KIP-227): each answer says id 0, after which a client asks in full each time.
func (n *Node) handleFetch(token machine.Token, req *kmsg.FetchRequest) {
	r := &fetchRequest{token: token, req: req, replicaID: req.ReplicaID, brokerEpoch: replica.NoBrokerEpoch}
	r.resp = req.ResponseKind().(*kmsg.FetchResponse)
	if req.Version >= 15 {
		r.replicaID, r.brokerEpoch = req.ReplicaState.ID, req.ReplicaState.Epoch
	}
	if req.Version >= 7 && req.SessionEpoch > 0 {
		r.resp.ErrorCode = int16(fetchSessionIDNotFound)
		n.reply(token, r.resp)
		return
	}
	r.maxBytes = int(min(req.MaxBytes, n.cfg.fetchMaxBytesAllowed))
	r.minBytes = min(int(req.MinBytes), r.maxBytes)
	byID := req.Version >= 13
	parts := 0
	for i := range req.Topics {
		parts += len(req.Topics[i].Partitions)
	}
	r.parts = make([]fetchPart, 0, parts)
	r.resp.Topics = make([]kmsg.FetchResponseTopic, len(req.Topics))
	for i := range req.Topics {
		t := &req.Topics[i]
		answer := &r.resp.Topics[i]
		answer.Default()
		answer.Topic, answer.TopicID = t.Topic, t.TopicID
		answer.Partitions = make([]kmsg.FetchResponseTopicPartition, len(t.Partitions))
		for j := range t.Partitions {
			p, code := n.find(byID, t.Topic, t.TopicID, t.Partitions[j].Partition)
			r.parts = append(r.parts, fetchPart{p: p, topic: i, partition: j, bounds: replica.FetchBounds{Err: code}})
		}
	}
	r.deadline.ring = func() {
		r.expired = true
		n.look(r)
	}
	n.ask(r, false)
}

// ask lets each replica say what may be read, and goes on when all have.
func (n *Node) ask(r *fetchRequest, reread bool) {
	r.open = len(r.parts) + 1
	for i := range r.parts {
		part := &r.parts[i]
		if part.p == nil {
			r.open--
			continue
		}
		in := &r.req.Topics[part.topic].Partitions[part.partition]
		pos := replica.FetchPosition{
			Offset: replica.Offset(in.FetchOffset), LeaderEpoch: replica.Epoch(in.CurrentLeaderEpoch),
			LastFetchedEpoch: replica.Epoch(in.LastFetchedEpoch),
		}
		switch {
		case !part.p.live():
			_, code := n.byTopicID(part.p.id.topic, part.p.id.index)
			if code == replica.UnknownTopicID && r.req.Version < 13 {
				code = replica.UnknownTopicOrPartition // Who names topics knows no ids.
			}
			part.bounds, part.p = replica.FetchBounds{Err: code}, nil
			r.open--
		case r.follower():
			n.step(part.p, replica.FollowerFetch{
				Token: n.asked.fetches.put(fetchAsked{r, i}), From: replica.BrokerID(r.replicaID), BrokerEpoch: r.brokerEpoch,
				Position: pos, LogStart: replica.Offset(in.LogStartOffset), Reread: reread,
			})
		default:
			part.bounds = n.consumerBounds(r, part, pos)
			r.open--
		}
	}
	n.bounded(r)
}

// consumerBounds is what a consumer may read, or who it had better ask (KIP-392).
func (n *Node) consumerBounds(r *fetchRequest, part *fetchPart, pos replica.FetchPosition) replica.FetchBounds {
	isolation := replica.ReadUncommitted
	switch {
	case r.replicaID == futureReplica:
		isolation = replica.LogEnd
	case r.req.IsolationLevel == 1:
		isolation = replica.ReadCommitted
	}
	bounds := part.p.replica.Fetch(replica.Fetch{Position: pos, Isolation: isolation, LeaderOnly: r.req.Version < 11})
	part.preferred = replica.NoBroker
	if n.cfg.rackAware && r.req.Version >= 11 && bounds.Err == replica.None && !bounds.Diverging.Defined() {
		part.preferred = part.p.replica.PreferredReadReplica(n.now.Mono, r.req.Rack, pos.Offset)
	}
	return bounds
}

// fetchBounded is a replica's answer to a follower.
func (n *Node) fetchBounded(e replica.FetchReply) {
	q := n.asked.fetches.take(e.Token)
	part := &q.r.parts[q.part]
	part.bounds, part.preferred = e.Bounds, replica.NoBroker
	if e.Bounds.Err != replica.None && part.p.leaving {
		part.bounds.Err = n.leftCode(part.p, e.Bounds.Err)
	}
	n.bounded(q.r)
}

// bounded goes on when all replicas have answered: it reads, and answers or parks
// (ReplicaManager.fetchMessages, DelayedFetch).
func (n *Node) bounded(r *fetchRequest) {
	r.open--
	if r.open > 0 {
		return
	}
	bytes, atOnce := n.readAll(r)
	if n.stopped {
		return
	}
	if atOnce || bytes >= r.minBytes || r.expired || r.req.MaxWaitMillis <= 0 || len(r.parts) == 0 {
		n.unpark(r)
		n.reply(r.token, r.resp)
		return
	}
	n.park(r)
}

// readAll fills in the answer: the first partition that has something gets a batch
// whatever its size, so that a reader always gets on (KIP-74).
func (n *Node) readAll(r *fetchRequest) (bytes int, atOnce bool) {
	left := r.maxBytes
	for i := range r.parts {
		part := &r.parts[i]
		in := &r.req.Topics[part.topic].Partitions[part.partition]
		out := &r.resp.Topics[part.topic].Partitions[part.partition]
		out.Default()
		out.Partition = in.Partition
		out.HighWatermark, out.LastStableOffset, out.LogStartOffset = -1, -1, -1
		out.RecordBatches = []byte{}
		b := &part.bounds
		if b.Err == replica.None && part.preferred == replica.NoBroker && !b.Diverging.Defined() && b.From < b.UpTo {
			records, err := part.p.log.Read(nil, storage.Fetch{
				From: b.From, UpTo: b.UpTo, MaxBytes: min(int(in.PartitionMaxBytes), left), MinOne: bytes == 0,
			})
			if err != nil {
				*b = replica.FetchBounds{Err: n.readCode(part.p, err)}
			} else if records != nil {
				out.RecordBatches = records
			}
			bytes += len(out.RecordBatches)
			left -= len(out.RecordBatches)
		}
		if b.Err != replica.None {
			atOnce = true
			n.fetchRefused(r, part, out)
			continue
		}
		out.HighWatermark, out.LastStableOffset, out.LogStartOffset = int64(b.HW), int64(b.LSO), int64(b.LogStart)
		if r.req.IsolationLevel == 1 && !r.follower() {
			out.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
		}
		if b.Diverging.Defined() {
			out.DivergingEpoch.Epoch, out.DivergingEpoch.EndOffset = int32(b.Diverging.Epoch), int64(b.Diverging.End)
			atOnce = true
		}
		if part.preferred != replica.NoBroker {
			out.PreferredReadReplica = int32(part.preferred)
			atOnce = true
		}
	}
	return bytes, atOnce
}

// readCode is what a reader is told of an error of the log. One of the disk ends
// the broker.
func (n *Node) readCode(p *partition, err error) replica.Code {
	switch {
	case errors.Is(err, storage.ErrOffsetOutOfRange):
		// The disk has cut the log, and the replica has yet to hear of it: of retention
		// it does at once, so that what it says next is the same.
		n.retained(p)
		return replica.OffsetOutOfRange
	case errors.Is(err, storage.ErrClosed):
		return replica.NotLeaderOrFollower
	case errors.Is(err, storage.ErrCorrupt):
		return replica.CorruptMessage
	}
	n.diskFailed(err)
	return replica.KafkaStorageError
}

func (n *Node) fetchRefused(r *fetchRequest, part *fetchPart, out *kmsg.FetchResponseTopicPartition) {
	out.ErrorCode = int16(part.bounds.Err)
	if r.req.Version < 16 || !hinted(part.bounds.Err) {
		return
	}
	leader, epoch, ok := n.leaderHint(partitionID{r.req.Topics[part.topic].TopicID, out.Partition}, "")
	if !ok {
		return
	}
	out.CurrentLeader.LeaderID, out.CurrentLeader.LeaderEpoch = leader, epoch
	e, rack, ok := n.endpoint(leader)
	if !ok || slices.ContainsFunc(r.resp.Brokers, func(b kmsg.FetchResponseBroker) bool { return b.NodeID == leader }) {
		return
	}
	b := kmsg.NewFetchResponseBroker()
	b.NodeID, b.Host, b.Port, b.Rack = leader, e.Host, int32(e.Port), rack
	r.resp.Brokers = append(r.resp.Brokers, b)
}

// watchers are the parked fetches that a partition wakes for this one's kind.
func (r *fetchRequest) watchers(p *partition) *[]*fetchRequest {
	if r.follower() || r.replicaID == futureReplica {
		return &p.followers
	}
	return &p.consumers
}

func (n *Node) park(r *fetchRequest) {
	if r.parked {
		return
	}
	r.parked = true
	for i := range r.parts {
		if p := r.parts[i].p; p != nil {
			w := r.watchers(p)
			*w = append(*w, r)
		}
	}
	n.alarms.set(&r.deadline, n.now.Mono+int64(r.req.MaxWaitMillis))
}

func (n *Node) unpark(r *fetchRequest) {
	if !r.parked {
		return
	}
	r.parked = false
	n.alarms.clear(&r.deadline)
	for i := range r.parts {
		p := r.parts[i].p
		if p == nil {
			continue
		}
		w := r.watchers(p)
		if at := slices.Index(*w, r); at >= 0 {
			*w = slices.Delete(*w, at, at+1)
		}
	}
}

// wake lets parked fetches be looked at again when the step ends: once, however
// much has happened in it.
func (n *Node) wake(rs []*fetchRequest) {
	for _, r := range rs {
		n.look(r)
	}
}

func (n *Node) look(r *fetchRequest) {
	if r.parked && !r.again {
		r.again = true
		n.parked = append(n.parked, r)
	}
}

// reread looks at the fetches that were woken.
func (n *Node) reread() {
	for i := 0; i < len(n.parked) && !n.stopped; i++ {
		r := n.parked[i]
		r.again = false
		if r.parked {
			n.ask(r, true)
		}
	}
	clear(n.parked)
	n.parked = n.parked[:0]
}

package node

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// Replica ids of a Fetch that are no broker's (FetchRequest).
const (
	// futureReplica reads to the log end without being a follower. Kafka means it for
	// moves between log directories, and answers it to all.
	futureReplica int32 = -3
)

// fetchRequest is a Fetch from its arrival to its answer, a follower's or a
// consumer's.
//
//	asking -> answered   an error, a divergence, or enough to read
//	asking -> parked     too little to read
//	parked -> asking     one of its partitions has more, or another role; time is up
type fetchRequest struct {
	token machine.Token
	req   *kmsg.FetchRequest
	// parts are all of a request in full. Of a session's they are those to look at.
	parts []fetchPart

	replicaID   int32
	brokerEpoch int64
	maxBytes    int
	minBytes    int
	// open is how many replicas have not said yet what may be read.
	open int
	// session is the one that it goes on with, and epoch what it has made of that
	// session's; opens: the answer begins one.
	session *session
	epoch   int32
	opens   bool
	askedMs int64
	// parked: its partitions know it. again: it is to be looked at when the step
	// ends. expired: whatever there is, is the answer.
	parked, again, expired bool
	deadline               alarm
}

// fetchPart is one partition of it.
type fetchPart struct {
	p     *partition // nil if there is none, and bounds say why
	asked fetchAsk
	// entry is its place in the request's session, nil without one.
	entry *sessionPart
	// seen is p's count of changes when its replica was asked.
	seen      uint64
	bounds    replica.FetchBounds
	preferred replica.BrokerID
	records   []byte
	// absent: there was no such partition when it was asked for. That is told, but
	// the others are waited for (KafkaApis.handleFetchRequest's erroneous).
	absent bool
}

func (part *fetchPart) note(reread bool) {
	if !reread {
		part.absent = part.p == nil && (part.bounds.Err == replica.UnknownTopicID || part.bounds.Err == replica.UnknownTopicOrPartition)
	}
	switch {
	case part.entry == nil:
	case reread:
		part.absent = part.entry.absent
	default:
		part.entry.absent = part.absent
	}
}

// fetchAsk is what is asked of a partition.
type fetchAsk struct {
	topic    string // up to version 12
	id       kraft.UUID
	index    int32
	position replica.FetchPosition
	logStart replica.Offset
	maxBytes int32
}

func askOf(t *kmsg.FetchRequestTopic, in *kmsg.FetchRequestTopicPartition) fetchAsk {
	return fetchAsk{
		topic: t.Topic, id: t.TopicID, index: in.Partition, position: replica.FetchPosition{
			Offset: replica.Offset(in.FetchOffset), LeaderEpoch: replica.Epoch(in.CurrentLeaderEpoch),
			LastFetchedEpoch: replica.Epoch(in.LastFetchedEpoch),
		}, logStart: replica.Offset(in.LogStartOffset), maxBytes: in.PartitionMaxBytes,
	}
}

func (a *fetchAsk) followerFetch(r *fetchRequest) replica.FollowerFetch {
	return replica.FollowerFetch{
		From: replica.BrokerID(r.replicaID), BrokerEpoch: r.brokerEpoch, Position: a.position, LogStart: a.logStart,
	}
}

// fetchAsked is what a replica was asked for a follower.
type fetchAsked struct {
	r    *fetchRequest
	part int
}

func (r *fetchRequest) follower() bool { return r.replicaID >= 0 }

func (r *fetchRequest) reader() reader {
	return reader{
		replicaID: r.replicaID, brokerEpoch: r.brokerEpoch, version: r.req.Version, isolation: r.req.IsolationLevel, rack: r.req.Rack,
	}
}

// handleFetch begins a Fetch (KafkaApis.handleFetchRequest).
func (n *Node) handleFetch(token machine.Token, req *kmsg.FetchRequest) {
	r := &fetchRequest{token: token, req: req, replicaID: req.ReplicaID, brokerEpoch: replica.NoBrokerEpoch, askedMs: n.now.Mono}
	if req.Version >= 15 {
		r.replicaID, r.brokerEpoch = req.ReplicaState.ID, req.ReplicaState.Epoch
	}
	var code replica.Code
	if r.session, code = n.sessionOf(r); code != replica.None {
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		resp.ErrorCode = int16(code)
		n.reply(token, resp)
		return
	}
	r.maxBytes = int(min(req.MaxBytes, n.cfg.fetchMaxBytesAllowed))
	r.minBytes = min(int(req.MinBytes), r.maxBytes)
	r.deadline.Ring = func() {
		r.expired = true
		n.look(r)
	}
	if r.session == nil {
		n.findParts(r)
	}
	n.ask(r, false)
}

// findParts takes a request in full.
func (n *Node) findParts(r *fetchRequest) {
	parts := 0
	for i := range r.req.Topics {
		parts += len(r.req.Topics[i].Partitions)
	}
	r.parts = make([]fetchPart, 0, parts)
	for i := range r.req.Topics {
		t := &r.req.Topics[i]
		for j := range t.Partitions {
			part := fetchPart{asked: askOf(t, &t.Partitions[j])}
			part.p, part.bounds.Err = n.find(r.req.Version >= firstTopicIDVersion, t.Topic, t.TopicID, part.asked.index)
			r.parts = append(r.parts, part)
		}
	}
}

// takeLoud takes what is to be looked at of a session.
func (n *Node) takeLoud(r *fetchRequest) {
	s := r.session
	r.parts = r.parts[:0]
	for _, e := range s.loud {
		if e.gone {
			continue
		}
		part := fetchPart{asked: e.asked, entry: e}
		part.p, part.bounds.Err = n.attach(e)
		r.parts = append(r.parts, part)
	}
	clear(s.loud)
	s.loud = s.loud[:0]
}

// ask lets each replica say what may be read, and goes on when all have.
func (n *Node) ask(r *fetchRequest, reread bool) {
	if r.session != nil {
		n.takeLoud(r)
	}
	r.open = len(r.parts) + 1
	for i := range r.parts {
		part := &r.parts[i]
		part.records = nil
		part.note(reread)
		switch {
		case part.p == nil:
			part.bounds = replica.FetchBounds{Err: part.bounds.Err}
			r.open--
		case !part.p.live():
			_, code := n.byTopicID(part.p.id.topic, part.p.id.index)
			if code == replica.UnknownTopicID && r.req.Version < firstTopicIDVersion {
				code = replica.UnknownTopicOrPartition // Who names topics knows no ids.
			}
			part.bounds, part.p = replica.FetchBounds{Err: code}, nil
			r.open--
		case r.follower():
			part.seen = part.p.changes
			f := part.asked.followerFetch(r)
			f.Token, f.Reread = n.asked.fetches.put(fetchAsked{r, i}), reread
			n.step(part.p, f)
		default:
			part.seen = part.p.changes
			part.bounds = n.consumerBounds(r, part)
			r.open--
		}
	}
	n.bounded(r)
}

// consumerBounds is what a consumer may read, or who it had better ask (KIP-392).
func (n *Node) consumerBounds(r *fetchRequest, part *fetchPart) replica.FetchBounds {
	isolation := replica.ReadUncommitted
	switch {
	case r.replicaID == futureReplica:
		isolation = replica.LogEnd
	case r.req.IsolationLevel == 1:
		isolation = replica.ReadCommitted
	}
	bounds := part.p.replica.Fetch(replica.Fetch{Position: part.asked.position, Isolation: isolation, LeaderOnly: r.req.Version < 11})
	part.preferred = replica.NoBroker
	if n.rackAware(r) && bounds.Err == replica.None && !bounds.Diverging.Defined() {
		part.preferred = part.p.replica.PreferredReadReplica(n.now.Mono, r.req.Rack, part.asked.position.Offset)
	}
	return bounds
}

func (n *Node) rackAware(r *fetchRequest) bool { return n.cfg.rackAware && r.req.Version >= 11 }

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
	if r.session != nil && r.epoch != r.session.epoch {
		n.superseded(r)
		return
	}
	bytes, atOnce := n.readAll(r)
	switch {
	case n.stopped:
	case atOnce, bytes >= r.minBytes, r.expired, r.req.MaxWaitMillis <= 0:
		n.unpark(r)
		n.answerFetch(r)
	default:
		n.park(r)
	}
}

// watchers are the parked fetches that a partition wakes for this one's kind.
func (r *fetchRequest) watchers(p *partition) *[]*fetchRequest {
	if r.wantsLogEnd() {
		return &p.followers
	}
	return &p.consumers
}

// wantsLogEnd: it reads all that there is, and a high watermark that moves gives it
// nothing to read.
func (r *fetchRequest) wantsLogEnd() bool { return r.follower() || r.replicaID == futureReplica }

// park lets a request wait. Of a session, partitions know the parts already.
func (n *Node) park(r *fetchRequest) {
	if r.session != nil {
		r.session.parked = r
		n.settleAll(r)
	}
	if r.parked {
		return
	}
	r.parked = true
	if r.session == nil {
		for i := range r.parts {
			if p := r.parts[i].p; p != nil {
				w := r.watchers(p)
				*w = append(*w, r)
			}
		}
	}
	n.alarms.set(&r.deadline, n.now.Mono+int64(r.req.MaxWaitMillis))
}

func (n *Node) unpark(r *fetchRequest) {
	if r.session != nil && r.session.parked == r {
		r.session.parked = nil
	}
	if !r.parked {
		return
	}
	r.parked = false
	n.alarms.Clear(&r.deadline)
	if r.session != nil {
		return
	}
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
// much has happened in it. followers are those that read to the log's end.
func (n *Node) wakeFollowers(p *partition) { n.wake(p, p.followers, true) }

func (n *Node) wakeConsumers(p *partition) { n.wake(p, p.consumers, false) }

func (n *Node) wake(p *partition, rs []*fetchRequest, logEnd bool) {
	for _, r := range rs {
		n.look(r)
	}
	for _, e := range p.readers {
		if r := e.session.parked; r != nil && r.wantsLogEnd() == logEnd {
			n.look(r)
		}
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

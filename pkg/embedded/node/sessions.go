package node

import (
	"cmp"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// Errors of a session as a whole.
const (
	fetchSessionIDNotFound   replica.Code = 70
	invalidFetchSessionEpoch replica.Code = 71
	fetchSessionTopicIDError replica.Code = 106
)

const (
	// What versions of Fetch have sessions, and name topics by id.
	firstSessionVersion, firstTopicIDVersion int16 = 7, 13

	// noSession is the id of none.
	noSession int32 = 0
	// Epochs of requests that ask in full: one begins a session, one wants none.
	initialSessionEpoch, finalSessionEpoch int32 = 0, -1

	// sessionEvictionMs is KafkaBroker.MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS.
	sessionEvictionMs int64 = 120_000
)

// nextSessionEpoch is FetchMetadata.nextEpoch: 0 begins a session and never comes
// again.
func nextSessionEpoch(e int32) int32 {
	if e == math.MaxInt32 {
		return 1
	}
	return e + 1
}

// sessions are the incremental fetch sessions of those who read here (KIP-227,
// FetchSessionCache): they belong to the broker, not to a connection. Kafka has eight
// caches of an eighth of the slots, to lock less; here is one.
type sessions struct {
	byID map[int32]*session
	all  []*session // in the order in which they began
}

// session is what a reader has asked for and was told, so that its next request says what
// has changed, and so does the answer (FetchSession).
//
// Kafka walks a session's partitions at each fetch. Here a partition that would be
// answered as it was the last time is quiet: nobody looks at it until it changes,
// and an idle fetch costs the same whatever the number of partitions.
//
//	quiet -> loud   the partition is stepped, goes, or is asked for anew (Node.unsettle)
//	loud  -> quiet  it was looked at and has nothing to tell (Node.settle)
type session struct {
	id, epoch int32
	byTopicID bool
	parts     map[sessionKey]*sessionPart
	// order has the parts as they were added.
	order []*sessionPart
	// loud are those to look at, in the order in which they have a right to the answer's
	// bytes: one that got some goes behind the others.
	loud []*sessionPart
	// parked is its request that waits.
	parked *fetchRequest
	closed bool

	// What its requests said of themselves: what is quiet holds for such a one only.
	reader reader
	// seenMs is when the last request came, which each quiet part took part in.
	seenMs int64

	// For eviction, as of the last request but creationMs.
	creationMs, usedMs         int64
	size                       int
	byPrivileged, byAnyoneElse bool
}

// reader is what a request says besides its partitions.
type reader struct {
	replicaID   int32
	brokerEpoch int64
	version     int16
	isolation   int8
	rack        string
}

// sessionKey names a partition by the id of its topic, or by its name.
type sessionKey struct {
	id    kraft.UUID
	topic string
	index int32
}

// sessionPart is a partition of a session (CachedPartition).
type sessionPart struct {
	session *session
	asked   fetchAsk
	// p is nil where there is none here; at is its place among p's readers.
	p  *partition
	at int
	// hw and logStart are what the reader was told last, -1 nothing yet.
	hw, logStart int64
	quiet, gone  bool
	// absent is fetchPart's, of the last request.
	absent bool
}

// privileged are followers: a consumer's session gives way to theirs.
func (s *session) privileged() bool { return s.reader.replicaID >= 0 }

// sessionOf finds the session of a request; nil if it has none or begins one with
// its answer (FetchManager.newContext).
func (n *Node) sessionOf(r *fetchRequest) (*session, replica.Code) {
	req := r.req
	if req.Version < firstSessionVersion {
		return nil, replica.None
	}
	s := n.sessions.byID[req.SessionID]
	if req.SessionEpoch == initialSessionEpoch || req.SessionEpoch == finalSessionEpoch {
		if s != nil {
			n.closeSession(s)
		}
		r.opens = req.SessionEpoch == initialSessionEpoch
		return nil, replica.None
	}
	switch {
	case s == nil:
		return nil, fetchSessionIDNotFound
	case s.epoch != req.SessionEpoch:
		return nil, invalidFetchSessionEpoch
	case s.byTopicID != (req.Version >= firstTopicIDVersion):
		return nil, fetchSessionTopicIDError
	}
	n.updateSession(s, req)
	if len(s.parts) == 0 {
		n.closeSession(s)
		return nil, replica.None
	}
	if who := r.reader(); who != s.reader {
		n.unsettleSession(s)
		s.reader = who
	}
	s.touch(n.now.Mono)
	s.seenMs = n.now.Mono
	s.epoch = nextSessionEpoch(s.epoch)
	r.epoch = s.epoch
	if s.parked != nil {
		// Its client asks again, and so does not wait for that one any more.
		n.superseded(s.parked)
	}
	return s, replica.None
}

// updateSession adds, changes and forgets partitions (FetchSession.update).
func (n *Node) updateSession(s *session, req *kmsg.FetchRequest) {
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			asked := askOf(t, &t.Partitions[j])
			e := s.parts[s.key(asked)]
			if e == nil {
				s.add(asked)
				continue
			}
			n.unsettlePart(e)
			e.asked = asked
		}
	}
	forgot := false
	for i := range req.ForgottenTopics {
		t := &req.ForgottenTopics[i]
		for _, index := range t.Partitions {
			key := s.key(fetchAsk{topic: t.Topic, id: t.TopicID, index: index})
			if e := s.parts[key]; e != nil {
				e.detach()
				e.gone, forgot = true, true
				delete(s.parts, key)
			}
		}
	}
	if forgot {
		s.order = slices.DeleteFunc(s.order, func(e *sessionPart) bool { return e.gone })
	}
}

func (s *session) key(a fetchAsk) sessionKey {
	if s.byTopicID {
		return sessionKey{id: a.id, index: a.index}
	}
	return sessionKey{topic: a.topic, index: a.index}
}

// add adds a partition, which is loud.
func (s *session) add(asked fetchAsk) *sessionPart {
	e := &sessionPart{session: s, asked: asked, hw: -1, logStart: -1}
	s.parts[s.key(asked)] = e
	s.order, s.loud = append(s.order, e), append(s.loud, e)
	return e
}

// attach finds the partition that a part is about, which may have come, gone or be
// another one by now: a topic id may be known later than it is asked for.
func (n *Node) attach(e *sessionPart) (*partition, replica.Code) {
	if e.p.live() {
		return e.p, replica.None
	}
	e.detach()
	p, code := n.find(e.session.byTopicID, e.asked.topic, e.asked.id, e.asked.index)
	if p != nil && !e.session.closed {
		e.p, e.at = p, len(p.readers)
		p.readers = append(p.readers, e)
	}
	return p, code
}

func (e *sessionPart) detach() {
	if e.p == nil {
		return
	}
	rs := e.p.readers
	last := len(rs) - 1
	rs[e.at] = rs[last]
	rs[e.at].at = e.at
	rs[last] = nil
	e.p.readers = rs[:last]
	e.p = nil
}

// unsettle makes all sessions look at a partition again. It comes before the
// partition's replica takes in anything but a fetch, and after what a fetch has moved.
func (n *Node) unsettle(p *partition) {
	p.changes++
	for _, e := range p.readers {
		n.unsettlePart(e)
	}
}

// unsettlePart makes a part loud, and tells the replica first of the fetches that
// went by while it was quiet.
func (n *Node) unsettlePart(e *sessionPart) {
	if !e.quiet {
		return
	}
	s := e.session
	e.quiet = false
	s.loud = append(s.loud, e)
	if s.privileged() {
		n.step(e.p, replica.FetchesRepeated{From: replica.BrokerID(s.reader.replicaID), AtMs: s.seenMs})
	}
}

func (n *Node) unsettleSession(s *session) {
	for _, e := range s.order {
		n.unsettlePart(e)
	}
}

// unsettleFollowers is for when brokers have changed: what a replica makes of a
// follower's fetch depends on who is alive, and in which life (KIP-841, KIP-903).
func (n *Node) unsettleFollowers() {
	for _, s := range n.sessions.all {
		if s.privileged() {
			n.unsettleSession(s)
		}
	}
}

// settle makes a part quiet if there is nothing to tell of it before it changes. A part
// that got bytes goes behind those that did not, in settleAll.
func (n *Node) settle(r *fetchRequest, part *fetchPart) bool {
	e, b := part.entry, &part.bounds
	switch {
	case e.gone, e.session.closed, e.p == nil, part.p != e.p, part.seen != e.p.changes,
		b.Err != replica.None, b.Diverging.Defined(), part.preferred != replica.NoBroker, b.From < b.UpTo,
		int64(b.HW) != e.hw, int64(b.LogStart) != e.logStart:
		return false
	case r.follower():
		return e.p.replica.Settled(part.asked.followerFetch(r))
	}
	// Which replica is best for a rack changes with the others' fetches.
	return !n.rackAware(r)
}

// settleAll gives a request's parts back to their session.
func (n *Node) settleAll(r *fetchRequest) {
	s := r.session
	for _, gotBytes := range []bool{false, true} {
		for i := range r.parts {
			part := &r.parts[i]
			if (len(part.records) > 0) != gotBytes {
				continue
			}
			if part.entry.quiet = n.settle(r, part); !part.entry.quiet && !part.entry.gone {
				s.loud = append(s.loud, part.entry)
			}
		}
	}
	clear(r.parts)
	r.parts = r.parts[:0]
}

// news reports whether a part's answer has to be sent, and remembers it as sent
// (CachedPartition.maybeUpdateResponseData).
func (e *sessionPart) news(out *kmsg.FetchResponseTopicPartition) bool {
	news := len(out.RecordBatches) > 0 || out.HighWatermark != e.hw || out.LogStartOffset != e.logStart || out.PreferredReadReplica >= 0
	e.hw, e.logStart = out.HighWatermark, out.LogStartOffset
	if out.ErrorCode != 0 || out.DivergingEpoch.EndOffset >= 0 {
		// So that it is told when that is over.
		e.hw, news = -1, true
	}
	return news
}

// superseded answers a request whose session has gone on without it.
func (n *Node) superseded(r *fetchRequest) {
	n.unpark(r)
	n.settleAll(r)
	resp := r.req.ResponseKind().(*kmsg.FetchResponse)
	resp.ErrorCode, resp.SessionID = int16(invalidFetchSessionEpoch), r.session.id
	n.reply(r.token, resp)
}

// openSession makes a session of a full request's answer; noSession if there is no
// room (FetchSessionCacheShard.maybeCreateSession).
func (n *Node) openSession(r *fetchRequest) int32 {
	ss := &n.sessions
	s := &session{
		epoch: nextSessionEpoch(initialSessionEpoch), byTopicID: r.req.Version >= firstTopicIDVersion,
		parts: make(map[sessionKey]*sessionPart, len(r.parts)), reader: r.reader(), seenMs: r.askedMs, creationMs: n.now.Mono,
	}
	for i := range r.parts {
		part := &r.parts[i]
		e := s.parts[s.key(part.asked)]
		if e == nil {
			e = s.add(part.asked)
		}
		// Of a partition that is asked for twice the last one counts.
		e.asked, part.entry = part.asked, e
	}
	if len(ss.all) >= n.cfg.sessionSlots && !n.evictSession(s.privileged(), len(s.parts)) {
		return noSession
	}
	for s.id == noSession || ss.byID[s.id] != nil {
		s.id = n.opts.Rand.Int32N(math.MaxInt32) + 1
	}
	ss.byID[s.id] = s
	ss.all = append(ss.all, s)
	s.touch(n.now.Mono)
	r.session, s.loud = s, s.loud[:0]
	twice := map[*sessionPart]bool{}
	for i := len(r.parts) - 1; i >= 0; i-- {
		part := &r.parts[i]
		if twice[part.entry] {
			r.parts = slices.Delete(r.parts, i, i+1)
			continue
		}
		twice[part.entry] = true
		if p, _ := n.attach(part.entry); p != part.p {
			part.p = nil // so that it stays loud
		}
		if b := &part.bounds; b.Err == replica.None && !b.Diverging.Defined() {
			part.entry.hw, part.entry.logStart = int64(b.HW), int64(b.LogStart)
		}
	}
	n.settleAll(r)
	return s.id
}

func (s *session) touch(nowMs int64) {
	s.usedMs, s.size = nowMs, len(s.parts)
	s.byAnyoneElse = nowMs-s.creationMs > sessionEvictionMs
	s.byPrivileged = !s.privileged() || s.byAnyoneElse
}

// evictSession makes room for a session of so many partitions, if that is worth more
// than one that is there (FetchSessionCacheShard.tryEvict): one that was not used for
// two minutes goes first; else the least of those that have had their time, followers'
// being worth more than consumers', and larger ones more than smaller.
func (n *Node) evictSession(privileged bool, size int) bool {
	all := n.sessions.all
	if len(all) == 0 {
		return false
	}
	oldest := slices.MinFunc(all, func(a, b *session) int { return cmp.Or(cmp.Compare(a.usedMs, b.usedMs), cmp.Compare(a.id, b.id)) })
	if n.now.Mono-oldest.usedMs > sessionEvictionMs {
		n.closeSession(oldest)
		return true
	}
	worth := func(privileged bool) int {
		if privileged {
			return 1
		}
		return 0
	}
	var least *session
	for _, s := range all {
		evictable := s.byAnyoneElse || privileged && s.byPrivileged
		if evictable && (least == nil || cmp.Or(cmp.Compare(worth(s.privileged()), worth(least.privileged())),
			cmp.Compare(s.size, least.size), cmp.Compare(s.id, least.id)) < 0) {
			least = s
		}
	}
	if least == nil || cmp.Or(cmp.Compare(worth(privileged), worth(least.privileged())), cmp.Compare(size, least.size), -1) < 0 {
		return false
	}
	n.closeSession(least)
	return true
}

// closeSession forgets a session. A request of it that waits is answered with what
// there is.
func (n *Node) closeSession(s *session) {
	s.closed = true
	n.unsettleSession(s)
	for _, e := range s.order {
		e.detach()
	}
	delete(n.sessions.byID, s.id)
	n.sessions.all = slices.DeleteFunc(n.sessions.all, func(other *session) bool { return other == s })
	if s.parked != nil {
		s.parked.expired = true
		n.look(s.parked)
	}
}

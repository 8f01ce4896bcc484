package node

import (
	"cmp"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// fetchEntry is a follower's order to its fetcher.
type fetchEntry struct {
	order replica.FetchFrom
	// standing: there is one. resting: its answer is with the replica.
	standing, resting bool
	fetcher           *fetcher
	// lag is how far the leader's HW was ahead when records came last, or when this
	// leader epoch's first answer did; lagKnown: there was one (PartitionFetchState.lag).
	lag      replica.Offset
	lagKnown bool
}

// inSync: it is as far as its leader's HW, by what it knows itself.
func (e *fetchEntry) inSync() bool { return e.lagKnown && e.lag <= 0 }

// dueMs is when it is to be asked for: never while it rests.
func (e *fetchEntry) dueMs() int64 {
	if !e.standing || e.resting {
		return machine.Never
	}
	return e.order.NotBeforeMs
}

func (e *fetchEntry) told() told { return told{position: e.order.Position, logStart: e.order.LogStart} }

// fetcher fetches from one leader for all partitions that follow it there, with
// one request in flight (AbstractFetcherThread; num.replica.fetchers=1).
type fetcher struct {
	leader  replica.BrokerID
	entries []*partition // in order of their names
	session leaderSession
	// news are partitions whose entries may be other than what the session's last
	// request has told the leader.
	news []partitionID
	// resting are those whose answer was with their replica when they were put here.
	resting []*partition
	flying  bool
	// changed: it is worth a look when the step ends.
	changed bool
	// notBeforeMs is the pause after a lost connection.
	notBeforeMs int64
	rest        alarm
}

func (n *Node) fetcher(leader replica.BrokerID) *fetcher {
	at, found := slices.BinarySearchFunc(n.fetchers, leader, func(f *fetcher, id replica.BrokerID) int {
		return cmp.Compare(f.leader, id)
	})
	if !found {
		f := &fetcher{leader: leader}
		f.rest.Ring = func() { f.changed = true }
		n.fetchers = slices.Insert(n.fetchers, at, f)
	}
	return n.fetchers[at]
}

// fetchFrom puts a partition's entry in its leader's fetcher.
func (n *Node) fetchFrom(p *partition, order replica.FetchFrom) {
	if p.entry.fetcher == nil || p.entry.fetcher.leader != order.Leader {
		n.fetchStop(p)
		f := n.fetcher(order.Leader)
		at, _ := slices.BinarySearchFunc(f.entries, p, comparePartitions)
		f.entries = slices.Insert(f.entries, at, p)
		p.entry.fetcher = f
	}
	if p.entry.order.Position.LeaderEpoch != order.Position.LeaderEpoch {
		p.entry.lagKnown = false
	}
	p.entry.order, p.entry.standing, p.entry.resting = order, true, false
	p.entry.fetcher.touched(p)
}

// touched: the next request has to say something else of p, perhaps.
func (f *fetcher) touched(p *partition) {
	f.news = append(f.news, p.id)
	f.changed = true
}

// fetchStop takes the entry out.
func (n *Node) fetchStop(p *partition) {
	f := p.entry.fetcher
	p.entry = fetchEntry{}
	if f == nil {
		return
	}
	if at, ok := slices.BinarySearchFunc(f.entries, p, comparePartitions); ok && f.entries[at] == p {
		f.entries = slices.Delete(f.entries, at, at+1)
	}
	f.touched(p)
}

// fetch sends what the fetchers have to send, at the end of a step.
func (n *Node) fetch() {
	if n.life.state == closing {
		return
	}
	for _, f := range n.fetchers {
		if f.changed && !f.flying && !f.writing() {
			f.changed = false
			f.send(n)
		}
	}
}

// writing: an answer is not on the disk yet. The thread of Kafka's fetcher appends
// itself, so that its next fetch is for all partitions again; one that left these
// out would keep them waiting for as long as the leader keeps it.
func (f *fetcher) writing() bool {
	f.resting = slices.DeleteFunc(f.resting, func(p *partition) bool { return p.entry.fetcher != f || !p.entry.resting })
	return slices.ContainsFunc(f.resting, func(p *partition) bool { return p.busy })
}

// send asks for all entries that do not rest, and says only what the leader's session
// does not know yet. One that rests until a time sets the alarm.
func (f *fetcher) send(n *Node) {
	now := n.now.Mono
	if f.notBeforeMs > now {
		n.alarms.set(&f.rest, f.notBeforeMs)
		return
	}
	req := kmsg.NewPtrFetchRequest()
	req.Version = req.MaxVersion()
	var next int64
	if f.session.full() {
		next = f.askAll(n, req)
	} else {
		next = f.askNews(n, req)
	}
	n.alarms.set(&f.rest, next)
	if len(f.session.told) == 0 && len(req.ForgottenTopics) == 0 {
		return
	}
	req.SessionID, req.SessionEpoch = f.session.id, f.session.epoch
	req.ReplicaState.ID, req.ReplicaState.Epoch = n.opts.ID, n.life.lastEpoch
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = n.cfg.fetchWaitMaxMs, n.cfg.fetchMinBytes, n.cfg.fetchResponseMaxBytes
	f.flying = true
	n.send(machine.Peer(f.leader), req, f)
}

// askAll begins a session. It returns when the next entry is due that rests now.
func (f *fetcher) askAll(n *Node, req *kmsg.FetchRequest) (next int64) {
	next = machine.Never
	f.news = f.news[:0]
	f.session.told = make(map[partitionID]told, len(f.entries))
	for _, p := range f.entries {
		if due := n.dueMs(p); due > n.now.Mono {
			if due != machine.Never {
				f.news = append(f.news, p.id)
			}
			next = min(next, due)
			continue
		}
		f.ask(n, req, p)
	}
	return next
}

// askNews goes on with a session (FetchSessionHandler.Builder.build).
func (f *fetcher) askNews(n *Node, req *kmsg.FetchRequest) (next int64) {
	next = machine.Never
	if n.quotas.following {
		f.addThrottled()
	}
	slices.SortFunc(f.news, comparePartitionIDs)
	news := slices.Compact(f.news)
	f.news = f.news[:0]
	for _, id := range news {
		due, p := machine.Never, n.byID[id]
		if p != nil && p.entry.fetcher == f {
			due = n.dueMs(p)
		}
		before, known := f.session.told[id]
		switch {
		case due > n.now.Mono:
			if due != machine.Never {
				f.news = append(f.news, id) // in place: it is not longer than what was read
			}
			next = min(next, due)
			if known {
				f.forget(req, id)
			}
		case !known || before != p.entry.told():
			f.ask(n, req, p)
		}
	}
	return next
}

// dueMs is when a partition is to be asked for. One that the quota keeps away from is looked
// at with the next request, or after the time that Kafka's thread waits if there is none.
func (n *Node) dueMs(p *partition) int64 {
	due := p.entry.dueMs()
	if due <= n.now.Mono && n.keepsAway(p) {
		due = n.now.Mono + n.cfg.fetchBackoffMs
	}
	return due
}

// addThrottled adds to the news what the quota may keep away from, though nothing else
// has changed.
func (f *fetcher) addThrottled() {
	for _, p := range f.entries {
		if p.cfg.followerThrottled.has(p.id.index) {
			f.news = append(f.news, p.id)
		}
	}
}

// ask puts an entry into a request.
func (f *fetcher) ask(n *Node, req *kmsg.FetchRequest, p *partition) {
	order := &p.entry.order
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition = p.id.index
	part.CurrentLeaderEpoch = int32(order.Position.LeaderEpoch)
	part.FetchOffset = int64(order.Position.Offset)
	part.LastFetchedEpoch = int32(order.Position.LastFetchedEpoch)
	part.LogStartOffset = int64(order.LogStart)
	part.PartitionMaxBytes = n.cfg.fetchMaxBytes
	part.ReplicaDirectoryID = n.life.directory
	if last := len(req.Topics) - 1; last < 0 || req.Topics[last].TopicID != p.id.topic {
		t := kmsg.NewFetchRequestTopic()
		t.TopicID = p.id.topic
		req.Topics = append(req.Topics, t)
	}
	t := &req.Topics[len(req.Topics)-1]
	t.Partitions = append(t.Partitions, part)
	f.session.told[p.id] = p.entry.told()
}

// forget takes a partition out of the session.
func (f *fetcher) forget(req *kmsg.FetchRequest, id partitionID) {
	if last := len(req.ForgottenTopics) - 1; last < 0 || req.ForgottenTopics[last].TopicID != id.topic {
		t := kmsg.NewFetchRequestForgottenTopic()
		t.TopicID = id.topic
		req.ForgottenTopics = append(req.ForgottenTopics, t)
	}
	t := &req.ForgottenTopics[len(req.ForgottenTopics)-1]
	t.Partitions = append(t.Partitions, id.index)
	delete(f.session.told, id)
}

// ended is ender's.
func (f *fetcher) ended(n *Node, body kmsg.Response) {
	f.flying, f.changed = false, true
	resp, ok := body.(*kmsg.FetchResponse)
	if !ok {
		resp = nil
	}
	if pause := f.session.ended(resp); pause {
		// The entries stand; only the fetcher pauses.
		f.notBeforeMs = n.now.Mono + n.cfg.fetchBackoffMs
	}
	if resp == nil || resp.ErrorCode != 0 {
		return
	}
	in := n.newFrame(n.came)
	for i := range resp.Topics {
		t := &resp.Topics[i]
		for j := range t.Partitions {
			f.answered(n, partitionID{t.TopicID, t.Partitions[j].Partition}, &t.Partitions[j], in)
		}
	}
	n.letGo(in)
}

// answered hands a partition's answer to its replica, if that is still what it
// asks for.
func (f *fetcher) answered(n *Node, id partitionID, a *kmsg.FetchResponseTopicPartition, came *frame) {
	p, asked := n.byID[id], f.session.told[id]
	if p == nil || p.entry.fetcher != f || !p.entry.standing || p.entry.resting || !p.entry.order.Position.SamePlace(asked.position) {
		return
	}
	in := replica.FetchResponse{
		Position: asked.position, Err: replica.Code(a.ErrorCode),
		HW: replica.Offset(a.HighWatermark), LogStart: replica.Offset(a.LogStartOffset), Diverging: logstate.UndefinedEnd,
	}
	if a.DivergingEpoch.EndOffset >= 0 {
		in.Diverging = logstate.EpochEnd{
			Epoch: replica.Epoch(a.DivergingEpoch.Epoch), End: replica.Offset(a.DivergingEpoch.EndOffset),
		}
	}
	if p.entry.order.Position != asked.position && (!in.OffsetsOnly() || len(a.RecordBatches) > 0) {
		// The epoch has changed since: what is more than offsets is asked for again.
		return
	}
	if in.Err == replica.None && !in.Diverging.Defined() && len(a.RecordBatches) > 0 {
		n.takeBatches(p, &in, a.RecordBatches, came)
	}
	if in.Err == replica.None && !in.Diverging.Defined() {
		n.countFetched(p, &in, len(a.RecordBatches))
	}
	if in.Err != replica.None || in.Diverging.Defined() || len(in.Batches) > 0 {
		p.entry.resting = true
		f.resting = append(f.resting, p)
		f.touched(p)
	}
	n.step(p, in)
}

// takeBatches judges a leader's batches and keeps their bytes for the append.
// Offsets and epochs are the replica's to judge.
func (n *Node) takeBatches(p *partition, in *replica.FetchResponse, batches []byte, came *frame) {
	first, _, err := record.ParseBatch(batches)
	if err != nil {
		// Not even one whole batch, though the leader sends the first one whole.
		n.notef("%s: fetched at offset %d: %v", p.name, in.Position.Offset, err)
		in.Err = replica.CorruptMessage
		return
	}
	checked, err := record.CheckReplicated(batches, first.BaseOffset(), math.MaxInt32)
	if err != nil {
		n.notef("%s: fetched at offset %d: %v", p.name, in.Position.Offset, err)
		in.Err = replica.CorruptMessage
		return
	}
	n.tokens++
	f := fetched{token: n.tokens, bytes: checked.Bytes, frame: came, ends: make([]int, 0, checked.Batches)}
	in.Token = f.token
	in.Batches = make([]replica.Batch, 0, checked.Batches)
	for s := record.Scan(checked.Bytes); s.Next(); {
		in.Batches = append(in.Batches, storage.StateOf(s.Batch()))
		f.ends = append(f.ends, s.End())
	}
	came.hold()
	p.fetched = append(p.fetched, f)
}

// offsetAsked is a follower's question where its leader's log begins or ends.
type offsetAsked struct {
	p         *partition
	timestamp int64
	epoch     replica.Epoch
}

func (n *Node) askOffset(p *partition, e replica.AskOffset) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version = req.MaxVersion()
	req.ReplicaID = n.opts.ID
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Partition, part.CurrentLeaderEpoch, part.Timestamp = p.id.index, int32(e.LeaderEpoch), e.Timestamp
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = p.name.Topic
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	n.send(machine.Peer(e.Leader), req, offsetAsked{p, e.Timestamp, e.LeaderEpoch})
}

// ended is ender's. No answer is like one that the leader is not there: the
// replica begins again after its backoff.
func (q offsetAsked) ended(n *Node, body kmsg.Response) {
	in := replica.OffsetResponse{
		Timestamp: q.timestamp, LeaderEpoch: q.epoch, Err: replica.LeaderNotAvailable, Offset: replica.NoOffset,
	}
	resp, ok := body.(*kmsg.ListOffsetsResponse)
	if ok && len(resp.Topics) == 1 && len(resp.Topics[0].Partitions) == 1 {
		a := &resp.Topics[0].Partitions[0]
		in.Err, in.Offset = replica.Code(a.ErrorCode), replica.Offset(a.Offset)
		if in.Err == replica.None && in.Offset < 0 {
			in.Err = unknownServerError
		}
	}
	n.step(q.p, in)
}

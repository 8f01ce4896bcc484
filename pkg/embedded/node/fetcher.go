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
}

// fetcher fetches from one leader for all partitions that follow it there, with
// one request in flight (AbstractFetcherThread; num.replica.fetchers=1).
type fetcher struct {
	leader  replica.BrokerID
	entries []*partition // in order of their names
	sent    []sentFetch
	flying  bool
	// changed: it is worth a look when the step ends.
	changed bool
	// notBeforeMs is the pause after a lost connection.
	notBeforeMs int64
	rest        alarm
}

type sentFetch struct {
	p        *partition
	position replica.FetchPosition
}

func (n *Node) fetcher(leader replica.BrokerID) *fetcher {
	at, found := slices.BinarySearchFunc(n.fetchers, leader, func(f *fetcher, id replica.BrokerID) int {
		return cmp.Compare(f.leader, id)
	})
	if !found {
		f := &fetcher{leader: leader}
		f.rest.ring = func() { f.changed = true }
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
	p.entry.order, p.entry.standing, p.entry.resting = order, true, false
	p.entry.fetcher.changed = true
}

// fetchStop takes the entry out.
func (n *Node) fetchStop(p *partition) {
	f := p.entry.fetcher
	p.entry = fetchEntry{}
	if f == nil {
		return
	}
	f.entries = slices.DeleteFunc(f.entries, func(other *partition) bool { return other == p })
	f.changed = true
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
	return slices.ContainsFunc(f.entries, func(p *partition) bool { return p.entry.resting && p.busy })
}

// send asks for all entries that do not rest. One that rests until a time sets the
// alarm.
func (f *fetcher) send(n *Node) {
	now, next := n.now.Mono, machine.Never
	if f.notBeforeMs > now {
		n.alarms.set(&f.rest, f.notBeforeMs)
		return
	}
	req := kmsg.NewPtrFetchRequest()
	req.Version = req.MaxVersion()
	for _, p := range f.entries {
		switch {
		case !p.entry.standing || p.entry.resting:
			continue
		case p.entry.order.NotBeforeMs > now:
			next = min(next, p.entry.order.NotBeforeMs)
			continue
		}
		if last := len(req.Topics) - 1; last < 0 || req.Topics[last].TopicID != p.id.topic {
			t := kmsg.NewFetchRequestTopic()
			t.TopicID = p.id.topic
			req.Topics = append(req.Topics, t)
		}
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, f.ask(n, p))
		f.sent = append(f.sent, sentFetch{p, p.entry.order.Position})
	}
	n.alarms.set(&f.rest, next)
	if len(f.sent) == 0 {
		return
	}
	req.ReplicaState.ID, req.ReplicaState.Epoch = n.opts.ID, n.life.lastEpoch
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = n.cfg.fetchWaitMaxMs, n.cfg.fetchMinBytes, n.cfg.fetchResponseMaxBytes
	f.flying = true
	n.send(machine.Peer(f.leader), req, f)
}

func (f *fetcher) ask(n *Node, p *partition) kmsg.FetchRequestTopicPartition {
	part := kmsg.NewFetchRequestTopicPartition()
	order := &p.entry.order
	part.Partition = p.id.index
	part.CurrentLeaderEpoch = int32(order.Position.LeaderEpoch)
	part.FetchOffset = int64(order.Position.Offset)
	part.LastFetchedEpoch = int32(order.Position.LastFetchedEpoch)
	part.LogStartOffset = int64(order.LogStart)
	part.PartitionMaxBytes = n.cfg.fetchMaxBytes
	part.ReplicaDirectoryID = n.life.directory
	return part
}

// ended is ender's.
func (f *fetcher) ended(n *Node, body kmsg.Response) {
	f.flying, f.changed = false, true
	sent := f.sent
	f.sent = f.sent[len(f.sent):]
	resp, ok := body.(*kmsg.FetchResponse)
	if !ok || resp.ErrorCode != 0 {
		// The entries stand; only the fetcher pauses.
		f.notBeforeMs = n.now.Mono + n.cfg.fetchBackoffMs
		return
	}
	// An answer has its partitions in the order of the question.
	next := 0
	for i := range resp.Topics {
		t := &resp.Topics[i]
		for j := range t.Partitions {
			id := partitionID{t.TopicID, t.Partitions[j].Partition}
			at := slices.IndexFunc(sent[next:], func(s sentFetch) bool { return s.p.id == id })
			if at < 0 {
				continue
			}
			next += at
			f.answered(n, sent[next], &t.Partitions[j])
			next++
		}
	}
}

// answered hands a partition's answer to its replica, if that is still what it
// asks for.
func (f *fetcher) answered(n *Node, s sentFetch, a *kmsg.FetchResponseTopicPartition) {
	p := s.p
	if p.entry.fetcher != f || !p.entry.standing || p.entry.resting || p.entry.order.Position != s.position {
		return
	}
	in := replica.FetchResponse{
		Position: s.position, Err: replica.Code(a.ErrorCode),
		HW: replica.Offset(a.HighWatermark), LogStart: replica.Offset(a.LogStartOffset), Diverging: logstate.UndefinedEnd,
	}
	if a.DivergingEpoch.EndOffset >= 0 {
		in.Diverging = logstate.EpochEnd{
			Epoch: replica.Epoch(a.DivergingEpoch.Epoch), End: replica.Offset(a.DivergingEpoch.EndOffset),
		}
	}
	if in.Err == replica.None && !in.Diverging.Defined() && len(a.RecordBatches) > 0 {
		n.takeBatches(p, &in, a.RecordBatches)
	}
	p.entry.resting = in.Err != replica.None || in.Diverging.Defined() || len(in.Batches) > 0
	n.step(p, in)
}

// takeBatches judges a leader's batches and keeps their bytes for the append.
// Offsets and epochs are the replica's to judge.
func (n *Node) takeBatches(p *partition, in *replica.FetchResponse, batches []byte) {
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
	f := fetched{token: n.tokens, bytes: checked.Bytes, ends: make([]int, 0, checked.Batches)}
	in.Token = f.token
	in.Batches = make([]replica.Batch, 0, checked.Batches)
	for s := record.Scan(checked.Bytes); s.Next(); {
		in.Batches = append(in.Batches, storage.StateOf(s.Batch()))
		f.ends = append(f.ends, s.End())
	}
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

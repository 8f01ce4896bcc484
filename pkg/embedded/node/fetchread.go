package node

import (
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// readAll reads what there is: the first partition that has something gets a batch
// whatever its size, so that a reader always gets on (KIP-74). atOnce: there is
// something to tell that does not wait for more bytes.
func (n *Node) readAll(r *fetchRequest) (bytes int, atOnce bool) {
	left, absent := r.maxBytes, 0
	for i := range r.parts {
		part := &r.parts[i]
		b := &part.bounds
		if b.Err == replica.None && part.preferred == replica.NoBroker && !b.Diverging.Defined() && b.From < b.UpTo &&
			!n.holdsBack(r, part.p) {
			records, err := part.p.log.Read(nil, storage.Fetch{
				From: b.From, UpTo: b.UpTo, MaxBytes: min(int(part.asked.maxBytes), left), MinOne: bytes == 0,
				Room: n.room(),
			})
			if err != nil {
				*b = replica.FetchBounds{Err: n.readCode(part.p, err)}
			} else {
				part.records = records
			}
			bytes += len(part.records)
			left -= len(part.records)
		}
		if part.absent {
			absent++
			continue
		}
		if b.Err != replica.None || b.Diverging.Defined() || part.preferred != replica.NoBroker {
			atOnce = true
		}
	}
	asked := len(r.parts)
	if r.session != nil {
		asked = len(r.session.parts)
	}
	return bytes, atOnce || absent == asked
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

// answerFetch answers with what was read: all partitions that were asked for, or
// those of a session that have news.
func (n *Node) answerFetch(r *fetchRequest) {
	resp := r.req.ResponseKind().(*kmsg.FetchResponse)
	for i := range r.parts {
		part := &r.parts[i]
		out := n.fetchAnswer(r, resp, part)
		if part.entry != nil && !part.entry.news(&out) {
			continue
		}
		last := len(resp.Topics) - 1
		if last < 0 || resp.Topics[last].Topic != part.asked.topic || resp.Topics[last].TopicID != part.asked.id {
			t := kmsg.NewFetchResponseTopic()
			t.Topic, t.TopicID = part.asked.topic, part.asked.id
			resp.Topics = append(resp.Topics, t)
			last++
		}
		resp.Topics[last].Partitions = append(resp.Topics[last].Partitions, out)
	}
	switch {
	case r.session != nil:
		resp.SessionID = r.session.id
		n.settleAll(r)
	case r.opens:
		resp.SessionID = n.openSession(r)
	}
	if r.follower() {
		n.countAnswer(resp)
	}
	n.reply(r.token, resp)
}

func (n *Node) fetchAnswer(r *fetchRequest, resp *kmsg.FetchResponse, part *fetchPart) kmsg.FetchResponseTopicPartition {
	out := kmsg.NewFetchResponseTopicPartition()
	b := &part.bounds
	out.Partition = part.asked.index
	out.HighWatermark, out.LastStableOffset, out.LogStartOffset = -1, -1, -1
	out.RecordBatches = []byte{}
	if b.Err != replica.None {
		n.fetchRefused(r, resp, part, &out)
		return out
	}
	out.HighWatermark, out.LastStableOffset, out.LogStartOffset = int64(b.HW), int64(b.LSO), int64(b.LogStart)
	if part.records != nil {
		out.RecordBatches = part.records
	}
	if r.req.IsolationLevel == 1 && !r.follower() {
		out.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
	}
	if b.Diverging.Defined() {
		out.DivergingEpoch.Epoch, out.DivergingEpoch.EndOffset = int32(b.Diverging.Epoch), int64(b.Diverging.End)
	}
	if part.preferred != replica.NoBroker {
		out.PreferredReadReplica = int32(part.preferred)
	}
	return out
}

func (n *Node) fetchRefused(r *fetchRequest, resp *kmsg.FetchResponse, part *fetchPart, out *kmsg.FetchResponseTopicPartition) {
	out.ErrorCode = int16(part.bounds.Err)
	if part.absent {
		// Of a partition that is none Kafka says so, of others it says null.
		out.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
	}
	if r.req.Version < 16 || !hinted(part.bounds.Err) {
		return
	}
	leader, epoch, ok := n.leaderHint(partitionID{part.asked.id, out.Partition}, "")
	if !ok {
		return
	}
	out.CurrentLeader.LeaderID, out.CurrentLeader.LeaderEpoch = leader, epoch
	e, rack, ok := n.endpoint(leader)
	if !ok || slices.ContainsFunc(resp.Brokers, func(b kmsg.FetchResponseBroker) bool { return b.NodeID == leader }) {
		return
	}
	b := kmsg.NewFetchResponseBroker()
	b.NodeID, b.Host, b.Port, b.Rack = leader, e.Host, int32(e.Port), rack
	resp.Brokers = append(resp.Brokers, b)
}

package sim

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// consumer reads partitions on and on: from the leader or where it is sent to
// (KIP-392), with the epoch that it knows, at times an older one or one that there
// is not (I9).
type consumer struct {
	c           *client
	committed   bool // read_committed
	byID        bool // Fetch 17 names topics by id, 12 by name
	rack        string
	tiny        bool // a byte at a time
	outstanding bool
	at          []position
}

type position struct {
	id     kraft.UUID
	index  int32
	offset Offset
	epoch  int32 // of the last batch that was read, -1 for none
	// replica is where the leader sent it to read, 0 for the leader itself.
	replica int32
}

func newConsumer(c *client) actor {
	w := c.w
	return &consumer{c: c, committed: chance(w.rng, 40), byID: chance(w.rng, 60), tiny: chance(w.rng, 15), rack: oneOf(w.rng, "", "a", "b")}
}

func (k *consumer) position(t *topicView, index int32) *position {
	for i := range k.at {
		if k.at[i].id == t.id && k.at[i].index == index {
			return &k.at[i]
		}
	}
	k.at = append(k.at, position{id: t.id, index: index, epoch: -1})
	return &k.at[len(k.at)-1]
}

func (k *consumer) act() {
	w := k.c.w
	if k.outstanding {
		return
	}
	t, index, ok := k.c.anyPartition()
	if !ok {
		return
	}
	pos := k.position(t, index)
	if chance(w.rng, 3) {
		pos.offset, pos.epoch = Offset(w.rng.Int64N(int64(pos.offset)+2)), -1
	}
	to := k.c.leaderOf(t, index)
	if pos.replica > 0 {
		to = pos.replica
	}
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 12, -1, int32(oneOf(w.rng, 0, 20, 300)), 1, 1<<20
	req.SessionID, req.SessionEpoch, req.Rack = 0, -1, k.rack
	if k.committed {
		req.IsolationLevel = 1
	}
	rt := kmsg.NewFetchRequestTopic()
	wa := want{topic: t.name}
	if k.byID {
		req.Version, rt.TopicID, wa.id = 17, t.id, t.id
	} else {
		rt.Topic = t.name
	}
	// All that this broker is believed to lead, the one that was drawn first.
	rt.Partitions = append(rt.Partitions, k.ask(t, index, pos))
	for i := range t.leaders {
		if other := int32(i); other != index && t.leaders[i].leader == to && chance(w.rng, 50) {
			rt.Partitions = append(rt.Partitions, k.ask(t, other, k.position(t, other)))
		}
	}
	req.Topics = append(req.Topics, rt)
	k.outstanding = true
	k.c.send(to, req, wa)
}

func (k *consumer) ask(t *topicView, index int32, pos *position) kmsg.FetchRequestTopicPartition {
	w := k.c.w
	q := kmsg.NewFetchRequestTopicPartition()
	q.Partition, q.FetchOffset, q.LastFetchedEpoch, q.LogStartOffset, q.PartitionMaxBytes = index, int64(pos.offset), -1, -1, 1<<20
	if k.tiny {
		q.PartitionMaxBytes = 1
	}
	q.CurrentLeaderEpoch = t.leaders[index].epoch
	switch w.rng.IntN(20) {
	case 0:
		q.CurrentLeaderEpoch = -1
	case 1:
		q.CurrentLeaderEpoch = max(q.CurrentLeaderEpoch-1, -1)
	case 2:
		q.CurrentLeaderEpoch++
	}
	if chance(w.rng, 20) {
		q.LastFetchedEpoch = pos.epoch
	}
	return q
}

func (k *consumer) answered(f *flight) {
	k.outstanding = false
	resp, ok := f.resp.(*kmsg.FetchResponse)
	if !ok {
		k.c.lookAgain()
		for i := range k.at {
			k.at[i].replica = 0
		}
		return
	}
	if resp.ErrorCode != 0 {
		k.c.lookAgain()
		return
	}
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			k.fetched(f, &resp.Topics[i].Partitions[j])
		}
	}
}

func (k *consumer) fetched(f *flight, a *kmsg.FetchResponseTopicPartition) {
	w := k.c.w
	var pos *position
	for i := range k.at {
		if k.at[i].index == a.Partition && k.at[i].id == f.seen.id {
			pos = &k.at[i]
		}
	}
	if pos == nil {
		return
	}
	switch replica.Code(a.ErrorCode) {
	case replica.None:
	case replica.OffsetOutOfRange:
		pos.replica = 0
		if chance(w.rng, 60) {
			pos.offset, pos.epoch = 0, -1
			if x := w.model.part(f.seen.id, a.Partition); x != nil && chance(w.rng, 70) {
				pos.offset = x.start
			}
		}
		return
	case replica.NotLeaderOrFollower, replica.UnknownTopicOrPartition, replica.UnknownTopicID, replica.InconsistentTopicID,
		replica.LeaderNotAvailable, replica.FencedLeaderEpoch, replica.UnknownLeaderEpoch, replica.KafkaStorageError, replica.OffsetNotAvailable,
		replica.CorruptMessage: // the last, checkFetched has judged
		pos.replica = 0
		k.c.lookAgain()
		return
	default:
		w.fail("panic", "a consumer is answered error %d", a.ErrorCode)
		return
	}
	pos.replica = 0
	if a.PreferredReadReplica > 0 && int(a.PreferredReadReplica) <= w.plan.Brokers {
		pos.replica = a.PreferredReadReplica
	}
	for scan := record.Scan(a.RecordBatches); scan.Next(); {
		b := scan.Batch()
		if next := Offset(b.NextOffset()); next > pos.offset {
			pos.offset, pos.epoch = next, b.LeaderEpoch()
		}
	}
}

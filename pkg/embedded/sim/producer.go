package sim

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// producer is like Kafka's: an idempotent one has up to five batches per partition
// in flight, sends again in order what failed or whose answer was lost, and takes a
// new epoch of its own when it cannot know what became of a batch (KIP-360). A plain
// one sends each batch once.
type producer struct {
	c          *client
	idempotent bool
	byID       bool // Produce 13 names topics by id, 9 by name
	codec      record.Codec
	pid        int64
	epoch      int16
	asking     bool
	bump       bool // a new epoch is due, once nothing is in flight
	inflight   int
	lanes      []*outLane
	builder    record.Builder
	deflater   record.Deflater
}

// outLane is what goes to one partition.
type outLane struct {
	topic   string
	id      kraft.UUID
	index   int32
	nextSeq int32
	batches []*outBatch // the oldest first
}

// outBatch is a batch that was not acknowledged yet.
type outBatch struct {
	lane  *outLane
	ids   []uint64 // of its records
	sizes []int
	// keys and tombstones are of its records, if records have keys.
	keys       []int
	tombstones []bool
	times      []int64
	seq        int32
	acks       int16
	inflight   bool
	attempts   int
	bornUs     int64
	notUs      int64 // not before
	// again: it was sent under an older epoch too, so that its records may be there
	// twice.
	again bool
}

const (
	maxInFlight = 5
	maxAttempts = 60
)

func newProducer(c *client) actor {
	p := &producer{c: c, idempotent: chance(c.w.rng, 65), byID: chance(c.w.rng, 60), pid: record.NoProducerID}
	if c.w.plan.Compressed && chance(c.w.rng, 60) {
		p.codec = oneOf(c.w.rng, record.LZ4, record.Snappy)
	}
	return p
}

func (p *producer) act() {
	w := p.c.w
	if p.idempotent && p.pid < 0 {
		if !p.asking {
			p.asking = true
			req := kmsg.NewPtrInitProducerIDRequest()
			req.Version, req.ProducerID, req.ProducerEpoch = 4, -1, -1
			p.c.send(p.c.anyBroker(), req, want{})
		}
		return
	}
	p.maybeBump()
	// When all is calm a record now and then still comes: a HW that has waited for a
	// follower which then went away moves with the next append, not by itself. Clients that
	// time out at a broker which hears nothing act so seldom that more has to come of it.
	if !p.bump && (!w.calm || w.rng.IntN(100) < w.recordsWhenCalm()) {
		if l := p.anyLane(); l != nil && len(l.batches) < 8 {
			l.batches = append(l.batches, p.newBatch(l))
		}
	}
	if p.bump {
		return
	}
	for i := range p.lanes {
		p.flush(p.lanes[i])
	}
}

// anyLane draws a partition to produce to.
func (p *producer) anyLane() *outLane {
	t, index, ok := p.c.anyPartition()
	if !ok {
		return nil
	}
	for _, l := range p.lanes {
		if l.index == index && p.is(l, t) {
			return l
		}
	}
	l := &outLane{topic: t.name, id: t.id, index: index}
	p.lanes = append(p.lanes, l)
	return l
}

// is reports whether a lane is that of a topic: to who goes by names, one that was
// made anew is the same, and its sequences go on.
func (p *producer) is(l *outLane, t *topicView) bool {
	return l.id == t.id || !p.byID && l.topic == t.name
}

func (p *producer) newBatch(l *outLane) *outBatch {
	w := p.c.w
	b := &outBatch{lane: l, seq: l.nextSeq, bornUs: w.now, acks: -1}
	if !p.idempotent {
		b.acks = oneOf[int16](w.rng, -1, -1, 1, 1, 0)
	}
	for range 1 + w.rng.IntN(3) {
		w.model.records++
		b.ids = append(b.ids, w.model.records)
		b.sizes = append(b.sizes, oneOf(w.rng, 0, 0, 30, 200))
		b.times = append(b.times, epochMs+w.now/ms-w.rng.Int64N(2000))
		if w.plan.Keys > 0 {
			b.keys, b.tombstones = append(b.keys, w.rng.IntN(w.plan.Keys)), append(b.tombstones, chance(w.rng, 10))
		}
	}
	l.nextSeq = record.AddSequence(l.nextSeq, int32(len(b.ids)))
	return b
}

// flush sends what may be sent: in order, and nothing past what has to wait.
func (p *producer) flush(l *outLane) {
	inflight := 0
	for _, b := range l.batches {
		if b.inflight {
			inflight++
		}
	}
	for _, b := range slices.Clone(l.batches) {
		if b.inflight {
			continue
		}
		if inflight >= maxInFlight || b.notUs > p.c.w.now {
			return
		}
		p.sendBatch(b)
		inflight++
	}
}

func (p *producer) sendBatch(b *outBatch) {
	l, w := b.lane, p.c.w
	i := slices.IndexFunc(p.c.topics, func(t topicView) bool { return p.is(l, &t) })
	if i < 0 || int(l.index) >= len(p.c.topics[i].leaders) {
		// The topic is gone, as far as this client knows.
		p.c.lookAgain()
		if b.attempts++; b.attempts > maxAttempts {
			p.giveUp(b)
		}
		b.notUs = w.now + 100*ms
		return
	}
	l.id = p.c.topics[i].id
	p.sendTo(p.c.leaderOf(&p.c.topics[i], l.index), b)
	if b.acks == 0 {
		p.drop(b)
	}
}

// sendTo sends a batch to a broker.
func (p *producer) sendTo(broker int32, b *outBatch) {
	l, w := b.lane, p.c.w
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, b.acks, int32(oneOf(w.rng, 100, 1000, 5000))
	topic := kmsg.NewProduceRequestTopic()
	wa := want{acks: b.acks, index: l.index, topic: l.topic}
	if p.byID {
		req.Version, topic.TopicID, wa.id = 13, l.id, l.id
	} else {
		topic.Topic = l.topic
	}
	part := kmsg.NewProduceRequestTopicPartition()
	part.Partition, part.Records = l.index, p.encode(b)
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	sent := batch{last: Offset(len(b.ids) - 1), pid: record.NoProducerID, pepoch: record.NoProducerEpoch, seq: record.NoSequence}
	if p.idempotent {
		sent.pid, sent.pepoch, sent.seq = p.pid, p.epoch, b.seq
	}
	wa.sent = []sentBatch{{l.index, sent, b}}
	b.attempts++
	if b.acks != 0 {
		b.inflight = true
		p.inflight++
	}
	p.c.send(broker, req, wa)
}

// encode builds the bytes: each time anew, since a broker stamps what it was given.
func (p *producer) encode(b *outBatch) []byte {
	opts := record.Options{Codec: p.codec}
	if p.idempotent {
		opts.Producer = &record.Producer{ID: p.pid, Epoch: p.epoch, BaseSequence: b.seq}
	}
	p.builder.Reset(opts)
	size := record.HeaderSize
	for i, id := range b.ids {
		value := make([]byte, 12+b.sizes[i])
		binary.BigEndian.PutUint64(value, id)
		if p.byID { // else it may come to another topic of that name
			copy(value[8:12], b.lane.id[:4])
		}
		e := record.Entry{TimestampMs: b.times[i], Value: value}
		if len(b.keys) > 0 {
			if e.Key = strconv.AppendInt(nil, int64(b.keys[i]), 10); b.tombstones[i] {
				e.Value = nil
			}
		}
		if err := p.builder.Add(e); err != nil {
			panic(err)
		}
		size += len(value) + 24
	}
	out, err := p.builder.AppendTo(make([]byte, 0, size), &p.deflater)
	if err != nil {
		panic(err)
	}
	return out
}

func (p *producer) answered(f *flight) {
	if f.req.Key() == 22 {
		p.asking = false
		if resp, ok := f.resp.(*kmsg.InitProducerIDResponse); ok && resp.ErrorCode == 0 {
			p.c.w.checkProducerID(resp.ProducerID)
			p.pid, p.epoch, p.bump = resp.ProducerID, resp.ProducerEpoch, false
			p.renumber()
		}
		return
	}
	for i := range f.want.sent {
		p.settled(f, f.want.sent[i].out)
	}
	if !p.bump {
		for _, l := range p.lanes {
			if l.index == f.want.index && l.topic == f.want.topic {
				p.flush(l)
			}
		}
	}
}

// settled takes an answer about one batch, or learns that there is none.
func (p *producer) settled(f *flight, b *outBatch) {
	b.inflight = false
	p.inflight--
	resp, ok := f.resp.(*kmsg.ProduceResponse)
	if !ok || len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		p.again(b, 10*ms)
		return
	}
	a := &resp.Topics[0].Partitions[0]
	switch replica.Code(a.ErrorCode) {
	case replica.None:
		if b.acks == -1 {
			p.c.w.model.acked(f, b, Offset(a.BaseOffset))
		}
		p.drop(b)
	case replica.OutOfOrderSequenceNumber, 59: // UNKNOWN_PRODUCER_ID
		if len(b.lane.batches) > 0 && b.lane.batches[0] == b {
			p.bump = true
		}
		p.again(b, 10*ms)
	case replica.InvalidProducerEpoch:
		p.bump = true
		p.again(b, 10*ms)
	case replica.NotEnoughReplicas:
		if !p.idempotent {
			p.c.w.model.refused(b)
		}
		p.again(b, 100*ms)
	case replica.NotLeaderOrFollower, replica.UnknownTopicOrPartition, replica.UnknownTopicID, replica.LeaderNotAvailable,
		replica.KafkaStorageError, replica.FencedLeaderEpoch, replica.InconsistentTopicID:
		p.c.lookAgain()
		p.again(b, 50*ms)
	case 10, 18: // MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE: segments are tiny here
		p.giveUp(b)
	case replica.RequestTimedOut, replica.NotEnoughReplicasAfterAppend:
		p.again(b, 50*ms)
	default:
		p.c.w.fail("panic", "a producer is answered error %d", a.ErrorCode)
	}
}

// again makes a batch be sent again, if it is one that is.
func (p *producer) again(b *outBatch, us int64) {
	w := p.c.w
	if !p.idempotent {
		p.drop(b)
		return
	}
	if b.attempts > maxAttempts || w.now > b.bornUs+w.plan.DeliveryMs*ms {
		p.giveUp(b)
		return
	}
	b.notUs = w.now + us
}

// giveUp leaves a batch of which nobody knows whether it was written: the sequences
// after it mean nothing any more.
func (p *producer) giveUp(b *outBatch) {
	p.drop(b)
	p.bump = p.idempotent
}

func (p *producer) drop(b *outBatch) {
	l := b.lane
	if i := slices.Index(l.batches, b); i >= 0 {
		l.batches = slices.Delete(l.batches, i, i+1)
	}
}

// maybeBump takes a new epoch once nothing is in flight.
func (p *producer) maybeBump() {
	if p.bump && p.inflight == 0 {
		p.bump = false
		p.epoch++
		p.renumber()
	}
}

func (p *producer) renumber() {
	for _, l := range p.lanes {
		l.nextSeq = 0
		for _, b := range l.batches {
			b.seq, b.again = l.nextSeq, true
			l.nextSeq = record.AddSequence(l.nextSeq, int32(len(b.ids)))
		}
	}
}

package sim

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// What brokers answer to clients is checked as it leaves the broker, against the
// state of the replica that answers: what happens on the way is the network's.

// seen is what a replica was like when it was asked; the answer may come later.
type seen struct {
	id             kraft.UUID // of the topic that the name stood for
	start, hw, leo Offset
	end            Offset // of the log, which may be ahead of the LEO
	latest         []latestAnswer
	// decided is how far the controller's log went, if it is the controller that is asked.
	decided int64
}

// beforeServe notes what a question meets.
func (w *World) beforeServe(p *proc, f *flight) {
	if p.quorum != nil {
		w.model.beforeDecision(f)
	}
	if f.c.from != w.net.clientEnd() || p.node == nil {
		return
	}
	f.seen.id = w.topicOf(p, f.want.topic, f.want.id)
	if f.want.latest {
		if x := w.model.part(f.seen.id, f.want.index); x != nil {
			f.seen.latest = append(f.seen.latest[:0], x.latest...)
			if s := p.shadowOf(x); s != nil {
				f.seen.start, f.seen.hw, f.seen.leo = s.status.LogStart, s.status.HW, s.status.LEO
				if s.log != nil {
					f.seen.end = s.log.End() // an append may be under way
				}
			}
		}
	}
}

// topicOf is the id that a request means at a broker: the one that it names, or that
// of the topic which has the name there.
func (w *World) topicOf(p *proc, name string, id kraft.UUID) kraft.UUID {
	if id != (kraft.UUID{}) {
		return id
	}
	if t, ok := p.node.Image().Topic(name); ok {
		return t.ID
	}
	return kraft.UUID{}
}

// afterServe checks an answer.
func (w *World) afterServe(p *proc, f *flight, resp kmsg.Response) {
	if p.quorum != nil && resp != nil {
		w.model.promise(f)
	}
	if f.c.from != w.net.clientEnd() || p.node == nil || resp == nil {
		return
	}
	if w.topicOf(p, f.want.topic, f.want.id) != f.seen.id {
		return // the name stands for another topic by now: which one answered?
	}
	switch resp := resp.(type) {
	case *kmsg.ProduceResponse:
		for i := range resp.Topics {
			for j := range resp.Topics[i].Partitions {
				a := &resp.Topics[i].Partitions[j]
				if x := w.model.part(f.seen.id, a.Partition); x != nil && a.ErrorCode == 0 {
					w.checkAck(p, x, f.want.acks, f.want.sentTo(a.Partition), a.BaseOffset)
				}
			}
		}
	case *kmsg.FetchResponse:
		req := f.req.(*kmsg.FetchRequest)
		w.checkWait(f, int64(req.MaxWaitMillis))
		for i := range resp.Topics {
			for j := range resp.Topics[i].Partitions {
				a := &resp.Topics[i].Partitions[j]
				if x := w.model.part(f.seen.id, a.Partition); x != nil {
					if q := askedFor(req, a.Partition); q != nil {
						w.checkFetched(p, x, req, q, a)
					}
				}
			}
		}
	case *kmsg.ListOffsetsResponse:
		w.checkListed(p, f, resp)
	case *kmsg.OffsetForLeaderEpochResponse:
		w.checkEpochEnd(p, f, resp)
	}
}

func askedFor(req *kmsg.FetchRequest, index int32) *kmsg.FetchRequestTopicPartition {
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			if q := &req.Topics[i].Partitions[j]; q.Partition == index {
				return q
			}
		}
	}
	return nil
}

// I9: who names an older leader epoch is told FENCED_LEADER_EPOCH, who names a newer
// one UNKNOWN_LEADER_EPOCH, and neither gets data.

// checkFencing returns false if the answer carries nothing to look at.
func (w *World) checkFencing(s *shadow, what string, asked int32, code int16) bool {
	have := int32(s.status.LeaderEpoch)
	switch replica.Code(code) {
	case replica.FencedLeaderEpoch:
		if asked >= have {
			w.fail("I9", "%s %s-%d: FENCED_LEADER_EPOCH to %s with epoch %d, and it is %d here", s.p.name, s.part.topic, s.part.index, what, asked, have)
		}
	case replica.UnknownLeaderEpoch:
		if asked <= have {
			w.fail("I9", "%s %s-%d: UNKNOWN_LEADER_EPOCH to %s with epoch %d, and it is %d here", s.p.name, s.part.topic, s.part.index, what, asked, have)
		}
	case replica.None:
		if asked >= 0 && asked != have {
			w.fail("I9", "%s %s-%d: answers %s with epoch %d, and it is %d here", s.p.name, s.part.topic, s.part.index, what, asked, have)
		}
		return true
	}
	return false
}

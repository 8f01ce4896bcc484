package sim

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// I7: no consumer reads at or above the HW, or the LSO if it is read_committed,
// whatever the acks were; what it reads is committed for good. I14: a fetch of an
// offset gives first the batch that holds it, then in order and without gap.

func (w *World) checkFetched(p *proc, x *part, req *kmsg.FetchRequest, q *kmsg.FetchRequestTopicPartition, a *kmsg.FetchResponseTopicPartition) {
	s := p.shadowOf(x)
	if s == nil || s.r == nil {
		return
	}
	o := Offset(q.FetchOffset)
	if replica.Code(a.ErrorCode) == replica.OffsetOutOfRange && q.LastFetchedEpoch < 0 && o >= max(s.status.LogStart, s.log.Start()) && o <= min(s.status.LEO, s.log.End()) {
		w.fail("I14", "%s %s-%d: OFFSET_OUT_OF_RANGE for %d, and the log goes from %d to %d", p.name, x.topic, x.index, o, s.status.LogStart, s.status.LEO)
	}
	if replica.Code(a.ErrorCode) == replica.CorruptMessage && !p.diskFaulty() {
		// Else a sync has failed, which loses what it was to make durable, and its word
		// is on its way.
		w.fail("I14", "%s %s-%d: CORRUPT_MESSAGE for %d, from a disk that works", p.name, x.topic, x.index, o)
	}
	if !w.checkFencing(s, "a fetch", q.CurrentLeaderEpoch, a.ErrorCode) {
		if len(a.RecordBatches) > 0 {
			w.fail("I9", "%s %s-%d: records with error %d", p.name, x.topic, x.index, a.ErrorCode)
		}
		return
	}
	hw, bound := Offset(a.HighWatermark), Offset(a.HighWatermark)
	if req.IsolationLevel == 1 {
		bound = min(bound, Offset(a.LastStableOffset))
	}
	if hw > x.hw && !x.void && !s.excused {
		w.fail("I7", "%s %s-%d: tells a consumer HW %d, and no leader had one above %d", p.name, x.topic, x.index, hw, x.hw)
	}
	next := o
	for scan := record.Scan(a.RecordBatches); scan.Next(); {
		b := scan.Batch()
		base, last := Offset(b.BaseOffset()), Offset(b.LastOffset())
		switch {
		case base > next && w.hole(x, next, base):
		case next == o && (base > o || last < o), next != o && base != next:
			w.fail("I14", "%s %s-%d: a fetch at %d gives the batch at %d to %d where %d was due", p.name, x.topic, x.index, o, base, last, next)
			return
		}
		if last >= bound {
			w.fail("I7", "%s %s-%d: a consumer is given the batch at %d to %d, and HW is %d, LSO %d", p.name, x.topic, x.index, base, last, hw, a.LastStableOffset)
			return
		}
		if i := at(x.committed, base); !x.void && !s.excused && i >= 0 {
			c := &x.committed[i]
			same := c.base == base && c.epoch == b.LeaderEpoch() && (c.crc == b.CRC() || w.left(x, b, c) == "")
			if !same && !w.onlyGhosts(s, min(last+1, x.hw), int32(s.status.LeaderEpoch)) {
				w.fail("I7", "%s %s-%d: a consumer is given a batch at %d of epoch %d, where one of epoch %d at %d is committed", p.name, x.topic, x.index, base, b.LeaderEpoch(), c.epoch, c.base)
				return
			}
		}
		next = last + 1
		w.stats.Consumed++
	}
}

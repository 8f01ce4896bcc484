package sim

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// I18: what ListOffsets answers (earliest, latest, by timestamp, by the largest
// timestamp) agrees with a scan of the log.

func (w *World) checkListed(p *proc, f *flight, resp *kmsg.ListOffsetsResponse) {
	req := f.req.(*kmsg.ListOffsetsRequest)
	if len(req.Topics) != 1 || len(req.Topics[0].Partitions) != 1 || len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return
	}
	q, a := &req.Topics[0].Partitions[0], &resp.Topics[0].Partitions[0]
	x, s := w.answered(p, f, q.Partition)
	if s == nil || !w.checkFencing(s, "ListOffsets", q.CurrentLeaderEpoch, a.ErrorCode) {
		return
	}
	o, st := Offset(a.Offset), &s.status
	if req.ReplicaID == -1 && st.Role != replica.Leader {
		w.fail("I18", "%s %s-%d: answers a client's ListOffsets and is %s", p.name, x.topic, x.index, st.Role)
	}
	low, high := f.seen.hw, st.HW
	if req.ReplicaID == -2 {
		low, high = f.seen.leo, st.LEO
	}
	switch q.Timestamp {
	case replica.Latest:
		if o < low || o > high {
			w.fail("I18", "%s %s-%d: latest offset %d to replica id %d, HW %d, LEO %d", p.name, x.topic, x.index, o, req.ReplicaID, st.HW, st.LEO)
		}
		if req.ReplicaID == -1 {
			w.checkLatest(x, f.seen.latest, a.LeaderEpoch, o)
			f.want.listed, f.want.listedEpoch = o, a.LeaderEpoch
		}
	case replica.Earliest:
		if o < f.seen.start || o > st.LogStart {
			w.fail("I18", "%s %s-%d: earliest offset %d, and the log starts at %d", p.name, x.topic, x.index, o, st.LogStart)
		}
	case replica.MaxTimestamp:
		w.checkMaxTimestamp(s, f, a, low)
	default:
		if q.Timestamp >= 0 && f.seen.start == st.LogStart && s.log.Start() <= st.LogStart && !s.p.diskFaulty() {
			w.checkByTimestamp(s, q.Timestamp, o, low, high)
		}
	}
}

// checkByTimestamp looks for the record by reading the log.
func (w *World) checkByTimestamp(s *shadow, ts int64, o, low, high Offset) {
	want := Offset(-1)
	for i := at(s.batches, s.status.LogStart); i >= 0 && i < len(s.batches) && s.batches[i].base < high && want < 0; i++ {
		if s.batches[i].maxMs >= ts {
			want = w.firstRecord(s, &s.batches[i], func(r record.Record) bool { return r.TimestampMs >= ts })
		}
	}
	switch {
	case o == want && want < high:
	case o == -1 && (want < 0 || want >= low):
	case o >= s.status.LogStart && o < high && (want < 0 || o < want) && w.wasAt(s, o, ts):
		// Compaction has removed it since it was found.
	default:
		w.fail("I18", "%s %s-%d: offset %d for timestamp %d, a scan of the log finds %d (HW %d to %d)", s.p.name, s.part.topic, s.part.index, o, ts, want, low, high)
	}
}

// wasAt reports whether a record that is not older was written at an offset, and may be
// gone by now.
func (w *World) wasAt(s *shadow, o Offset, ts int64) bool {
	r := s.part.recordAt(s.batches, o)
	return r != nil && r.ms >= ts && w.removable(s.part, r)
}

// checkMaxTimestamp: nothing that was there has a larger timestamp, and the record
// that is named has this one.
func (w *World) checkMaxTimestamp(s *shadow, f *flight, a *kmsg.ListOffsetsResponseTopicPartition, low Offset) {
	if w.plan.Keys > 0 || s.p.diskFaulty() || s.log.Start() > s.status.LogStart || f.seen.end != s.status.LEO || s.log.End() != s.status.LEO || f.seen.start != s.status.LogStart {
		return
	}
	largest, first := int64(-1), Offset(-1)
	for i := at(s.batches, s.status.LogStart); i >= 0 && i < len(s.batches); i++ {
		if b := &s.batches[i]; b.maxMs > largest {
			largest = b.maxMs
			first = w.firstRecord(s, b, func(r record.Record) bool { return r.TimestampMs == largest && Offset(r.Offset) >= s.status.LogStart })
		}
	}
	o := Offset(a.Offset)
	switch {
	case o == first || o >= 0 && o < s.status.LogStart:
	case o == -1 && (first < 0 || first >= low):
	case o == -1 && s.status.LogStart > 0: // the largest may be one before the start
	default:
		w.fail("I18", "%s %s-%d: offset %d has the largest timestamp, a scan of the log finds %d with %d", s.p.name, s.part.topic, s.part.index, o, first, largest)
	}
}

// firstRecord is the offset of the first record of a batch that fits and is in the
// log, -1 if none does.
func (w *World) firstRecord(s *shadow, b *batch, fits func(record.Record) bool) Offset {
	buf, err := s.log.Read(w.model.buf[:0], storage.Fetch{From: max(b.base, s.status.LogStart), UpTo: b.last + 1, MinOne: true})
	w.model.buf = buf[:0]
	if err != nil {
		return -1
	}
	for scan := record.Scan(buf); scan.Next(); {
		records, err := scan.Batch().Records(nil)
		if err != nil {
			return -1
		}
		for records.Next() {
			if r := records.Record(); Offset(r.Offset) >= s.status.LogStart && fits(r) {
				return Offset(r.Offset)
			}
		}
	}
	return -1
}

func fetchAll(from, upTo Offset) storage.Fetch {
	return storage.Fetch{From: from, UpTo: upTo, MaxBytes: 1 << 20, MinOne: true}
}

// answered is the partition that was asked about, and its replica at who answered; a
// nil one where there is nothing to compare with.
func (w *World) answered(p *proc, f *flight, partition int32) (*part, *shadow) {
	x := w.model.part(f.seen.id, partition)
	if x == nil {
		return nil, nil
	}
	if s := p.shadowOf(x); s != nil && s.r != nil {
		return x, s
	}
	return x, nil
}

// checkEpochEnd compares OffsetForLeaderEpoch with the log.
func (w *World) checkEpochEnd(p *proc, f *flight, resp *kmsg.OffsetForLeaderEpochResponse) {
	req := f.req.(*kmsg.OffsetForLeaderEpochRequest)
	if len(req.Topics) != 1 || len(req.Topics[0].Partitions) != 1 || len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return
	}
	q, a := &req.Topics[0].Partitions[0], &resp.Topics[0].Partitions[0]
	x, s := w.answered(p, f, q.Partition)
	if s == nil || !w.checkFencing(s, "OffsetForLeaderEpoch", q.CurrentLeaderEpoch, a.ErrorCode) {
		return
	}
	if s.status.Role != replica.Leader {
		w.fail("I18", "%s %s-%d: answers OffsetForLeaderEpoch and is %s", p.name, x.topic, x.index, s.status.Role)
	}
	if a.EndOffset > int64(s.status.LEO) || a.EndOffset >= 0 && a.LeaderEpoch > q.LeaderEpoch || q.LeaderEpoch < 0 && a.EndOffset != -1 {
		w.fail("I18", "%s %s-%d: epoch %d ends at %d in epoch %d, LEO %d", p.name, x.topic, x.index, q.LeaderEpoch, a.EndOffset, a.LeaderEpoch, s.status.LEO)
	}
	// The batch before the end is of that epoch or an earlier one, the one there of a
	// later one.
	if a.EndOffset < 0 {
		return
	}
	end := Offset(a.EndOffset)
	if i := at(s.batches, end); i >= 0 && !s.batches[i].gone && s.batches[i].base >= end && s.batches[i].epoch <= q.LeaderEpoch && end >= s.status.LogStart {
		w.fail("I18", "%s %s-%d: epoch %d ends at %d, and the batch there is of epoch %d", p.name, x.topic, x.index, q.LeaderEpoch, end, s.batches[i].epoch)
	}
	if i := at(s.batches, end-1); i >= 0 && !s.batches[i].gone && s.batches[i].base < end && end > s.status.LogStart && s.batches[i].epoch > q.LeaderEpoch {
		w.fail("I18", "%s %s-%d: epoch %d ends at %d, and the batch before is of epoch %d", p.name, x.topic, x.index, q.LeaderEpoch, end, s.batches[i].epoch)
	}
}

package sim

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// What a trace says. It is built only for a run that is traced, so it may be slow.

// describe tells a request or a response in a line.
func describe(m any) string {
	switch m := m.(type) {
	case nil:
		return "nothing"
	case *kmsg.FetchRequest:
		who := m.ReplicaState.ID
		if m.Version < 15 {
			who = m.ReplicaID
		}
		var b strings.Builder
		fmt.Fprintf(&b, "Fetch of %d (broker epoch %d) session %d/%d wait %d:", who, m.ReplicaState.Epoch, m.SessionID, m.SessionEpoch, m.MaxWaitMillis)
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				fmt.Fprintf(&b, " %s-%d@%d (epoch %d, last %d)", topicLabel(t.Topic, t.TopicID), p.Partition, p.FetchOffset, p.CurrentLeaderEpoch, p.LastFetchedEpoch)
			}
		}
		for _, t := range m.ForgottenTopics {
			fmt.Fprintf(&b, " without %s-%v", topicLabel(t.Topic, t.TopicID), t.Partitions)
		}
		return b.String()
	case *kmsg.FetchResponse:
		var b strings.Builder
		fmt.Fprintf(&b, "Fetched, session %d, error %d:", m.SessionID, m.ErrorCode)
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				fmt.Fprintf(&b, " %s-%d: error %d, HW %d, start %d, %s", topicLabel(t.Topic, t.TopicID), p.Partition, p.ErrorCode, p.HighWatermark, p.LogStartOffset, batches(p.RecordBatches))
				if p.DivergingEpoch.EndOffset >= 0 {
					fmt.Fprintf(&b, ", diverging: epoch %d ends at %d", p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset)
				}
				if p.SnapshotID.EndOffset >= 0 {
					fmt.Fprintf(&b, ", snapshot %d", p.SnapshotID.EndOffset)
				}
			}
		}
		return b.String()
	case *kmsg.ProduceRequest:
		var b strings.Builder
		fmt.Fprintf(&b, "Produce acks %d:", m.Acks)
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				fmt.Fprintf(&b, " %s-%d %s", topicLabel(t.Topic, t.TopicID), p.Partition, batches(p.Records))
			}
		}
		return b.String()
	case *kmsg.MetadataResponse:
		var b strings.Builder
		b.WriteString("Metadata:")
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				fmt.Fprintf(&b, " %s-%d leader %d@%d isr %v", *t.Topic, p.Partition, p.Leader, p.LeaderEpoch, p.ISR)
			}
		}
		return b.String()
	}
	return fmt.Sprintf("%s %s", strings.TrimPrefix(reflect.TypeOf(m).String(), "*kmsg."), short(fmt.Sprintf("%+v", reflect.Indirect(reflect.ValueOf(m)))))
}

func topicLabel(name string, id kraft.UUID) string {
	if name != "" {
		return name
	}
	return id.String()[:6]
}

func short(s string) string {
	s = strings.ReplaceAll(s, " UnknownTags:{keyvals:map[]}", "")
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}

// batches tells record batches: offsets, epoch, producer and sequence.
func batches(b []byte) string {
	var out strings.Builder
	for scan := record.Scan(b); scan.Next(); {
		rb := scan.Batch()
		fmt.Fprintf(&out, "[%d-%d e%d", rb.BaseOffset(), rb.LastOffset(), rb.LeaderEpoch())
		if rb.ProducerID() >= 0 {
			fmt.Fprintf(&out, " p%d/%d s%d", rb.ProducerID(), rb.ProducerEpoch(), rb.BaseSequence())
		}
		out.WriteString("]")
	}
	if out.Len() == 0 {
		return "no records"
	}
	return out.String()
}

func describeStep(in replica.Input, out []replica.Effect) string {
	var b strings.Builder
	b.WriteString(short(fmt.Sprintf("%T%+v", in, in)))
	for _, e := range out {
		b.WriteString("; => ")
		b.WriteString(short(fmt.Sprintf("%T%+v", e, e)))
	}
	return strings.ReplaceAll(b.String(), "replica.", "")
}

func describeOrder(o machine.Order) string {
	return strings.TrimPrefix(reflect.TypeOf(o).String(), "*node.")
}

func describeRecord(r kraft.Record) string { return short(describeWhole(r)) }

func describeWhole(r kraft.Record) string {
	return strings.TrimPrefix(reflect.TypeOf(r).String(), "*kraft.") + fmt.Sprintf("%+v", reflect.Indirect(reflect.ValueOf(r)))
}

// hashRequest and hashResponse take what matters of a message into the history's
// hash: what is not there shows in what it leads to.
func (w *World) hashRequest(m kmsg.Request) {
	h := &w.hash
	h.add(int64(m.Key())<<16 | int64(m.GetVersion()))
	switch m := m.(type) {
	case *kmsg.FetchRequest:
		h.add(int64(m.SessionID)<<32 | int64(m.SessionEpoch))
		for i := range m.ForgottenTopics {
			for _, index := range m.ForgottenTopics[i].Partitions {
				h.add(int64(index))
			}
		}
		for i := range m.Topics {
			for j := range m.Topics[i].Partitions {
				p := &m.Topics[i].Partitions[j]
				h.add(p.FetchOffset<<8 ^ int64(p.Partition))
				h.add(int64(p.CurrentLeaderEpoch)<<32 | int64(p.LastFetchedEpoch))
			}
		}
	case *kmsg.ProduceRequest:
		for i := range m.Topics {
			for j := range m.Topics[i].Partitions {
				h.bytes(m.Topics[i].Partitions[j].Records)
			}
		}
	}
}

func (w *World) hashResponse(m kmsg.Response) {
	h := &w.hash
	switch m := m.(type) {
	case nil:
		h.add(-1)
	case *kmsg.FetchResponse:
		h.add(int64(m.ErrorCode))
		for i := range m.Topics {
			for j := range m.Topics[i].Partitions {
				p := &m.Topics[i].Partitions[j]
				h.add(int64(p.Partition)<<32 ^ int64(p.ErrorCode))
				h.add(p.HighWatermark)
				h.add(int64(len(p.RecordBatches))<<32 ^ p.LogStartOffset)
			}
		}
	case *kmsg.ProduceResponse:
		for i := range m.Topics {
			for j := range m.Topics[i].Partitions {
				p := &m.Topics[i].Partitions[j]
				h.add(p.BaseOffset<<16 ^ int64(p.ErrorCode))
			}
		}
	case *kmsg.ListOffsetsResponse:
		for i := range m.Topics {
			for j := range m.Topics[i].Partitions {
				p := &m.Topics[i].Partitions[j]
				h.add(p.Offset<<16 ^ int64(p.ErrorCode))
			}
		}
	default:
		h.add(int64(m.Key()))
	}
}

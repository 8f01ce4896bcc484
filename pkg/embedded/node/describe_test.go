package node

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// describe is a response in a line for each partition.
func describe(resp kmsg.Response) string {
	var b strings.Builder
	switch r := resp.(type) {
	case *kmsg.ProduceResponse:
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				fmt.Fprintf(&b, "produce %s-%d: %s base=%d start=%d", t.Topic, p.Partition, code(p.ErrorCode), p.BaseOffset, p.LogStartOffset)
				if p.LogAppendTime != -1 {
					fmt.Fprintf(&b, " time=%+d", p.LogAppendTime-wallMs)
				}
				if p.ErrorMessage != nil {
					fmt.Fprintf(&b, " %q", *p.ErrorMessage)
				}
				for _, e := range p.ErrorRecords {
					fmt.Fprintf(&b, " record %d: %q", e.RelativeOffset, *e.ErrorMessage)
				}
				if p.CurrentLeader.LeaderID != -1 {
					fmt.Fprintf(&b, " leader=%d epoch=%d", p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch)
				}
				b.WriteString("\n")
			}
		}
		for _, n := range r.Brokers {
			fmt.Fprintf(&b, "node %d at %s:%d\n", n.NodeID, n.Host, n.Port)
		}
	case *kmsg.FetchResponse:
		if r.ErrorCode != 0 || r.SessionID != 0 {
			fmt.Fprintf(&b, "fetch: %s session=%d\n", code(r.ErrorCode), r.SessionID)
		}
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				fmt.Fprintf(&b, "fetch %s-%d: %s hw=%d lso=%d start=%d", t.Topic, p.Partition, code(p.ErrorCode), p.HighWatermark, p.LastStableOffset, p.LogStartOffset)
				if p.AbortedTransactions != nil {
					fmt.Fprintf(&b, " aborted=%d", len(p.AbortedTransactions))
				}
				if p.DivergingEpoch.EndOffset != -1 {
					fmt.Fprintf(&b, " diverging epoch=%d end=%d", p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset)
				}
				if p.PreferredReadReplica != -1 {
					fmt.Fprintf(&b, " preferred=%d", p.PreferredReadReplica)
				}
				if p.CurrentLeader.LeaderID != -1 {
					fmt.Fprintf(&b, " leader=%d epoch=%d", p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch)
				}
				if p.RecordBatches == nil {
					b.WriteString(" null records")
				}
				b.WriteString(" " + values(p.RecordBatches) + "\n")
			}
		}
		for _, n := range r.Brokers {
			fmt.Fprintf(&b, "node %d at %s:%d\n", n.NodeID, n.Host, n.Port)
		}
	case *kmsg.ListOffsetsResponse:
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				fmt.Fprintf(&b, "list %s-%d: %s offset=%d epoch=%d", t.Topic, p.Partition, code(p.ErrorCode), p.Offset, p.LeaderEpoch)
				if p.Timestamp != -1 {
					fmt.Fprintf(&b, " time=%+d", p.Timestamp-wallMs)
				}
				b.WriteString("\n")
			}
		}
	case *kmsg.OffsetForLeaderEpochResponse:
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				fmt.Fprintf(&b, "epoch %s-%d: %s epoch=%d end=%d\n", t.Topic, p.Partition, code(p.ErrorCode), p.LeaderEpoch, p.EndOffset)
			}
		}
	case *kmsg.DeleteRecordsResponse:
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				fmt.Fprintf(&b, "delete %s-%d: %s low=%d\n", t.Topic, p.Partition, code(p.ErrorCode), p.LowWatermark)
			}
		}
	case *kmsg.MetadataResponse:
		for _, n := range r.Brokers {
			fmt.Fprintf(&b, "broker %d at %s:%d\n", n.NodeID, n.Host, n.Port)
		}
		for _, t := range r.Topics {
			name := "null"
			if t.Topic != nil {
				name = *t.Topic
			}
			fmt.Fprintf(&b, "topic %s: %s\n", name, code(t.ErrorCode))
			for _, p := range t.Partitions {
				fmt.Fprintf(&b, "  %d: %s leader=%d epoch=%d replicas=%v isr=%v offline=%v\n", p.Partition, code(p.ErrorCode), p.Leader, p.LeaderEpoch, p.Replicas, p.ISR, p.OfflineReplicas)
			}
		}
	case *kmsg.InitProducerIDResponse:
		fmt.Fprintf(&b, "producer id: %s id=%d epoch=%d\n", code(r.ErrorCode), r.ProducerID, r.ProducerEpoch)
	case *kmsg.DeleteTopicsResponse:
		for _, t := range r.Topics {
			fmt.Fprintf(&b, "delete topic: %s\n", code(t.ErrorCode))
		}
	default:
		fmt.Fprintf(&b, "%T\n", resp)
	}
	return b.String()
}

var codeNames = map[int16]string{
	-1: "UNKNOWN_SERVER_ERROR", 0: "ok", 1: "OFFSET_OUT_OF_RANGE", 2: "CORRUPT_MESSAGE", 3: "UNKNOWN_TOPIC_OR_PARTITION", 5: "LEADER_NOT_AVAILABLE",
	6: "NOT_LEADER_OR_FOLLOWER", 7: "REQUEST_TIMED_OUT", 9: "REPLICA_NOT_AVAILABLE", 10: "MESSAGE_TOO_LARGE",
	14: "COORDINATOR_LOAD_IN_PROGRESS", 17: "INVALID_TOPIC", 18: "RECORD_LIST_TOO_LARGE", 19: "NOT_ENOUGH_REPLICAS", 21: "INVALID_REQUIRED_ACKS",
	32: "INVALID_TIMESTAMP", 35: "UNSUPPORTED_VERSION", 42: "INVALID_REQUEST", 44: "POLICY_VIOLATION", 45: "OUT_OF_ORDER_SEQUENCE_NUMBER",
	47: "INVALID_PRODUCER_EPOCH", 48: "INVALID_TXN_STATE", 56: "KAFKA_STORAGE_ERROR", 70: "FETCH_SESSION_ID_NOT_FOUND", 74: "FENCED_LEADER_EPOCH",
	75: "UNKNOWN_LEADER_EPOCH", 76: "UNSUPPORTED_COMPRESSION_TYPE", 78: "OFFSET_NOT_AVAILABLE", 87: "INVALID_RECORD", 100: "UNKNOWN_TOPIC_ID",
}

func code(c int16) string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return fmt.Sprint(c)
}

// values are records as offset:value, batches in brackets.
func values(b []byte) string {
	var out strings.Builder
	s := record.Scan(b)
	for s.Next() {
		batch := s.Batch()
		if err := batch.CheckCRC(); err != nil {
			return err.Error()
		}
		rs, err := batch.Records(nil)
		if err != nil {
			return err.Error()
		}
		out.WriteString("[")
		for sep := ""; rs.Next(); sep = " " {
			r := rs.Record()
			fmt.Fprintf(&out, "%s%d:%s", sep, r.Offset, r.Value)
		}
		fmt.Fprintf(&out, "]e%d", batch.LeaderEpoch())
	}
	if out.Len() == 0 {
		return "no records"
	}
	return out.String()
}

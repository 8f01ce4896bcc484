package node

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// deleteRequest is a DeleteRecords of which some partitions are not settled.
type deleteRequest struct {
	token machine.Token
	resp  *kmsg.DeleteRecordsResponse
	open  int
}

type deletePart struct {
	r                *deleteRequest
	p                *partition
	topic, partition int
}

// deleteRecords moves the starts of logs (KafkaApis.handleDeleteRecordsRequest).
func (n *Node) deleteRecords(token machine.Token, req *kmsg.DeleteRecordsRequest) {
	r := &deleteRequest{token: token, open: 1}
	r.resp = req.ResponseKind().(*kmsg.DeleteRecordsResponse)
	r.resp.Topics = make([]kmsg.DeleteRecordsResponseTopic, len(req.Topics))
	for i := range req.Topics {
		out := &r.resp.Topics[i]
		out.Default()
		out.Topic = req.Topics[i].Topic
		out.Partitions = make([]kmsg.DeleteRecordsResponseTopicPartition, len(req.Topics[i].Partitions))
		for j := range out.Partitions {
			out.Partitions[j].Default()
			out.Partitions[j].Partition, out.Partitions[j].LowWatermark = req.Topics[i].Partitions[j].Partition, -1
		}
		r.open += len(out.Partitions)
	}
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			in := &req.Topics[i].Partitions[j]
			p, code := n.byName(req.Topics[i].Topic, in.Partition)
			if code == replica.None && !p.cfg.deletes {
				code = policyViolation
			}
			if code != replica.None {
				r.resp.Topics[i].Partitions[j].ErrorCode = int16(code)
				n.deleteSettled(r)
				continue
			}
			n.step(p, replica.DeleteRecords{
				Token:  n.asked.deletes.put(deletePart{r: r, p: p, topic: i, partition: j}),
				Before: replica.Offset(in.Offset), TimeoutMs: int64(req.TimeoutMillis),
			})
		}
	}
	n.deleteSettled(r)
}

// recordsDeleted is the replica's word on one partition.
func (n *Node) recordsDeleted(e replica.DeleteRecordsReply) {
	part := n.asked.deletes.take(e.Token)
	code := e.Err
	if code != replica.None && part.p.leaving {
		code = n.leftCode(part.p, code)
	}
	a := &part.r.resp.Topics[part.topic].Partitions[part.partition]
	a.ErrorCode, a.LowWatermark = int16(code), int64(e.LowWatermark)
	n.deleteSettled(part.r)
}

func (n *Node) deleteSettled(r *deleteRequest) {
	r.open--
	if r.open == 0 {
		n.reply(r.token, r.resp)
	}
}

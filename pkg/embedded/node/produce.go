package node

import (
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// produceRequest is a Produce of which some partitions are not settled yet.
type produceRequest struct {
	token machine.Token
	acks  int16
	resp  *kmsg.ProduceResponse
	// open is how many partitions are not settled; one more while the request is
	// still being read.
	open   int
	failed bool
}

// producePart is one partition of it.
type producePart struct {
	req              *produceRequest
	p                *partition
	topic, partition int // in the answer
	// bytes are the batch until it is appended, and lie in frame.
	bytes []byte
	frame *frame
	// appendTimeMs is NoTimestamp with CreateTime.
	appendTimeMs int64
	// group is set where it is a coordinator's, with nothing else but p and bytes.
	group *groupAppend
}

// produce takes a Produce apart (KafkaApis.handleProduceRequest). Each partition
// is settled by itself, and the answer goes when all are.
func (n *Node) produce(in machine.Request, req *kmsg.ProduceRequest) {
	r := &produceRequest{token: in.Token, acks: req.Acks, open: 1}
	r.resp = req.ResponseKind().(*kmsg.ProduceResponse)
	came := n.newFrame(in.Frame)
	defer n.letGo(came)
	byID := req.Version >= 13
	r.resp.Topics = make([]kmsg.ProduceResponseTopic, len(req.Topics))
	for i := range req.Topics {
		t := &req.Topics[i]
		answer := &r.resp.Topics[i]
		answer.Default()
		answer.Topic, answer.TopicID = t.Topic, t.TopicID
		answer.Partitions = make([]kmsg.ProduceResponseTopicPartition, len(t.Partitions))
		r.open += len(t.Partitions)
		for j := range t.Partitions {
			a := &answer.Partitions[j]
			a.Default()
			a.Partition, a.BaseOffset, a.LogStartOffset = t.Partitions[j].Partition, -1, -1
			a.ErrorRecords = []kmsg.ProduceResponseTopicPartitionErrorRecord{}
		}
	}
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			p, code := n.find(byID, t.Topic, t.TopicID, t.Partitions[j].Partition)
			part := producePart{req: r, topic: i, partition: j, bytes: t.Partitions[j].Records, frame: came, appendTimeMs: record.NoTimestamp}
			came.hold()
			if code == replica.None && metadata.InternalTopic(p.name.Topic) && in.ClientID != adminClient {
				code = invalidTopic
			}
			if code != replica.None {
				n.produceRefused(part, partitionID{t.TopicID, t.Partitions[j].Partition}, t.Topic, code, nil)
				continue
			}
			n.producePartition(req, part, p)
		}
	}
	n.produceSettled(r)
}

// adminClient is the one client id that may write to internal topics
// (ReplicaManager.appendRecords, internalTopicsAllowed).
const adminClient = "__admin_client"

// producePartition judges a partition's batch and hands it to the replica
// (UnifiedLog.appendAsLeader). Who is not the leader does not read it.
func (n *Node) producePartition(req *kmsg.ProduceRequest, part producePart, p *partition) {
	part.p = p
	if code := p.replica.Admits(req.Acks); code != replica.None {
		n.produceRefused(part, p.id, p.name.Topic, code, nil)
		return
	}
	res, err := n.validator.Assign(part.bytes, p.cfg.rules, record.Stamp{NowMs: n.now.Wall})
	if err != nil {
		n.produceRefused(part, p.id, p.name.Topic, recordCode(err), err)
		return
	}
	b := res.Bytes
	switch {
	case b.Transactional():
		// There is no coordinator that could have begun the transaction (KIP-890).
		n.produceRefused(part, p.id, p.name.Topic, invalidTxnState, nil)
		return
	case b.Codec() == record.Zstd && req.Version < 7:
		n.produceRefused(part, p.id, p.name.Topic, unsupportedCompressionType, nil)
		return
	}
	part.bytes = b
	if b.LogAppendTime() {
		part.appendTimeMs = n.now.Wall
	}
	n.step(p, replica.Produce{
		Token: n.asked.produces.put(part), Acks: req.Acks, TimeoutMs: int64(req.TimeoutMillis), Batch: storage.StateOf(b),
	})
}

// produced is the replica's word on one partition.
func (n *Node) produced(e replica.ProduceReply) {
	part := n.asked.produces.take(e.Token)
	if part.group != nil {
		n.groupsAppended(part.group, e)
		return
	}
	n.letGo(part.frame) // nil if it was appended
	code := e.Err
	if code != replica.None && part.p.leaving {
		code = n.leftCode(part.p, code)
	}
	a := part.answer()
	a.ErrorCode, a.BaseOffset, a.LogStartOffset = int16(code), int64(e.Base), int64(e.LogStart)
	part.tellStart(code)
	if code == replica.None {
		a.LogAppendTime = part.appendTimeMs
	} else {
		part.req.failed = true
		n.produceHint(part.req.resp, a, part.p.id, part.p.name.Topic)
	}
	n.produceSettled(part.req)
}

func (part *producePart) answer() *kmsg.ProduceResponseTopicPartition {
	return &part.req.resp.Topics[part.topic].Partitions[part.partition]
}

// tellStart tells where the log starts with errors that are the batch's own, as
// ReplicaManager.appendRecordsToLocalLog does: not where the partition or the bytes are
// not what they should be.
func (part *producePart) tellStart(code replica.Code) {
	switch code {
	case replica.None, replica.UnknownTopicOrPartition, replica.UnknownTopicID, replica.NotLeaderOrFollower, replica.CorruptMessage,
		replica.KafkaStorageError, replica.InvalidRequiredAcks, messageTooLarge, recordListTooLarge:
		return
	}
	if a := part.answer(); a.LogStartOffset < 0 && part.p.live() {
		start, _, _ := part.p.replica.Bounds()
		a.LogStartOffset = int64(start)
	}
}

// produceRefused settles a partition of which nothing was appended.
func (n *Node) produceRefused(part producePart, id partitionID, topic string, code replica.Code, err error) {
	n.letGo(part.frame)
	a := part.answer()
	a.ErrorCode = int16(code)
	part.tellStart(code)
	part.req.failed = true
	if err != nil {
		a.ErrorMessage = kmsg.StringPtr(err.Error())
		var batch *record.BatchError
		if errors.As(err, &batch) {
			for _, r := range batch.Records {
				e := kmsg.NewProduceResponseTopicPartitionErrorRecord()
				e.RelativeOffset, e.ErrorMessage = int32(r.Index), kmsg.StringPtr(r.Reason)
				a.ErrorRecords = append(a.ErrorRecords, e)
			}
		}
	}
	n.produceHint(part.req.resp, a, id, topic)
	n.produceSettled(part.req)
}

// produceHint says who leads, where that is the trouble (KIP-951).
func (n *Node) produceHint(resp *kmsg.ProduceResponse, a *kmsg.ProduceResponseTopicPartition, id partitionID, topic string) {
	if resp.Version < 10 || !hinted(replica.Code(a.ErrorCode)) {
		return
	}
	leader, epoch, ok := n.leaderHint(id, topic)
	if !ok {
		return
	}
	a.CurrentLeader.LeaderID, a.CurrentLeader.LeaderEpoch = leader, epoch
	e, rack, ok := n.endpoint(leader)
	if !ok || slices.ContainsFunc(resp.Brokers, func(b kmsg.ProduceResponseBroker) bool { return b.NodeID == leader }) {
		return
	}
	b := kmsg.NewProduceResponseBroker()
	b.NodeID, b.Host, b.Port, b.Rack = leader, e.Host, int32(e.Port), rack
	resp.Brokers = append(resp.Brokers, b)
}

// produceSettled counts, and answers when all are settled. With acks=0 nobody
// waits; an error ends the connection, so that the client learns of it.
func (n *Node) produceSettled(r *produceRequest) {
	r.open--
	switch {
	case r.open > 0:
	case r.acks != 0:
		n.reply(r.token, r.resp)
	case r.failed:
		n.hangUp(r.token)
	default:
		n.reply(r.token, nil)
	}
}

package quorum

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// metadataTopicID is that of the metadata log, and fixed.
var metadataTopicID = kraft.UUID{15: 1}

const metadataTopic = "__cluster_metadata"

// maxFetchBytes bounds an answer (KafkaRaftClient.MAX_FETCH_SIZE_BYTES).
const maxFetchBytes = 8 << 20

// fetch is a Fetch of the metadata log that is not answered yet.
type fetch struct {
	token machine.Token
	conn  uint64
	req   *kmsg.FetchRequest
	// deadlineMs is when it is answered with nothing, on the clock Mono.
	deadlineMs int64
}

func (f *fetch) partition() *kmsg.FetchRequestTopicPartition { return &f.req.Topics[0].Partitions[0] }

// replica is who asks; below 0 for a client.
func (f *fetch) replica() int32 {
	if f.req.Version >= 15 {
		return f.req.ReplicaState.ID
	}
	return f.req.ReplicaID
}

// fetch is KafkaRaftClient.handleFetchRequest.
func (n *Node) fetch(now machine.Time, in machine.Request, req *kmsg.FetchRequest, out []machine.Effect) []machine.Effect {
	if !n.thisCluster(req.ClusterID) {
		return append(out, machine.Reply{Token: in.Token, Response: fetchError(req, codeInconsistentClusterID)})
	}
	// Topics by name, as before version 13, are none of ours.
	if len(req.Topics) != 1 || kraft.UUID(req.Topics[0].TopicID) != metadataTopicID ||
		len(req.Topics[0].Partitions) != 1 || req.Topics[0].Partitions[0].Partition != 0 {
		return append(out, machine.Reply{Token: in.Token, Response: fetchError(req, codeInvalidRequest)})
	}
	f := &fetch{token: in.Token, conn: in.Conn, req: req, deadlineMs: now.Mono + int64(req.MaxWaitMillis)}
	p := f.partition()
	if req.MaxWaitMillis < 0 || p.FetchOffset < 0 || p.LastFetchedEpoch < 0 || p.CurrentLeaderEpoch < 0 {
		return n.answerFetch(f, codeInvalidRequest, nil, out)
	}
	return n.serveFetch(now, f, out)
}

// thisCluster reports whether a request may be for this cluster: if it names one,
// it is this (hasValidClusterId).
func (n *Node) thisCluster(id *string) bool { return id == nil || *id == n.opts.Controller.ClusterID }

// fetchError is an answer about nothing but the request itself.
func fetchError(req *kmsg.FetchRequest, code int16) *kmsg.FetchResponse {
	resp := req.ResponseKind().(*kmsg.FetchResponse)
	resp.ErrorCode, resp.Topics, resp.Brokers = code, []kmsg.FetchResponseTopic{}, []kmsg.FetchResponseBroker{}
	return resp
}

// checkEpoch is validateLeaderOnlyRequest: who asks must know which epoch this is.
func (n *Node) checkEpoch(epoch int32) int16 {
	switch {
	case n.closing:
		return codeNotLeaderOrFollower
	case epoch < n.epoch:
		return codeFencedLeaderEpoch
	case epoch > n.epoch:
		return codeUnknownLeaderEpoch
	}
	return codeNone
}

// serveFetch answers, or waits for the disk or for news (tryCompleteFetchRequest).
func (n *Node) serveFetch(now machine.Time, f *fetch, out []machine.Effect) []machine.Effect {
	p := f.partition()
	if code := n.checkEpoch(p.CurrentLeaderEpoch); code != codeNone {
		return n.answerFetch(f, code, nil, out)
	}
	place, instead := n.locate(p.FetchOffset, p.LastFetchedEpoch)
	if place != placeValid {
		return n.answerElsewhere(f, place, instead, out)
	}
	n.observe(now, f)
	if p.FetchOffset == n.durable {
		if f.req.Version >= 18 && p.HighWatermark < n.durable || now.Mono >= f.deadlineMs {
			return n.answerFetch(f, codeNone, nil, out)
		}
		n.parked = append(n.parked, f)
		return out
	}
	most := int(min(max(f.req.MaxBytes, 0), maxFetchBytes))
	if records, ok := n.tail.read(p.FetchOffset, most); ok {
		return n.answerFetch(f, codeNone, records, out)
	}
	return n.run(laneLog, &logRead{log: n.log, f: f, fetch: storage.Fetch{
		From: storage.Offset(p.FetchOffset), UpTo: storage.Offset(n.durable), MaxBytes: most, MinOne: true,
	}}, out)
}

// serveFetches looks again at all that wait, since there are more records.
func (n *Node) serveFetches(now machine.Time, out []machine.Effect) []machine.Effect {
	parked := n.parked
	n.parked = nil
	for _, f := range parked {
		out = n.serveFetch(now, f, out)
	}
	return out
}

// expireFetches answers those that have waited long enough.
func (n *Node) expireFetches(now machine.Time, out []machine.Effect) []machine.Effect {
	return n.dismiss(func(f *fetch) bool { return f.deadlineMs <= now.Mono }, out)
}

// dismiss answers those that wait and match, without records.
func (n *Node) dismiss(match func(*fetch) bool, out []machine.Effect) []machine.Effect {
	kept := n.parked[:0]
	for _, f := range n.parked {
		if match(f) {
			out = n.answerFetch(f, codeNone, nil, out)
		} else {
			kept = append(kept, f)
		}
	}
	clear(n.parked[len(kept):])
	n.parked = kept
	return out
}

// place is where a follower's log stands to this one.
type place int8

const (
	placeValid    place = iota
	placeSnapshot       // it needs a snapshot first
	placeDiverged       // it has what this log has not
)

// locate is ReplicatedLog.validateOffsetAndEpoch with what tryCompleteFetchRequest
// asks before it. instead is the snapshot to fetch, or what of the follower's log
// this one has.
func (n *Node) locate(offset int64, epoch int32) (place, logstate.EpochEnd) {
	newest := n.newestSnapshot()
	latest := logstate.EpochEnd{Epoch: logstate.Epoch(newest.epoch), End: logstate.Offset(newest.offset)}
	if offset == 0 && !newest.bootstrap() {
		return placeSnapshot, latest // quicker than all that led to it
	}
	if offset == 0 && n.logStart == 0 {
		return placeValid, latest
	}
	if len(n.snapshots) > 0 {
		earliest := n.snapshots[0]
		if offset < n.logStart || offset == n.logStart && n.logStart == earliest.offset && epoch != earliest.epoch || epoch < earliest.epoch {
			return placeSnapshot, latest
		}
	}
	end := n.endOf(epoch)
	if end.Epoch != logstate.Epoch(epoch) || end.End < logstate.Offset(offset) {
		return placeDiverged, end
	}
	return placeValid, end
}

// endOf is ReplicatedLog.endOffsetForEpoch. A follower sees what is durable, so
// that is where the log ends for it.
func (n *Node) endOf(epoch int32) logstate.EpochEnd {
	end := n.epochs.EndOffsetFor(logstate.Epoch(epoch), logstate.Offset(n.durable))
	if !end.Defined() {
		return logstate.EpochEnd{Epoch: n.epochs.LatestEpoch(), End: logstate.Offset(n.durable)}
	}
	if len(n.snapshots) > 0 {
		if s := n.snapshots[0]; int64(end.End) == s.offset && end.Epoch == logstate.Epoch(epoch) && s.epoch < epoch {
			// Below the log's first epoch: what the follower has in common with it is
			// the snapshot.
			return logstate.EpochEnd{Epoch: logstate.Epoch(s.epoch), End: logstate.Offset(s.offset)}
		}
	}
	return end
}

// answerFetch answers with records or an error.
func (n *Node) answerFetch(f *fetch, code int16, records []byte, out []machine.Effect) []machine.Effect {
	resp, p := n.fetchResponse(f)
	p.ErrorCode = code
	if records != nil {
		p.RecordBatches = records
	}
	return append(out, machine.Reply{Token: f.token, Response: resp})
}

// answerElsewhere says where to go on: that is no error.
func (n *Node) answerElsewhere(f *fetch, at place, instead logstate.EpochEnd, out []machine.Effect) []machine.Effect {
	resp, p := n.fetchResponse(f)
	if at == placeSnapshot {
		p.SnapshotID.EndOffset, p.SnapshotID.Epoch = int64(instead.End), int32(instead.Epoch)
	} else {
		p.DivergingEpoch.EndOffset, p.DivergingEpoch.Epoch = int64(instead.End), int32(instead.Epoch)
	}
	return append(out, machine.Reply{Token: f.token, Response: resp})
}

// fetchResponse is what all answers about the partition have (buildFetchResponse).
func (n *Node) fetchResponse(f *fetch) (*kmsg.FetchResponse, *kmsg.FetchResponseTopicPartition) {
	p := kmsg.NewFetchResponseTopicPartition()
	p.HighWatermark, p.LastStableOffset, p.LogStartOffset = n.durable, -1, n.logStart
	p.RecordBatches, p.AbortedTransactions = []byte{}, []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
	p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = n.leader()
	t := kmsg.NewFetchResponseTopic()
	t.Topic, t.TopicID = metadataTopic, metadataTopicID
	t.Partitions = append(t.Partitions, p)
	resp := f.req.ResponseKind().(*kmsg.FetchResponse)
	resp.Topics, resp.Brokers = append(resp.Topics, t), []kmsg.FetchResponseBroker{}
	if e, ok := n.endPoint(); ok {
		b := kmsg.NewFetchResponseBroker()
		b.NodeID, b.Host, b.Port = n.opts.Controller.NodeID, e.Host, int32(e.Port)
		resp.Brokers = append(resp.Brokers, b)
	}
	return resp, &resp.Topics[0].Partitions[0]
}

// leader is who leads in which epoch.
func (n *Node) leader() (id, epoch int32) { return n.opts.Controller.NodeID, n.epoch }

// endPoint is where followers find this node.
func (n *Node) endPoint() (kraft.Endpoint, bool) {
	if len(n.opts.EndPoints) == 0 {
		return kraft.Endpoint{}, false
	}
	return n.opts.EndPoints[0], true
}

// logRead reads what is no longer in memory, for one Fetch.
type logRead struct {
	log     *storage.Log
	f       *fetch
	fetch   storage.Fetch
	records []byte
	err     error
}

// Run is Order's.
func (o *logRead) Run() { o.records, o.err = o.log.Read([]byte{}, o.fetch) }

func (o *logRead) done(n *Node, now machine.Time, out []machine.Effect) []machine.Effect {
	switch {
	case errors.Is(o.err, storage.ErrOffsetOutOfRange):
		// The log was trimmed meanwhile: there is a snapshot instead.
		return n.serveFetch(now, o.f, out)
	case o.err != nil:
		return n.stop(o.err, out)
	}
	return n.answerFetch(o.f, codeNone, o.records, out)
}

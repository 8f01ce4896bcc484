package quorum

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// fetchSnapshot is KafkaRaftClient.handleFetchSnapshotRequest. Errors are those of
// the partition, with no bytes: Kafka means them so too, but fails to encode them.
func (n *Node) fetchSnapshot(token machine.Token, req *kmsg.FetchSnapshotRequest, out []machine.Effect) []machine.Effect {
	resp := req.ResponseKind().(*kmsg.FetchSnapshotResponse)
	resp.Topics, resp.NodeEndpoints = []kmsg.FetchSnapshotResponseTopic{}, []kmsg.FetchSnapshotResponseNodeEndpoint{}
	reply := machine.Reply{Token: token, Response: resp}
	switch {
	case !n.thisCluster(req.ClusterID):
		resp.ErrorCode = codeInconsistentClusterID
		return append(out, reply)
	case len(req.Topics) != 1 || len(req.Topics[0].Partitions) != 1:
		resp.ErrorCode = codeInvalidRequest
		return append(out, reply)
	}
	asked := req.Topics[0].Partitions[0]
	t := kmsg.NewFetchSnapshotResponseTopic()
	t.Topic = req.Topics[0].Topic
	t.Partitions = append(t.Partitions, kmsg.NewFetchSnapshotResponseTopicPartition())
	resp.Topics = append(resp.Topics, t)
	p := &resp.Topics[0].Partitions[0]
	p.Partition, p.Bytes = asked.Partition, []byte{}
	if t.Topic != metadataTopic || asked.Partition != 0 {
		p.ErrorCode = codeUnknownTopic
		return append(out, reply)
	}
	p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = n.leader()
	if e, ok := n.endPoint(); ok {
		end := kmsg.NewFetchSnapshotResponseNodeEndpoint()
		end.NodeID, end.Host, end.Port = n.opts.Controller.NodeID, e.Host, e.Port
		resp.NodeEndpoints = append(resp.NodeEndpoints, end)
	}
	if p.ErrorCode = n.checkEpoch(asked.CurrentLeaderEpoch); p.ErrorCode != codeNone {
		return append(out, reply)
	}
	i := slices.IndexFunc(n.snapshots, func(s snapshot) bool {
		return s.offset == asked.SnapshotID.EndOffset && s.epoch == asked.SnapshotID.Epoch && !s.bootstrap()
	})
	if i < 0 {
		p.ErrorCode = codeSnapshotNotFound
		return append(out, reply)
	}
	s := n.snapshots[i]
	if asked.Position < 0 || asked.Position >= s.bytes {
		p.ErrorCode = codePositionOutOfRange
		return append(out, reply)
	}
	p.SnapshotID.EndOffset, p.SnapshotID.Epoch = s.offset, s.epoch
	p.Size, p.Position = s.bytes, asked.Position
	length := min(int64(max(req.MaxBytes, 0)), maxFetchBytes, s.bytes-asked.Position)
	return n.run(laneSnapshot, &snapshotRead{
		fs: n.opts.FS, name: n.log.Path(s.file()), at: asked.Position, bytes: make([]byte, length), reply: reply, p: p,
	}, out)
}

// snapshotRead reads a piece of a snapshot for its answer.
type snapshotRead struct {
	fs    vfs.FS
	name  string
	at    int64
	bytes []byte // as long as what is wanted
	err   error

	reply machine.Reply
	p     *kmsg.FetchSnapshotResponseTopicPartition // of the reply
}

// Run is Order's.
func (o *snapshotRead) Run() {
	f, err := o.fs.Open(o.name, vfs.Read)
	if err != nil {
		o.err = err
		return
	}
	n, err := f.ReadAt(o.bytes, o.at)
	if n < len(o.bytes) && (err == nil || errors.Is(err, io.EOF)) {
		err = io.ErrUnexpectedEOF
	} else if errors.Is(err, io.EOF) {
		err = nil
	}
	o.err = errors.Join(err, f.Close())
}

func (o *snapshotRead) done(n *Node, _ machine.Time, out []machine.Effect) []machine.Effect {
	switch {
	case errors.Is(o.err, fs.ErrNotExist):
		// A newer one has taken its place meanwhile: the follower asks again which.
		o.p.ErrorCode = codeSnapshotNotFound
	case o.err != nil:
		return n.stop(diskError("read", o.name, o.err), out)
	default:
		o.p.Bytes = o.bytes
	}
	if o.p.ErrorCode != codeNone {
		out = append(out, machine.Note{Text: fmt.Sprintf("%s was asked for and is gone", o.name)})
	}
	return append(out, o.reply)
}

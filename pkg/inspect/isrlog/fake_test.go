package isrlog

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// fakeController serves a log by the rules of a real one, as far as a reader sees
// them, so that a week of it is made in a second. What a real one does is tested on
// one, by TestProvoked.
type fakeController struct {
	addr string

	mu    sync.Mutex
	log   *logWriter
	index []int // where each batch begins in the log's bytes
	bases []int64
	// start and snapshots: what retention left. hw is the high watermark, or 0 for
	// the log's end.
	start, hw int64
	snapshots map[snapshotID][]byte
	newest    snapshotID
	code      int16 // at the top of every answer to Fetch
	cluster   string
	epoch     int32
	id        int32
	// leader is who leads where it is not this one.
	leader *fakeController
	fetches,
	snapshotFetches int
	sent int64
	// wholes are the fetches that read on as far as they can from no later than the start.
	wholes   int
	replicas []int32 // replica ids that were sent
}

func startController(t testing.TB, id int32, log *logWriter) *fakeController {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeController{addr: l.Addr().String(), id: id, log: log, epoch: 1, newest: snapshotID{-1, -1}, snapshots: map[snapshotID][]byte{}}
	f.reindex()
	var wg sync.WaitGroup
	var conns sync.Map
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Store(conn, true)
			wg.Go(func() {
				defer conn.Close()
				for f.answer(conn) == nil {
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		conns.Range(func(conn, _ any) bool { conn.(net.Conn).Close(); return true })
		wg.Wait()
	})
	return f
}

// reindex takes in what the log has grown by.
func (f *fakeController) reindex() {
	f.index, f.bases = nil, nil
	for at := 0; at < len(f.log.bytes); {
		f.index = append(f.index, at)
		f.bases = append(f.bases, int64(binary.BigEndian.Uint64(f.log.bytes[at:])))
		at += batchHead + int(binary.BigEndian.Uint32(f.log.bytes[at+8:]))
	}
}

func (f *fakeController) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	f.reindex()
}

func (f *fakeController) answer(conn net.Conn) error {
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(conn, frame); err != nil {
		return err
	}
	key, version := int16(binary.BigEndian.Uint16(frame)), int16(binary.BigEndian.Uint16(frame[2:]))
	correlation := frame[4:8]
	rest := frame[8:]
	if n := int16(binary.BigEndian.Uint16(rest)); n > 0 {
		rest = rest[n:]
	}
	rest = rest[2:]
	req := kmsg.RequestForKey(key)
	req.SetVersion(version)
	if req.IsFlexible() {
		rest = rest[1:] // no tags
	}
	if err := req.ReadFrom(rest); err != nil {
		return err
	}
	var resp kmsg.Response
	switch req := req.(type) {
	case *kmsg.ApiVersionsRequest:
		r := req.ResponseKind().(*kmsg.ApiVersionsResponse)
		for _, k := range []struct{ key, max int16 }{{1, 18}, {18, 4}, {59, 1}} {
			one := kmsg.NewApiVersionsResponseApiKey()
			one.ApiKey, one.MaxVersion = k.key, k.max
			r.ApiKeys = append(r.ApiKeys, one)
		}
		resp = r
	case *kmsg.FetchRequest:
		resp = f.fetch(req)
	case *kmsg.FetchSnapshotRequest:
		resp = f.fetchSnapshot(req)
	default:
		return io.ErrUnexpectedEOF
	}
	out := append(make([]byte, 4, 64), correlation...)
	if resp.IsFlexible() && key != 18 {
		out = append(out, 0)
	}
	out = resp.AppendTo(out)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	f.mu.Lock()
	f.sent += int64(len(out))
	f.mu.Unlock()
	_, err := conn.Write(out)
	return err
}

func (f *fakeController) fetch(req *kmsg.FetchRequest) *kmsg.FetchResponse {
	deadline := time.Now().Add(time.Duration(req.MaxWaitMillis) * time.Millisecond)
	for first := true; ; first = false {
		resp, done := f.tryFetch(req, first)
		if done || !time.Now().Before(deadline) {
			return resp
		}
		time.Sleep(5 * time.Millisecond) // a controller's clock is not what is tested
	}
}

func (f *fakeController) tryFetch(req *kmsg.FetchRequest, first bool) (_ *kmsg.FetchResponse, done bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if first {
		f.fetches++
		f.replicas = append(f.replicas, req.ReplicaState.ID)
	}
	resp := req.ResponseKind().(*kmsg.FetchResponse)
	if f.code != 0 {
		resp.ErrorCode = f.code
		return resp, true
	}
	if req.ClusterID != nil && *req.ClusterID != f.cluster {
		resp.ErrorCode = 104
		return resp, true
	}
	asked := &req.Topics[0].Partitions[0]
	if first && req.MaxBytes == fetchBytes && asked.FetchOffset <= max(f.start, 1) {
		f.wholes++
	}
	p := kmsg.NewFetchResponseTopicPartition()
	p.HighWatermark, p.LogStartOffset = f.hw, f.start
	if f.hw == 0 {
		p.HighWatermark = f.log.next
	}
	leader := f
	if f.leader != nil {
		leader = f.leader
	}
	p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = leader.id, leader.epoch
	switch {
	case f.leader != nil:
		p.ErrorCode = 6
	case asked.CurrentLeaderEpoch < f.epoch:
		p.ErrorCode = 74
	case asked.CurrentLeaderEpoch > f.epoch:
		p.ErrorCode = 75
	case f.newest.offset >= 0 && (asked.FetchOffset == 0 || asked.FetchOffset < f.start || asked.FetchOffset == f.start && f.snapshots[snapshotID{inspect.Offset(f.start), asked.LastFetchedEpoch}] == nil):
		p.SnapshotID.EndOffset, p.SnapshotID.Epoch = int64(f.newest.offset), f.newest.epoch
	case asked.FetchOffset > f.log.next:
		p.DivergingEpoch.EndOffset, p.DivergingEpoch.Epoch = f.log.next, f.epoch
	case asked.FetchOffset < f.log.next:
		i := len(f.bases) - 1
		for f.bases[i] > asked.FetchOffset {
			i -= max(1, min(i, int(f.bases[i]-asked.FetchOffset)/4))
		}
		for i+1 < len(f.bases) && f.bases[i+1] <= asked.FetchOffset {
			i++
		}
		end := min(f.index[i]+int(req.MaxBytes), len(f.log.bytes))
		if i+1 < len(f.index) {
			end = max(end, f.index[i+1])
		} else {
			end = len(f.log.bytes)
		}
		p.RecordBatches = f.log.bytes[f.index[i]:end]
	default:
		done = asked.HighWatermark < p.HighWatermark
	}
	t := kmsg.NewFetchResponseTopic()
	t.TopicID, t.Partitions = metadataTopicID, append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	b := kmsg.NewFetchResponseBroker()
	host, port, _ := net.SplitHostPort(leader.addr)
	n, _ := net.LookupPort("tcp", port)
	b.NodeID, b.Host, b.Port = leader.id, host, int32(n)
	resp.Brokers = append(resp.Brokers, b)
	return resp, done || p.ErrorCode != 0 || len(p.RecordBatches) > 0 || p.SnapshotID.EndOffset >= 0 || p.DivergingEpoch.EndOffset >= 0
}

func (f *fakeController) fetchSnapshot(req *kmsg.FetchSnapshotRequest) *kmsg.FetchSnapshotResponse {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.snapshotFetches++
	f.replicas = append(f.replicas, req.ReplicaID)
	resp := req.ResponseKind().(*kmsg.FetchSnapshotResponse)
	asked := &req.Topics[0].Partitions[0]
	data, ok := f.snapshots[snapshotID{inspect.Offset(asked.SnapshotID.EndOffset), asked.SnapshotID.Epoch}]
	if !ok || asked.Position >= int64(len(data)) {
		resp.ErrorCode = -1
		return resp
	}
	const piece = 100 // cut anywhere
	p := kmsg.NewFetchSnapshotResponseTopicPartition()
	p.Size, p.Position = int64(len(data)), asked.Position
	p.Bytes = data[asked.Position:min(int64(len(data)), asked.Position+piece)]
	t := kmsg.NewFetchSnapshotResponseTopic()
	t.Topic, t.Partitions = metadataTopic, append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	return resp
}

// reader reads from these controllers.
func reader(fs ...*fakeController) *Log {
	conf := connect.Config{}
	for _, f := range fs {
		conf.Bootstrap = append(conf.Bootstrap, f.addr)
	}
	return NewLog(connect.Config{}, &conf, 15*time.Second)
}

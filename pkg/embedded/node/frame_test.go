package node

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// buffers are those of a world. What is given back is overwritten at once: who still
// used it would see.
type buffers struct {
	t   testing.TB
	out map[*byte]int // sizes of what was given, and not given back
}

func (b *buffers) give(frame []byte) {
	if len(frame) > 0 {
		b.out[&frame[0]] = len(frame)
	}
}

// Get is machine.Buffers'.
func (b *buffers) Get(n int) []byte {
	buf := make([]byte, n)
	b.give(buf)
	return buf
}

// Put is machine.Buffers'.
func (b *buffers) Put(buf []byte) {
	if b.out[&buf[0]] == 0 {
		b.t.Error("a buffer is given back that was not given, or was given back already")
	}
	delete(b.out, &buf[0])
	for i := range buf {
		buf[i] = 0xdb
	}
}

// takeBack does what a server does when it has written an answer.
func (b *buffers) takeBack(resp kmsg.Response) {
	fetch, ok := resp.(*kmsg.FetchResponse)
	if !ok {
		return
	}
	for i := range fetch.Topics {
		for j := range fetch.Topics[i].Partitions {
			if records := fetch.Topics[i].Partitions[j].RecordBatches; len(records) > 0 {
				b.Put(records)
			}
		}
	}
}

// TestFramesComeBack: whatever becomes of a producer's records, the frame that they came
// in is given back, and so are those in which followers got them.
func TestFramesComeBack(t *testing.T) {
	t.Parallel()
	const recordBytes = 5000
	w := startWorld(t, 3, nil)
	decide(w.ctl, w.nowMs, controller.CreateTopics{Topics: []controller.NewTopic{{
		Name: "orders", NumPartitions: -1, ReplicationFactor: -1, Assignments: map[int32][]int32{0: {1, 2, 3}, 1: {1, 3, 2}, 2: {2, 3, 1}},
	}}})
	w.ctl.tick(w.nowMs)
	w.run(500, nil)
	batch := func() []byte {
		b := record.NewBuilder(record.Options{LeaderEpoch: -1})
		if err := b.Add(record.Entry{TimestampMs: wallMs + w.nowMs, Value: make([]byte, recordBytes)}); err != nil {
			t.Fatal(err)
		}
		batch, err := b.AppendTo(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return batch
	}
	bad := batch()
	bad[len(bad)-1]++
	for _, tt := range []struct {
		name    string
		acks    int16
		records [][]byte // of partitions 0, 1 and 2
		want    string   // their error codes
	}{
		{"one partition", -1, [][]byte{batch()}, "[0]"},
		{"several, one of them not led here", -1, [][]byte{batch(), batch(), batch()}, "[0 0 6]"},
		{"acks=0", 0, [][]byte{batch(), batch()}, "[]"},
		{"one is damaged", -1, [][]byte{bad, batch()}, "[2 0]"},
		{"all are", 1, [][]byte{bad, bad}, "[2 2]"},
	} {
		req := produceOf(nil, tt.acks)
		req.Topics[0].Partitions = nil
		for i, records := range tt.records {
			req.Topics[0].Partitions = append(req.Topics[0].Partitions, kmsg.ProduceRequestTopicPartition{Partition: int32(i), Records: records})
		}
		c := w.ask(w.hosts[1], req, func(kmsg.Response) {})
		if !w.run(5000, func() bool { return c.done }) {
			t.Fatalf("%s: no answer", tt.name)
		}
		codes := []int16{}
		if resp, ok := c.resp.(*kmsg.ProduceResponse); ok {
			for _, p := range resp.Topics[0].Partitions {
				codes = append(codes, p.ErrorCode)
			}
		}
		if got := fmt.Sprint(codes); got != tt.want {
			t.Errorf("%s: got errors %s, want %s", tt.name, got, tt.want)
		}
		w.run(1000, nil)
		for _, size := range w.buffers.out {
			if size > recordBytes { // others hold no records
				t.Errorf("%s: %d bytes are not given back", tt.name, size)
			}
		}
	}
}

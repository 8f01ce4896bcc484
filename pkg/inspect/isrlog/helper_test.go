package isrlog

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// logWriter writes a metadata log as Kafka's controller does.
type logWriter struct {
	bytes  []byte
	next   int64
	timeMs int64
	epoch  int32
	idle   []byte // a batch of a no-op record
}

func newLog(base int64) *logWriter { return &logWriter{next: base, timeMs: 1_000_000, epoch: 1} }

// batch appends one with these values.
func (w *logWriter) values(attributes int16, keys, values [][]byte) {
	var records []byte
	for i, value := range values {
		rec := kmsg.Record{OffsetDelta: int32(i), Value: value}
		if keys != nil {
			rec.Key = keys[i]
		}
		body := rec.AppendTo(nil)[1:] // behind a length of 0
		records = append(binary.AppendVarint(records, int64(len(body))), body...)
	}
	b := kmsg.RecordBatch{
		FirstOffset: w.next, PartitionLeaderEpoch: w.epoch, Magic: 2, Attributes: attributes,
		LastOffsetDelta: int32(len(values) - 1), FirstTimestamp: w.timeMs, MaxTimestamp: w.timeMs,
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: int32(len(values)), Records: records,
	}
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-batchHead))
	binary.BigEndian.PutUint32(raw[batchCRC:], crc32.Checksum(raw[batchCRC+4:], castagnoli))
	w.bytes = append(w.bytes, raw...)
	w.next += int64(len(values))
}

// records appends a batch of records in the notation of the stories, one a line.
func (w *logWriter) records(t testing.TB, lines string) {
	t.Helper()
	var values [][]byte
	for text := range strings.Lines(lines) {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		rec := record(t, text)
		value, err := kraft.Append(nil, rec, kraft.MetadataVersion(30).RecordVersion(rec))
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
	}
	w.values(0, nil, values)
}

// noOp copies one, of which there are many, and changes what differs: offset, time, epoch.
func (w *logWriter) noOp() {
	if len(w.idle) == 0 {
		at := len(w.bytes)
		w.values(0, nil, [][]byte{{1, byte(kraft.TypeNoOp), 0, 0}})
		w.idle = slices.Clone(w.bytes[at:])
		return
	}
	raw := w.idle
	binary.BigEndian.PutUint64(raw, uint64(w.next))
	binary.BigEndian.PutUint32(raw[batchHead:], uint32(w.epoch))
	const times = batchCRC + 4 + 2 + 4 // behind attributes and the last offset
	binary.BigEndian.PutUint64(raw[times:], uint64(w.timeMs))
	binary.BigEndian.PutUint64(raw[times+8:], uint64(w.timeMs))
	binary.BigEndian.PutUint32(raw[batchCRC:], crc32.Checksum(raw[batchCRC+4:], castagnoli))
	w.bytes = append(w.bytes, raw...)
	w.next++
}

// control appends a control batch of one record.
func (w *logWriter) control(t testing.TB, rec kraft.ControlRecord) {
	t.Helper()
	value, err := kraft.AppendControl(nil, rec)
	if err != nil {
		t.Fatal(err)
	}
	w.values(controlBit, [][]byte{kraft.AppendControlKey(nil, rec.ControlType())}, [][]byte{value})
}

// heard is what a Source told.
type heard struct {
	events   []string
	notes    []string
	evidence Evidence
}

func (h *heard) listener() Listener {
	return Listener{
		Event:    func(e inspect.IsrEvent) { h.events = append(h.events, line(&e)) },
		Evidence: func(e Evidence) { h.evidence = e },
		Note:     func(s string, _ bool) { h.notes = append(h.notes, s) },
	}
}

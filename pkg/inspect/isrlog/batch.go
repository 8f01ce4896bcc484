package isrlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// batch is one batch of the metadata log, which Kafka never compresses (KIP-595).
type batch struct {
	kmsg.RecordBatch
}

// Where the parts of a batch lie that are needed before it is decoded.
const (
	batchHead   = 8 + 4             // base offset and length
	batchCRC    = batchHead + 4 + 1 // behind epoch and magic
	batchLeast  = batchCRC + 4 + 40 // up to the first record
	compression = 0x07              // in its attributes
	controlBit  = 0x20              // in its attributes
	maxBatch    = 8<<20 + 64<<10    // KafkaRaftClient.MAX_BATCH_SIZE_BYTES, and some air
)

// errNoRecord: the value of a record is none of KRaft's.
var errNoRecord = errors.New("not a metadata record; is it the log of __cluster_metadata?")

// errTorn: the bytes end within a batch.
var errTorn = errors.New("ends within a batch")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cutBatch takes the first batch off data, and says how many bytes it has. Its
// records share memory with data.
func cutBatch(data []byte) (b batch, size int, err error) {
	if len(data) < batchHead {
		return b, 0, errTorn
	}
	length := int64(int32(binary.BigEndian.Uint32(data[8:])))
	switch {
	case length < batchLeast-batchHead || length > maxBatch:
		return b, 0, fmt.Errorf("a batch of %d bytes: not one of a metadata log", length)
	case int64(len(data)) < batchHead+length:
		return b, 0, errTorn
	}
	size = batchHead + int(length)
	data = data[:size]
	if magic := data[batchHead+4]; magic != 2 {
		return b, 0, fmt.Errorf("a batch of format %d: want 2", magic)
	}
	if got, want := crc32.Checksum(data[batchCRC+4:], castagnoli), binary.BigEndian.Uint32(data[batchCRC:]); got != want {
		return b, 0, fmt.Errorf("batch at offset %d: checksum %08x, want %08x", binary.BigEndian.Uint64(data), got, want)
	}
	if err := b.ReadFrom(data); err != nil {
		return b, 0, fmt.Errorf("batch at offset %d: %w", binary.BigEndian.Uint64(data), err)
	}
	if b.Attributes&compression != 0 {
		return b, 0, fmt.Errorf("batch at offset %d is compressed: not one of a metadata log", b.FirstOffset)
	}
	return b, size, nil
}

// next is the offset behind the batch.
func (b *batch) next() inspect.Offset {
	return inspect.Offset(b.FirstOffset + int64(b.LastOffsetDelta) + 1)
}

func (b *batch) time() time.Time { return time.UnixMilli(b.FirstTimestamp).UTC() }

func (b *batch) isControl() bool { return b.Attributes&controlBit != 0 }

// each calls take with every record.
func (b *batch) each(take func(Position, *kmsg.Record) error) error {
	rest := b.Records
	var rec kmsg.Record
	for range b.NumRecords {
		if err := rec.ReadFrom(rest); err != nil {
			return fmt.Errorf("batch at offset %d: %w", b.FirstOffset, err)
		}
		length, n := binary.Varint(rest)
		if n <= 0 || length < 0 || int64(len(rest)-n) < length {
			return fmt.Errorf("batch at offset %d: a record of %d bytes in %d", b.FirstOffset, length, len(rest))
		}
		rest = rest[n+int(length):]
		at := Position{
			Offset: inspect.Offset(b.FirstOffset + int64(rec.OffsetDelta)), Epoch: inspect.Epoch(b.PartitionLeaderEpoch),
			Time: time.UnixMilli(b.FirstTimestamp + rec.TimestampDelta64).UTC(),
		}
		if err := take(at, &rec); err != nil {
			return fmt.Errorf("record at offset %d: %w", at.Offset, err)
		}
	}
	return nil
}

// replay hands the records of a batch of the log to r, from that offset on.
func (b *batch) replay(r *Replay, from inspect.Offset) error {
	return b.each(func(at Position, rec *kmsg.Record) error {
		switch {
		case at.Offset < from:
		case b.isControl():
			r.NewLeader() // or the voters, with which no operation goes on either
		default:
			return r.value(rec.Value, func(rec kraft.Record) { r.Record(at, rec) })
		}
		return nil
	})
}

// load hands the records of a batch of a snapshot to r.
func (b *batch) load(r *Replay) error {
	if b.isControl() {
		return nil
	}
	return b.each(func(_ Position, rec *kmsg.Record) error { return r.value(rec.Value, r.Load) })
}

// value decodes a record that events come from. Of all others nothing is read but the
// type: among them are those that hold secrets.
func (r *Replay) value(value []byte, take func(kraft.Record)) error {
	key, err := typeOf(value)
	switch {
	case err != nil:
		return err
	case key > kraft.TypeUnregisterController:
		r.gaps.Newer++
		r.Flush()
	case !matters(key):
		r.Flush()
	default:
		decode := r.decoder.Decode
		if r.open { // what a transaction holds is kept
			decode = kraft.Decode
		}
		rec, err := decode(value)
		if err != nil {
			return err
		}
		take(rec)
	}
	return nil
}

// typeOf reads no more than a record's type.
func typeOf(value []byte) (kraft.Type, error) {
	const frame = 1 // of the preview in Kafka 2.8 it was 0
	if len(value) == 0 || value[0] != frame {
		return 0, errNoRecord
	}
	key, n := binary.Uvarint(value[1:])
	if n <= 0 || key > math.MaxInt16 {
		return 0, errNoRecord
	}
	return kraft.Type(key), nil
}

// matters reports whether events come from records of that type.
func matters(t kraft.Type) bool {
	switch t {
	case kraft.TypeRegisterBroker, kraft.TypeUnregisterBroker, kraft.TypeTopic, kraft.TypePartition,
		kraft.TypePartitionChange, kraft.TypeFenceBroker, kraft.TypeUnfenceBroker, kraft.TypeRemoveTopic,
		kraft.TypeBrokerRegistrationChange, kraft.TypeBeginTransaction, kraft.TypeEndTransaction,
		kraft.TypeAbortTransaction, kraft.TypeClearELR:
		return true
	}
	return false
}

// controls calls take with the records of a control batch that can be read.
func (b *batch) controls(take func(kraft.ControlRecord)) {
	if !b.isControl() {
		return
	}
	_ = b.each(func(_ Position, rec *kmsg.Record) error {
		if control, err := kraft.DecodeControl(rec.Key, rec.Value); err == nil {
			take(control)
		}
		return nil
	})
}

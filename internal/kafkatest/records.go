package kafkatest

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// StoredRecord is a record as it lies in a log.
type StoredRecord struct {
	Offset int64
	// Control: it is of a control batch.
	Control    bool
	Key, Value []byte
}

// StoredRecords cuts a log file whose batches are not compressed, such as one of
// __cluster_metadata, into its records. A batch at its end that was copied while it
// was written is left out.
func StoredRecords(tb testing.TB, file string) (all []StoredRecord) {
	tb.Helper()
	// A batch begins with its base offset and the length of what follows.
	const head = 8 + 4
	const controlBit = 0x20
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	for len(data) >= head && len(data) >= head+int(binary.BigEndian.Uint32(data[8:])) {
		var batch kmsg.RecordBatch
		if err := batch.ReadFrom(data); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		data = data[head+batch.Length:]
		rest := batch.Records
		for range batch.NumRecords {
			var rec kmsg.Record
			if err := rec.ReadFrom(rest); err != nil {
				tb.Fatalf("%s: %v", file, err)
			}
			length, n := binary.Varint(rest)
			rest = rest[n+int(length):]
			all = append(all, StoredRecord{
				batch.FirstOffset + int64(rec.OffsetDelta), batch.Attributes&controlBit != 0, rec.Key, rec.Value,
			})
		}
	}
	return all
}

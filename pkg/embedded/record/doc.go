// Package record is the byte layer of Kafka's log: record batches of magic 2,
// read, judged, stamped and built. It is pure: bytes and times come in as
// arguments, and what it needs to remember belongs to the caller.
//
// A caller starts from
//
//   - [Scan]: the batches of a byte slice, each a [Batch]
//   - [Batch.Records]: the records of one batch, each a [Record]
//   - [Validator]: what a leader does with a Produce: judge, assign offsets
//   - [Builder]: a new batch; [AppendControl] for one of the log's own records
//
// A leader's append, in short:
//
//	v := record.NewValidator(record.DefaultInflateLimit) // one per goroutine
//	res, err := v.Assign(payload, rules, record.Stamp{Offset: leo, LeaderEpoch: 7, NowMs: now})
//	if err != nil { ... }   // errors.Is(err, record.ErrCorrupt), ErrTimestamp, ...
//	log.Append(res.Bytes)   // payload itself, stamped in place
//
// and a reader:
//
//	for s := record.Scan(segment); s.Next(); {
//		records, err := s.Batch().Records(inflater)
//		for records.Next() {
//			r := records.Record() // valid until the next call of Next
//		}
//	}
//
// # Bytes
//
// All integers are big-endian. A batch, the width in bytes in brackets, its
// position before:
//
//	 0  base offset            [8]  offset of the first record
//	 8  length                 [4]  bytes after this field
//	12  partition leader epoch [4]  of the leader that appended it
//	16  magic                  [1]  2
//	17  CRC                    [4]  CRC-32C of everything after this field
//	21  attributes             [2]  see below
//	23  last offset delta      [4]  last offset - base offset
//	27  base timestamp         [8]  ms; the delete horizon if attribute bit 6 is set
//	35  max timestamp          [8]  ms; the time of the append with LogAppendTime
//	43  producer id            [8]  -1: not idempotent
//	51  producer epoch         [2]
//	53  base sequence          [4]  sequence of the first record
//	57  count                  [4]  of records
//	61  records                     compressed as a whole, without their count
//
//	attributes: 0-2 codec, 3 LogAppendTime, 4 transactional, 5 control, 6 delete horizon
//
// A record; varints are zigzag and base 128, least significant group first:
//
//	length varint | attributes [1] | timestamp delta varlong | offset delta varint |
//	key length varint | key | value length varint | value |
//	header count varint | (key length varint | key | value length varint | value)*
//
// A length of -1 is a null key or value; a header's key is never null.
//
// The CRC starts after the base offset and the leader epoch, so that a leader
// sets both without reading the batch again. Its other stamp, LogAppendTime and
// a max timestamp that the producer got wrong, costs a CRC over the batch.
//
// # What may surprise
//
// Offsets within an uncompressed batch are the producer's: Kafka checks the
// count, not each delta. In a compressed batch a delta out of order is refused.
//
// Compaction leaves holes: count may be less than last offset delta + 1, even 0.
// Only a producer's batch must be dense.
//
// Decompression is bounded by [Inflater], which Kafka's is not: a batch that
// grows beyond the bound is ErrTooLarge here.
//
// # What it does not do
//
// Magic 0 and 1, which new brokers do not take from producers since Kafka 4.0
// (KIP-724), are refused. Sequences and epochs of producers are judged where
// their state is, not here. It knows no error codes: node maps the sentinels.
package record

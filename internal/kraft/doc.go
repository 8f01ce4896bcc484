// Package kraft is the codec of KRaft's metadata log, the topic
// __cluster_metadata in which the controller writes down every change of a
// cluster: its records, and the values of its control records. The embedded
// engine's controller writes them, its brokers replay them, and the history of
// an ISR is read from those of a real cluster.
//
// Start from
//
//   - [Decode]: the value of a data record as a [Record], to switch on by type;
//   - [Append]: the way back, in the version that [MetadataVersion.RecordVersion]
//     allows;
//   - [DecodeControl] and [AppendControl]: the same for control records.
//
// A replay looks like this:
//
//	rec, err := kraft.Decode(value)
//	if err != nil {
//		return err // corrupt: nothing behind it can be trusted
//	}
//	switch rec := rec.(type) {
//	case *kraft.Topic:
//		topics[rec.TopicID] = rec.Name
//	case *kraft.PartitionChange:
//		apply(rec)
//	case *kraft.Unknown:
//		skipped[rec.Type()]++ // newer than this package: count it and go on
//	}
//
// and a controller's append like this:
//
//	rec := &kraft.Topic{Name: "orders", TopicID: id}
//	value, err := kraft.Append(nil, rec, finalized.RecordVersion(rec))
//
// # Bytes
//
// The value of a data record, whose key is null:
//
//	1..5            1..5   1..5      …
//	+---------------+------+---------+--------+--------------+
//	| frame version | type | version | fields | tagged fields |
//	+---------------+------+---------+--------+--------------+
//	  = 1             apiKey in Kafka's schemas
//
// The three numbers are unsigned varints. Fields stand in the order of the
// schema without names: numbers big-endian, a bool as one byte, a UUID as 16;
// strings and arrays after an unsigned varint of their length + 1, in which 0
// means null. Tagged fields (KIP-482) are a count, then for each (tag, size,
// bytes) with ascending tags; a field that has its default is left out. An
// element of an array of structs ends with tagged fields of its own.
//
// A control record has a key, version (int16, 0) and type (int16), and as its
// value the fields and tagged fields alone: the first field is the version.
//
// # Layouts
//
// Each record has one method, fields, that lists its layout once: name, first
// version, tag, and where the value lives in the struct. Encoding and decoding
// both walk that list, so they cannot disagree, and a test holds it against the
// schemas in Kafka's own jar, line by line. That is easier to check by eye than
// generated code and needs no copy of Kafka's schemas. There is no record whose
// layout in one version changed between Kafka 3.3 and 4.4, except for SCRAM
// credentials, which before 3.5 were never written.
//
// # What it does not do
//
// Secrets: of SCRAM credentials and delegation tokens it reads a name and
// nothing else, and it cannot write them. Tagged fields that it does not know
// are skipped, so what Kafka wrote and this package rewrites may be less.
// Batches and their headers belong to others, and so does what records mean
// together: replay is not here.
package kraft

package load

import (
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Acks is who must have a record before it is acknowledged.
type Acks string

// The three levels.
const (
	AcksNone   Acks = "0"   // nobody: it was sent
	AcksLeader Acks = "1"   // the leader
	AcksAll    Acks = "all" // every member of the ISR
)

// AllAcks are the levels, the least safe first.
func AllAcks() []Acks { return []Acks{AcksNone, AcksLeader, AcksAll} }

// Compressions are the codecs, by Kafka's names.
func Compressions() []string { return []string{"none", "gzip", "snappy", "lz4", "zstd"} }

// Options of a producer.
type Options struct {
	Topic string
	// Partition writes to this partition alone where it is not negative; see
	// AnyPartition.
	Partition int32
	Acks      Acks
	// RecordBytes is the size of values, at least HeaderBytes; 0 is 100.
	RecordBytes int
	// Rate is records per second; 0 is as fast as InFlight allows.
	Rate float64
	// InFlight bounds the records that are not acknowledged; 0 is 10,000. With 1 each
	// waits for the one before.
	InFlight int
	// Records is how many to send; 0 is until Stop.
	Records int64
	// Compression is one of Compressions; empty is none.
	Compression string
	// Linger is how long a batch waits for more records.
	Linger time.Duration
	// StayWithLeader asks for metadata only when a request fails. Who is cut off
	// together with a leader does so, as no other broker tells him better.
	StayWithLeader bool
	// Timeout is how long the leader waits for the others with acks=all before it says
	// so, and the record is sent again; 0 is 10 s.
	Timeout time.Duration
	// NoRetries gives a record up at its first error. It may have been written.
	NoRetries bool
	// KeepAcknowledged remembers the numbers of acknowledged records, for Stats.
	KeepAcknowledged bool
}

// AnyPartition spreads records over the topic's partitions: one after another at a
// rate, else batch by batch, as clients do that want throughput.
const AnyPartition int32 = -1

// HeaderBytes is the part of a value that holds its run and number.
const HeaderBytes = 16

const (
	defaultRecordBytes = 100
	defaultInFlight    = 10_000
)

// withDefaults returns the options filled in, or what is wrong with them.
func (o Options) withDefaults() (Options, error) {
	if o.RecordBytes == 0 {
		o.RecordBytes = defaultRecordBytes
	}
	if o.InFlight == 0 {
		o.InFlight = defaultInFlight
	}
	switch {
	case o.Topic == "":
		return o, errors.New("load: no topic")
	case o.RecordBytes < HeaderBytes:
		return o, fmt.Errorf("load: records of %d bytes: the least is %d", o.RecordBytes, HeaderBytes)
	case o.Rate < 0 || o.InFlight < 0 || o.Records < 0:
		return o, errors.New("load: a rate, a number in flight or of records is not negative")
	}
	return o, nil
}

// client are the options of the client that these are.
func (o *Options) client() ([]kgo.Opt, error) {
	codec, ok := map[string]kgo.CompressionCodec{
		"": kgo.NoCompression(), "none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}[o.Compression]
	if !ok {
		return nil, fmt.Errorf("load: compression %q: use one of %v", o.Compression, Compressions())
	}
	opts := []kgo.Opt{
		kgo.ProducerBatchCompression(codec),
		kgo.ProducerLinger(o.Linger),
		kgo.MaxBufferedRecords(o.InFlight + 1), // the semaphore decides, not the client
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 50 * time.Millisecond }),
	}
	// As the Java client: five requests in flight. With acks=all it is idempotent, and
	// so in order and without doubles; the others retry without either.
	const inFlight = 5
	switch o.Acks {
	case AcksNone:
		opts = append(opts, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(inFlight))
	case AcksLeader:
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(inFlight))
	case AcksAll:
		opts = append(opts, kgo.RequiredAcks(kgo.AllISRAcks()))
	default:
		return nil, fmt.Errorf("load: acks %q: use 0, 1 or all", o.Acks)
	}
	if o.StayWithLeader {
		opts = append(opts, kgo.MetadataMaxAge(time.Hour))
	} else {
		opts = append(opts, kgo.MetadataMaxAge(time.Second))
	}
	if o.Timeout > 0 {
		opts = append(opts, kgo.ProduceRequestTimeout(o.Timeout))
	}
	if o.NoRetries {
		opts = append(opts, kgo.RecordRetries(0))
		if o.Acks == AcksAll {
			opts = append(opts, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(inFlight))
		}
	}
	switch {
	case o.Partition >= 0:
		opts = append(opts, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	case o.Rate > 0:
		opts = append(opts, kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	}
	return opts, nil
}

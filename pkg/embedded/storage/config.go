package storage

import "math"

// Config is a topic's part of a log's behaviour; times in ms.
type Config struct {
	// SegmentBytes is segment.bytes. A larger batch is refused.
	SegmentBytes int32
	// SegmentMs is segment.ms, with no jitter.
	SegmentMs int64
	// IndexIntervalBytes is index.interval.bytes: how much of a log lies between
	// two entries of an index, about.
	IndexIntervalBytes int32
	// IndexMaxBytes is segment.index.bytes: what an index may grow to, which
	// bounds the segment too.
	IndexMaxBytes int32
	// RetentionBytes and RetentionMs are retention.bytes and retention.ms; -1 is
	// no bound.
	RetentionBytes, RetentionMs int64
	// Compacted is cleanup.policy with compact, which leaves holes in the log.
	Compacted bool
	// DeleteRetentionMs is delete.retention.ms: how long a tombstone stays after it was
	// cleaned first.
	DeleteRetentionMs int64
	// MinCompactionLagMs and MaxCompactionLagMs are min.compaction.lag.ms, for which a
	// record stays as it is, and max.compaction.lag.ms, after which it makes its log overdue.
	MinCompactionLagMs, MaxCompactionLagMs int64
	// CleanMapBytes bounds what the keys of one cleaning may take in memory; 0 is 128 MiB.
	CleanMapBytes int
	// Flush says when a sync is due.
	Flush FlushPolicy
}

// DefaultConfig is that of a topic without settings of its own in Kafka 4.4.
func DefaultConfig() Config {
	const week = 7 * 24 * 3600 * 1000
	return Config{
		SegmentBytes: 1 << 30, SegmentMs: week, IndexIntervalBytes: 4096, IndexMaxBytes: 10 << 20,
		RetentionBytes: -1, RetentionMs: week, DeleteRetentionMs: 24 * 3600 * 1000, MaxCompactionLagMs: math.MaxInt64, Flush: FlushNever(),
	}
}

func (c Config) cleanMapBytes() int {
	if c.CleanMapBytes > 0 {
		return c.CleanMapBytes
	}
	return cleanMapBytes
}

// maxRelative is how far an offset may be from its segment's base: the indexes
// keep 4 bytes of it.
const maxRelative = math.MaxInt32

// FlushPolicy says when what was appended must be synced. It decides only: time
// is an argument of [Log.SyncDue], and the caller syncs with [Log.Flush].
type FlushPolicy struct {
	mode       flushMode
	intervalMs int64
}

type flushMode uint8

const (
	never flushMode = iota
	every
	always
)

// FlushNever is Kafka's default: replication makes records durable, not the disk
// (log.flush.interval.messages and .ms unset). Only a segment that was rolled is
// due, at once, which moves the recovery point to the active one.
func FlushNever() FlushPolicy { return FlushPolicy{} }

// FlushEvery makes a sync due so long after the first append that it is for. All
// that was appended meanwhile shares it: group commit.
func FlushEvery(intervalMs int64) FlushPolicy {
	return FlushPolicy{mode: every, intervalMs: intervalMs}
}

// FlushAlways makes a sync due after every append (flush.messages=1).
func FlushAlways() FlushPolicy { return FlushPolicy{mode: always} }

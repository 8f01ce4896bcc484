package record

// Replicated is what a follower may append of a Fetch's answer.
type Replicated struct {
	// Bytes are whole batches, the beginning of what was given.
	Bytes []byte
	// First and Last are the offsets of the first and the last record. -1 if
	// there is no batch.
	First, Last int64
	// LeaderEpoch is that of the last batch, NoLeaderEpoch if there is none.
	LeaderEpoch int32
	// MaxTimestampMs is the largest of the batches', NoTimestamp if there is none.
	MaxTimestampMs int64
	// Batches is how many they are.
	Batches int
}

// CheckReplicated judges what a follower fetched, as
// UnifiedLog.analyzeAndValidateRecords does for AppendOrigin.REPLICATION: the
// CRC of every batch, and offsets that grow from nextOffset, the follower's LEO,
// on. Records are not read: the leader has judged them. Batches of a leader
// epoch above the follower's own are left out, with what follows them: they come
// from a leader that the follower does not know yet (KAFKA-18723). The same goes
// for a batch that is not all there. Errors are *BatchError.
func CheckReplicated(buf []byte, nextOffset int64, leaderEpoch int32) (Replicated, error) {
	out := Replicated{First: -1, Last: -1, LeaderEpoch: NoLeaderEpoch, MaxTimestampMs: NoTimestamp}
	s := Scan(buf)
	for s.Next() {
		b := s.Batch()
		if b.LeaderEpoch() > leaderEpoch {
			out.Bytes = buf[:s.At()]
			return out, nil
		}
		if err := b.CheckCRC(); err != nil {
			return Replicated{}, movedTo(err, s.At())
		}
		if b.BaseOffset() < nextOffset || b.LastOffset() < b.BaseOffset() {
			return Replicated{}, whole(ErrInvalid, s.At(), "offsets %d to %d, want at least %d",
				b.BaseOffset(), b.LastOffset(), nextOffset)
		}
		if !b.Codec().valid() {
			return Replicated{}, whole(ErrCodec, s.At(), "%v", b.Codec())
		}
		nextOffset = b.NextOffset()
		out.add(b)
	}
	if s.Err() != nil {
		return Replicated{}, s.Err()
	}
	out.Bytes = buf[:s.End()]
	return out, nil
}

func (r *Replicated) add(b Batch) {
	if r.Batches == 0 {
		r.First = b.BaseOffset()
	}
	r.Batches++
	r.Last = b.LastOffset()
	r.LeaderEpoch = b.LeaderEpoch()
	r.MaxTimestampMs = max(r.MaxTimestampMs, b.MaxTimestampMs())
}

package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// copiedRecords is how many bytes of records are cheaper copied than written from
// where they are.
const copiedRecords = 2 << 10

// Pieces is a frame as pieces to be written one after another. It can be used again.
type Pieces struct {
	// All are the pieces: parts of Head, and records where they were.
	All [][]byte
	// Head is all but those records.
	Head []byte
	cuts []cut
}

// cut is where records belong that are not in the head.
type cut struct {
	at      int
	records []byte
}

// FetchResponse is AppendResponse for a Fetch's answer without copying its records: to
// write them is the largest part of a broker's work.
func (p *Pieces) FetchResponse(correlationID int32, resp *kmsg.FetchResponse) {
	p.Head, p.cuts = p.Head[:0], p.cuts[:0]
	if plainFetch(resp) {
		p.encode(correlationID, resp)
	} else {
		p.Head = AppendResponse(p.Head, correlationID, resp)
	}
	at := 0
	p.All = p.All[:0]
	for _, c := range p.cuts {
		p.All = append(p.All, p.Head[at:c.at], c.records)
		at = c.at
	}
	p.All = append(p.All, p.Head[at:])
}

// Forget lets go of the records.
func (p *Pieces) Forget() {
	clear(p.All)
	clear(p.cuts)
	p.All, p.cuts = p.All[:0], p.cuts[:0]
}

// plainFetch reports whether the answer is as nearly all are: without tagged fields,
// which kmsg encodes.
func plainFetch(resp *kmsg.FetchResponse) bool {
	if len(resp.Brokers) > 0 || resp.UnknownTags.Len() > 0 || resp.Version < 4 || resp.Version > 18 {
		return false
	}
	for i := range resp.Topics {
		if resp.Topics[i].UnknownTags.Len() > 0 {
			return false
		}
		for j := range resp.Topics[i].Partitions {
			if !plainPartition(&resp.Topics[i].Partitions[j]) {
				return false
			}
		}
	}
	return true
}

func plainPartition(p *kmsg.FetchResponseTopicPartition) bool {
	return len(p.AbortedTransactions) == 0 && p.UnknownTags.Len() == 0 &&
		p.DivergingEpoch.Epoch == -1 && p.DivergingEpoch.EndOffset == -1 && p.DivergingEpoch.UnknownTags.Len() == 0 &&
		p.CurrentLeader.LeaderID == -1 && p.CurrentLeader.LeaderEpoch == -1 && p.CurrentLeader.UnknownTags.Len() == 0 &&
		p.SnapshotID.EndOffset == -1 && p.SnapshotID.Epoch == -1 && p.SnapshotID.UnknownTags.Len() == 0
}

// encode writes what FetchResponse.json of Kafka has, without tags.
func (p *Pieces) encode(correlationID int32, resp *kmsg.FetchResponse) {
	be := binary.BigEndian
	flexible := resp.IsFlexible()
	b := p.Head
	b = append(b, 0, 0, 0, 0) // the size, known at the end
	b = be.AppendUint32(b, uint32(correlationID))
	b = appendNoTags(b, flexible)
	b = be.AppendUint32(b, uint32(resp.ThrottleMillis))
	if resp.Version >= 7 {
		b = be.AppendUint16(b, uint16(resp.ErrorCode))
		b = be.AppendUint32(b, uint32(resp.SessionID))
	}
	b = appendLength(b, len(resp.Topics), flexible)
	for i := range resp.Topics {
		t := &resp.Topics[i]
		switch {
		case resp.Version >= 13:
			b = append(b, t.TopicID[:]...)
		case flexible:
			b = append(appendLength(b, len(t.Topic), true), t.Topic...)
		default:
			b = append(be.AppendUint16(b, uint16(len(t.Topic))), t.Topic...)
		}
		b = appendLength(b, len(t.Partitions), flexible)
		for j := range t.Partitions {
			b = p.appendPartition(b, &t.Partitions[j], resp.Version, flexible)
		}
		b = appendNoTags(b, flexible)
	}
	b = appendNoTags(b, flexible)
	size := len(b) - SizePrefix
	for _, c := range p.cuts {
		size += len(c.records)
	}
	if size > math.MaxInt32 {
		panic(fmt.Sprintf("response to Fetch of %d bytes does not fit a frame", size))
	}
	be.PutUint32(b, uint32(size))
	p.Head = b
}

func (p *Pieces) appendPartition(b []byte, part *kmsg.FetchResponseTopicPartition, version int16, flexible bool) []byte {
	be := binary.BigEndian
	b = be.AppendUint32(b, uint32(part.Partition))
	b = be.AppendUint16(b, uint16(part.ErrorCode))
	b = be.AppendUint64(b, uint64(part.HighWatermark))
	b = be.AppendUint64(b, uint64(part.LastStableOffset))
	if version >= 5 {
		b = be.AppendUint64(b, uint64(part.LogStartOffset))
	}
	b = appendNullable(b, len(part.AbortedTransactions), part.AbortedTransactions == nil, flexible)
	if version >= 11 {
		b = be.AppendUint32(b, uint32(part.PreferredReadReplica))
	}
	b = appendNullable(b, len(part.RecordBatches), part.RecordBatches == nil, flexible)
	if len(part.RecordBatches) <= copiedRecords {
		b = append(b, part.RecordBatches...)
	} else {
		p.cuts = append(p.cuts, cut{len(b), part.RecordBatches})
	}
	return appendNoTags(b, flexible)
}

func appendNoTags(b []byte, flexible bool) []byte {
	if flexible {
		b = append(b, 0)
	}
	return b
}

func appendLength(b []byte, n int, flexible bool) []byte {
	return appendNullable(b, n, false, flexible)
}

// appendNullable writes the length of an array or of bytes.
func appendNullable(b []byte, n int, null, flexible bool) []byte {
	switch {
	case flexible && null:
		return append(b, 0)
	case flexible:
		return binary.AppendUvarint(b, uint64(n)+1)
	case null:
		return binary.BigEndian.AppendUint32(b, math.MaxUint32)
	}
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

package recording

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/fields"
	"google.golang.org/protobuf/encoding/protowire"
)

// version is that of the format.
const version = 1

type head struct {
	version   uint64
	clusterID string
}

func (h *head) encode() []byte {
	out := fields.AppendUint(nil, 1, h.version)
	return fields.AppendText(out, 2, h.clusterID)
}

func decodeHead(in []byte) (h head, err error) {
	err = fields.Each(in, func(f fields.Field) error {
		switch f.Number {
		case 1:
			h.version = f.N
		case 2:
			h.clusterID = string(f.Bytes)
		}
		return nil
	})
	return h, err
}

func appendTime(out []byte, n fields.Number, t time.Time) []byte {
	if t.IsZero() {
		return out
	}
	return fields.AppendUint(out, n, uint64(t.UnixNano()))
}

func appendIDs(out []byte, n fields.Number, ids []inspect.BrokerID) []byte {
	var packed []byte
	for _, id := range ids {
		packed = protowire.AppendVarint(packed, protowire.EncodeZigZag(int64(id)))
	}
	return fields.AppendBytes(out, n, packed)
}

// appendKnown appends a number that may be unknown.
func appendKnown[T ~int32 | ~int64](out []byte, n fields.Number, v inspect.Opt[T]) []byte {
	if known, ok := v.Get(); ok {
		return fields.AppendSigned(out, n, int64(known))
	}
	return out
}

func appendEvent(out []byte, e *inspect.IsrEvent) []byte {
	out = appendTime(out, 1, e.Time)
	out = fields.AppendText(out, 2, e.Topic)
	out = fields.AppendUint(out, 3, uint64(e.Partition))
	out = fields.AppendText(out, 4, string(e.Type))
	out = fields.AppendText(out, 5, string(e.Cause))
	for i, ids := range [][]inspect.BrokerID{e.Brokers, e.Replicas, e.ISRBefore, e.ISR} {
		if len(ids) > 0 {
			out = appendIDs(out, fields.Number(6+i), ids)
		}
	}
	if elr, ok := e.ELR.Get(); ok {
		out = appendIDs(out, 10, elr)
	}
	out = fields.AppendSigned(out, 11, int64(e.Leader))
	out = appendKnown(out, 12, e.LeaderEpoch)
	out = appendKnown(out, 13, e.PartitionEpoch)
	out = appendKnown(out, 14, e.Offset)
	if d, ok := e.Out.Get(); ok {
		out = fields.AppendUint(out, 15, uint64(d))
	}
	out = fields.AppendText(out, 16, string(e.Source))
	if d, ok := e.FencedFor.Get(); ok {
		out = fields.AppendUint(out, 17, uint64(d))
	}
	return out
}

func decodeEvent(in []byte) (e inspect.IsrEvent, err error) {
	e.Leader = inspect.NoBroker
	err = fields.Each(in, func(f fields.Field) (err error) {
		switch f.Number {
		case 1:
			e.Time = timeOf(&f)
		case 2:
			e.Topic = string(f.Bytes)
		case 3:
			e.Partition = int32(f.N)
		case 4:
			e.Type = inspect.IsrEventType(f.Bytes)
		case 5:
			e.Cause = inspect.IsrCause(f.Bytes)
		case 6:
			e.Brokers, err = idsOf(&f)
		case 7:
			e.Replicas, err = idsOf(&f)
		case 8:
			e.ISRBefore, err = idsOf(&f)
		case 9:
			e.ISR, err = idsOf(&f)
		case 10:
			elr, err := idsOf(&f)
			e.ELR = inspect.Known(elr)
			return err
		case 11:
			e.Leader = inspect.BrokerID(f.Signed())
		case 12:
			e.LeaderEpoch = inspect.Known(inspect.Epoch(f.Signed()))
		case 13:
			e.PartitionEpoch = inspect.Known(int32(f.Signed()))
		case 14:
			e.Offset = inspect.Known(inspect.Offset(f.Signed()))
		case 15:
			e.Out = inspect.Known(time.Duration(f.N))
		case 16:
			e.Source = inspect.IsrSource(f.Bytes)
		case 17:
			e.FencedFor = inspect.Known(time.Duration(f.N))
		}
		return err
	})
	return e, err
}

func (c *Coverage) encode() []byte {
	out := fields.AppendText(nil, 1, string(c.Source))
	out = fields.AppendText(out, 2, c.Where)
	out = appendKnown(out, 3, c.From)
	out = appendKnown(out, 4, c.To)
	out = appendKnown(out, 5, c.Epoch)
	out = appendTime(out, 6, c.Since)
	out = appendTime(out, 7, c.Until)
	if d, ok := c.Every.Get(); ok {
		out = fields.AppendUint(out, 8, uint64(d))
	}
	if c.Unreadable > 0 {
		out = fields.AppendUint(out, 9, uint64(c.Unreadable))
	}
	if c.Anew {
		out = fields.AppendUint(out, 10, 1)
	}
	return out
}

func decodeCoverage(in []byte) (c Coverage, err error) {
	err = fields.Each(in, func(f fields.Field) error {
		switch f.Number {
		case 1:
			c.Source = inspect.IsrSource(f.Bytes)
		case 2:
			c.Where = string(f.Bytes)
		case 3:
			c.From = inspect.Known(inspect.Offset(f.Signed()))
		case 4:
			c.To = inspect.Known(inspect.Offset(f.Signed()))
		case 5:
			c.Epoch = inspect.Known(inspect.Epoch(f.Signed()))
		case 6:
			c.Since = timeOf(&f)
		case 7:
			c.Until = timeOf(&f)
		case 8:
			c.Every = inspect.Known(time.Duration(f.N))
		case 9:
			c.Unreadable = int(f.N)
		case 10:
			c.Anew = f.N != 0
		}
		return nil
	})
	return c, err
}

// decodeIsr calls event with every event of a block, and returns its coverage, nil for
// none, and how many events the commit has.
func decodeIsr(in []byte, event func(inspect.IsrEvent) error) (c *Coverage, events int, err error) {
	err = fields.Each(in, func(f fields.Field) error {
		switch f.Number {
		case 1:
			e, err := decodeEvent(f.Bytes)
			if err != nil {
				return err
			}
			return event(e)
		case 2:
			told, err := decodeCoverage(f.Bytes)
			c = &told
			return err
		case 3:
			events = int(f.N)
		}
		return nil
	})
	return c, events, err
}

func timeOf(f *fields.Field) time.Time { return time.Unix(0, int64(f.N)).UTC() }

func idsOf(f *fields.Field) (out []inspect.BrokerID, err error) {
	for rest := f.Bytes; len(rest) > 0; {
		v, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return nil, fields.ErrNotOurs
		}
		out, rest = append(out, inspect.BrokerID(protowire.DecodeZigZag(v))), rest[n:]
	}
	return out, nil
}

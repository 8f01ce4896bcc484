package recording

import (
	"errors"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"google.golang.org/protobuf/encoding/protowire"
)

// version is that of the format.
const version = 1

type head struct {
	version   uint64
	clusterID string
}

func (h *head) encode() []byte {
	out := appendUint(nil, 1, h.version)
	return appendText(out, 2, h.clusterID)
}

func decodeHead(in []byte) (h head, err error) {
	err = fields(in, func(f field) error {
		switch f.number {
		case 1:
			h.version = f.n
		case 2:
			h.clusterID = string(f.bytes)
		}
		return nil
	})
	return h, err
}

func appendUint(out []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(out, n, protowire.VarintType), v)
}

func appendSigned(out []byte, n protowire.Number, v int64) []byte {
	return appendUint(out, n, protowire.EncodeZigZag(v))
}

func appendBytes(out []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, n, protowire.BytesType), v)
}

func appendText(out []byte, n protowire.Number, v string) []byte {
	if v == "" {
		return out
	}
	return protowire.AppendString(protowire.AppendTag(out, n, protowire.BytesType), v)
}

func appendTime(out []byte, n protowire.Number, t time.Time) []byte {
	if t.IsZero() {
		return out
	}
	return appendUint(out, n, uint64(t.UnixNano()))
}

func appendIDs(out []byte, n protowire.Number, ids []inspect.BrokerID) []byte {
	var packed []byte
	for _, id := range ids {
		packed = protowire.AppendVarint(packed, protowire.EncodeZigZag(int64(id)))
	}
	return appendBytes(out, n, packed)
}

// appendKnown appends a number that may be unknown.
func appendKnown[T ~int32 | ~int64](out []byte, n protowire.Number, v inspect.Opt[T]) []byte {
	if known, ok := v.Get(); ok {
		return appendSigned(out, n, int64(known))
	}
	return out
}

func appendEvent(out []byte, e *inspect.IsrEvent) []byte {
	out = appendTime(out, 1, e.Time)
	out = appendText(out, 2, e.Topic)
	out = appendUint(out, 3, uint64(e.Partition))
	out = appendText(out, 4, string(e.Type))
	out = appendText(out, 5, string(e.Cause))
	for i, ids := range [][]inspect.BrokerID{e.Brokers, e.Replicas, e.ISRBefore, e.ISR} {
		if len(ids) > 0 {
			out = appendIDs(out, protowire.Number(6+i), ids)
		}
	}
	if elr, ok := e.ELR.Get(); ok {
		out = appendIDs(out, 10, elr)
	}
	out = appendSigned(out, 11, int64(e.Leader))
	out = appendKnown(out, 12, e.LeaderEpoch)
	out = appendKnown(out, 13, e.PartitionEpoch)
	out = appendKnown(out, 14, e.Offset)
	if d, ok := e.Out.Get(); ok {
		out = appendUint(out, 15, uint64(d))
	}
	out = appendText(out, 16, string(e.Source))
	if d, ok := e.FencedFor.Get(); ok {
		out = appendUint(out, 17, uint64(d))
	}
	return out
}

func decodeEvent(in []byte) (e inspect.IsrEvent, err error) {
	e.Leader = inspect.NoBroker
	err = fields(in, func(f field) (err error) {
		switch f.number {
		case 1:
			e.Time = f.time()
		case 2:
			e.Topic = string(f.bytes)
		case 3:
			e.Partition = int32(f.n)
		case 4:
			e.Type = inspect.IsrEventType(f.bytes)
		case 5:
			e.Cause = inspect.IsrCause(f.bytes)
		case 6:
			e.Brokers, err = f.ids()
		case 7:
			e.Replicas, err = f.ids()
		case 8:
			e.ISRBefore, err = f.ids()
		case 9:
			e.ISR, err = f.ids()
		case 10:
			elr, err := f.ids()
			e.ELR = inspect.Known(elr)
			return err
		case 11:
			e.Leader = inspect.BrokerID(f.signed())
		case 12:
			e.LeaderEpoch = inspect.Known(inspect.Epoch(f.signed()))
		case 13:
			e.PartitionEpoch = inspect.Known(int32(f.signed()))
		case 14:
			e.Offset = inspect.Known(inspect.Offset(f.signed()))
		case 15:
			e.Out = inspect.Known(time.Duration(f.n))
		case 16:
			e.Source = inspect.IsrSource(f.bytes)
		case 17:
			e.FencedFor = inspect.Known(time.Duration(f.n))
		}
		return err
	})
	return e, err
}

func (c *Coverage) encode() []byte {
	out := appendText(nil, 1, string(c.Source))
	out = appendText(out, 2, c.Where)
	out = appendKnown(out, 3, c.From)
	out = appendKnown(out, 4, c.To)
	out = appendKnown(out, 5, c.Epoch)
	out = appendTime(out, 6, c.Since)
	out = appendTime(out, 7, c.Until)
	if d, ok := c.Every.Get(); ok {
		out = appendUint(out, 8, uint64(d))
	}
	if c.Unreadable > 0 {
		out = appendUint(out, 9, uint64(c.Unreadable))
	}
	if c.Anew {
		out = appendUint(out, 10, 1)
	}
	return out
}

func decodeCoverage(in []byte) (c Coverage, err error) {
	err = fields(in, func(f field) error {
		switch f.number {
		case 1:
			c.Source = inspect.IsrSource(f.bytes)
		case 2:
			c.Where = string(f.bytes)
		case 3:
			c.From = inspect.Known(inspect.Offset(f.signed()))
		case 4:
			c.To = inspect.Known(inspect.Offset(f.signed()))
		case 5:
			c.Epoch = inspect.Known(inspect.Epoch(f.signed()))
		case 6:
			c.Since = f.time()
		case 7:
			c.Until = f.time()
		case 8:
			c.Every = inspect.Known(time.Duration(f.n))
		case 9:
			c.Unreadable = int(f.n)
		case 10:
			c.Anew = f.n != 0
		}
		return nil
	})
	return c, err
}

// decodeIsr calls event with every event of a block, and returns its coverage, nil for
// none, and how many events the commit has.
func decodeIsr(in []byte, event func(inspect.IsrEvent) error) (c *Coverage, events int, err error) {
	err = fields(in, func(f field) error {
		switch f.number {
		case 1:
			e, err := decodeEvent(f.bytes)
			if err != nil {
				return err
			}
			return event(e)
		case 2:
			told, err := decodeCoverage(f.bytes)
			c = &told
			return err
		case 3:
			events = int(f.n)
		}
		return nil
	})
	return c, events, err
}

// field is one of a message.
type field struct {
	number protowire.Number
	n      uint64 // of a number
	bytes  []byte // of all else
}

func (f *field) signed() int64 { return protowire.DecodeZigZag(f.n) }

func (f *field) time() time.Time { return time.Unix(0, int64(f.n)).UTC() }

func (f *field) ids() (out []inspect.BrokerID, err error) {
	for rest := f.bytes; len(rest) > 0; {
		v, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return nil, errNotOurs
		}
		out, rest = append(out, inspect.BrokerID(protowire.DecodeZigZag(v))), rest[n:]
	}
	return out, nil
}

// errNotOurs: the checksums are right, and the content is none that was ever written.
var errNotOurs = errors.New("its content is not what this format has")

// fields calls take with every field of a message. Those in a shape that this version
// does not use are passed over, as are unknown numbers by take.
func fields(in []byte, take func(field) error) error {
	for len(in) > 0 {
		number, shape, n := protowire.ConsumeTag(in)
		if n < 0 {
			return errNotOurs
		}
		in = in[n:]
		f := field{number: number}
		switch shape {
		case protowire.VarintType:
			f.n, n = protowire.ConsumeVarint(in)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(in)
		default:
			if n = protowire.ConsumeFieldValue(number, shape, in); n >= 0 {
				in = in[n:]
				continue
			}
		}
		if n < 0 {
			return errNotOurs
		}
		in = in[n:]
		if err := take(f); err != nil {
			return err
		}
	}
	return nil
}

// Package fields codes messages in the wire format of protocol buffers, by their fields:
// what a recording's blocks and the looks in it are made of. Of the format it has the
// shapes that those use, numbers (varints, signed ones with zigzag) and bytes.
//
//	out = fields.AppendSigned(out, 1, offset)
//	out = fields.AppendBytes(out, 2, name)
//
//	err := fields.Each(out, func(f fields.Field) error { switch f.Number { … } })
package fields

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrNotOurs says that bytes are no message that was ever written.
var ErrNotOurs = errors.New("its content is not what this format has")

// Number is a field's.
type Number = protowire.Number

// Field is one of a message.
type Field struct {
	Number Number
	N      uint64 // of a number
	Bytes  []byte // of all else
}

// Signed is a number that was written with zigzag.
func (f *Field) Signed() int64 { return protowire.DecodeZigZag(f.N) }

// Each calls take with every field of a message, in their order. Those in a shape that is
// not used here are passed over, as unknown numbers are by take. It ends with take's error,
// or with ErrNotOurs.
func Each(in []byte, take func(Field) error) error {
	for len(in) > 0 {
		number, shape, n := protowire.ConsumeTag(in)
		if n < 0 {
			return ErrNotOurs
		}
		in = in[n:]
		f := Field{Number: number}
		switch shape {
		case protowire.VarintType:
			f.N, n = protowire.ConsumeVarint(in)
		case protowire.BytesType:
			f.Bytes, n = protowire.ConsumeBytes(in)
		default:
			if n = protowire.ConsumeFieldValue(number, shape, in); n >= 0 {
				in = in[n:]
				continue
			}
		}
		if n < 0 {
			return ErrNotOurs
		}
		in = in[n:]
		if err := take(f); err != nil {
			return err
		}
	}
	return nil
}

// AppendUint appends a number.
func AppendUint(out []byte, n Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(out, n, protowire.VarintType), v)
}

// AppendSigned appends a number that may be negative.
func AppendSigned(out []byte, n Number, v int64) []byte {
	return AppendUint(out, n, protowire.EncodeZigZag(v))
}

// AppendBytes appends bytes, or another message.
func AppendBytes(out []byte, n Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, n, protowire.BytesType), v)
}

// AppendText appends a text; none where it is empty.
func AppendText(out []byte, n Number, v string) []byte {
	if v == "" {
		return out
	}
	return protowire.AppendString(protowire.AppendTag(out, n, protowire.BytesType), v)
}

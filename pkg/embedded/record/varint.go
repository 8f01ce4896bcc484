package record

// Widths of the longest varints.
const (
	maxVarintBytes  = 5
	maxVarlongBytes = 10
)

// uvarint reads a base-128 number of at most limit bytes and returns what is
// after it. Bits beyond the 64th are dropped, as Kafka drops them
// (ByteUtils.readUnsignedVarlong).
func uvarint(b []byte, limit int) (v uint64, rest []byte, ok bool) {
	for i, c := range b[:min(limit, len(b))] {
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, b[i+1:], true
		}
	}
	return 0, b, false
}

// varint reads a zigzag number of 32 bits (ByteUtils.readVarint).
func varint(b []byte) (v int32, rest []byte, ok bool) {
	if len(b) > 0 && b[0] < 0x80 { // nearly all of them
		return int32(b[0]>>1) ^ -int32(b[0]&1), b[1:], true
	}
	u, rest, ok := uvarint(b, maxVarintBytes)
	w := uint32(u)
	return int32(w>>1) ^ -int32(w&1), rest, ok
}

// varlong reads a zigzag number of 64 bits.
func varlong(b []byte) (v int64, rest []byte, ok bool) {
	u, rest, ok := uvarint(b, maxVarlongBytes)
	return int64(u>>1) ^ -int64(u&1), rest, ok
}

func appendUvarint(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

func appendVarint(dst []byte, v int32) []byte {
	return appendUvarint(dst, uint64(uint32(v<<1)^uint32(v>>31)))
}

func appendVarlong(dst []byte, v int64) []byte {
	return appendUvarint(dst, uint64(v<<1)^uint64(v>>63))
}

func uvarintSize(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

func varintSize(v int32) int { return uvarintSize(uint64(uint32(v<<1) ^ uint32(v>>31))) }

func varlongSize(v int64) int { return uvarintSize(uint64(v<<1) ^ uint64(v>>63)) }

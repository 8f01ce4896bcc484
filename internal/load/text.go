package load

import (
	"math/rand/v2"
	"strconv"
)

// text is where values come from: names of fields and numbers at random, which
// compress as such texts do. Each value begins elsewhere in it, as a batch of values
// that are all alike would compress to nothing.
type text struct {
	bytes []byte
	rng   *rand.Rand
}

// newText is good for values of at most size bytes. It is the same in each run: what
// is measured is to be compared.
func newText(size int) *text {
	const spread = 1 << 20
	fields := []string{"orderId", "customer", "amount", "currency", "createdAt", "status", "region", "sku"}
	t := &text{rng: rand.New(rand.NewPCG(1, 2))}
	for len(t.bytes) < size+spread {
		t.bytes = strconv.AppendQuote(t.bytes, fields[t.rng.IntN(len(fields))])
		t.bytes = strconv.AppendInt(append(t.bytes, ':'), t.rng.Int64N(1_000_000_000), 10)
		t.bytes = append(t.bytes, ',')
	}
	return t
}

// value is a new one, whose first HeaderBytes are the caller's to write.
func (t *text) value(size int) []byte {
	at := t.rng.IntN(len(t.bytes) - size)
	return append([]byte(nil), t.bytes[at:at+size]...)
}

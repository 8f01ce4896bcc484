package sim

// hash is of the kind of FNV-1a, over numbers: what a history is known by.
type hash uint64

const (
	fnvOffset hash = 14695981039346656037
	fnvPrime  hash = 1099511628211
)

func (h *hash) add(v int64) {
	x := (*h ^ hash(v)) * fnvPrime
	*h = x ^ x>>29 // or what is high in v would stay high
}

func (h *hash) bytes(p []byte) {
	for _, b := range p {
		*h = (*h ^ hash(b)) * fnvPrime
	}
}

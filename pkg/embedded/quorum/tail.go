package quorum

import "sort"

// tailBytes is how much of the log is kept in memory: more than a broker that
// keeps up is ever behind.
const tailBytes = 1 << 20

// batch is a batch of the log, of offsets [base, end).
type batch struct {
	base, end int64
	bytes     []byte
}

// tail is the last durable batches.
type tail struct {
	batches []batch
	size    int
}

func (t *tail) add(b batch) {
	t.batches = append(t.batches, b)
	t.size += len(b.bytes)
	i := 0
	for ; t.size > tailBytes && i+1 < len(t.batches); i++ {
		t.size -= len(t.batches[i].bytes)
		t.batches[i] = batch{}
	}
	t.batches = t.batches[i:]
}

// read returns a copy of whole batches, first the one that holds from: one at
// least, and not more bytes than most otherwise. False if it lies further back.
func (t *tail) read(from int64, most int) ([]byte, bool) {
	if len(t.batches) == 0 || from < t.batches[0].base {
		return nil, false
	}
	first := sort.Search(len(t.batches), func(i int) bool { return t.batches[i].end > from })
	size, last := 0, first
	for ; last < len(t.batches); last++ {
		if size > 0 && size+len(t.batches[last].bytes) > most {
			break
		}
		size += len(t.batches[last].bytes)
	}
	all := make([]byte, 0, size)
	for _, b := range t.batches[first:last] {
		all = append(all, b.bytes...)
	}
	return all, true
}

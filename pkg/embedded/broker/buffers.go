package broker

import (
	"math/bits"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// NewBuffers returns buffers for the nodes of a process.
func NewBuffers() machine.Buffers { return &pool }

// buffers keeps room by powers of two. What is smaller than the first or larger than
// the last is the garbage collector's.
type buffers [lastClass - firstClass + 1]sync.Pool

const (
	firstClass = 14 // 16 KiB
	lastClass  = 22 // 4 MiB
)

var pool buffers

// class is the smallest that holds n bytes.
func class(n int) int { return max(bits.Len(uint(n-1)), firstClass) - firstClass }

// have returns n bytes if there is room already.
func (p *buffers) have(n int) []byte {
	if n < 1<<firstClass || n > 1<<lastClass {
		return nil
	}
	if b, ok := p[class(n)].Get().(*[]byte); ok {
		return (*b)[:n]
	}
	return nil
}

// Get implements machine.Buffers.
func (p *buffers) Get(n int) []byte {
	if b := p.have(n); b != nil {
		return b
	}
	if n < 1<<firstClass || n > 1<<lastClass {
		return make([]byte, n)
	}
	return make([]byte, n, 1<<(class(n)+firstClass))
}

// Put implements machine.Buffers.
func (p *buffers) Put(b []byte) {
	b = b[:cap(b)]
	if len(b) < 1<<firstClass || len(b) >= 2<<lastClass {
		return
	}
	if poison {
		for i := range b {
			b[i] = 0xdb
		}
	}
	p[bits.Len(uint(len(b)))-1-firstClass].Put(&b)
}

// takeBack takes a written response's records.
func (p *buffers) takeBack(resp *kmsg.FetchResponse) {
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			part := &resp.Topics[i].Partitions[j]
			p.Put(part.RecordBatches)
			part.RecordBatches = nil
		}
	}
}

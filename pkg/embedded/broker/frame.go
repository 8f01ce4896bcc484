package broker

import (
	"bufio"
	"io"
	"sync"

	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

const (
	// readerBytes holds most requests that carry no records. An idle connection keeps
	// one; what is larger goes past it.
	readerBytes = 512
	// trustedBytes is what a size prefix is believed at once, and trustGrows how many
	// times over what has come is.
	trustedBytes = 64 << 10
	trustGrows   = 16
)

// readFrame reads a request without its size prefix into a buffer that nobody else
// uses: a parsed request points into it.
func readFrame(r *bufio.Reader) ([]byte, error) {
	var prefix [wire.SizePrefix]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	size, err := wire.FrameSize(prefix)
	if err != nil {
		return nil, err
	}
	return readTowards(r, size, trustedBytes)
}

// readTowards reads size bytes, of which so many are allocated before any has come.
func readTowards(r io.Reader, size, trusted int) ([]byte, error) {
	frame := make([]byte, min(size, trusted))
	for n := 0; ; {
		if _, err := io.ReadFull(r, frame[n:]); err != nil {
			return nil, err
		}
		if n = len(frame); n == size {
			return frame, nil
		}
		grown := make([]byte, min(size, trustGrows*n))
		copy(grown, frame)
		frame = grown
	}
}

// frames are buffers to write from.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// pooledBytes is the largest buffer that is kept for others.
const pooledBytes = 4 << 20

func getFrame() *[]byte { return frames.Get().(*[]byte) }

func putFrame(b *[]byte) {
	if cap(*b) <= pooledBytes {
		*b = (*b)[:0]
		frames.Put(b)
	}
}

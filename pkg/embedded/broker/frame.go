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
	// trustedBytes is what a size prefix is believed at once. Of more, as much is
	// allocated as has come, twice over.
	trustedBytes = 64 << 10
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
	return readTowards(r, size)
}

// readTowards reads size bytes.
func readTowards(r io.Reader, size int) ([]byte, error) {
	frame := make([]byte, min(size, trustedBytes))
	for n := 0; ; {
		if _, err := io.ReadFull(r, frame[n:]); err != nil {
			return nil, err
		}
		if n = len(frame); n == size {
			return frame, nil
		}
		grown := make([]byte, min(size, 2*n))
		copy(grown, frame)
		frame = grown
	}
}

// frames are buffers to write from.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// pooledBytes is the largest buffer that is kept for others.
const pooledBytes = 1 << 20

func getFrame() *[]byte { return frames.Get().(*[]byte) }

func putFrame(b *[]byte) {
	if cap(*b) <= pooledBytes {
		*b = (*b)[:0]
		frames.Put(b)
	}
}

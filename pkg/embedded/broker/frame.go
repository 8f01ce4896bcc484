package broker

import (
	"bufio"
	"io"
	"net"
	"sync"
	"time"

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
// Room that is there already costs nothing, whatever the size claims.
func readTowards(r io.Reader, size, trusted int) ([]byte, error) {
	if frame := pool.have(size); frame != nil {
		_, err := io.ReadFull(r, frame)
		return frame, err
	}
	frame := pool.Get(min(size, trusted))
	for n := 0; ; {
		if _, err := io.ReadFull(r, frame[n:]); err != nil {
			return nil, err
		}
		if n = len(frame); n == size {
			return frame, nil
		}
		grown := pool.Get(min(size, trustGrows*n))
		copy(grown, frame)
		pool.Put(frame)
		frame = grown
	}
}

// outbox is what a response is encoded into, to be written.
type outbox struct {
	pieces wire.Pieces
	group  net.Buffers
}

var outboxes = sync.Pool{New: func() any { return new(outbox) }}

// keptBytes is the largest outbox that is kept for others.
const keptBytes = 4 << 20

func (o *outbox) done() {
	o.pieces.Forget()
	clear(o.group[:cap(o.group)])
	if cap(o.pieces.Head) <= keptBytes {
		outboxes.Put(o)
	}
}

// writeBytes is how much is written until a deadline of its own.
const writeBytes = 1 << 20

// write writes the pieces, some at once, each such write until a deadline of its own.
func (o *outbox) write(nc net.Conn, deadline func() time.Time) error {
	for rest := o.pieces.All; len(rest) > 0; {
		o.group = o.group[:0]
		for left := writeBytes; left > 0 && len(rest) > 0; {
			n := min(left, len(rest[0]))
			if n > 0 {
				o.group = append(o.group, rest[0][:n])
			}
			left -= n
			if rest[0] = rest[0][n:]; len(rest[0]) == 0 {
				rest = rest[1:]
			}
		}
		if err := nc.SetWriteDeadline(deadline()); err != nil {
			return err
		}
		group := o.group // WriteTo consumes its receiver
		if _, err := group.WriteTo(nc); err != nil {
			return err
		}
	}
	return nil
}

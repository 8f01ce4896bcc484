package isrlog

import (
	"context"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Handed hands looks that somebody takes anyway to a [Poll], so that there are no more of
// them for it. The zero value is ready.
type Handed struct {
	mu sync.Mutex
	// looks has room for one; nil while nobody asks for any.
	looks chan *inspect.Snapshot
}

// Leave leaves a look, where somebody asks for them. It waits for nothing: of two that
// were not fetched the later one counts.
func (h *Handed) Leave(s *inspect.Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.looks == nil {
		return
	}
	select {
	case <-h.looks:
	default:
	}
	h.looks <- s
}

// Poll compares the looks that are left from when it is read; every says how far they are
// apart, and whole whether they are at all topics there are. One reading at a time.
func (h *Handed) Poll(every time.Duration, whole bool) *Poll {
	return &Poll{Every: every, Whole: whole, Take: h.take, ended: h.forget}
}

func (h *Handed) take(ctx context.Context) (*inspect.Snapshot, error) {
	h.mu.Lock()
	if h.looks == nil {
		h.looks = make(chan *inspect.Snapshot, 1)
	}
	looks := h.looks
	h.mu.Unlock()
	select {
	case s := <-looks:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// forget: a look may be large, and is old when the next reading begins.
func (h *Handed) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looks = nil
}

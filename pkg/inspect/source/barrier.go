package source

import (
	"context"
	"sync"
	"time"
)

// barrier holds back a round of requests until the round before it has been
// answered by all, or by all but those that have been silent for grace since the
// last answer. A grace of 0 waits for all: each of them is bounded by itself.
type barrier struct {
	grace time.Duration

	mu      sync.Mutex
	missing int
	isOpen  bool
	opened  chan struct{}
	timer   *time.Timer
}

func newBarrier(parties int, grace time.Duration) *barrier {
	return &barrier{grace: grace, missing: parties, opened: make(chan struct{})}
}

// arrive says that one party has its answer, or never will. It returns true when
// the barrier had opened before: the answer came too late for its round.
func (b *barrier) arrive() (late bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.missing--
	switch {
	case b.isOpen:
		return true
	case b.missing == 0:
		b.open()
	case b.grace > 0 && b.timer == nil:
		b.timer = time.AfterFunc(b.grace, b.expire)
	case b.grace > 0:
		b.timer.Reset(b.grace)
	}
	return false
}

func (b *barrier) expire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open()
}

func (b *barrier) open() {
	if b.timer != nil {
		b.timer.Stop()
	}
	if !b.isOpen {
		b.isOpen = true
		close(b.opened)
	}
}

// wait returns when the barrier opens or the pass ends.
func (b *barrier) wait(ctx context.Context) {
	select {
	case <-b.opened:
	case <-ctx.Done():
	}
}

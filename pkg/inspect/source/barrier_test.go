package source

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// opens says after how long the barrier opens for a waiter.
func opens(b *barrier) func() time.Duration {
	began := time.Now()
	done := make(chan time.Duration, 1)
	go func() {
		b.wait(context.Background())
		done <- time.Since(began)
	}()
	return func() time.Duration { return <-done }
}

func TestBarrierOpensWhenAllHaveArrived(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBarrier(2, 0)
		opened := opens(b)
		time.Sleep(time.Second)
		if b.arrive() {
			t.Error("the first one to arrive is late")
		}
		time.Sleep(10 * time.Second) // no grace: it waits for as long as it takes
		if b.arrive() {
			t.Error("the last one to arrive is late")
		}
		if got := opened(); got != 11*time.Second {
			t.Errorf("opened after %s, want 11s", got)
		}
	})
}

func TestBarrierGraceRunsFromTheLastArrival(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const grace = 500 * time.Millisecond
		b := newBarrier(3, grace)
		opened := opens(b)
		time.Sleep(5 * time.Second) // nobody has answered: no grace runs yet
		b.arrive()
		time.Sleep(400 * time.Millisecond)
		b.arrive()
		if got, want := opened(), 5400*time.Millisecond+grace; got != want {
			t.Errorf("opened after %s, want %s", got, want)
		}
		if !b.arrive() {
			t.Error("one that arrives after the barrier opened is not late")
		}
	})
}

func TestBarrierEndsWithThePass(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	newBarrier(1, 0).wait(ctx) // returns
}

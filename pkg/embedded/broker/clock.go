package broker

import (
	"sync/atomic"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// Clock is a node's two clocks: Mono counts from when the Clock was made, Wall is
// this machine's time of day and as far off as it was told to jump. It is for
// several goroutines, and for all lives of a node.
type Clock struct {
	began  time.Time
	jumped atomic.Int64 // ms
}

// NewClock returns a clock that is right.
func NewClock() *Clock { return &Clock{began: time.Now()} }

// Jump sets the time of day forward, or back where d is negative.
func (c *Clock) Jump(d time.Duration) { c.jumped.Add(d.Milliseconds()) }

// Jumped is by how much Jump has set it off.
func (c *Clock) Jumped() time.Duration { return time.Duration(c.jumped.Load()) * time.Millisecond }

// Now is what a step is told.
func (c *Clock) Now() machine.Time {
	now := time.Now()
	return machine.Time{Mono: now.Sub(c.began).Milliseconds(), Wall: now.UnixMilli() + c.jumped.Load()}
}

// until is how long it takes until Mono is mono.
func (c *Clock) until(mono int64) time.Duration {
	elapsed := time.Since(c.began)
	if ms := elapsed.Milliseconds(); mono-ms > int64(time.Hour/time.Millisecond) {
		return time.Hour // far away, and beyond what a Duration holds
	}
	return time.Duration(mono)*time.Millisecond - elapsed
}

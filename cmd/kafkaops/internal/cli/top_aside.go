package cli

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// aside is what goes on beside the looks. What panics there would end the process with the
// terminal as top has set it; so it is handed to the next look, whose end leaves the screen
// first.
type aside struct {
	running sync.WaitGroup
	fault   atomic.Pointer[string]
}

// Go runs f in a goroutine of its own.
func (a *aside) Go(f func()) {
	a.running.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				text := fmt.Sprintf("%v\n\nbeside the looks:\n%s", r, debug.Stack())
				a.fault.CompareAndSwap(nil, &text)
			}
		}()
		f()
	})
}

// check panics where something beside has.
func (a *aside) check() {
	if text := a.fault.Load(); text != nil {
		panic(*text)
	}
}

// Wait waits for all that runs.
func (a *aside) Wait() { a.running.Wait() }

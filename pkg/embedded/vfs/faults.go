package vfs

import (
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Faults is an FS whose calls go wrong by rule. It is for several goroutines;
// with one, the same rng and the same calls give the same faults.
type Faults struct {
	fs     FS
	waiter Waiter

	mu    sync.Mutex
	rng   *rand.Rand
	rules []*ActiveRule
	lost  bool
}

// Rule says which calls go wrong, and how. A call must fit all of Name, Ops,
// Probability, Skip and Times; then everything set below them happens to it.
// Rules are looked at in the order in which they were added; delays add up, the
// first error counts.
type Rule struct {
	// Name is a pattern of path.Match: with a slash for the whole name, without
	// one for its last part; empty for all. Rename is looked up by its old name,
	// a file by the one that it was opened with.
	Name string
	// Ops are the calls, joined by |; 0 for all.
	Ops Op
	// Probability that a call that fits goes wrong; 0 stands for 1.
	Probability float64
	// Skip lets so many calls that would go wrong pass first.
	Skip int
	// Times is how many then go wrong; 0 for no end.
	Times int

	// Delay makes the call longer.
	Delay time.Duration
	// Stall keeps the call from returning until the rule is released or removed.
	Stall bool
	// Err is what the call fails with: ErrIO, ErrNoSpace or any other. Nothing of
	// it is done, but see the next three.
	Err error
	// Done lets the call be done all the same: the error comes after it.
	Done bool
	// Short lets a write do a beginning of what it should, of a random length.
	// Without Err it fails with io.ErrShortWrite.
	Short bool
	// LoseUnsynced makes a Sync that fails lose data (fsyncgate): a random part
	// of what was not durable yet is never written, whatever a later Sync says.
	// On a Mem only; a real disk keeps what it has.
	LoseUnsynced bool
	// FlipBits flips so many random bits of what is read, or of what is written
	// on its way to the disk.
	FlipBits int
}

// ActiveRule is a rule in force.
type ActiveRule struct {
	Rule

	faults   *Faults
	seen     int // calls that would go wrong
	hits     int // calls that did
	released chan struct{}
}

// Call is a call as a Waiter sees it.
type Call struct {
	Op   Op
	Name string
}

// Waiter is where time comes from. Faults calls it without a lock, after the
// call was done on the disk below and before it returns.
type Waiter interface {
	// Delay is told that the call takes d longer.
	Delay(c Call, d time.Duration)
	// Stall is told that the call does not return before released is closed.
	Stall(c Call, released <-chan struct{})
}

// RealTime waits.
type RealTime struct{}

// Delay sleeps for d.
func (RealTime) Delay(_ Call, d time.Duration) { time.Sleep(d) }

// Stall waits until released is closed.
func (RealTime) Stall(_ Call, released <-chan struct{}) { <-released }

// Noted does not wait: it notes what to wait for, for a simulation, in which the
// calls of a step return at once and their effects come when the time has. The
// zero value is ready. It is for one goroutine.
type Noted struct{ waits []Wait }

// Wait is a delay, or a stall if Released is not nil.
type Wait struct {
	Call     Call
	Delay    time.Duration
	Released <-chan struct{}
}

// Delay notes a delay.
func (n *Noted) Delay(c Call, d time.Duration) {
	n.waits = append(n.waits, Wait{Call: c, Delay: d})
}

// Stall notes a stall.
func (n *Noted) Stall(c Call, released <-chan struct{}) {
	n.waits = append(n.waits, Wait{Call: c, Released: released})
}

// Take returns what was noted since the last Take, in order.
func (n *Noted) Take() []Wait {
	waits := n.waits
	n.waits = nil
	return waits
}

// NewFaults returns fsys with no rule yet.
func NewFaults(fsys FS, rng *rand.Rand, w Waiter) *Faults {
	return &Faults{fs: fsys, rng: rng, waiter: w}
}

// Add puts a rule into force, for files that are open already too.
func (f *Faults) Add(r Rule) *ActiveRule {
	a := &ActiveRule{Rule: r, faults: f, released: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, a)
	return a
}

// Clear removes all rules.
func (f *Faults) Clear() {
	f.mu.Lock()
	rules := slices.Clone(f.rules)
	f.mu.Unlock()
	for _, a := range rules {
		a.Remove()
	}
}

// Lost reports whether a Sync has failed by a rule with LoseUnsynced: what is read from
// then on may lack what was written before.
func (f *Faults) Lost() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

func (f *Faults) hasLost() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = true
}

// Remove takes the rule out of force and releases whom it holds.
func (a *ActiveRule) Remove() {
	a.faults.mu.Lock()
	defer a.faults.mu.Unlock()
	a.faults.rules = slices.DeleteFunc(a.faults.rules, func(r *ActiveRule) bool { return r == a })
	a.release()
}

// Release lets the stalled calls return; the rule stays in force for new ones.
func (a *ActiveRule) Release() {
	a.faults.mu.Lock()
	defer a.faults.mu.Unlock()
	a.release()
	a.released = make(chan struct{})
}

// release closes the channel once; under the lock.
func (a *ActiveRule) release() {
	select {
	case <-a.released:
	default:
		close(a.released)
	}
}

// Hits is how many calls went wrong by the rule.
func (a *ActiveRule) Hits() int {
	a.faults.mu.Lock()
	defer a.faults.mu.Unlock()
	return a.hits
}

// fits reports whether the rule hits the call. It draws from the rng and counts,
// so that it is asked once for a call; under the lock.
func (a *ActiveRule) fits(c Call, rng *rand.Rand) bool {
	if a.Ops != 0 && a.Ops&c.Op == 0 || !matches(a.Name, c.Name) || a.Times > 0 && a.hits >= a.Times {
		return false
	}
	if a.Probability > 0 && rng.Float64() >= a.Probability {
		return false
	}
	if a.seen++; a.seen <= a.Skip {
		return false
	}
	a.hits++
	return true
}

func matches(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// fault is what the rules do to one call.
type fault struct {
	call   Call
	delay  time.Duration
	stalls []<-chan struct{}
	err    error
	done   bool
	short  bool
	lose   bool
	flips  int
	rng    *rand.Rand // of its own, so that it is used without the lock
}

// on asks the rules about a call.
func (f *Faults) on(op Op, name string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := fault{call: Call{Op: op, Name: name}}
	for _, a := range f.rules {
		if !a.fits(out.call, f.rng) {
			continue
		}
		out.delay += a.Delay
		out.flips += a.FlipBits
		if a.Stall {
			out.stalls = append(out.stalls, a.released)
		}
		if err := a.failure(op); err != nil && out.err == nil {
			out.err = pathError(op.String(), name, err)
			out.done, out.short, out.lose = a.Done, a.Short && op == OpWrite, a.LoseUnsynced
		}
	}
	if out.short || out.lose || out.flips > 0 {
		out.rng = rand.New(rand.NewPCG(f.rng.Uint64(), f.rng.Uint64()))
	}
	return out
}

func (a *ActiveRule) failure(op Op) error {
	if a.Err == nil && a.Short && op == OpWrite {
		return io.ErrShortWrite
	}
	return a.Err
}

// wait lets the time pass that the rules want.
func (f *Faults) wait(ft fault) {
	if ft.delay > 0 {
		f.waiter.Delay(ft.call, ft.delay)
	}
	for _, released := range ft.stalls {
		f.waiter.Stall(ft.call, released)
	}
}

// do makes a call that the rules may fail, delay or stall.
func (f *Faults) do(op Op, name string, call func() error) error {
	ft := f.on(op, name)
	var err error
	if ft.err == nil || ft.done {
		err = call()
	}
	f.wait(ft)
	if ft.err != nil {
		return ft.err
	}
	return err
}

// flip flips bits of p.
func (ft *fault) flip(p []byte) {
	for range ft.flips {
		if len(p) > 0 {
			bit := ft.rng.IntN(8 * len(p))
			p[bit/8] ^= 1 << (bit % 8)
		}
	}
}

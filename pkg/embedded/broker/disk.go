package broker

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Disk is a node's disk and its faults, for all lives of the node. It is for several
// goroutines.
type Disk struct {
	mu    sync.Mutex
	below vfs.FS
	// power is what the power's failure leaves of below.
	power func() (vfs.FS, error)
	rules []vfs.Rule
	rng   *rand.Rand

	// Of the present life.
	faults *vfs.Faults
	waits  *waits
	syncs  *syncs
}

// NewMemoryDisk returns an empty disk in memory.
func NewMemoryDisk(rng *rand.Rand) *Disk {
	d := &Disk{rng: rng}
	mem := vfs.NewMem(vfs.MemOptions{})
	d.below = mem
	d.power = func() (vfs.FS, error) {
		mem = mem.CrashClone(rng)
		return mem, nil
	}
	return d
}

// NewDirDisk returns a directory of this machine, which must exist, as a disk. Syncs
// of logs and their indexes are done beside the node's steps; see the package's
// DESIGN.md.
func NewDirDisk(dir string, rng *rand.Rand) *Disk {
	tracked := newTailFS(vfs.NewReal(dir))
	d := &Disk{rng: rng, below: tracked, syncs: newSyncs()}
	d.power = func() (vfs.FS, error) {
		err := tracked.cut(rng)
		return tracked, err
	}
	return d
}

// start returns the disk as a new life of its node sees it.
func (d *Disk) start() vfs.FS {
	d.mu.Lock()
	defer d.mu.Unlock()
	fsys := d.below
	if d.syncs != nil {
		d.syncs = newSyncs()
		fsys = &syncFS{FS: fsys, s: d.syncs}
	}
	d.waits = &waits{}
	d.faults = vfs.NewFaults(fsys, rand.New(rand.NewPCG(d.rng.Uint64(), d.rng.Uint64())), d.waits)
	for _, r := range d.rules {
		d.faults.Add(r)
	}
	return d.faults
}

// PowerFails loses what is not durable. The node must not run.
func (d *Disk) PowerFails() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	below, err := d.power()
	if err == nil {
		d.below = below
	}
	return err
}

// add puts a rule into force until Heal, for this life and those to come.
func (d *Disk) add(r vfs.Rule) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = append(d.rules, r)
	if d.faults != nil {
		d.faults.Add(r)
	}
}

// Slow makes each write and sync longer by delay.
func (d *Disk) Slow(delay time.Duration) {
	d.add(vfs.Rule{Ops: vfs.OpWrite | vfs.OpSync, Delay: delay})
}

// Fail makes every call fail from now on.
func (d *Disk) Fail() { d.add(vfs.Rule{Err: vfs.ErrIO}) }

// Fill leaves no room for anything.
func (d *Disk) Fill() {
	d.add(vfs.Rule{Ops: vfs.OpWrite | vfs.OpCreate | vfs.OpMkdir, Err: vfs.ErrNoSpace})
}

// Heal ends Slow, Fail and Fill, for what comes: see [Server.Hurry].
func (d *Disk) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = nil
	if d.faults != nil {
		d.faults.Clear()
	}
}

// Faulty reports whether a fault is in force.
func (d *Disk) Faulty() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.rules) > 0
}

// waits adds up what calls should have taken longer. The node's goroutine asks; a call
// may come from another one.
type waits struct {
	mu    sync.Mutex
	delay time.Duration
}

// Delay implements vfs.Waiter.
func (w *waits) Delay(_ vfs.Call, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay += d
}

// Stall implements vfs.Waiter. No rule of this package stalls.
func (w *waits) Stall(vfs.Call, <-chan struct{}) {}

func (w *waits) take() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.delay
	w.delay = 0
	return d
}

// remove is slices.DeleteFunc for one.
func remove[T comparable](s []T, v T) []T {
	return slices.DeleteFunc(s, func(x T) bool { return x == v })
}

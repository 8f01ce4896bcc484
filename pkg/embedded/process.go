package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/broker"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// State is what a node's process does.
type State string

// The states.
const (
	Running State = "running"
	Paused  State = "paused"
	Stopped State = "stopped" // cleanly
	Killed  State = "killed"
	Failed  State = "failed" // by itself: its disk, or what its log says
)

// process is what a broker and the controller have in common: a disk, a clock, a port,
// and one life after another. It is for several goroutines.
type process struct {
	c    *Cluster
	id   int
	name string
	peer machine.Peer
	port int
	disk *broker.Disk
	time *broker.Clock
	open func(disk vfs.FS, now machine.Time) (broker.Node, error)

	mu     sync.Mutex // held while its life changes
	state  State
	err    error          // why it is Failed
	server *broker.Server // nil before the first life
}

func (p *process) address() string { return address(p.c.host, p.port) }

// State is what it does now.
func (p *process) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now()
}

// Err is why it has failed: what its disk, or the file system below [Options].Dir, has
// answered, or what is wrong with its log. It is nil in every other state.
func (p *process) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now() == Failed {
		return p.err
	}
	return nil
}

// now is State, under the lock: its process may have ended by itself.
func (p *process) now() State {
	if p.alive() && ended(p.server) {
		if p.state = Stopped; p.server.Err() != nil {
			p.state, p.err = Failed, p.server.Err()
		}
	}
	return p.state
}

func (p *process) alive() bool { return p.state == Running || p.state == Paused }

func ended(s *broker.Server) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// start begins a life on a listener.
func (p *process) start(ln net.Listener) error {
	s, err := broker.Start(broker.Options{
		Name: p.name, Self: p.peer, Open: p.open, Disk: p.disk, Clock: p.time, Listener: ln,
		Address: p.c.addressOf, Links: &p.c.links, APIs: p.c.apis, Buffers: p.peer != machine.Controller, Log: p.c.log.With("node", p.name),
	})
	if err != nil {
		p.state, p.err = Failed, err
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.server, p.state = s, Running
	return nil
}

// Kill ends it as SIGKILL does: connections are lost, and its disk is as it is.
func (p *process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kill()
}

func (p *process) kill() {
	if p.now(); p.alive() {
		p.server.Kill()
		p.state = Killed
	}
}

// PowerLoss kills it, and what was not synced to its disk may be lost, in part or all.
// With [Options].Dir that is what was appended to files; names and what was written
// over stay as they are. After [Cluster.Close] it is refused: the directory may be another
// cluster's by then.
func (p *process) PowerLoss() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.c.over.Load() {
		return fmt.Errorf("%s: power loss: the cluster is closed", p.name)
	}
	p.kill()
	if err := p.disk.PowerFails(); err != nil {
		return fmt.Errorf("%s: power loss: %w", p.name, err)
	}
	return nil
}

// Pause stops it as SIGSTOP does, until Resume: its connections stay open, and what
// comes in waits. Its clocks go on.
func (p *process) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now() == Running {
		p.server.Pause()
		p.state = Paused
	}
}

// Resume ends Pause.
func (p *process) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resume()
}

func (p *process) resume() {
	if p.now() == Paused {
		p.server.Resume()
		p.state = Running
	}
}

// stop asks it to stop by begin, and waits until it has ended. One that is paused goes
// on first. Others may kill it meanwhile.
func (p *process) stop(ctx context.Context, begin func() stopper) error {
	p.mu.Lock()
	p.resume()
	running, s := p.now() == Running, p.server
	if running {
		s.Shutdown(begin())
	}
	p.mu.Unlock()
	if !running {
		return nil
	}
	select {
	case <-s.Done():
	case <-ctx.Done():
		return fmt.Errorf("%s has not stopped: %w", p.name, context.Cause(ctx))
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s has stopped with an error: %w", p.name, err)
	}
	return nil
}

type stopper = func(now machine.Time, out []machine.Effect) []machine.Effect

// revive begins a new life if there is none, and says whether it has.
func (p *process) revive() (begun bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now(); p.alive() {
		return false, nil
	}
	if p.c.over.Load() {
		return false, fmt.Errorf("%s: start: the cluster is closed", p.name)
	}
	ln, err := listenAgain(p.c.host, p.port)
	if err != nil {
		return false, fmt.Errorf("%s: its port is taken: %w", p.name, err)
	}
	if err := p.start(ln); err != nil {
		p.c.log.Error("the node cannot start", "node", p.name, "error", p.err)
		return false, err
	}
	return true, nil
}

// SlowDisk makes each write and each sync take longer.
func (p *process) SlowDisk(perWrite time.Duration) { p.disk.Slow(perWrite) }

// FailDisk makes the disk fail: with its next write, or read, the node ends.
func (p *process) FailDisk() { p.disk.Fail() }

// FillDisk leaves no room on the disk: with its next write the node ends, as Kafka does
// when its log directory fails.
func (p *process) FillDisk() { p.disk.Fill() }

// HealDisk ends SlowDisk, FailDisk and FillDisk. A node that has ended stays so.
func (p *process) HealDisk() {
	p.disk.Heal()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now(); p.alive() {
		p.server.Hurry()
	}
}

// JumpClock sets its time of day forward, or back where d is negative. Timeouts go by
// another clock.
func (p *process) JumpClock(d time.Duration) { p.time.Jump(d) }

// errEnded says that a node has ended while somebody waited for it.
var errEnded = errors.New("it has ended")

// poll waits until holds, or the node ends.
func (p *process) poll(ctx context.Context, what string, holds func() bool) error {
	return poll(ctx, what, holds, p)
}

// pollEvery is how often a wait looks, at first: who waits is in no hurry later.
const pollEvery, pollRarely = 500 * time.Microsecond, 20 * time.Millisecond

// poll waits until holds, or one of the nodes ends.
func poll(ctx context.Context, what string, holds func() bool, nodes ...*process) error {
	for pause := pollEvery; ; pause = min(2*pause, pollRarely) {
		for _, p := range nodes {
			if err := p.check(); err != nil {
				return fmt.Errorf("waiting until %s: %w", what, err)
			}
		}
		if holds() {
			return nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, context.Cause(ctx))
		}
	}
}

// check is nil while it lives.
func (p *process) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now(); p.alive() {
		return nil
	}
	if p.state == Failed {
		return fmt.Errorf("%s: %w: %w", p.name, errEnded, p.err)
	}
	return fmt.Errorf("%s: %w", p.name, errEnded)
}

package kafkatest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// stopTimeout is how long a node may take for a controlled shutdown. A broker
// that cannot reach the controller would take minutes.
const stopTimeout = 40 * time.Second

// Process is the life of a node: down, running or paused. Its methods may be
// called in any state and by several goroutines.
//
//	down -Start-> running -Pause-> paused -Resume-> running
//	running, paused -Stop, Kill-> down      running -(dies)-> down
type Process interface {
	// Start starts what is down. It does not wait for it to be of use.
	Start() error
	// Stop ends it in order, and Kill at once; both wait for its end.
	Stop() error
	Kill() error
	// Pause freezes what runs, Resume lets what is paused go on.
	Pause() error
	Resume() error
	State() State
}

// State is what a Process is at the moment.
type State int

// The states of a Process. Dead is down without having been told to.
const (
	Down State = iota
	Running
	Paused
	Dead
)

// javaProcess is a node as a process of its own.
type javaProcess struct {
	name    string // for errors
	log     string // file: what the process printed, all its lives
	spawner *spawner
	command func() *exec.Cmd

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process is gone; nil before the first start
	paused bool
	ended  bool // by us
}

func (p *javaProcess) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() {
		return nil
	}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("kafkatest: %w", err)
	}
	defer out.Close()
	cmd := p.command()
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, childAttr()
	if err := p.spawner.start(cmd); err != nil {
		return fmt.Errorf("kafkatest: start %s: %w", p.name, err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	p.cmd, p.exited, p.paused, p.ended = cmd, exited, false, false
	return nil
}

// running is for callers that hold mu.
func (p *javaProcess) running() bool {
	if p.exited == nil {
		return false
	}
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

func (p *javaProcess) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.running() && p.paused:
		return Paused
	case p.running():
		return Running
	case p.exited != nil && !p.ended:
		return Dead
	}
	return Down
}

func (p *javaProcess) Pause() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() {
		return fmt.Errorf("kafkatest: pause %s: it is not running", p.name)
	}
	p.paused = true
	return pause(p.cmd.Process)
}

func (p *javaProcess) Resume() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() || !p.paused {
		return nil
	}
	p.paused = false
	return resume(p.cmd.Process)
}

// end sends the process to its end and waits for it.
func (p *javaProcess) end(signal func(*os.Process) error) error {
	p.mu.Lock()
	if !p.running() {
		p.mu.Unlock()
		return nil
	}
	p.ended, p.paused = true, false
	process, exited := p.cmd.Process, p.exited
	_ = resume(process) // a paused process would not hear a polite signal
	err := signal(process)
	p.mu.Unlock()
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kafkatest: end %s: %w", p.name, err)
	}
	select {
	case <-exited:
		return nil
	case <-time.After(stopTimeout):
		return fmt.Errorf("kafkatest: %s did not end within %s; see %s, or use Kill", p.name, stopTimeout, p.log)
	}
}

func (p *javaProcess) Kill() error { return p.end((*os.Process).Kill) }
func (p *javaProcess) Stop() error { return p.end(terminate) }

// PID is the process's id, 0 while it is down.
func (p *javaProcess) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() {
		return 0
	}
	return p.cmd.Process.Pid
}

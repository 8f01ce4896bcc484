package kafkatest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// stopTimeout is how long a node may take for a controlled shutdown. A broker
// that cannot reach the controller would take minutes.
const stopTimeout = 40 * time.Second

// role is what a node is for.
type role int

const (
	isBroker role = iota
	isController
	isZooKeeper
)

// class is what the node's Java machine runs.
func (r role) class() string {
	if r == isZooKeeper {
		return "org.apache.zookeeper.server.quorum.QuorumPeerMain"
	}
	return "kafka.Kafka"
}

// A node is one process of a cluster: down, running or paused.
//
//	down -start-> running -pause-> paused -resume-> running
//	running, paused -stop, kill-> down      running -(dies)-> down
type node struct {
	id         int32
	role       role
	ports      map[string]int // by listener name
	logDirs    []string
	properties string // file
	log        string // file: what the process printed, all its lives

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process is gone; nil before the first start
	paused bool
	ended  bool // by us
}

func (n *node) addr(listener string) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(n.ports[listener]))
}

// start runs the process. It does not wait for it to be of use.
func (n *node) start(s *spawner, j jvm, opts Options) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running() {
		return nil
	}
	out, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("kafkatest: %w", err)
	}
	defer out.Close()
	flags := j.flags(opts.HeapMB, "info")
	if opts.JVM != nil {
		flags = append(flags, opts.JVM(n.id)...)
	}
	cmd := exec.Command(j.java, append(flags, n.role.class(), n.properties)...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, childAttr()
	if err := s.start(cmd); err != nil {
		return fmt.Errorf("kafkatest: start node %d: %w", n.id, err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	n.cmd, n.exited, n.paused, n.ended = cmd, exited, false, false
	return nil
}

// running is up for callers that hold mu.
func (n *node) running() bool {
	if n.exited == nil {
		return false
	}
	select {
	case <-n.exited:
		return false
	default:
		return true
	}
}

// alive reports whether the node can answer.
func (n *node) alive() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.running() && !n.paused
}

// up reports whether there is a process, paused or not.
func (n *node) up() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.running()
}

// died reports whether the process ended without being told to.
func (n *node) died() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.exited != nil && !n.running() && !n.ended
}

func (n *node) pause() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.running() {
		return fmt.Errorf("kafkatest: pause node %d: it is not running", n.id)
	}
	n.paused = true
	return pause(n.cmd.Process)
}

func (n *node) resume() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.running() || !n.paused {
		return nil
	}
	n.paused = false
	return resume(n.cmd.Process)
}

// end sends the process to its end and waits for it.
func (n *node) end(signal func(*os.Process) error, within time.Duration) error {
	n.mu.Lock()
	if !n.running() {
		n.mu.Unlock()
		return nil
	}
	n.ended, n.paused = true, false
	p, exited := n.cmd.Process, n.exited
	_ = resume(p) // a paused process would not hear a polite signal
	err := signal(p)
	n.mu.Unlock()
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kafkatest: end node %d: %w", n.id, err)
	}
	select {
	case <-exited:
		return nil
	case <-time.After(within):
		return fmt.Errorf("kafkatest: node %d did not end within %s; see %s, or use Kill", n.id, within, n.log)
	}
}

func (n *node) kill() error { return n.end((*os.Process).Kill, stopTimeout) }
func (n *node) stop() error { return n.end(terminate, stopTimeout) }

// tail returns the last lines of what the node printed.
func (n *node) tail(lines int) string {
	text, err := os.ReadFile(n.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// portTaken reports whether the node failed because another process listens
// on its port.
func (n *node) portTaken() bool {
	text, _ := os.ReadFile(n.log)
	return bytes.Contains(text, []byte("Address already in use"))
}

package broker

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// Node is what a Server runs: a *node.Node or a *quorum.Node.
type Node interface {
	machine.Machine
	// Ready reports whether it takes requests yet. Once it does it does so until its end.
	Ready() bool
	// Shutdown asks it to stop cleanly; machine.Stop says that it has.
	Shutdown(now machine.Time, out []machine.Effect) []machine.Effect
	// Abandon closes its files and writes nothing.
	Abandon()
}

// Options are what a node is served with.
type Options struct {
	// Name is what it calls itself to other nodes.
	Name string
	// Self is who it is to Links and Address.
	Self machine.Peer
	// Open opens the node on its disk. It is called once, by Start.
	Open func(disk vfs.FS, now machine.Time) (Node, error)
	// Disk is what Open gets, and what holds its orders up.
	Disk  *Disk
	Clock *Clock
	// Listener is where it is served; it is the Server's from then on.
	Listener net.Listener
	// Address is where another node is served, host and port.
	Address func(machine.Peer) string
	Links   *Links
	// APIs say which versions of ApiVersions there are.
	APIs wire.APIs
	// Buffers: the node has those of NewBuffers. It gives back the frames of what it is
	// sent, and the records of what it replies to a Fetch are given back for it.
	Buffers bool
	// Log is told the node's notes.
	Log *slog.Logger
}

// Server is one life of a node: what it takes to run it, until it is killed, stops
// or fails.
type Server struct {
	opts Options

	ctx    context.Context // ends when the node does
	cancel context.CancelFunc
	// gone is closed when the node has ended and nothing of it will be answered; done
	// when all goroutines have ended too.
	gone, done chan struct{}
	err        error          // why it has ended; read it once done is closed
	wg         sync.WaitGroup // all goroutines but the owner
	// open: the node has been ready. The owner sets it.
	open atomic.Bool

	mu          sync.Mutex
	inbox       []event
	controls    []func() // carried out even if the node is paused
	paused      bool
	ended       bool
	connections uint64
	conns       map[*conn]struct{}
	dialed      map[net.Conn]struct{}
	wake        chan struct{}

	// What follows is the owner's.
	node    Node
	token   machine.Token
	asked   map[machine.Token]*conn
	out     map[route]*outgoing
	disk    schedule
	ready   []machine.Input // to be stepped before the inbox is
	effects []machine.Effect
}

// event is what is put into the inbox: an input, or what the owner is to do.
type event struct {
	in   machine.Input
	conn *conn // of a Request
	do   func()
}

// Start opens a node and begins to serve it. Its error is Open's; the listener is
// closed then.
func Start(o Options) (*Server, error) {
	s := &Server{
		opts: o, gone: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
		conns: map[*conn]struct{}{}, dialed: map[net.Conn]struct{}{},
		asked: map[machine.Token]*conn{}, out: map[route]*outgoing{},
	}
	s.disk.init(s, o.Disk)
	n, err := o.Open(o.Disk.start(), o.Clock.Now())
	if err != nil {
		_ = o.Listener.Close()
		return nil, err
	}
	s.node = n
	s.openOnceReady()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Add(1)
	go s.accept()
	go s.run()
	return s, nil
}

// Do runs f beside the node's steps, even while it is paused: f may look at the node,
// and must not step it. False if the node has ended; f was not run then.
func (s *Server) Do(f func()) bool {
	ran := make(chan struct{})
	if !s.control(func() { f(); close(ran) }) {
		return false
	}
	select {
	case <-ran:
		return true
	case <-s.gone:
	}
	// It may have been the last thing before the end.
	select {
	case <-ran:
		return true
	default:
		return false
	}
}

// Pause stops the node as SIGSTOP does: connections stay open, and what comes in
// waits until Resume. Its clocks go on.
func (s *Server) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = true
}

// Resume ends Pause.
func (s *Server) Resume() {
	s.mu.Lock()
	s.paused = false
	s.mu.Unlock()
	signal(s.wake)
}

// Hurry ends what a slow disk holds up now: after [Disk.Heal].
func (s *Server) Hurry() {
	s.control(func() {
		s.disk.hurry()
		s.settle()
	})
}

// Kill ends the node as SIGKILL does, and returns when nothing of it runs any more.
// What it has written is on its disk; whether that is durable is another question.
func (s *Server) Kill() {
	s.control(func() { s.end(nil) })
	<-s.done
}

// Shutdown asks the node to stop, as begin does it: Done says when it has.
func (s *Server) Shutdown(begin func(now machine.Time, out []machine.Effect) []machine.Effect) {
	s.control(func() {
		s.effects = begin(s.opts.Clock.Now(), s.effects[:0])
		s.carryOut()
		s.settle()
	})
}

// Done is closed when the node has ended and nothing of it runs any more.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err is why the node has ended, once Done is closed: nil if it was killed or has
// stopped as it was asked to.
func (s *Server) Err() error { return s.err }

// post puts an event into the inbox.
func (s *Server) post(e event) {
	s.mu.Lock()
	s.inbox = append(s.inbox, e)
	first := len(s.inbox) == 1
	s.mu.Unlock()
	if first {
		signal(s.wake)
	}
}

// given is a frame as the node gets it.
func (s *Server) given(frame []byte) []byte {
	if s.opts.Buffers {
		return frame
	}
	return nil
}

// control has f run by the owner; false if the node has ended.
func (s *Server) control(f func()) bool {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return false
	}
	s.controls = append(s.controls, f)
	s.mu.Unlock()
	signal(s.wake)
	return true
}

func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default: // one word is enough
	}
}

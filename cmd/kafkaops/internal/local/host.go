package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded"
)

// Host carries out requests on a cluster of this process. Its zero value is not
// usable: see [NewHost].
type Host struct {
	since time.Time
	place Place
	data  string
	stop  func()
	// ending is over when Down begins.
	ending context.Context
	end    context.CancelFunc

	// doing is held by one change at a time: a fault in the middle of a heal would
	// leave nobody knowing what is in force.
	doing sync.Mutex

	mu      sync.Mutex // over the rest
	cluster *embedded.Cluster
	faults  []Fault
}

// NewHost is a Host without a cluster, of which it says that it is starting. data is the
// directory of its logs, empty in memory. stop is called, once or more often, when somebody
// asks for the end.
func NewHost(p Place, data string, stop func()) *Host {
	h := &Host{since: time.Now(), place: p, data: data, stop: stop}
	h.ending, h.end = context.WithCancel(context.Background())
	return h
}

// Up says that the cluster is there.
func (h *Host) Up(c *embedded.Cluster) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cluster = c
}

// Down says that the cluster is about to be closed: it ends what is being carried out
// and returns when nobody touches the cluster any more.
func (h *Host) Down() {
	h.end()
	h.doing.Lock()
	defer h.doing.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cluster = nil
}

// misuseError: it could not be done in any state of this cluster.
type misuseError struct{ reason string }

func (e *misuseError) Error() string { return e.reason }

func misusef(format string, args ...any) error { return &misuseError{fmt.Sprintf(format, args...)} }

// What is said before Up, and after Down.
var (
	errStarting = errors.New("the cluster is still starting: try again in a moment")
	errStopping = errors.New("the cluster is being stopped")
)

// Handle implements Handler.
func (h *Host) Handle(ctx context.Context, req Request) Answer {
	var a Answer
	if err := h.do(ctx, req); err != nil {
		var misuse *misuseError
		a.Error, a.Usage = err.Error(), errors.As(err, &misuse)
	}
	a.Status = h.Status()
	return a
}

func (h *Host) do(ctx context.Context, req Request) error {
	switch req.Do {
	case VerbStatus:
		return nil
	case VerbStop:
		h.stop()
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ending, cancel)()
	h.doing.Lock()
	defer h.doing.Unlock()
	h.mu.Lock()
	c := h.cluster
	h.mu.Unlock()
	switch {
	case h.ending.Err() != nil:
		return errStopping
	case c == nil:
		return errStarting
	}
	switch req.Do {
	case VerbFault:
		if req.Fault == nil {
			return errors.New("a fault without saying which")
		}
		return h.breakIt(ctx, c, *req.Fault)
	case VerbRestart:
		return h.restart(ctx, c, req.Broker)
	case VerbHeal:
		err := c.Heal(ctx)
		// Links and disks are whole also where a node has not come back, which its state
		// tells; clocks stay as they are.
		h.forget(func(f Fault) bool { return f.Kind != JumpClock })
		if errors.Is(err, syscall.ENOSPC) && h.data != "" { // no fault of ours took it: those are over
			return fmt.Errorf("%w: make room for %s, then %s again", err, h.data, h.typed("cluster heal"))
		}
		return err
	}
	return fmt.Errorf("%q is nothing that this version can do: is the cluster run by another one?", req.Do)
}

// breakIt does what the fault says and remembers it.
func (h *Host) breakIt(ctx context.Context, c *embedded.Cluster, f Fault) error {
	var err error
	if f.Kind == JumpClock {
		if err := h.mayJump(f); err != nil {
			return err
		}
	}
	if f.Kind.OfLink() {
		err = breakLink(c, f)
	} else {
		err = h.breakNode(ctx, c, f)
	}
	if err != nil {
		return err
	}
	f.Since = time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	// The same again replaces what was: a disk has one speed. Jumps of a clock add up,
	// and one that is back where it was has not jumped.
	h.faults = slices.DeleteFunc(h.faults, func(was Fault) bool {
		same := was.Kind == f.Kind && was.Broker == f.Broker && was.From == f.From && was.To == f.To
		if same && f.Kind == JumpClock {
			f.By += was.By
		}
		return same
	})
	if f.Kind != JumpClock || f.By != 0 {
		h.faults = append(h.faults, f)
	}
	return nil
}

// maxJump is how far a clock may be off: what is longer does not fit into a duration.
const maxJump = 100 * 365 * 24 * time.Hour

// mayJump: jumps add up.
func (h *Host) mayJump(f Fault) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := time.Duration(0)
	for _, other := range h.faults {
		if other.Kind == JumpClock && other.Broker == f.Broker {
			was = other.By
		}
	}
	if far := f.By > maxJump || f.By < -maxJump; far || was+f.By > maxJump || was+f.By < -maxJump {
		return misusef("a clock is at most 100 years (%.0fh) off; it would be more by %s", maxJump.Hours(), f.By)
	}
	return nil
}

// forget takes faults off the list of those in force.
func (h *Host) forget(over func(Fault) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = slices.DeleteFunc(h.faults, over)
}

func breakLink(c *embedded.Cluster, f Fault) error {
	for _, id := range []int{f.From, f.To} {
		if _, err := find(c, id); err != nil {
			return err
		}
	}
	if f.From == f.To {
		return misusef("a link is between two nodes, not from %s to itself", nodeName(f.From))
	}
	if f.Kind == Cut {
		c.Link(f.From, f.To).Cut()
	} else {
		c.Link(f.From, f.To).Slow(f.By)
	}
	return nil
}

// node is what brokers and the controller have in common.
type node interface {
	ID() int
	State() embedded.State
	Err() error
	Address() string
	Kill()
	PowerLoss() error
	Stop(ctx context.Context) error
	Pause()
	Restart(ctx context.Context) error
	SlowDisk(perWrite time.Duration)
	FailDisk()
	FillDisk()
	JumpClock(d time.Duration)
}

// find is the node of that id, or an error that says which there are.
func find(c *embedded.Cluster, id int) (node, error) {
	n := len(c.Brokers())
	switch {
	case id == embedded.ControllerID:
		return c.Controller(), nil
	case id < 1 || id > n:
		return nil, misusef("there is no broker %d: use 1 to %d, or controller", id, n)
	}
	return c.Broker(id), nil
}

func (h *Host) breakNode(ctx context.Context, c *embedded.Cluster, f Fault) error {
	n, err := find(c, f.Broker)
	if err != nil {
		return err
	}
	if state := n.State(); state != embedded.Running && state != embedded.Paused && endsProcess(f.Kind, state) {
		return fmt.Errorf("%s is down already (%s): %s starts it, %s all", nodeName(f.Broker), state,
			h.typed("cluster restart", "--broker", nodeWord(f.Broker)), h.typed("cluster heal"))
	}
	switch f.Kind {
	case SlowDisk:
		n.SlowDisk(f.By)
	case FailDisk:
		n.FailDisk()
	case FillDisk:
		n.FillDisk()
	case Pause:
		n.Pause()
	case Kill:
		n.Kill()
	case PowerLoss:
		return n.PowerLoss()
	case Stop:
		return n.Stop(ctx)
	case JumpClock:
		n.JumpClock(f.By)
	case Fence:
		b, ok := n.(*embedded.Broker)
		if !ok {
			return misusef("the controller is not fenced, it fences: name a broker")
		}
		b.Fence()
	default:
		return fmt.Errorf("%q is no fault that this version knows", f.Kind)
	}
	return nil
}

// endsProcess: the fault is about a process, and there is none. What a dead one has not
// synced can still be lost, unless it has shut down.
func endsProcess(k FaultKind, state embedded.State) bool {
	switch k {
	case Kill, Pause, Stop:
		return true
	case PowerLoss:
		return state == embedded.Stopped
	}
	return false
}

// restart stops a node cleanly where it runs, and starts it. What is broken beside
// that it is down stays broken.
func (h *Host) restart(ctx context.Context, c *embedded.Cluster, id int) error {
	n, err := find(c, id)
	if err != nil {
		return err
	}
	if n.State() == embedded.Paused {
		return fmt.Errorf("%s is paused, and a paused process cannot shut down: %s resumes it", nodeName(id), h.typed("cluster heal"))
	}
	if kind, failed := h.failedDisk(id); failed {
		return fmt.Errorf("the disk of %s has failed (%s), and no process can start on it: %s ends that and starts it",
			nodeName(id), kind, h.typed("cluster heal"))
	}
	err = n.Restart(ctx)
	if n.State() != embedded.Running {
		return err
	}
	// Also where nobody waited until it was unfenced: it is down no more.
	h.forget(func(f Fault) bool {
		return f.Broker == id && slices.Contains([]FaultKind{Kill, PowerLoss, Stop}, f.Kind)
	})
	return err
}

// failedDisk is the fault by which a node's disk takes no writes.
func (h *Host) failedDisk(id int) (FaultKind, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.faults {
		if f.Broker == id && (f.Kind == FailDisk || f.Kind == FillDisk) {
			return f.Kind, true
		}
	}
	return "", false
}

// typed is a command to this cluster.
func (h *Host) typed(command string, args ...string) string {
	return Command(command, append(h.place.Flags(), args...)...)
}

// nodeWord is a node as commands take it.
func nodeWord(id int) string {
	if id == embedded.ControllerID {
		return "controller"
	}
	return strconv.Itoa(id)
}

func nodeName(id int) string {
	if id == embedded.ControllerID {
		return "the controller"
	}
	return "broker " + strconv.Itoa(id)
}

// Status is how the cluster stands now.
func (h *Host) Status() Status {
	h.mu.Lock()
	c, faults := h.cluster, slices.Clone(h.faults)
	h.mu.Unlock()
	s := Status{Name: h.place.Name, PID: os.Getpid(), Since: h.since, Data: h.data, DataBytes: -1, Nodes: []Node{}, Faults: []Fault{}}
	if c == nil {
		return s
	}
	s.Ready, s.ID, s.Bootstrap = true, c.ID(), c.Bootstrap()
	s.Faults = append(s.Faults, faults...)
	for _, b := range c.Brokers() {
		s.Nodes = append(s.Nodes, nodeStatus(b))
	}
	s.Nodes = append(s.Nodes, nodeStatus(c.Controller()))
	if h.data != "" {
		s.DataBytes = sizeOf(h.data)
	}
	return s
}

func nodeStatus(n node) Node {
	s := Node{ID: n.ID(), Controller: n.ID() == embedded.ControllerID, Address: n.Address(), State: string(n.State())}
	if err := n.Err(); err != nil { // it may have failed since
		s.State, s.Error = string(embedded.Failed), err.Error()
	}
	return s
}

// sizeOf is what the files below a directory hold. Files come and go meanwhile.
func sizeOf(dir string) int64 {
	var n int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		return -1
	}
	return n
}

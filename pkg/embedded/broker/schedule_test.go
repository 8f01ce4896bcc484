package broker

import (
	"errors"
	"log/slog"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// fakeNode tells what it is stepped with, and answers requests with nothing.
type fakeNode struct {
	disk   vfs.FS
	inputs chan machine.Input
}

func (n *fakeNode) Step(_ machine.Time, in machine.Input, out []machine.Effect) []machine.Effect {
	n.inputs <- in
	if r, ok := in.(machine.Request); ok {
		out = append(out, machine.Reply{Token: r.Token, Response: r.Body.ResponseKind()})
	}
	return out
}

func (n *fakeNode) Ready() bool { return true }

func (n *fakeNode) NextDeadline() int64 { return machine.Never }

func (n *fakeNode) Shutdown(_ machine.Time, out []machine.Effect) []machine.Effect {
	return append(out, machine.Stop{})
}

func (n *fakeNode) Abandon() {}

// hang bounds what must not hang.
const hang = 30 * time.Second

func (n *fakeNode) next(t *testing.T) machine.Input {
	t.Helper()
	select {
	case in := <-n.inputs:
		return in
	case <-time.After(hang):
		t.Fatal("the node hears nothing")
		return nil
	}
}

func serve(t *testing.T, disk *Disk) (*Server, *fakeNode) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNode{inputs: make(chan machine.Input, 100)}
	s, err := Start(Options{
		Name: "fake", Self: 1, Disk: disk, Clock: NewClock(), Listener: ln, Links: &Links{}, Log: slog.New(slog.DiscardHandler),
		Address: func(machine.Peer) string { return ln.Addr().String() },
		Open: func(disk vfs.FS, _ machine.Time) (Node, error) {
			n.disk = disk
			return n, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s, n
}

// order is one that does do.
type order struct {
	name string
	do   func() error
	err  error
}

func (o *order) Run() {
	if o.do != nil {
		o.err = o.do()
	}
}

func run(lane uint64, name string, do func() error) machine.Effect {
	return machine.Run{Lane: lane, Order: &order{name: name, do: do}}
}

// carry has the server carry out effects.
func carry(s *Server, effects ...machine.Effect) {
	s.Shutdown(func(machine.Time, []machine.Effect) []machine.Effect { return effects })
}

// quiet makes sure that nothing comes for longer than it would take.
func (n *fakeNode) quiet(t *testing.T) {
	t.Helper()
	time.Sleep(50 * time.Millisecond)
	if len(n.inputs) > 0 {
		t.Errorf("the node is stepped with %T", <-n.inputs)
	}
}

// reported returns the orders that are reported, up to the one named.
func (n *fakeNode) reported(t *testing.T, last string) []string {
	t.Helper()
	var names []string
	for {
		o := n.next(t).(machine.Ran).Order.(*order)
		if o.err != nil {
			t.Errorf("order %s: %v", o.name, o.err)
		}
		if names = append(names, o.name); o.name == last {
			return names
		}
	}
}

// gatedFS is a disk whose syncs wait to be let go.
type gatedFS struct {
	vfs.FS
	let  chan struct{}
	fail error
}

func (g *gatedFS) Open(name string, mode vfs.Mode) (vfs.File, error) {
	f, err := g.FS.Open(name, mode)
	return &gatedFile{f, g}, err
}

type gatedFile struct {
	vfs.File
	g *gatedFS
}

func (f *gatedFile) Sync() error {
	<-f.g.let
	return f.g.fail
}

func gatedDisk() (*Disk, *gatedFS) {
	g := &gatedFS{FS: vfs.NewMem(vfs.MemOptions{}), let: make(chan struct{})}
	return &Disk{rng: newRand(1), below: g, syncs: newSyncs()}, g
}

// TestOrdersAndSyncs: who may go on while a sync is under way, and who may not.
func TestOrdersAndSyncs(t *testing.T) {
	t.Parallel()
	disk, g := gatedDisk()
	s, n := serve(t, disk)
	one, err := n.disk.Open("1.log", vfs.Create)
	must(t, err)
	two, err := n.disk.Open("2.log", vfs.Create)
	must(t, err)
	write := func() error { _, err := one.Append([]byte("x")); return err }
	carry(s,
		run(2, "syncs", one.Sync),
		run(2, "next of its lane", write),
		run(3, "appends beside it", write),
		run(3, "relies on it", nil),
		run(4, "another log", nil),
		run(5, "syncs another log", two.Sync),
		run(0, "writes recovery points", nil),
		run(6, "last", nil),
	)
	if got, want := n.reported(t, "last"), []string{"appends beside it", "another log", "last"}; !slices.Equal(got, want) {
		t.Errorf("while they are under way: got %q, want %q", got, want)
	}
	g.let <- struct{}{}
	g.let <- struct{}{}
	got := n.reported(t, "writes recovery points")
	for range 5 - len(got) {
		got = append(got, n.next(t).(machine.Ran).Order.(*order).name)
	}
	slices.Sort(got)
	want := []string{"next of its lane", "relies on it", "syncs", "syncs another log", "writes recovery points"}
	if !slices.Equal(got, want) {
		t.Errorf("then: got %q, want %q", got, want)
	}
}

// TestFailedSyncEndsTheNode: its log believes that it is synced.
func TestFailedSyncEndsTheNode(t *testing.T) {
	t.Parallel()
	disk, g := gatedDisk()
	g.fail = vfs.ErrIO
	s, n := serve(t, disk)
	f, err := n.disk.Open("1.log", vfs.Create)
	must(t, err)
	carry(s, run(2, "syncs", f.Sync))
	g.let <- struct{}{}
	select {
	case <-s.Done():
	case <-time.After(hang):
		t.Fatal("it goes on")
	}
	if !errors.Is(s.Err(), vfs.ErrIO) {
		t.Errorf("got %v, want the disk's error", s.Err())
	}
	if len(n.inputs) > 0 {
		t.Errorf("the order is reported: %v", <-n.inputs)
	}
}

// TestSlowDisk: a slow order holds up its lane and no other; healed, it is done at once.
func TestSlowDisk(t *testing.T) {
	t.Parallel()
	disk := NewMemoryDisk(newRand(1))
	s, n := serve(t, disk)
	f, err := n.disk.Open("1.log", vfs.Create)
	must(t, err)
	disk.Slow(time.Hour)
	carry(s,
		run(2, "writes", func() error { _, err := f.Append([]byte("x")); return err }),
		run(2, "next of its lane", nil),
		run(4, "another log", nil),
	)
	if got, want := n.reported(t, "another log"), []string{"another log"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	disk.Heal()
	s.Hurry()
	if got, want := n.reported(t, "next of its lane"), []string{"writes", "next of its lane"}; !slices.Equal(got, want) {
		t.Errorf("healed: got %q, want %q", got, want)
	}
}

// TestSends: requests to a peer come to it in their order, what is cut off comes after
// it is healed, and each send has an end.
func TestSends(t *testing.T) {
	t.Parallel()
	s, n := serve(t, NewMemoryDisk(newRand(1))) // it is its own peer
	link := s.opts.Links.Link(1, 2)
	send := func(token machine.Token, maxWait int32) machine.Effect {
		req := kmsg.NewPtrFetchRequest()
		req.Version, req.MaxWaitMillis = 12, maxWait
		return machine.Send{Token: token, To: 2, Request: req}
	}
	link.Cut()
	carry(s, send(1, 11), send(2, 12), run(2, "order", nil))
	n.reported(t, "order")
	n.quiet(t)
	link.Heal()
	var came []int32
	var ended []machine.Token
	for len(ended) < 2 {
		switch in := n.next(t).(type) {
		case machine.Request:
			came = append(came, in.Body.(*kmsg.FetchRequest).MaxWaitMillis)
		case machine.Response:
			if in.Body == nil {
				t.Errorf("send %d is lost", in.Token)
			}
			ended = append(ended, in.Token)
		}
	}
	if !slices.Equal(came, []int32{11, 12}) || !slices.Equal(ended, []machine.Token{1, 2}) {
		t.Errorf("came %v, ended %v", came, ended)
	}
	// What comes back can be cut too; a lost connection is an end.
	back := s.opts.Links.Link(2, 1)
	back.Cut()
	carry(s, send(3, 13))
	if _, ok := n.next(t).(machine.Request); !ok {
		t.Fatal("a request does not get through, though only the way back is cut")
	}
	n.quiet(t)
	back.Heal()
	if r, ok := n.next(t).(machine.Response); !ok || r.Body == nil {
		t.Errorf("got %+v, want a response", r)
	}
	link.Hold(1)
	carry(s, send(4, 14), run(2, "order", nil))
	n.reported(t, "order")
	n.quiet(t)
	link.Release(1)
	if _, ok := n.next(t).(machine.Request); !ok {
		t.Fatal("a request that was held does not come")
	}
}

// TestPause: nothing is taken in until Resume, and everything then. Kill ends a paused
// node too.
func TestPause(t *testing.T) {
	t.Parallel()
	s, n := serve(t, NewMemoryDisk(newRand(1)))
	s.Pause()
	carry(s, machine.Send{Token: 1, To: 2, Request: kmsg.NewPtrApiVersionsRequest()}) // to itself
	carry(s, run(2, "order", nil))
	if o := n.next(t).(machine.Ran).Order.(*order); o.name != "order" {
		t.Errorf("got %s", o.name)
	}
	n.quiet(t)
	s.Resume()
	if _, ok := n.next(t).(machine.Request); !ok {
		t.Error("what came while it was paused is lost")
	}
	s.Pause()
	s.Kill()
	if s.Do(func() {}) {
		t.Error("a node that has ended is looked at")
	}
}

// TestNobodyListens: a peer that is not there is an end of the send.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	s, n := serve(t, NewMemoryDisk(newRand(1)))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err, ln.Close())
	s.opts.Address = func(machine.Peer) string { return ln.Addr().String() }
	carry(s, machine.Send{Token: 7, To: 2, Request: kmsg.NewPtrApiVersionsRequest()})
	if r, ok := n.next(t).(machine.Response); !ok || r.Token != 7 || r.Body != nil {
		t.Errorf("got %+v, want the end of send 7", r)
	}
}

package local_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
)

// patience is how long anything may take on a busy machine.
const patience = time.Minute

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// handler is a Handler of one function.
type handler func(ctx context.Context, req local.Request) local.Answer

func (h handler) Handle(ctx context.Context, req local.Request) local.Answer { return h(ctx, req) }

func claim(t *testing.T, p local.Place, h handler) *local.Claim {
	t.Helper()
	c, err := local.TakePlace(bounded(t), p)
	if err != nil {
		t.Fatal(err)
	}
	c.Serve(h)
	t.Cleanup(c.Close)
	return c
}

func status(pid int) handler {
	return func(context.Context, local.Request) local.Answer { return local.Answer{Status: local.Status{PID: pid}} }
}

// TestOneHasThePlace: a second one is refused with the process of the first, until
// that closes; then nothing is left in the directory.
func TestOneHasThePlace(t *testing.T) {
	t.Parallel()
	p := find(t, env(t), "default", "")
	if _, err := local.Ask(bounded(t), p, local.Request{Do: local.VerbStatus}); !errors.Is(err, local.ErrNotUp) {
		t.Errorf("got %v, want that nobody is there", err)
	}
	first := claim(t, p, status(4711))
	second, err := local.TakePlace(bounded(t), p)
	var taken *local.TakenError
	if !errors.As(err, &taken) || taken.PID != 4711 {
		t.Fatalf("got %v, %v; want it refused with process 4711", second, err)
	}
	first.Close()
	first.Close()
	if left, err := os.ReadDir(p.Run); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v; want an empty directory", left, err)
	}
	claim(t, p, status(4712))
}

// TestManyAtOnce: of all that want the place one has it.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	p := find(t, env(t), "default", "")
	// What a process that was killed leaves behind.
	if err := os.Mkdir(p.Run, 0o700); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	const n = 20
	claims := make([]*local.Claim, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			c, err := local.TakePlace(bounded(t), p)
			var taken *local.TakenError
			switch {
			case err == nil:
				c.Serve(status(1))
				claims[i] = c
			case !errors.As(err, &taken):
				t.Errorf("got %v, want it taken", err)
			}
		})
	}
	wg.Wait()
	had := 0
	for _, c := range claims {
		if c != nil {
			had++
			t.Cleanup(c.Close)
		}
	}
	if had != 1 {
		t.Errorf("%d had the place, want one", had)
	}
}

// listen has a place's socket, and answers nobody.
func listen(t *testing.T, p local.Place) net.Listener {
	t.Helper()
	if err := os.Mkdir(p.Run, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// hangUp ends every connection at once, until there are no more.
func hangUp(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		conn.Close()
	}
}

// TestSilentOwner: who has the place and does not answer has it all the same.
func TestSilentOwner(t *testing.T) {
	t.Parallel()
	p := find(t, env(t), "default", "")
	l := listen(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if c, err := local.TakePlace(ctx, p); err == nil {
		c.Close()
		t.Error("the place was taken from who has it")
	}
	// Nor one that hangs up, as a version does that does not know the request.
	go hangUp(l)
	c, err := local.TakePlace(bounded(t), p)
	var taken *local.TakenError
	if !errors.As(err, &taken) || taken.PID != 0 {
		if err == nil {
			c.Close()
		}
		t.Errorf("got %v, want it taken by nobody knows whom", err)
	}
}

// TestPrivate: the socket and its directory are the owner's alone, and a directory
// that others can enter is refused.
func TestPrivate(t *testing.T) {
	t.Parallel()
	p := find(t, env(t), "default", "")
	c := claim(t, p, status(1))
	for path, want := range map[string]os.FileMode{p.Run: 0o700, p.Socket: 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got %v, %v; want %#o", path, info.Mode().Perm(), err, want)
		}
	}
	c.Close()
	if err := os.Chmod(p.Run, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := local.TakePlace(bounded(t), p); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("got %v, want a directory for all to be refused", err)
	}
}

// TestRequests arrive whole, answers come back, and a refusal is an error.
func TestRequests(t *testing.T) {
	t.Parallel()
	p := find(t, env(t), "default", "")
	var got local.Request
	claim(t, p, func(_ context.Context, req local.Request) local.Answer {
		got = req
		return local.Answer{Error: "there is no broker 9", Status: local.Status{PID: 1}}
	})
	want := local.Fault{Kind: local.SlowDisk, Broker: 9, By: time.Second}
	_, err := local.Ask(bounded(t), p, local.Request{Do: local.VerbFault, Fault: &want})
	var refused *local.RefusedError
	if !errors.As(err, &refused) || refused.Reason != "there is no broker 9" {
		t.Errorf("got %v, want the refusal", err)
	}
	if got.Do != local.VerbFault || got.Fault == nil || *got.Fault != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestStopReturnsAtTheEnd: not before the place is free again.
func TestStopReturnsAtTheEnd(t *testing.T) {
	t.Parallel()
	p := find(t, env(t), "default", "")
	asked := make(chan struct{})
	c := claim(t, p, func(context.Context, local.Request) local.Answer {
		close(asked)
		return local.Answer{}
	})
	done := make(chan error, 1)
	go func() {
		_, err := local.Ask(bounded(t), p, local.Request{Do: local.VerbStop})
		done <- err
	}()
	<-asked
	select {
	case err := <-done:
		t.Fatalf("it returned (%v) while the place was held", err)
	case <-time.After(20 * time.Millisecond): // it cannot be seen that something does not happen
	}
	c.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	claim(t, p, status(2))
}

// TestLeavers: a request ends with who asked it, and with the claim.
func TestLeavers(t *testing.T) {
	t.Parallel()
	p := find(t, env(t), "default", "")
	begun, ended := make(chan struct{}, 2), make(chan struct{}, 2)
	c := claim(t, p, func(ctx context.Context, _ local.Request) local.Answer {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return local.Answer{}
	})
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error, 2)
	ask := func(ctx context.Context) {
		_, err := local.Ask(ctx, p, local.Request{Do: local.VerbHeal})
		done <- err
	}
	go ask(ctx)
	<-begun
	leave()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want what ended it", err)
	}
	<-ended
	go ask(bounded(t))
	<-begun
	c.Close()
	<-ended
	t.Log(<-done) // either answer is right: the claim's or a closed connection
}

// TestNonsense closes its connection and nothing else; who says nothing does not hold
// up the end.
func TestNonsense(t *testing.T) {
	t.Parallel()
	p := find(t, env(t), "default", "")
	c := claim(t, p, status(1))
	for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", "\n", "{", strings.Repeat("x", 2<<20)} {
		conn, err := net.Dial("unix", p.Socket)
		if err != nil {
			t.Fatal(err)
		}
		go func() { // it may be closed before it is all written
			_, _ = conn.Write([]byte(text))
			_ = conn.(*net.UnixConn).CloseWrite()
		}()
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if n, _ := conn.Read(make([]byte, 1)); n > 0 {
			t.Errorf("%.20q was answered", text)
		}
		conn.Close()
	}
	silent, err := net.Dial("unix", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	// They are taken in order: when this one is answered, that one is being served.
	if _, err := local.Ask(bounded(t), p, local.Request{Do: local.VerbStatus}); err != nil {
		t.Error(err)
	}
	begun := time.Now()
	c.Close()
	// Who is silent is dropped after 10 s anyway; the end must not have waited for that.
	if took := time.Since(begun); took > 8*time.Second {
		t.Errorf("closing took %v: it waited for one that says nothing", took)
	}
}

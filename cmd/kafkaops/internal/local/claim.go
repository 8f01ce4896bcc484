package local

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Handler carries out requests, several at a time.
type Handler interface {
	// Handle returns within ctx, which ends with the connection or the Claim.
	Handle(ctx context.Context, req Request) Answer
}

// Claim is this process's hold on a place.
type Claim struct {
	place    Place
	listener *net.UnixListener
	ctx      context.Context
	cancel   context.CancelFunc
	serving  sync.WaitGroup
}

// TakenError says that another process has the place.
type TakenError struct {
	Place Place
	// PID is its process; 0 where it did not tell.
	PID int
}

func (e *TakenError) Error() string {
	who := "a process that does not answer"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("cluster %s is up already: %s has it", e.Place.Name, who)
}

// A request and an answer are small, and come at once: what takes time is between
// them.
const (
	maxMessageBytes = 1 << 20
	messageTimeout  = 10 * time.Second
	// ownerPatience is how long the owner of a place may take to say who it is. One that
	// does not answer has the place all the same.
	ownerPatience = 5 * time.Second
	// maxConnections is far more than any person opens.
	maxConnections = 64
)

// TakePlace takes the place for this process: a second one is refused with a
// *TakenError until Close, or until the process is dead.
func TakePlace(ctx context.Context, p Place) (*Claim, error) {
	if err := makePrivate(p.Run); err != nil {
		return nil, err
	}
	if err := checkSocket(p.Socket); err != nil {
		return nil, err
	}
	// A socket whose process is dead has to be removed, and must not be one that
	// somebody else has just made in its stead: one process looks at a time.
	release, err := lockDir(ctx, p.Run)
	if err != nil {
		return nil, err
	}
	defer release()
	asking, cancel := context.WithTimeout(ctx, ownerPatience)
	defer cancel()
	switch answer, err := Ask(asking, p, Request{Do: VerbStatus}); {
	case err == nil:
		return nil, &TakenError{Place: p, PID: answer.Status.PID}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !errors.Is(err, ErrNotUp):
		return nil, &TakenError{Place: p}
	}
	if err := os.Remove(p.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.Socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	// Between the two calls the directory alone keeps others out.
	if err := os.Chmod(p.Socket, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	c := &Claim{place: p, listener: l}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// Sweep removes the socket of a process that has died, if one is there.
func Sweep(ctx context.Context, p Place) error {
	if _, err := os.Lstat(p.Socket); err != nil || checkSocket(p.Socket) != nil {
		return nil
	}
	release, err := lockDir(ctx, p.Run)
	if err != nil {
		return err
	}
	defer release()
	if _, err := Ask(ctx, p, Request{Do: VerbStatus}); !errors.Is(err, ErrNotUp) {
		return err // somebody has come up
	}
	if err := os.Remove(p.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("control socket: %w", err)
	}
	return nil
}

// Serve answers with h until Close. It is called once.
func (c *Claim) Serve(h Handler) {
	slots := make(chan struct{}, maxConnections)
	c.serving.Go(func() {
		for {
			conn, err := c.listener.AcceptUnix()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // out of descriptors, say
				select {
				case <-time.After(10 * time.Millisecond):
				case <-c.ctx.Done():
				}
				continue
			}
			slots <- struct{}{}
			c.serving.Go(func() {
				defer func() { <-slots }()
				c.serve(conn, h)
			})
		}
	})
}

// Close gives the place back: it removes the socket, ends what is being carried out
// and waits for it. It may be called twice.
func (c *Claim) Close() {
	c.cancel()
	c.listener.Close()
	c.serving.Wait()
}

func (c *Claim) serve(conn *net.UnixConn, h Handler) {
	defer conn.Close()
	if uid, ok := peerUser(conn); ok && uid != os.Geteuid() && uid != 0 {
		_ = conn.SetWriteDeadline(time.Now().Add(messageTimeout))
		_ = writeLine(conn, Answer{Error: fmt.Sprintf("user %d runs it and you are user %d: only that user and root can command it", os.Geteuid(), uid)})
		return
	}
	// Whoever does not say what he wants must not hold up the end.
	stop := context.AfterFunc(c.ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	_ = conn.SetReadDeadline(time.Now().Add(messageTimeout))
	if c.ctx.Err() != nil {
		return
	}
	var req Request
	if err := readLine(conn, &req); err != nil {
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	_ = conn.SetReadDeadline(time.Time{})
	gone := make(chan struct{})
	go func() { // the other end closes when it does not wait any more
		defer close(gone)
		_, _ = conn.Read(make([]byte, 1))
		cancel()
	}()
	answer := h.Handle(ctx, req)
	_ = conn.SetWriteDeadline(time.Now().Add(messageTimeout))
	_ = writeLine(conn, answer)
	if req.Do == VerbStop && answer.Error == "" {
		// It closes with the claim, and so tells when the cluster has ended.
		<-ctx.Done()
	}
	conn.Close()
	<-gone
}

func readLine(r io.Reader, into any) error {
	line, err := bufio.NewReader(io.LimitReader(r, maxMessageBytes)).ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

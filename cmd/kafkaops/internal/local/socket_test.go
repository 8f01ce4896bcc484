//go:build unix

package local_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
)

// TestNoSocket: what lies where a socket belongs is neither taken for a cluster nor removed.
func TestNoSocket(t *testing.T) {
	t.Parallel()
	for name, lay := range map[string]func(path, other string) error{
		"a file":                    func(path, _ string) error { return os.WriteFile(path, []byte("somebody's"), 0o600) },
		"a directory":               func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"a link to nothing":         func(path, _ string) error { return os.Symlink(path+".none", path) },
		"a link to another cluster": func(path, other string) error { return os.Symlink(other, path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			getenv := env(t)
			other, p := find(t, getenv, "other", ""), find(t, getenv, "default", "")
			claim(t, other, status(4711))
			if err := lay(p.Socket, other.Socket); err != nil {
				t.Fatal(err)
			}
			if a, err := local.Ask(bounded(t), p, local.Request{Do: local.VerbStatus}); err == nil || !strings.Contains(err.Error(), "is no socket") {
				t.Errorf("it answered %+v, %v; want that it is no socket", a, err)
			}
			if c, err := local.TakePlace(bounded(t), p); err == nil || !strings.Contains(err.Error(), "is no socket") {
				if err == nil {
					c.Close()
				}
				t.Errorf("taken with %v, want it refused", err)
			}
			if err := local.Sweep(bounded(t), p); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(p.Socket); err != nil {
				t.Error(err)
			}
			found, err := local.List(bounded(t), getenv)
			if err != nil || len(found) != 1 || found[0].Place.Socket != other.Socket {
				t.Errorf("listed %+v, %v; want the other alone", found, err)
			}
		})
	}
}

// TestBrokenPipe: who hangs up is no pipe of stdout that nobody reads any more, for which
// a command ends without a word, as if it had done what it was told.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	p := find(t, env(t), "default", "")
	go hangUp(listen(t, p))
	for range 200 { // it is closed before the request is written, or after
		_, err := local.Ask(bounded(t), p, local.Request{Do: local.VerbStop})
		var socket *local.SocketError
		if !errors.As(err, &socket) || errors.Is(err, syscall.EPIPE) {
			t.Fatalf("got %v, want a *SocketError and no EPIPE", err)
		}
	}
}

// TestSweep removes what a process has left that was killed, and nothing that is in use.
func TestSweep(t *testing.T) {
	t.Parallel()
	p := find(t, env(t), "default", "")
	if err := local.Sweep(bounded(t), p); err != nil {
		t.Error(err)
	}
	c := claim(t, p, status(1))
	if err := local.Sweep(bounded(t), p); err != nil {
		t.Error(err)
	}
	if _, err := local.Ask(bounded(t), p, local.Request{Do: local.VerbStatus}); err != nil {
		t.Errorf("it does not answer any more: %v", err)
	}
	c.Close()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if err := local.Sweep(bounded(t), p); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(p.Run); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestAnotherUser is told that the cluster is not his, also where the directory lets him in.
func TestAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	const nobody = 65534
	for name, tt := range map[string]struct {
		dir, socket os.FileMode
		want        string
	}{
		"closed":           {0o700, 0o600, "permission denied: only the user who runs the cluster can open it, and you are user 65534"},
		"a socket for all": {0o711, 0o777, "user 0 runs it and you are user 65534: only that user and root can command it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := find(t, env(t), "default", "")
			claim(t, p, func(context.Context, local.Request) local.Answer {
				t.Error("it was carried out")
				return local.Answer{}
			})
			for path, mode := range map[string]os.FileMode{filepath.Dir(p.Run): 0o711, p.Run: tt.dir, p.Socket: tt.socket} {
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
			}
			self := filepath.Join(filepath.Dir(p.Run), "test") // where nobody can find it
			program, err := os.ReadFile(os.Args[0])
			if err == nil {
				err = os.WriteFile(self, program, 0o755) //nolint:gosec // nobody runs it
			}
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(bounded(t), self, "-test.run=^TestAsk$")
			cmd.Env = []string{askSocket + "=" + p.Socket}
			cmd.Dir = "/"
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			cmd.WaitDelay = time.Second
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("got %v and\n%s\nwant in it: %s", err, out, tt.want)
			}
		})
	}
}

const askSocket = "TEST_ASK_SOCKET"

// TestAsk is what TestAnotherUser runs as another user: it prints what the socket says.
func TestAsk(t *testing.T) {
	socket := os.Getenv(askSocket)
	if socket == "" {
		t.Skip("part of TestAnotherUser")
	}
	for range 20 {
		_, err := local.Ask(bounded(t), local.Place{Socket: socket}, local.Request{Do: local.VerbStop})
		if err == nil {
			t.Fatal("it was told to stop, and does")
		}
		_, _ = os.Stdout.WriteString(err.Error() + "\n")
	}
}

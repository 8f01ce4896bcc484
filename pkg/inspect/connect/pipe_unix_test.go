//go:build unix

package connect_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"golang.org/x/sys/unix"
)

// TestPipeReadOnce: a file that can be read once only, as a shell's <(…) is, is
// not read again, which would wait for ever.
func TestPipeReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- os.WriteFile(path, []byte("bootstrap.servers=b:9092\n"), 0o600) }()
	security, err := connect.ReadProperties(path)
	if err := errors.Join(err, <-wrote); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if got, err := security.Bootstrap(); got != "b:9092" || err != nil {
			t.Errorf("bootstrap %q, %v; want what the pipe said", got, err)
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the pipe is read again")
	}
}

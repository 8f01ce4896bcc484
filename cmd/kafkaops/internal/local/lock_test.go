package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOneLooksAtATime: who takes a place waits for whoever is taking one: of two that
// find a dead socket the later would remove what the earlier has just made.
func TestOneLooksAtATime(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "k") //nolint:usetesting // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	release, err := lockDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		c, err := TakePlace(t.Context(), Place{Name: "default", Run: dir, Socket: filepath.Join(dir, "s.sock")})
		if err == nil {
			c.Close()
		}
		done <- err
	}()
	select {
	case err := <-done:
		t.Errorf("it was taken (%v) while another one looked", err)
		release()
	case <-time.After(50 * time.Millisecond): // it cannot be seen that something does not happen
		release()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestLockIsBounded: who holds the lock may be stopped for ever.
func TestLockIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := lockDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := lockDir(ctx, dir); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the time is up", err)
	}
}

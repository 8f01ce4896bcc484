package tmux

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// start is Start for a test, which it skips where there is no tmux.
func start(t *testing.T, o Options) *Session {
	t.Helper()
	if err := Available(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// await is Await with a bound.
func await(t *testing.T, s *Session, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	screen, err := s.Await(ctx, func(screen string) bool { return strings.Contains(screen, text) })
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return screen
}

// TestSession: what is typed arrives, what is written is seen, with its colours, in a
// terminal of the size that was asked for.
func TestSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, Options{
		Width: 71, Height: 13, Dir: dir, Env: []string{"COLOUR=31"}, Background: "#102030",
		Script: `printf '\033[%smred ▏ \033[0m%s %s\n' "$COLOUR" "$(stty size)" "$TERM"; read -r line; echo "got $line"; read -r line; stty size; exec sleep 600`,
	})
	ctx := t.Context()
	if screen := await(t, s, "red"); !strings.HasPrefix(screen, "red ▏ 13 71 screen-256color\n") {
		t.Errorf("the screen is %q", screen)
	}
	if styled, err := s.Styled(ctx); err != nil || !strings.Contains(styled, "\x1b[31mred ▏") {
		t.Errorf("styled it is %q (%v)", styled, err)
	}
	copied := filepath.Join(dir, "copied")
	if err := s.CopyTo(ctx, copied); err != nil {
		t.Fatal(err)
	}
	if err := s.Keys(ctx, "a", "Space", "b", "Enter"); err != nil {
		t.Fatal(err)
	}
	await(t, s, "got a b")
	if err := s.Resize(ctx, 50, 10); err != nil {
		t.Fatal(err)
	}
	if err := s.Keys(ctx, "Enter"); err != nil {
		t.Fatal(err)
	}
	await(t, s, "10 50")
	if told, err := s.Tell(ctx, "#{pane_width} #{cursor_flag}"); err != nil || told != "50 1" {
		t.Errorf("it tells %q (%v)", told, err)
	}
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) { // cat is another process
		text, err := os.ReadFile(copied)
		if err == nil && strings.Contains(string(text), "got a b") {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("copied was %q (%v)", text, err)
		}
	}
}

// TestAwaitEnds: what never comes is waited for no longer than was said, and the screen is
// in the error.
func TestAwaitEnds(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Width: 40, Height: 5, Script: "echo here; exec sleep 600"})
	await(t, s, "here")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := s.Await(ctx, func(string) bool { return false }); err == nil || !strings.Contains(err.Error(), "here") {
		t.Errorf("got %v, want an error with the screen", err)
	}
}

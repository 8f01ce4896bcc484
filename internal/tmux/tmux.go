// Package tmux runs a program in a real terminal for tests and pictures: in tmux, whose
// server is one of its own, with no configuration and no socket of a person's.
//
// Start from [Start]; a [Session] has one window, in which a shell runs a script. Keys go
// in by [Session.Keys], and [Session.Screen] is what is seen:
//
//	s := tmux.Start(ctx, tmux.Options{Width: 80, Height: 24, Script: "kafkaops top"})
//	defer s.Close()
//	s.Keys(ctx, "j", "Enter")
//	screen, err := s.Await(ctx, func(screen string) bool { return strings.Contains(screen, "replica 3") })
//
// The package knows nothing of kafkaops.
package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Options are what a terminal has.
type Options struct {
	// Width and Height are its size in cells.
	Width, Height int
	// Script is what its shell, /bin/sh, runs.
	Script string
	// Dir is the shell's working directory; empty is that of the process.
	Dir string
	// Env is added to the environment, NAME=value each.
	Env []string
	// Term is what TERM says; empty is screen-256color.
	Term string
	// Background is the terminal's, #rrggbb, which it tells who asks (OSC 11); empty: it
	// does not answer.
	Background string
}

// Session is a terminal with what runs in it.
type Session struct{ dir string }

// Available returns why there is no tmux, nil where there is one.
func Available() error {
	_, err := exec.LookPath("tmux")
	return err
}

// Start runs a script in a new terminal. Close ends it.
func Start(ctx context.Context, o Options) (*Session, error) {
	// Not the test's own directory: the path of a socket has a limit of about 100 bytes.
	dir, err := os.MkdirTemp("", "tmux-")
	if err != nil {
		return nil, err
	}
	s := &Session{dir: dir}
	if o.Term == "" {
		o.Term = "screen-256color"
	}
	lines := []string{
		"set -g default-terminal " + o.Term, "set -g default-shell /bin/sh", "set -g status off", "set -g remain-on-exit on", "set -g escape-time 0",
		"set -g default-size " + fmt.Sprintf("%dx%d", o.Width, o.Height), "set -g allow-rename off",
	}
	if o.Background != "" {
		lines = append(lines, fmt.Sprintf("set -g window-style 'bg=%s'", o.Background))
	}
	if err := os.WriteFile(s.path("conf"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(s.path("script"), []byte(o.Script+"\n"), 0o600); err != nil {
		return nil, err
	}
	args := []string{"new-session", "-d", "-x", strconv.Itoa(o.Width), "-y", strconv.Itoa(o.Height)}
	if o.Dir != "" {
		args = append(args, "-c", o.Dir)
	}
	for _, e := range o.Env {
		args = append(args, "-e", e)
	}
	if _, err := s.tmux(ctx, append(args, "exec /bin/sh "+s.path("script"))...); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends all that runs in the terminal, by SIGHUP, and the server.
func (s *Session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := s.tmux(ctx, "kill-server")
	return errors.Join(err, os.RemoveAll(s.dir))
}

func (s *Session) path(name string) string { return filepath.Join(s.dir, name) }

// tmux runs a command of its server.
func (s *Session) tmux(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-S", s.path("s"), "-f", s.path("conf")}, args...)...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C.UTF-8", "TMUX=")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("tmux %s: %w", args[0], err)
	}
	return string(out), nil
}

// Keys presses keys, by tmux's names: q, Enter, C-c, PPage.
func (s *Session) Keys(ctx context.Context, keys ...string) error {
	_, err := s.tmux(ctx, append([]string{"send-keys", "--"}, keys...)...)
	return err
}

// Resize changes the size of the window.
func (s *Session) Resize(ctx context.Context, width, height int) error {
	_, err := s.tmux(ctx, "resize-window", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
	return err
}

// Screen is what is seen, a line for each of the terminal's, without blanks at their ends.
func (s *Session) Screen(ctx context.Context) (string, error) {
	return s.tmux(ctx, "capture-pane", "-p")
}

// Styled is Screen with its colours, as escape sequences (SGR).
func (s *Session) Styled(ctx context.Context) (string, error) {
	return s.tmux(ctx, "capture-pane", "-e", "-p")
}

// Tell is a format of tmux's, such as #{cursor_flag}, for the terminal.
func (s *Session) Tell(ctx context.Context, format string) (string, error) {
	out, err := s.tmux(ctx, "display-message", "-p", format)
	return strings.TrimSuffix(out, "\n"), err
}

// CopyTo appends all that the program writes from now on to a file.
func (s *Session) CopyTo(ctx context.Context, file string) error {
	_, err := s.tmux(ctx, "pipe-pane", "-O", fmt.Sprintf("exec cat >>'%s'", file))
	return err
}

// Await looks at the screen until it is as wanted, and returns it; when ctx ends first, the
// error has the last one.
func (s *Session) Await(ctx context.Context, wanted func(screen string) bool) (string, error) {
	const again = 50 * time.Millisecond
	for last := ""; ; {
		screen, err := s.Screen(ctx)
		switch {
		case ctx.Err() != nil:
			return last, fmt.Errorf("%w; the screen is\n%s", ctx.Err(), last)
		case err != nil:
			return last, err
		case wanted(screen):
			return screen, nil
		}
		last = screen
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

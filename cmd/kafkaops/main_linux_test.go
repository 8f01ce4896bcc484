package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal of 80 by 24: what the process writes to is the
// first, what the test reads from the second.
func terminal(t *testing.T) (tty, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return tty, screen
}

// onTerminal runs a command line on a terminal and returns what it drew. With
// enough it is interrupted once that holds.
func onTerminal(t *testing.T, line string, enough func(string) bool, env ...string) (string, result) {
	t.Helper()
	tty, screen := terminal(t)
	cmd := kafkaops(t, line, env...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = tty, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close() // the process has its own: when it ends, reading does
	var drawn strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := screen.Read(buf)
		drawn.Write(buf[:n])
		if err != nil {
			break
		}
		if enough != nil && enough(drawn.String()) {
			enough = nil
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	end := ended(t, cmd.Wait(), cmd)
	end.stderr = stderr.String()
	return drawn.String(), end
}

// TestOnATerminal: aligned, coloured, within the width; not a table of tabs.
func TestOnATerminal(t *testing.T) {
	t.Parallel()
	at := at(cluster(t))
	drawn, end := onTerminal(t, "describe"+at, nil)
	if end != (result{}) || !strings.HasPrefix(drawn, "\x1b[1m\x1b[33mDEGRADED\x1b[0m") || strings.Contains(drawn, "\t") {
		t.Errorf("got %+v and %q; want a coloured verdict, aligned", end, drawn)
	}
	for line := range strings.Lines(drawn) {
		if w := ansi.StringWidth(strings.TrimRight(line, "\r\n")); w > 80 {
			t.Errorf("got a line of %d columns: %q", w, line)
		}
	}
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		if drawn, _ := onTerminal(t, "describe"+at, nil, env); !strings.HasPrefix(drawn, "DEGRADED ") || strings.Contains(drawn, "\x1b") {
			t.Errorf("%s: got %q, want no escapes", env, drawn)
		}
	}
	drawn, _ = onTerminal(t, "describe -o json --color always"+at, nil)
	if !strings.HasPrefix(drawn, "{\r\n") || strings.Contains(drawn, "\x1b") {
		t.Errorf("-o json: got %.200q, want a document without escapes", drawn)
	}
}

// TestWatchOnATerminal is drawn in place until ^C, which leaves the cursor as it was.
func TestWatchOnATerminal(t *testing.T) {
	t.Parallel()
	const home = "\x1b[H"
	drawn, end := onTerminal(t, "describe --watch --interval 100ms"+at(cluster(t)), func(drawn string) bool {
		return strings.Count(drawn, home) > 3
	})
	if end != (result{code: 130}) {
		t.Errorf("got %+v, want exit code 130 and nothing on stderr", end)
	}
	if !strings.HasPrefix(drawn, "\x1b[?25l"+home+"\x1b[2J") || !strings.HasSuffix(drawn, "\x1b[?25h") {
		t.Errorf("got %q, want the cursor hidden at first and shown at the end", drawn)
	}
}

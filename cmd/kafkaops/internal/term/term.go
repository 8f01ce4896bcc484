// Package term is the terminal as a value: where output goes, how wide it is,
// whether it may be coloured, how a screen is redrawn in place, and how a person is asked.
//
// Start from [OS] for the real one and [NewDouble] for tests. [Terminal.UseColor]
// decides about colour, [Terminal.InPlace] about screens; [Terminal.BeginWatch] and [Terminal.Redraw] are for
// --watch. The package draws nothing itself: see package render.
package term

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	xterm "golang.org/x/term"
)

// ColorMode is the value of --color.
type ColorMode string

// The modes.
const (
	ColorAuto   ColorMode = "auto"
	ColorAlways ColorMode = "always"
	ColorNever  ColorMode = "never"
)

// ParseColor reads the value of --color.
func ParseColor(s string) (ColorMode, error) {
	switch m := ColorMode(s); m {
	case ColorAuto, ColorAlways, ColorNever:
		return m, nil
	}
	return "", fmt.Errorf("unknown colour mode %q: use auto, always or never", s)
}

// Terminal is where a command writes. Data goes to Out, everything else to Err.
type Terminal struct {
	Out, Err io.Writer
	// In is what a person types, where CanAsk says that there is one.
	In     io.Reader
	CanAsk bool
	// IsTTY: Out is a terminal, so that text is for people.
	IsTTY bool
	// Width and Height are the size in cells when it was last measured; 0, for
	// unlimited, where Out is no terminal.
	Width, Height int

	getenv func(string) string
	size   func() (width, height int, err error)
	// watching: the cursor is hidden and a frame is on the screen.
	watching bool
}

// OS is the terminal of this process.
func OS() *Terminal { return newTerminal(os.Stdout, os.Stderr, os.Getenv) }

func newTerminal(stdout, stderr *os.File, getenv func(string) string) *Terminal {
	fd := int(stdout.Fd())
	t := &Terminal{
		Out: stdout, Err: stderr, In: os.Stdin,
		CanAsk: xterm.IsTerminal(int(os.Stdin.Fd())) && xterm.IsTerminal(int(stderr.Fd())),
		IsTTY:  xterm.IsTerminal(fd),
		getenv: getenv,
		size:   func() (int, int, error) { return xterm.GetSize(fd) },
	}
	t.Measure()
	return t
}

// What every terminal has had since the VT100: for one that does not tell.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// Measure sets Width and Height to what they are now: windows change. Redraw
// does it too, before it draws.
func (t *Terminal) Measure() {
	if !t.IsTTY {
		t.Width, t.Height = 0, 0
		return
	}
	width, height, err := t.size()
	if err != nil || width <= 0 || height <= 0 {
		width, height = defaultWidth, defaultHeight
	}
	t.Width, t.Height = width, height
}

// UseColor decides whether Out gets colour. From the strongest on: JSON and YAML
// (structured) and what is no terminal never do; --color; NO_COLOR where it is
// not empty (https://no-color.org); TERM=dumb.
func (t *Terminal) UseColor(mode ColorMode, structured bool) bool {
	switch {
	case structured, !t.IsTTY:
		return false
	case mode == ColorAlways:
		return true
	case mode == ColorNever, t.getenv("NO_COLOR") != "", t.dumb():
		return false
	}
	return true
}

func (t *Terminal) dumb() bool { return t.getenv("TERM") == "dumb" }

// InPlace reports whether a screen can be redrawn in place: on a terminal that
// knows escape sequences.
func (t *Terminal) InPlace() bool { return t.IsTTY && !t.dumb() }

// The sequences that Redraw needs; see ECMA-48.
const (
	hideCursor  = "\x1b[?25l"
	showCursor  = "\x1b[?25h"
	home        = "\x1b[H"
	eraseScreen = "\x1b[2J"
	eraseLine   = "\x1b[K" // from the cursor to the end of the line
	eraseBelow  = "\x1b[J"
)

// BeginWatch clears the screen for Redraw. Call what it returns in any case,
// once or more often: it leaves the last frame with the cursor, visible again,
// below it.
func (t *Terminal) BeginWatch() (restore func()) {
	if t.InPlace() && !t.watching {
		t.watching = true
		_, _ = io.WriteString(t.Out, hideCursor+home+eraseScreen)
	}
	return func() {
		if t.watching {
			t.watching = false
			_, _ = io.WriteString(t.Out, showCursor)
		}
	}
}

// Redraw shows the frame in place of the one before, without flicker: lines are
// overwritten, not cleared first. Lines wider than the screen go on below, and
// what is longer than the screen is cut at its end. Without a BeginWatch, or where nothing can be redrawn, the frame is
// printed after the one before.
func (t *Terminal) Redraw(frame []byte) error {
	if !t.watching {
		_, err := t.Out.Write(frame)
		return err
	}
	t.Measure()
	var b strings.Builder
	b.WriteString(home)
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(string(frame), "\n"), "\n") {
		if ansi.StringWidth(line) > t.Width {
			lines = append(lines, strings.Split(ansi.Wrap(line, t.Width, ""), "\n")...)
		} else {
			lines = append(lines, line)
		}
	}
	// The last line of the screen stays free: a line break there would scroll.
	for _, line := range lines[:min(len(lines), max(1, t.Height-1))] {
		b.WriteString(line + eraseLine + "\r\n")
	}
	b.WriteString(eraseBelow)
	_, err := io.WriteString(t.Out, b.String())
	return err
}

// transcriptWidth is what a transcript has where there is no terminal to measure.
const transcriptWidth = 100

// Transcript is a terminal within this one, for commands whose output is a part of
// what another one tells: all goes to Out, aligned as for a person also where Out is
// a pipe, and then without colour.
func (t *Terminal) Transcript() *Terminal {
	in := *t
	in.Err = t.Out
	in.watching = false
	if !t.IsTTY {
		in.IsTTY, in.Width = true, transcriptWidth
		in.size = func() (int, int, error) { return transcriptWidth, defaultHeight, nil }
		in.getenv = func(key string) string {
			if key == "NO_COLOR" {
				return "1"
			}
			return t.getenv(key)
		}
	}
	return &in
}

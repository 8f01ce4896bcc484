package term

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestColor(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		pipe       bool
		mode       ColorMode
		structured bool
		env        map[string]string
		want       bool
	}{
		{name: "terminal", mode: ColorAuto, want: true},
		{name: "pipe", mode: ColorAuto, pipe: true},
		{name: "pipe, always", mode: ColorAlways, pipe: true},
		{name: "never", mode: ColorNever},
		{name: "json beats always", mode: ColorAlways, structured: true},
		{name: "NO_COLOR", mode: ColorAuto, env: map[string]string{"NO_COLOR": "1"}},
		{name: "NO_COLOR=0 is set too", mode: ColorAuto, env: map[string]string{"NO_COLOR": "0"}},
		{name: "empty NO_COLOR is not set", mode: ColorAuto, env: map[string]string{"NO_COLOR": ""}, want: true},
		{name: "always beats NO_COLOR", mode: ColorAlways, env: map[string]string{"NO_COLOR": "1"}, want: true},
		{name: "dumb", mode: ColorAuto, env: map[string]string{"TERM": "dumb"}},
		{name: "always beats dumb", mode: ColorAlways, env: map[string]string{"TERM": "dumb"}, want: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			width := 80
			if tc.pipe {
				width = 0
			}
			d := NewDouble(width, 24)
			d.Env = tc.env
			if got := d.UseColor(tc.mode, tc.structured); got != tc.want {
				t.Errorf("UseColor(%s, %v) = %v, want %v", tc.mode, tc.structured, got, tc.want)
			}
		})
	}
}

func TestParseColor(t *testing.T) {
	t.Parallel()
	if m, err := ParseColor("always"); err != nil || m != ColorAlways {
		t.Errorf("ParseColor(always) = %q, %v", m, err)
	}
	if _, err := ParseColor("yes"); err == nil || !strings.Contains(err.Error(), "auto, always or never") {
		t.Errorf("ParseColor(yes) = %v, want an error that lists the modes", err)
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	if p := NewDouble(0, 0); p.Width != 0 || p.Height != 0 {
		t.Errorf("size of a pipe = %d, %d, want 0, 0", p.Width, p.Height)
	}
	d := NewDouble(120, 40)
	if d.Width != 120 || d.Height != 40 {
		t.Errorf("size = %d, %d, want 120, 40", d.Width, d.Height)
	}
	d.size = func() (int, int, error) { return 0, 0, errors.New("no size") }
	if d.Measure(); d.Width != 80 || d.Height != 24 {
		t.Errorf("size of a terminal that does not tell = %d, %d, want 80, 24", d.Width, d.Height)
	}
}

func TestRedraw(t *testing.T) {
	t.Parallel()
	d := NewDouble(22, 4)
	restore := d.BeginWatch()
	for _, frame := range []string{"one\ntwo and what does not fit\n", "1\n2\n3\n4\n5\n"} {
		if err := d.Redraw([]byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	restore()
	restore()
	want := "\x1b[?25l\x1b[H\x1b[2J" +
		"\x1b[Hone\x1b[K\r\ntwo and what does not\x1b[K\r\nfit\x1b[K\r\n\x1b[J" +
		"\x1b[H1\x1b[K\r\n2\x1b[K\r\n3\x1b[K\r\n\x1b[J" +
		"\x1b[?25h"
	if got := d.Stdout.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestRedrawWithoutEscapes(t *testing.T) {
	t.Parallel()
	dumb := NewDouble(80, 24)
	dumb.Env["TERM"] = "dumb"
	for name, d := range map[string]*Double{"pipe": NewDouble(0, 0), "dumb": dumb} {
		restore := d.BeginWatch()
		for range 2 {
			if err := d.Redraw([]byte("frame\n")); err != nil {
				t.Fatal(err)
			}
		}
		restore()
		if got := d.Stdout.String(); got != "frame\nframe\n" {
			t.Errorf("%s: got %q, want two plain frames", name, got)
		}
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	t.Parallel()
	f, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	tm := newTerminal(f, f, func(string) string { return "" })
	if tm.IsTTY || tm.Width != 0 || tm.UseColor(ColorAuto, false) {
		t.Errorf("a file was taken for a terminal: %+v", tm)
	}
}

//go:build unix

package tui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/kafkaops/kafkaops/internal/tmux"
)

// patience bounds what should be there soon, on a machine that is busy.
const patience = 90 * time.Second

// programDir is where the program is built, see TestMain.
var programDir string

// program builds kafkaops, once.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programDir, "kafkaops")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/kafkaops/kafkaops/cmd/kafkaops").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// TestMain is also a program that tests run in a terminal: see [alone].
func TestMain(m *testing.M) {
	if what := os.Getenv(aloneEnv); what != "" {
		os.Exit(alone(what))
	}
	dir, err := os.MkdirTemp("", "kafkaops-top-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// terminal is a terminal in which kafkaops runs.
type terminal struct {
	*tmux.Session
	t   *testing.T
	dir string
}

// open opens a terminal whose shell runs the script. In it $KAFKAOPS is the program, $ALONE
// that of the tests, and all that kafkaops keeps is in a directory of the test's.
func open(t *testing.T, o tmux.Options) *terminal {
	t.Helper()
	if testing.Short() {
		t.Skip("builds kafkaops and runs it in a terminal: not under -short")
	}
	if err := tmux.Available(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	o.Dir = t.TempDir()
	o.Env = append(o.Env, "KAFKAOPS="+path, "ALONE="+os.Args[0], "HOME="+o.Dir, "XDG_STATE_HOME="+o.Dir, "XDG_CONFIG_HOME="+o.Dir)
	s, err := tmux.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &terminal{s, t, o.Dir}
}

// await waits for a screen with all of these texts.
func (s *terminal) await(texts ...string) string {
	s.t.Helper()
	return s.until(strings.Join(texts, ", "), func(screen string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
	})
}

// until waits for a screen.
func (s *terminal) until(what string, wanted func(screen string) bool) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	screen, err := s.Await(ctx, wanted)
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
	return screen
}

func (s *terminal) press(keys ...string) {
	s.t.Helper()
	if err := s.Keys(s.t.Context(), keys...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *terminal) tell(format string) string {
	s.t.Helper()
	out, err := s.Tell(s.t.Context(), format)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// underCursor is the row of the table that the cursor is on.
func underCursor(screen string) string {
	for line := range strings.Lines(screen) {
		if strings.HasPrefix(line, " >") {
			return line
		}
	}
	return ""
}

// TestIncidentInATerminal is an incident from its beginning to its end, by keys alone: a
// disk is slowed, the worst partition rises to the top, behind it are the replica and the
// cause, and healing shows. On the way the window gets all sizes.
func TestIncidentInATerminal(t *testing.T) {
	t.Parallel()
	s := open(t, tmux.Options{Width: 130, Height: 40, Script: `exec "$KAFKAOPS" top --embedded --interval 500ms`})
	s.await("OK", "3 brokers", "orders-3", "all in sync", "embedded")

	s.press("3")
	s.await("› Brokers", "LEADS")
	s.press("G")
	s.until("the cursor on broker 3", func(screen string) bool { return strings.Contains(underCursor(screen), "3  up") })
	s.press("C-d")
	s.await("slow the disk of broker 3?", "do it")
	s.press("y")
	s.await("broker 3: each write of its disk takes")
	s.press("1")
	s.until("a partition with replica 3 behind on top", func(screen string) bool {
		row := strings.Fields(underCursor(screen))
		return len(row) > 0 && strings.HasPrefix(row[0], ">orders-") && strings.Contains(screen, "growing")
	})
	s.press("Enter")
	s.await("replica 3 is", "records behind", "cause:", "ISR history")
	s.await("out-of-sync", "shrink  replica-lag")

	for _, size := range [][2]int{{80, 24}, {300, 100}, {40, 8}, {39, 7}, {130, 40}} {
		s.sized(size[0], size[1])
	}

	s.press("C-r")
	s.await("heal the cluster?", "slow-disk of broker 3")
	s.press("y")
	s.await("healed: every broker is up")
	s.press("1")
	s.await("OK", "all in sync")
}

// sized gives the window a size, and checks that the screen has it.
func (s *terminal) sized(width, height int) {
	s.t.Helper()
	if err := s.Resize(s.t.Context(), width, height); err != nil {
		s.t.Fatal(err)
	}
	s.until(fmt.Sprintf("a screen of %d×%d", width, height), func(screen string) bool {
		if width < leastWidth || height < leastHeight {
			return strings.Contains(screen, "too small")
		}
		lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
		if len(lines) != height || !strings.Contains(lines[0], "embedded") || !strings.Contains(lines[height-1], "q quit") {
			return false
		}
		for _, line := range lines {
			if ansi.StringWidth(line) > width {
				return false
			}
		}
		return true
	})
}

// ends is a script that says whether the terminal is as it was when the program has ended.
const ends = `
stty -g >before
%s
code=$?
stty -g >after
cmp before after && echo "ended by $code with the terminal as before"
exec sleep 600`

// TestEnds: however it ends, the screen is the one of before, with its cursor, and the
// terminal takes lines again.
func TestEnds(t *testing.T) {
	t.Parallel()
	// No cluster is needed: that none answers is a screen too.
	const top = `sh -c 'echo $$ >pid; exec "$KAFKAOPS" top -b 127.0.0.1:1 --timeout 1s'`
	signal := func(sig syscall.Signal) func(*terminal) {
		return func(s *terminal) {
			text, err := os.ReadFile(filepath.Join(s.dir, "pid"))
			if err != nil {
				s.t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				s.t.Fatal(err)
			}
			if err := syscall.Kill(pid, sig); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	keys := func(keys ...string) func(*terminal) { return func(s *terminal) { s.press(keys...) } }
	for _, tt := range []struct {
		name, run, shows string
		end              func(*terminal)
		code             int
	}{
		{"q", top, "no answer yet", keys("q"), 0},
		{"its name", top, "no answer yet", keys(":", "q", "Enter"), 0},
		{"control C", top, "no answer yet", keys("C-c"), 130},
		{"terminated", top, "no answer yet", signal(syscall.SIGTERM), 130},
		{"hung up", top, "no answer yet", signal(syscall.SIGHUP), 130},
		{"interrupted by a signal", top, "no answer yet", signal(syscall.SIGINT), 130},
		{"a panic in a source", aloneEnv + `=source "$ALONE"`, "Overview", keys("j"), 1},
		{"a panic in an update", aloneEnv + `=update "$ALONE"`, "Overview", keys("j"), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, tmux.Options{Width: 80, Height: 24, Script: fmt.Sprintf(ends, tt.run)})
			s.await(tt.shows)
			if modes := s.tell("#{alternate_on} #{cursor_flag}"); modes != "1 0" {
				t.Errorf("while it runs alternate screen and cursor are %q, want 1 0", modes)
			}
			tt.end(s)
			screen := s.await(fmt.Sprintf("ended by %d with the terminal as before", tt.code))
			if modes := s.tell("#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag}"); modes != "0 1 0 0" {
				t.Errorf("alternate screen, cursor and the rest are %q, want 0 1 0 0", modes)
			}
			if panics := strings.Contains(tt.run, aloneEnv); panics && !strings.Contains(screen, "experienced a panic") {
				t.Errorf("what went wrong is not told:\n%s", screen)
			}
		})
	}
}

// TestColors: what is bad has the colour that the terminal can show, on its background, and
// is said in the same words where it can show none.
func TestColors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, flags string
		o           tmux.Options
		want        string // SGR; empty is none at all
	}{
		{"256 colours, dark", "", tmux.Options{Background: "#101418"}, "\x1b[38;5;209m"},
		{"256 colours, light", "", tmux.Options{Background: "#ffffff"}, "\x1b[38;5;161m"},
		{"256 colours, and no answer", "", tmux.Options{}, "\x1b[31m"},
		{"16 million", "", tmux.Options{Background: "#101418", Env: []string{"COLORTERM=truecolor"}, Term: "xterm-256color"}, "\x1b[38;2;255;135;95m"},
		{"16", "", tmux.Options{Background: "#101418", Term: "xterm", Script: "unset TMUX; "}, "\x1b[31m"}, // tmux shows more
		{"none by NO_COLOR", "", tmux.Options{Background: "#101418", Env: []string{"NO_COLOR=1"}}, ""},
		{"none by a flag", "--color never", tmux.Options{Background: "#101418"}, ""},
		{"wanted in spite of NO_COLOR", "--color always", tmux.Options{Background: "#101418", Env: []string{"NO_COLOR=1"}}, "\x1b[31m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := tt.o
			o.Width, o.Height, o.Script = 80, 24, o.Script+`exec "$KAFKAOPS" top -b 127.0.0.1:1 --timeout 1s `+tt.flags
			s := open(t, o)
			const bad = "no answer yet; asking again"
			s.await(bad)
			styled := ""
			s.until(tt.want+bad, func(string) bool { // the answer of the terminal may come later
				var err error
				styled, err = s.Styled(t.Context())
				return err != nil || strings.Contains(styled, tt.want+bad)
			})
			if tt.want == "" && strings.Contains(styled, "\x1b") {
				t.Errorf("there are colours: %q", styled)
			}
		})
	}
}

// TestPipe: where stdout is no terminal, one look is printed as plain text.
func TestPipe(t *testing.T) {
	t.Parallel()
	s := open(t, tmux.Options{Width: 80, Height: 24, Script: `"$KAFKAOPS" top --embedded | cat >out; echo done; exec sleep 600`})
	s.await("done")
	out, err := os.ReadFile(filepath.Join(s.dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(out), "verdict\tok\n") || strings.Contains(string(out), "\x1b") {
		t.Errorf("it prints %q", out)
	}
}

// TestStillIsSilent: while looks come and nothing changes, nothing is written.
func TestStillIsSilent(t *testing.T) {
	t.Parallel()
	s := open(t, tmux.Options{Width: 80, Height: 24, Script: aloneEnv + `=still "$ALONE"; exec sleep 600`})
	s.await("Overview", "writes ······ 0/s") // the figures are as wide as they get
	copied := filepath.Join(s.dir, "copied")
	if err := os.WriteFile(copied, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.CopyTo(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	written := func() int64 {
		info, err := os.Stat(copied)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := looksTaken(t, s)
	for looksTaken(t, s) < before+40 { // two seconds and more: the clock ticks too
		time.Sleep(50 * time.Millisecond)
	}
	if n := written(); n != 0 {
		text, _ := os.ReadFile(copied)
		t.Errorf("%d bytes were written, want none: %q", n, text[:min(len(text), 2000)])
	}
	s.press("3")
	s.await("› Brokers")
	for begun := time.Now(); written() == 0; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatal("a key that changes the screen is not among what was copied either")
		}
	}
}

// looksTaken is how many looks the source of [alone] has given.
func looksTaken(t *testing.T, s *terminal) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(s.dir, "looks"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

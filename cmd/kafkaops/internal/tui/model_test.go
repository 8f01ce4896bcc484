package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// TestKeysAreOnce: on no screen do two bindings want one key, and each says what it does.
func TestKeysAreOnce(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.next = fakeLook(t, s.now, "broker 1\norders 0 leader=1 replicas=1 leo=5\n")
	s.take()
	for _, recording := range []bool{false, true} {
		s.m.recording = recording
		for _, sc := range screens() {
			s.m.goTo(sc)
			s.m.here().settle(&s.m.state, s.m.room())
			seen := map[string]string{}
			for _, b := range bindings(&s.m.state) {
				if b.when != nil && !b.when(&s.m.state) {
					continue
				}
				if b.label == "" || b.help == "" || b.group == "" || b.do == nil {
					t.Errorf("%s: a binding of %v says nothing of itself", sc.name, b.keys)
				}
				for _, k := range b.keys {
					if other, twice := seen[k]; twice {
						t.Errorf("%s: %s is %q and %q", sc.name, k, b.help, other)
					}
					seen[k] = b.help
				}
			}
		}
	}
}

// TestReadOnlyHasNoActions: neither a key nor a line of help.
func TestReadOnlyHasNoActions(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.next = fakeLook(t, s.now, "broker 1\norders 0 leader=1 replicas=1 leo=5\n")
	s.take()
	s.m.goTo(brokersScreen())
	s.m.here().settle(&s.m.state, s.m.room())
	if _, ok := bound(&s.m.state, "ctrl+k"); !ok {
		t.Fatal("the action has no key")
	}
	s.m.readOnly = "--readonly"
	if b, ok := bound(&s.m.state, "ctrl+k"); ok {
		t.Errorf("ctrl+k is %q, want nothing", b.help)
	}
}

// TestNothingNewIsNotDrawn: a second that changes nothing on the screen draws nothing.
func TestNothingNewIsNotDrawn(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.next = fakeLook(t, s.now, "broker 1\norders 0 leader=1 replicas=1 leo=5\n")
	s.take()
	s.m.View()
	s.m.Update(tickMsg{})
	if !s.m.clean {
		t.Error("a tick without news draws")
	}
	s.now = s.now.Add(time.Minute)
	s.m.Update(tickMsg{})
	if s.m.clean {
		t.Error("the age has changed, and nothing is drawn")
	}
}

// TestAnHour: brokers die and return, looks fail, keys of all kinds are pressed and the
// window changes. Nothing panics, no line is wider than the window, what is kept is bounded,
// and the last key is answered.
func TestAnHour(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	rng := rand.New(rand.NewPCG(1, 2))
	keys := strings.Split("j k g G enter esc / space y p [ ] { } > < + - left right : w ? 1 2 3 4 5 6 7 8 L N T U W B O ctrl+k n y pgdown pgup tab o r d", " ")
	leo := []int{0, 0, 0, 0}
	for second := 0; second < 3600; second += 2 {
		s.now = s.now.Add(2 * time.Second)
		down := (second/300)%2 == 1 // for five minutes, every ten
		var b strings.Builder
		b.WriteString("broker 1\nbroker 2\n")
		if down {
			b.WriteString("broker 3 down\n")
		} else {
			b.WriteString("broker 3\n")
		}
		for i := range leo {
			leo[i] += rng.IntN(1000)
			fmt.Fprintf(&b, "orders %d leader=%d replicas=1,2,3 min=2 leo=%d", i, 1+i%2, leo[i])
			if down {
				fmt.Fprintf(&b, " f3=%d isr=1,2", leo[i]/2)
			}
			b.WriteByte('\n')
		}
		if second%300 == 0 {
			for i := range leo {
				fmt.Fprintf(&b, "event shrink replica-lag orders %d broker=3 isr=1,2\n", i)
			}
		}
		s.next, s.err = fakeLook(t, s.now, b.String()), nil
		if rng.IntN(50) == 0 {
			s.err = fmt.Errorf("look %d failed", second)
		}
		s.take()
		if rng.IntN(20) == 0 {
			s.m.Update(tea.WindowSizeMsg{Width: 20 + rng.IntN(280), Height: 3 + rng.IntN(97)})
		}
		s.press(t, keys[rng.IntN(len(keys))])
		for n, line := range strings.Split(s.screen(), "\n") {
			if strings.HasPrefix(line, "TOO WIDE") {
				t.Fatalf("second %d: line %d of %d columns: %s", second, n, s.m.width, line)
			}
		}
		if len(s.m.looks) > looksMost {
			t.Fatalf("%d looks are kept", len(s.m.looks))
		}
	}
	s.err = nil
	s.take()
	s.m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.m.release()
	s.press(t, "esc")
	s.press(t, "esc")
	s.press(t, "n")
	s.press(t, "3")
	if got := s.screen(); !strings.Contains(got, "› Brokers") {
		t.Errorf("the last key is not answered:\n%s", got)
	}
}

// TestLooksAreBounded: of a large cluster fewer looks are kept, and the one on the screen
// is among them.
func TestLooksAreBounded(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	var b strings.Builder
	b.WriteString("broker 1\n")
	for i := range partitionsMost / 10 {
		fmt.Fprintf(&b, "orders %d leader=1 replicas=1 leo=5\n", i)
	}
	for range 15 {
		s.now = s.now.Add(2 * time.Second)
		s.next = fakeLook(t, s.now, b.String())
		s.take()
	}
	if n := len(s.m.looks); n > 11 || n < looksLeast {
		t.Errorf("%d looks are kept", n)
	}
	if l := s.m.look(); !l.Snap.TakenAt.Equal(s.now) {
		t.Errorf("the look of %s is shown, want the newest, of %s", l.Snap.TakenAt, s.now)
	}
}

// TestLongPlan: a plan that is higher than the window is read line by line; its title and
// the question are always seen, and keys that scroll do not answer it.
func TestLongPlan(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	plan := Plan{Title: "change much"}
	for i := range 40 {
		plan.Lines = append(plan.Lines, fmt.Sprintf("change number %d.", i))
	}
	s.m.Update(planMsg{plan: plan})
	for _, tt := range []struct{ key, first, last string }{
		{"home", "number 0.", "number 16."},
		{"j", "number 1.", "number 17."},
		{"pgdown", "number 18.", "number 34."},
		{"end", "number 23.", "number 39."},
		{"down", "number 23.", "number 39."},
		{"up", "number 22.", "number 38."},
		{"g", "number 0.", "number 16."},
	} {
		s.press(t, tt.key)
		var seen []string
		for line := range strings.Lines(s.screen()) {
			if strings.Contains(line, "change number") {
				seen = append(seen, line)
			}
		}
		if len(seen) == 0 || !strings.Contains(seen[0], tt.first) || !strings.Contains(seen[len(seen)-1], tt.last) {
			t.Errorf("after %s there are %d lines from %q, want %s to %s", tt.key, len(seen), seen[:min(1, len(seen))], tt.first, tt.last)
		}
		if got := s.screen(); !strings.Contains(got, "change much?") || !strings.Contains(got, "y do it") {
			t.Errorf("after %s the question is not seen:\n%s", tt.key, got)
		}
	}
	s.press(t, "n")
	if s.m.asked != nil {
		t.Error("n does not end it")
	}
}

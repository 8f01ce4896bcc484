package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"
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

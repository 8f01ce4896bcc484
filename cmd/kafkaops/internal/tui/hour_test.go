package tui

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// TestAnHour: brokers die and return, looks fail, replicas leave ISRs and come back, keys of
// all kinds are pressed and the window changes, all by a seed. Nothing panics, no line is
// wider than the window, each key does what it is for, and what is kept is bounded. Five
// minutes of one seed; with KAFKAOPS_LONG an hour of several, in the second half of which
// memory does not grow.
func TestAnHour(t *testing.T) {
	t.Parallel()
	seeds, lasts := uint64(1), 5*time.Minute
	if os.Getenv("KAFKAOPS_LONG") != "" {
		seeds, lasts = 5, time.Hour
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			h := &hour{script: newScript(t), rng: rand.New(rand.NewPCG(seed, 2)), down: make([]bool, 5), leo: make([]int, 40)}
			begun, middle := h.now, uint64(0)
			for h.now.Sub(begun) < lasts {
				if h.now.Sub(begun) >= lasts/2 && middle == 0 {
					middle = inUse()
				}
				h.step(t)
			}
			// A third of what there was is what looks of other sizes come to.
			if end := inUse(); lasts == time.Hour && end > middle+middle/3 {
				t.Errorf("%d KiB are in use after half of the time, and %d at the end", middle>>10, end>>10)
			}
		})
	}
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// hour is a cluster of five brokers, by a seed, and who watches it.
type hour struct {
	*script
	rng  *rand.Rand
	down []bool
	leo  []int
}

// hourKeys are all that do something, and some that do not.
var hourKeys = strings.Split("j k g G enter esc / space y p [ ] + - left right : w ? 1 2 3 4 5 6 7 8 L N T U W B O ctrl+k n y pgdown pgup tab o r d", " ")

// step is two seconds: a look, or none, and up to three keys.
func (h *hour) step(t *testing.T) {
	t.Helper()
	h.now = h.now.Add(2 * time.Second)
	h.next, h.err = fakeLook(t, h.now, h.look()), nil
	if h.rng.IntN(50) == 0 {
		h.err = fmt.Errorf("the look of %s failed", h.now)
	}
	h.take()
	if h.rng.IntN(20) == 0 {
		h.m.Update(tea.WindowSizeMsg{Width: 20 + h.rng.IntN(280), Height: 3 + h.rng.IntN(97)})
	}
	for range h.rng.IntN(4) {
		h.key(t, hourKeys[h.rng.IntN(len(hourKeys))])
	}
	for n, line := range strings.Split(h.screen(), "\n") {
		if strings.HasPrefix(line, "TOO WIDE") {
			t.Fatalf("%s: line %d of %d columns: %s", h.now, n, h.m.width, line)
		}
	}
	if n := len(h.m.looks); n > looksMost {
		t.Fatalf("%d looks are kept", n)
	}
}

// look is the cluster as it is by now, with the changes of ISRs that came of it.
func (h *hour) look() string {
	var b, events strings.Builder
	up := 0
	for i := range h.down {
		was := h.down[i]
		if h.rng.IntN(60) == 0 {
			h.down[i] = !was
		}
		if h.down[i] {
			fmt.Fprintf(&b, "broker %d down\n", i+1)
		} else {
			fmt.Fprintf(&b, "broker %d\n", i+1)
			up++
		}
		if h.down[i] != was {
			change := "shrink broker-fenced"
			if was {
				change = "expand caught-up"
			}
			for n := range h.leo {
				fmt.Fprintf(&events, "event %s orders %d broker=%d isr=1,2\n", change, n, i+1)
			}
		}
	}
	for n := range h.leo {
		h.leo[n] += h.rng.IntN(1000)
		replicas := []int{n%5 + 1, (n+1)%5 + 1, (n+2)%5 + 1}
		leader, isr := -1, []string{}
		for _, id := range replicas {
			if !h.down[id-1] {
				isr = append(isr, fmt.Sprint(id))
				if leader < 0 {
					leader = id
				}
			}
		}
		fmt.Fprintf(&b, "orders %d leader=%d replicas=%d,%d,%d min=2 leo=%d isr=%s", n, leader, replicas[0], replicas[1], replicas[2], h.leo[n], strings.Join(isr, ","))
		if last := replicas[2]; h.down[last-1] || h.rng.IntN(4) == 0 {
			fmt.Fprintf(&b, " f%d=%d", last, h.leo[n]/2)
		}
		b.WriteByte('\n')
	}
	return b.String() + events.String()
}

// key presses a key, and looks whether it did what it is for, where that is to be seen.
func (h *hour) key(t *testing.T, key string) {
	t.Helper()
	wrong := h.expect(key)
	h.press(t, key)
	if wrong == nil {
		return
	}
	if what := wrong(); what != "" {
		t.Fatalf("%s: %q on %s: %s", h.now, key, h.m.here().name, what)
	}
}

// expect is what is wrong after a key, if it did not do what it is for; nil where nothing
// is expected of it.
func (h *hour) expect(key string) func() string {
	m := h.m
	if m.look() == nil || m.asked != nil || m.helping {
		return nil
	}
	is := func(ok func() bool, what string) func() string {
		return func() string {
			if ok() {
				return ""
			}
			return what
		}
	}
	if t := m.typing; t != nil {
		before := t.input.Value()
		switch {
		case len(key) == 1:
			return is(func() bool { return m.typing == t && len(t.input.Value()) == len(before)+1 }, "it is not typed")
		case key == "esc" || key == "enter":
			return is(func() bool { return m.typing == nil }, "the line goes on")
		}
		return nil
	}
	p := m.here()
	at, n, paused, looks, depth, filter := p.at, len(p.shown), m.paused, m.at, len(m.stack), p.filter
	switch key {
	case "1", "2", "3", "4", "5", "6", "7", "8":
		return is(func() bool { return m.here().key == key }, "it is another screen")
	case "j":
		return is(func() bool { return p.rows == nil || n == 0 || p.at == min(at+1, n-1) }, "not a row down")
	case "k":
		return is(func() bool { return p.rows == nil || n == 0 || p.at == max(at-1, 0) }, "not a row up")
	case "g":
		return is(func() bool { return p.rows == nil || p.at == 0 }, "not the first row")
	case "G":
		return is(func() bool { return p.rows == nil || n == 0 || p.at == n-1 }, "not the last row")
	case "p":
		return is(func() bool { return m.paused != paused }, "it is as held as before")
	case "[":
		return is(func() bool { return m.at >= 0 && (looks < 0 || m.at == max(0, looks-1)) || len(m.looks) < 2 }, "it shows no look before")
	case "/":
		return is(func() bool { return (m.typing != nil) == (p.rows != nil) }, "nothing is to be typed")
	case ":":
		return is(func() bool { return m.typing != nil }, "nothing is to be typed")
	case "?":
		return is(func() bool { return m.helping }, "there is no help")
	case "esc":
		return is(func() bool { return filter != "" && p.filter == "" || filter == "" && len(m.stack) == max(1, depth-1) }, "it is where it was")
	case "enter":
		return is(func() bool { return p.enter == nil || n == 0 || len(m.stack) == depth+1 }, "nothing is behind the row")
	case "L", "N", "T", "U", "W", "B", "O":
		if p.listed == nil {
			return nil
		}
		order, down := p.order, p.down
		return is(func() bool {
			for i := range p.listed.sorts {
				if p.listed.sorts[i].key == key {
					return p.order == i && (i != order || p.down != down)
				}
			}
			return true
		}, "it is sorted as before")
	}
	return nil
}

package diagnose

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
)

// TestPast: a case that asks a History of somebody else's says what one with its own says,
// and does not feed it: a look comes once.
func TestPast(t *testing.T) {
	t.Parallel()
	past := history.New(0)
	own, shared := New(Options{Interval: time.Second}), New(Options{Interval: time.Second, Past: past})
	for sec := range 8 {
		s := well(sec)
		lagging(s, 0, 3, inspect.Offset(sec))
		past.Add(s)
		own.Look(s)
		shared.Look(s)
	}
	text := func(c *Case) string {
		r := c.Diagnose()
		if len(r.Findings) == 0 {
			t.Error("a follower that lags is not found")
		}
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got, want := text(shared), text(own); got != want {
		t.Errorf("with a History of somebody else's:\n%s\nwant\n%s", got, want)
	}
	before := past.TimeLag("orders", 0, 3)
	next := well(8)
	shared.Look(next)
	if got := past.TimeLag("orders", 0, 3); got != before {
		t.Errorf("the case has fed it: a lag of %v, want %v", got, before)
	}
}

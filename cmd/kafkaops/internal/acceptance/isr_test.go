package acceptance

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
)

// isrEvent is what a script reads of an event.
type isrEvent struct {
	Time      time.Time `json:"time"`
	Topic     string    `json:"topic"`
	Type      string    `json:"type"`
	Cause     string    `json:"cause"`
	Brokers   []int32   `json:"brokers"`
	ISR       []int32   `json:"isr"`
	ISRBefore []int32   `json:"isrBefore"`
	// DurationMs is nil where it is unknown.
	DurationMs *int64 `json:"durationMs"`
	Source     string `json:"source"`
}

// TestIsrOfAPausedFollower: a follower hangs, is fenced, and comes back. The history has
// that and nothing else, with what it took.
func TestIsrOfAPausedFollower(t *testing.T) {
	c := shared.Get(t)
	createTopic(t, c, "isr-paused", [][]int32{{patient, 3}}, minISR(1))
	began := time.Now()
	c.Pause(t, 3)
	c.AwaitISR(t, "isr-paused", 0, patient)
	c.Resume(t, 3)
	c.AwaitISR(t, "isr-paused", 0, 3, patient)
	ended := time.Now()

	want := []string{
		"create topic-created [4 3] [] [3 4]",
		"shrink broker-fenced [3] [3 4] [4]",
		"expand caught-up [3] [4] [3 4]",
	}
	read := func(source, flags string) []isrEvent {
		t.Helper()
		var doc struct {
			Complete bool       `json:"complete"`
			Items    []isrEvent `json:"items"`
		}
		var got []string
		kafkatest.Eventually(t, soon, func() error { // a broker's copy is a moment behind
			got, doc.Items = nil, nil
			r := kafkaops(c, "isr isr-paused -o json "+flags)
			if r.exit != 0 {
				return errors.New(r.String())
			}
			if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
				return err
			}
			for _, e := range doc.Items {
				got = append(got, fmt.Sprintf("%s %s %v %v %v", e.Type, e.Cause, e.Brokers, e.ISRBefore, e.ISR))
				if e.Source != source {
					return fmt.Errorf("source %s, want %s", e.Source, source)
				}
			}
			if len(got) < len(want) {
				return fmt.Errorf("only %q", got)
			}
			return nil
		})
		if diff := cmp.Diff(want, got); diff != "" || !doc.Complete {
			t.Errorf("%s, complete %v (-want +got):\n%s", source, doc.Complete, diff)
		}
		return doc.Items
	}
	events := read("metadata-log", "--controller "+c.ControllerAddr())
	const linger = time.Second
	for _, e := range events[1:] {
		if e.Time.Before(began.Add(-linger)) || e.Time.After(ended) {
			t.Errorf("%s at %s, which is not between %s and %s", e.Type, e.Time, began, ended)
		}
	}
	if out, apart := events[2].DurationMs, events[2].Time.Sub(events[1].Time).Milliseconds(); out == nil || *out != apart {
		t.Errorf("out for %v ms, want %d", out, apart)
	}
	if engine.FromEnv() == nil { // which keeps its log in memory here
		read("metadata-dir", "--metadata-dir "+c.LogDirs(3)[0])
	}
	// Brokers tell where the controllers are.
	if again := read("metadata-log", ""); !slices.EqualFunc(events, again, func(a, b isrEvent) bool { return a.Time.Equal(b.Time) }) {
		t.Errorf("by the brokers' word: %v, want %v", again, events)
	}

	r := kafkaops(c, "isr summary --broker 3 --cause broker-fenced --topic isr-paused")
	if rows := strings.Split(strings.TrimSpace(r.stdout), "\n"); r.exit != 0 || len(rows) != 2 || !strings.HasPrefix(rows[1], "3\t") {
		t.Error(r)
	}
}

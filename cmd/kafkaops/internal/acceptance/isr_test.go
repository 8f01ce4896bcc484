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
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
)

// isrEvent is what a script reads of an event.
type isrEvent struct {
	Time      time.Time `json:"time"`
	Topic     string    `json:"topic"`
	Partition int32     `json:"partition"`
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

// sinceOf wants describe to say since when a partition with three replicas is unhealthy,
// and why: as isr has the last shrink before which it was whole.
func sinceOf(t *testing.T, c *kafkatest.Cluster, topic string, partition int32, cause string) {
	t.Helper()
	var events struct{ Items []isrEvent }
	r := kafkaops(c, "isr -o json --controller "+c.ControllerAddr()+" --topic "+topic).want(t, 0)
	if err := json.Unmarshal([]byte(r.stdout), &events); err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, e := range events.Items {
		if e.Partition == partition && e.Type == "shrink" && len(e.ISRBefore) == 3 {
			want = e.Time.Format(time.RFC3339Nano) + " " + e.Cause
		}
	}
	kafkatest.Eventually(t, soon, func() error { // on a busy machine a second may be too short
		var d render.Document[render.PartitionItem]
		var cluster render.Document[render.ClusterItem]
		r := kafkaops(c, "describe -o json --timeout 3s")
		if err := json.Unmarshal([]byte(r.stdout), &cluster); err != nil {
			return fmt.Errorf("%w: %v", err, r)
		}
		for _, item := range cluster.Items {
			d.Items = append(d.Items, item.Unhealthy...)
		}
		p := partitionItem(t, d.Items, topic, partition)
		at, err := time.Parse(time.RFC3339Nano, p.Since.Or(""))
		if err != nil {
			return err
		}
		if got := at.Format(time.RFC3339Nano) + " " + string(p.Cause.Or("null")); got != want || string(p.Cause.Or("")) != cause || p.SinceBefore.IsKnown() {
			return fmt.Errorf("%s-%d is unhealthy since %s, before %s; isr has %s, and %s is wanted", topic, partition, got, p.SinceBefore, want, cause)
		}
		return nil
	})
}

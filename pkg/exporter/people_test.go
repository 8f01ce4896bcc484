package exporter

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/exporter/status"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestPeople: the page for people is of the last collection until somebody looks, and of
// the last sample from then on; what has not changed is not sent again.
func TestPeople(t *testing.T) {
	t.Parallel()
	c := startS0(t, nil)
	r := newRig(t, c, patience, nil)
	r.collectNow()
	has := func(path, want string) {
		t.Helper()
		if w := r.get(path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d, no %q in\n%s", path, w.Code, want, w.Body)
		}
	}
	shrink := func(isr ...int32) {
		c.Change(func(m *fakekafka.Model) { m.Topics[0].Partitions[0].ISR = isr })
	}
	shrink(0, 1)
	r.sampleNow() // nobody has looked
	if r.people.snap.TakenAt.After(r.page.takenAt) {
		t.Error("a sample that nobody looks at was kept")
	}
	has("/", "There is none.")
	r.sampleNow()
	has("/status", `<th scope="row">t-0</th><td><span class="status">at-min-isr, under-replicated`)
	has("/status?q=%5Et-1", "None of 1 matches")
	w := r.get("/status")
	if again := r.get("/status", "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("the same again: %d, %d bytes", again.Code, again.Body.Len())
	}
	shrink(0, 1, 2)
	r.sampleNow()
	has("/status", "There is none.")
	r.clock.at = r.clock.at.Add(2 * watchedFor)
	if r.people.watched(r.clock.at) {
		t.Error("somebody who has gone is taken to be looking")
	}
	r.clock.at = r.clock.at.Add(time.Hour)
	has("/", "NOT OBSERVED")
}

// TestPeopleFenced: a broker that is fenced is so between two collections too.
func TestPeopleFenced(t *testing.T) {
	t.Parallel()
	last := &inspect.Snapshot{Asked: inspect.PartFenced, Brokers: []inspect.Broker{{ID: 1}, {ID: 2, Fenced: inspect.Known(true)}, {ID: 3, Fenced: inspect.Known(true)}}}
	now := &inspect.Snapshot{Brokers: []inspect.Broker{{ID: 1}, {ID: 3}}, Gone: []inspect.BrokerID{2, 4}}
	got := withFenced(now, last)
	if len(got.Brokers) != 3 || got.Brokers[1].Fenced.Or(false) || !got.Brokers[2].Fenced.Or(false) || !slices.Equal(got.Gone, []inspect.BrokerID{4}) {
		t.Errorf("got %+v", got)
	}
	if len(now.Brokers) != 2 || len(now.Gone) != 2 {
		t.Error("the look of others was changed")
	}
	if again := withFenced(&inspect.Snapshot{Brokers: now.Brokers}, got); len(again.Brokers) != 3 {
		t.Errorf("two samples later: %d brokers", len(again.Brokers))
	}
	whole := &inspect.Snapshot{Asked: inspect.PartFenced, Brokers: now.Brokers}
	if withFenced(whole, last) != whole {
		t.Error("a collection knows better")
	}
}

// TestPeopleHeaders: nothing is loaded from elsewhere, and nothing runs that is not ours.
func TestPeopleHeaders(t *testing.T) {
	t.Parallel()
	r := newRig(t, startS0(t, nil), patience, nil)
	r.collectNow()
	w := r.get("/")
	if got := w.Header().Get("Content-Security-Policy"); got != status.Policy {
		t.Errorf("policy %q", got)
	}
	for path, kind := range map[string]string{"/": "text/html", "/status": "text/html", "/status.css": "text/css", "/status.js": "text/javascript"} {
		w := r.get(path)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d, %v", path, w.Code, w.Header())
		}
	}
}

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/tui"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestTopInPipe: where there is no terminal one look is printed, what is asked is no more
// than reads, and what was not answered is told.
func TestTopInPipe(t *testing.T) {
	t.Parallel()
	c := unhealthy(t)
	if r := ask(t, c, "top"); r.code != exitOK || !strings.HasPrefix(r.stdout, "verdict\tat-risk\n") || !strings.Contains(r.stdout, "orders-0\t") || r.stderr != "" {
		t.Errorf("got %+v, want one look", r)
	}
	if docs := documents[render.ClusterItem](t, ask(t, c, "top -o json").stdout); len(docs) != 1 || docs[0].Kind != render.KindCluster {
		t.Errorf("got %+v, want one document", docs)
	}
	if r := ask(t, c, "top pay*"); r.code != exitOK || strings.Contains(r.stdout, "orders") {
		t.Errorf("got %+v, want topics that were asked for", r)
	}
	dumb := place{width: 80, height: 24, env: map[string]string{"TERM": "dumb"}}
	if r := dumb.run(t.Context(), "top", "-b", c.Addr(1)); r.code != exitOK || !strings.HasPrefix(r.stdout, "AT RISK ") || strings.Contains(r.stdout, "\x1b") {
		t.Errorf("on a terminal that cannot be drawn on: got %+v, want one look", r)
	}
	checkRequests(t, c, "top")
	c.Break(3, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.ApiVersions}})
	if r := ask(t, c, "top"); r.code != exitFailed || !strings.Contains(r.stderr, "broker 3") {
		t.Errorf("a broker is silent: got %+v", r)
	}
}

// TestTopLive: what the screen is fed with are looks that read only, with groups where they
// are wanted, and what is asked seldom carried over.
func TestTopLive(t *testing.T) {
	t.Parallel()
	c := unhealthy(t)
	_, env := place{}.double()
	o := targetOptions{bootstrap: c.Addr(1)}
	target, err := o.resolve(env)
	if err != nil {
		t.Fatal(err)
	}
	live := newTopLive(target, topicFilter{}, minInterval, patience)
	defer live.close()
	for i := range 3 {
		c.Reset()
		seen, err := live.Next(t.Context(), tui.Want{Groups: i == 2})
		if err != nil {
			t.Fatal(err)
		}
		p := seen.Snap.Topics[1].Partitions[0]
		if len(seen.Snap.Groups) != 1 || p.Offsets == nil || !p.MinInsyncReplicas.IsKnown() || !seen.Snap.Brokers[0].LogDirs.IsKnown() {
			t.Errorf("look %d lacks something: %+v", i, seen.Snap)
		}
		if asked := c.Count(kmsg.ListGroups) > 0; asked == (i == 1) {
			t.Errorf("look %d: groups were asked for: %v", i, asked)
		}
		checkRequests(t, c, "top")
	}
}

// TestTopReplay: a recording is played look by look, wound, and has an end; in a pipe its
// end is printed.
func TestTopReplay(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	file := filepath.Join(t.TempDir(), "day.rec")
	if r := isr(t, place{}, c, "record "+file+" --for 1s --interval 100ms"); r.code != exitOK {
		t.Fatalf("record: %+v", r)
	}
	r, err := openReplay(file, topicFilter{})
	if err != nil {
		t.Fatal(err)
	}
	fast := tui.Want{Speed: 1000}
	since, until := r.Span()
	looks, events, last := 0, 0, since
	for {
		seen, err := r.Next(t.Context(), fast)
		if err != nil {
			t.Fatal(err)
		}
		if seen.Ended {
			break
		}
		if seen.Snap.TakenAt.Before(last) || seen.Anew != (looks == 0) {
			t.Errorf("look %d is of %s, after %s, anew %v", looks, seen.Snap.TakenAt, last, seen.Anew)
		}
		last = seen.Snap.TakenAt
		looks, events = looks+1, events+len(seen.Events)
	}
	eventsUpTo := func(at time.Time) (n int) {
		for i := range r.events {
			if !r.events[i].Time.After(at) {
				n++
			}
		}
		return n
	}
	if want := eventsUpTo(until); looks < 3 || events != want || want == 0 || !last.Equal(until) {
		t.Errorf("%d looks and %d events up to %s, want all %d up to %s", looks, events, last, want, until)
	}
	for _, to := range []time.Time{since, since.Add(until.Sub(since) / 2), until, since} {
		r.Seek(to)
		seen, err := r.Next(t.Context(), fast)
		if err != nil || !seen.Anew || seen.Snap.TakenAt.Before(to) || to.Equal(since) && !seen.Snap.TakenAt.Equal(since) {
			t.Errorf("wound to %s: %+v, %v", to, seen, err)
			continue
		}
		if want := eventsUpTo(seen.Snap.TakenAt); len(seen.Events) != want {
			t.Errorf("wound to %s: %d events, want all %d of before", to, len(seen.Events), want)
		}
		if n := len(seen.Known); n == 0 || seen.Known[n-1].Until.After(seen.Snap.TakenAt) {
			t.Errorf("wound to %s: %v is known, want what was by then", to, seen.Known)
		}
	}
	if second, err := r.Next(t.Context(), fast); err != nil || second.Anew || second.Snap.TakenAt.Equal(since) {
		t.Errorf("the look after it: %+v, %v", second, err)
	}
	r.close()
	ran := place{}.run(t.Context(), "top", "--replay", file, "-o", "json")
	var doc render.Document[render.ClusterItem]
	if err := json.Unmarshal([]byte(ran.stdout), &doc); err != nil || !doc.TakenAt.Equal(until) {
		t.Errorf("in a pipe: %+v, %v; want the last look", ran, err)
	}
}

// TestTopWrites: what was seen is a recording.
func TestTopWrites(t *testing.T) {
	c := eventful(t, embedded.Options{})
	dir := t.TempDir()
	file := filepath.Join(dir, "day.rec")
	if r := isr(t, place{}, c, "record "+file+" --for 500ms --interval 100ms"); r.code != exitOK {
		t.Fatalf("record: %+v", r)
	}
	r, err := openReplay(file, topicFilter{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := r.Next(t.Context(), tui.Want{Speed: 1000})
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Next(t.Context(), tui.Want{Speed: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	snaps := append(make([]*inspect.Snapshot, 0, 2), first.Snap, second.Snap)
	name, err := writeSeen(snaps)
	if err != nil {
		t.Fatal(err)
	}
	again, err := openReplay(name, topicFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if since, until := again.Span(); !since.Equal(first.Snap.TakenAt) || !until.Equal(second.Snap.TakenAt) {
		t.Errorf("the recording is of %s to %s", since, until)
	}
	if _, err := writeSeen(snaps); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a second one of that name: got %v, want that it is there", err)
	}
}

// TestTopRefuses: what cannot be is said.
func TestTopRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign")
	if err := os.WriteFile(foreign, []byte("not a recording, whatever its name says"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"top":                                "no cluster named",
		"top --replay x --embedded":          "use one of them",
		"top --embedded -b 127.0.0.1:1":      "name no other",
		"top --replay x --speed 0":           "--speed 0: use 0.125 to 1024",
		"top --replay x --speed 2000":        "--speed 2000: use 0.125 to 1024",
		"top --replay x --speed NaN":         "--speed NaN: use 0.125 to 1024",
		"top --replay x --jmx http://a/":     "use kafkaops record --jmx",
		"top --replay " + dir + "/none":      "no such file",
		"top --replay " + foreign:            "is not a recording of kafkaops",
		"top --timeout 300ms -b 127.0.0.1:1": "127.0.0.1:1",
		"top --interval 1ms -b 127.0.0.1:1":  "--interval 1ms is too short",
	} {
		if r := (place{}).run(t.Context(), strings.Fields(line)...); r.code == exitOK || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d, %s", line, r.code, r.stderr)
		}
	}
}

// TestTopEmbedded: a cluster with a load; a fault that its keys give it is seen, and ends.
func TestTopEmbedded(t *testing.T) {
	t.Parallel()
	_, env := machine(t).double()
	e, err := startEmbedded(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.close(); err != nil {
			t.Error(err)
		}
	}()
	actions := map[string]tui.Action{}
	for _, a := range e.actions() {
		actions[a.Key] = a
	}
	do := func(key string, target tui.Target) {
		t.Helper()
		plan, err := actions[key].Plan(t.Context(), target)
		if err != nil || plan.Title == "" || len(plan.Lines) == 0 {
			t.Fatalf("%s: %+v, %v", key, plan, err)
		}
		if said, err := plan.Do(t.Context()); err != nil || said == "" {
			t.Fatalf("%s: %q, %v", key, said, err)
		}
	}
	if _, err := actions["ctrl+r"].Plan(t.Context(), tui.Target{}); err == nil {
		t.Error("there is something to heal at the beginning")
	}
	do("ctrl+d", tui.Target{Broker: inspect.Known(inspect.BrokerID(3))})
	o := targetOptions{bootstrap: e.bootstrap()}
	target, err := o.resolve(env)
	if err != nil {
		t.Fatal(err)
	}
	live := newTopLive(target, topicFilter{}, minInterval, patience)
	defer live.close()
	behind := func(s *inspect.Snapshot) (most int64) {
		for part := range s.Partitions {
			lag := part.Lag()
			most = max(most, lag.MaxLag().Or(0))
		}
		return most
	}
	for begun := time.Now(); ; {
		seen, err := live.Next(t.Context(), tui.Want{})
		if err != nil {
			t.Fatal(err)
		}
		if behind(seen.Snap) > 100 {
			break
		}
		if time.Since(begun) > patience {
			t.Fatal("no replica falls behind")
		}
	}
	do("ctrl+r", tui.Target{})
	if _, err := actions["ctrl+r"].Plan(t.Context(), tui.Target{}); err == nil {
		t.Error("there is something to heal at the end")
	}
}

package isrlog

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

func readLog(t *testing.T, l *Log, span Span) *heard {
	t.Helper()
	var h heard
	if err := l.Read(t.Context(), span, h.listener()); err != nil {
		t.Fatal(err)
	}
	return &h
}

// snapshotOf is a whole snapshot of these records.
func snapshotOf(t testing.TB, lines string) []byte {
	t.Helper()
	w := newLog(0)
	w.control(t, &kraft.SnapshotHeader{})
	w.records(t, lines)
	w.control(t, &kraft.SnapshotFooter{})
	return w.bytes
}

func TestLogWhole(t *testing.T) {
	t.Parallel()
	f := startController(t, 100, small(t))
	h := readLog(t, reader(f), Span{})
	h.check(t, []string{created, shrunk, grown}, nil)
	want := fmt.Sprintf("controller 100 (%s)", f.addr)
	if e := h.evidence; e.Where != want || e.From != inspect.Known[inspect.Offset](0) || e.To != inspect.Known[inspect.Offset](7) {
		t.Errorf("evidence %+v, want %s, 0 to 7", e, want)
	}
	for _, id := range f.replicas {
		if id != -1 {
			t.Errorf("sent replica id %d", id)
		}
	}
}

// TestLogUncommitted: what lies beyond the high watermark is not told, and once it is
// committed it is.
func TestLogUncommitted(t *testing.T) {
	t.Parallel()
	f := startController(t, 100, small(t))
	f.change(func() { f.hw = 5 }) // before the expansion
	readLog(t, reader(f), Span{}).check(t, []string{created, shrunk}, nil)
	f.change(func() { f.hw = 0 })
	readLog(t, reader(f), Span{}).check(t, []string{created, shrunk, grown}, nil)
}

// TestLogFromStart: the log begins at a snapshot, whose state is no event.
func TestLogFromStart(t *testing.T) {
	t.Parallel()
	w := newLog(50)
	w.records(t, "change t/0 isr=1,3")
	w.noOp()
	f := startController(t, 100, w)
	id := snapshotID{50, 1}
	f.start, f.newest = 50, id
	f.snapshots[id] = snapshotOf(t, "topic t\npartition t/0 replicas=1,2,3 isr=1,2,3 leader=1 pepoch=8")
	h := readLog(t, reader(f), Span{})
	h.check(t, []string{"50 16:40 t-0 shrink replica-lag [2] isr [1 2 3]->[1 3] leader 1 epoch 0/9"}, nil)
	if f.snapshotFetches < 2 {
		t.Errorf("%d FetchSnapshot, want it in pieces", f.snapshotFetches)
	}
	if h.evidence.From != inspect.Known[inspect.Offset](51) {
		t.Errorf("evidence %+v", h.evidence)
	}
}

// aWeek is the records of an idle log in a week, aDay those that do in the ordinary run: far
// more than what may be read of them.
const (
	aWeek = 1_200_000
	aDay  = 150_000
)

// recordsOf is how long a log a test makes, a long one where KAFKAOPS_LONG is set.
func recordsOf() int64 {
	if os.Getenv("KAFKAOPS_LONG") != "" {
		return aWeek
	}
	return aDay
}

// idleLog is a log of so many no-op records and what happened: before any of them, and by
// how many records before the end.
func idleLog(t testing.TB, records int64, first string, happens map[int64]string) *logWriter {
	t.Helper()
	w := newLog(0)
	w.records(t, first)
	w.control(t, &kraft.LeaderChange{})
	happened := 0
	for w.next < records {
		w.timeMs += 500
		if what := happens[records-w.next]; what != "" {
			w.records(t, what)
			happened++
		}
		w.noOp()
	}
	if happened != len(happens) {
		t.Fatalf("%d of %d things happened", happened, len(happens))
	}
	return w
}

func (w *logWriter) now() time.Time { return time.UnixMilli(w.timeMs) }

// TestLogSince reads the last hour of a day: little of it, where the state is known.
func TestLogSince(t *testing.T) {
	t.Parallel()
	const most = 2 << 20
	w := idleLog(t, recordsOf(), story1, map[int64]string{2400: "change t/0 isr=1,3"}) // 20 min
	f := startController(t, 100, w)
	const state = "topic t\npartition t/0 replicas=1,2,3 isr=1,2,3 leader=1"
	shot := func(ago time.Duration, state string) {
		id := snapshotID{inspect.Offset(w.next - int64(ago/(500*time.Millisecond))), 1}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.newest, f.sent = id, 0
		f.snapshots[id] = snapshotOf(t, state)
	}
	read := func(what string, since time.Duration, events int, most int64) {
		t.Helper()
		h := readLog(t, reader(f), Span{Since: w.now().Add(-since)})
		if len(h.events) != events {
			t.Errorf("%s: events %q, want %d", what, h.events, events)
		}
		if f.sent > most {
			t.Errorf("%s: the controller sent %d bytes in %d answers, want at most %d", what, f.sent, f.fetches, most)
		}
		if since := h.evidence.Since.Or(time.Time{}); since.After(time.UnixMilli(1_001_000)) {
			t.Errorf("%s: history reaches back to %s, want the log's start", what, since)
		}
	}
	// The snapshot lies before the span; behind its beginning, with nothing in
	// between; behind what happened, so that the state before is to be had from the
	// log's beginning alone, which has all that ever happened to the partition if the
	// partition epoch says so.
	shot(2*time.Hour, state)
	read("snapshot before", time.Hour, 1, most)
	shot(50*time.Minute, state)
	read("snapshot within", time.Hour, 1, most)
	shot(5*time.Minute, "topic t\npartition t/0 replicas=1,2,3 isr=1,3 leader=1")
	read("nothing happened", 10*time.Minute, 0, most)
	shot(5*time.Minute, "topic t\npartition t/0 replicas=1,2,3 isr=1,3 leader=1 pepoch=1")
	read("snapshot behind", time.Hour, 1, most)
	shot(5*time.Minute, "topic t\npartition t/0 replicas=1,2,3 isr=1,3 leader=1 pepoch=2")
	read("a change that is nowhere", time.Hour, 1, 200<<20)
}

// longAgo is a log in which something happened 20 minutes before the end, and before that
// 3 hours.
func longAgo(t testing.TB, records int64) *logWriter {
	return idleLog(t, records, story1, map[int64]string{21_000: "change t/0 isr=1,2", 20_900: "change t/0 isr=1,2,3", 2400: "change t/0 isr=1,3"})
}

// TestLogSinceBehind reads the last hour of a day in which something happened before the
// newest snapshot: the state before is that of the earliest one, or lies in the last
// record that set it, or in the log's beginning.
func TestLogSinceBehind(t *testing.T) {
	t.Parallel()
	const state, start = "topic t\npartition t/0 replicas=1,2,3 isr=1,2,3 leader=1", 2000
	w := longAgo(t, recordsOf())
	for _, tt := range []struct {
		name   string
		start  int64
		pepoch int // at the log's start
		most   int64
	}{
		{"unchanged since the earliest snapshot", start, 2, 2 << 20},
		{"changed since", start, 0, 2 << 20},
		{"no earliest snapshot, changed in the log", 0, 0, 2 << 20},
	} {
		f := startController(t, 100, w)
		f.start, f.newest = tt.start, snapshotID{inspect.Offset(w.next - 600), 1} // 5 min
		f.snapshots[f.newest] = snapshotOf(t, "topic t\npartition t/0 replicas=1,2,3 isr=1,3 leader=1 pepoch=3")
		if tt.start > 0 {
			f.snapshots[snapshotID{start, 1}] = snapshotOf(t, fmt.Sprintf("%s pepoch=%d", state, tt.pepoch))
		}
		began := time.Now()
		h := readLog(t, reader(f), Span{Since: w.now().Add(-time.Hour)})
		t.Logf("%s: %d bytes in %d answers, %s", tt.name, f.sent, f.fetches, time.Since(began))
		if len(h.events) != 1 || !strings.Contains(h.events[0], "t-0 shrink replica-lag [2] isr [1 2 3]->[1 3] leader 1 epoch 0/3") {
			t.Errorf("%s: events %q", tt.name, h.events)
		}
		if f.sent > tt.most {
			t.Errorf("%s: the controller sent %d bytes in %d answers, want at most %d", tt.name, f.sent, f.fetches, tt.most)
		}
	}
}

// old has a log in whose last hour something happened to what was last changed at the log's
// start, or by the restart of a broker about its middle; and topics that were deleted and
// made in it.
func old(t testing.TB, records int64) *fakeController {
	restart := records / 12 * 7
	w := idleLog(t, records, story1+"\ntopic u\npartition u/0 replicas=2,3 isr=2,3 leader=2", map[int64]string{
		restart:      fmt.Sprintf("change t/0 isr=1,3\nregister 2 epoch=%d", records-restart),
		restart - 50: "broker 2 fenced=-1", restart - 70: "change t/0 isr=1,3,2",
		18_000: "topic gone\npartition gone/0 replicas=1,2 isr=1,2 leader=1", // 2 h 30 min
		15_000: "change gone/0 isr=1",
		2400:   "topic new\nclear-elr new\npartition new/0 replicas=3 isr=3 leader=3", // 20 min
		2300:   "change t/0 isr=1,3", 2200: "change u/0 isr=2", 2100: "remove gone",
		2000: "begin -\nchange u/0 isr=2,3\nend -", 1900: "begin -\nchange u/0 isr=2\nabort -",
	})
	f := startController(t, 100, w)
	f.newest = snapshotID{inspect.Offset(w.next - 600), 1} // 5 min
	f.snapshots[f.newest] = snapshotOf(t, fmt.Sprintf(`register 2 epoch=%d
		topic t
		partition t/0 replicas=1,2,3 isr=1,3 leader=1 pepoch=3
		topic u
		partition u/0 replicas=2,3 isr=2,3 leader=2 pepoch=2
		topic new
		partition new/0 replicas=3 isr=3 leader=3`, records-restart))
	return f
}

// TestLogSinceOld reads the last hour of that log.
func TestLogSinceOld(t *testing.T) {
	t.Parallel()
	const most = 2 << 20
	f := old(t, recordsOf())
	began := time.Now()
	h := readLog(t, reader(f), Span{Since: f.log.now().Add(-time.Hour)})
	t.Logf("%d bytes in %d answers, %s", f.sent, f.fetches, time.Since(began))
	var got []string
	for _, e := range h.events {
		_, text, _ := strings.Cut(e, " ") // what offset and time that is does not matter
		_, text, _ = strings.Cut(text, " ")
		got = append(got, text)
	}
	want := []string{
		"new-0 create topic-created [3] isr []->[3] leader 3 epoch 0/0",
		"t-0 shrink replica-lag [2] isr [1 3 2]->[1 3] leader 1 epoch 0/3",
		"u-0 shrink replica-lag [3] isr [2 3]->[2] leader 2 epoch 0/1",
		"gone-0 delete topic-deleted [1 2] isr [1]->[] leader -1 epoch 0/1",
		"u-0 expand caught-up [3] isr [2]->[2 3] leader 2 epoch 0/2 out 1m39s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if f.sent > most || f.wholes > 0 {
		t.Errorf("the controller sent %d bytes in %d answers, want at most %d", f.sent, f.fetches, most)
	}
}

// TestLogFollow follows through two elections: nothing is missed, and nothing told
// twice.
func TestLogFollow(t *testing.T) {
	t.Parallel()
	log := small(t)
	a, b := startController(t, 100, log), startController(t, 101, log)
	b.change(func() { b.leader = a })
	ctx, cancel := context.WithCancel(t.Context())
	events, begun := make(chan string, 100), make(chan bool, 10)
	done := make(chan error)
	go func() {
		done <- reader(b).Read(ctx, Span{Follow: true}, Listener{
			Event: func(e inspect.IsrEvent) { events <- line(&e) }, Evidence: func(Evidence) { begun <- true },
			Note: func(string, bool) {},
		})
	}()
	<-begun
	want := func(lines ...string) {
		t.Helper()
		for _, text := range lines {
			if got := <-events; got != text {
				t.Errorf("got %q, want %q", got, text)
			}
		}
	}
	want(created, shrunk, grown)
	both := func(do func()) { a.change(func() { b.change(do) }) }
	both(func() {
		a.leader, b.leader, a.epoch, b.epoch, log.epoch = b, nil, 2, 2, 2
		log.control(t, &kraft.LeaderChange{LeaderID: 101})
		log.records(t, "change t/0 isr=1,2")
		log.noOp()
	})
	want("8 16:43 t-0 shrink replica-lag [3] isr [1 2 3]->[1 2] leader 1 epoch 0/3")
	both(func() {
		a.leader, b.leader, a.epoch, b.epoch, log.epoch = nil, a, 3, 3, 3
		log.control(t, &kraft.LeaderChange{LeaderID: 100})
		log.records(t, "change t/0 isr=1,2,3")
	})
	want("11 16:43 t-0 expand caught-up [3] isr [1 2]->[1 2 3] leader 1 epoch 0/4 out 0s")
	// Without no-op records what is held is told when nothing more comes.
	both(func() { log.records(t, "change t/0 isr=1") })
	want("12 16:43 t-0 shrink replica-lag [2 3] isr [1 2 3]->[1] leader 1 epoch 0/5")
	both(func() { log.records(t, "change t/0 isr=1,3") })
	want("13 16:43 t-0 expand caught-up [3] isr [1]->[1 3] leader 1 epoch 0/6 out 0s")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if len(events) > 0 {
		t.Errorf("then %q", <-events)
	}
}

// TestLogPaced: an idle log, whose no-op records come all the time, is asked at most
// 2.5 times a second.
func TestLogPaced(t *testing.T) {
	t.Parallel()
	log := small(t)
	f := startController(t, 100, log)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	began := time.Now()
	go func() {
		for ctx.Err() == nil {
			f.change(log.noOp)
			time.Sleep(20 * time.Millisecond)
		}
	}()
	if err := reader(f).Read(ctx, Span{Follow: true}, reads(new([]inspect.IsrEvent))); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	// Finding it and its bounds costs three.
	if most := 4 + int(time.Since(began)/pollEvery); f.fetches > most {
		t.Errorf("%d requests in %s, want at most %d", f.fetches, time.Since(began), most)
	}
}

// TestLogTrimmed: retention passes a reader that is slow. What is missing is said.
func TestLogTrimmed(t *testing.T) {
	t.Parallel()
	f := startController(t, 100, small(t))
	id := snapshotID{20, 1}
	var h heard
	to := h.listener()
	ctx, cancel := context.WithCancel(t.Context())
	event := to.Event
	to.Event = func(e inspect.IsrEvent) {
		switch event(e); len(h.events) {
		case 3:
			later := newLog(20)
			later.timeMs += 10_000
			later.records(t, "change t/0 isr=1,2,3")
			later.noOp()
			f.change(func() {
				f.log, f.start, f.newest = later, 20, id
				f.snapshots[id] = snapshotOf(t, "topic t\npartition t/0 replicas=1,2,3 isr=1,2 leader=1 pepoch=9")
			})
		case 4:
			cancel()
		}
	}
	if err := reader(f).Read(ctx, Span{Follow: true}, to); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	h.check(t, []string{created, shrunk, grown, "20 16:50 t-0 expand caught-up [3] isr [1 2]->[1 2 3] leader 1 epoch 0/10"}, []string{
		fmt.Sprintf("controller 100 (%s) no longer has offset 7: went on from 20; what happened in between is missing", f.addr),
	})
}

func TestLogRefused(t *testing.T) {
	t.Parallel()
	f := startController(t, 100, small(t))
	f.code = 31
	err := reader(f).Read(t.Context(), Span{}, Listener{})
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "CLUSTER_ACTION on the cluster, which also lets its holder act as a broker") {
		t.Errorf("got %v", err)
	}
}

func TestLogUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	closed := &fakeController{addr: addr}
	err = reader(closed).Read(t.Context(), Span{}, Listener{})
	var ce *connect.Error
	if !errors.As(err, &ce) || ce.Phase != inspect.PhaseDial || ce.Address != addr {
		t.Errorf("got %v", err)
	}
	// One that is closed hides none that is not; one whose leader is, names it.
	open := startController(t, 100, small(t))
	readLog(t, reader(closed, open), Span{}).check(t, []string{created, shrunk, grown}, nil)
	open.leader = closed
	if err = reader(open).Read(t.Context(), Span{}, Listener{}); !errors.As(err, &ce) || ce.Address != addr {
		t.Errorf("got %v, want one about %s", err, addr)
	}
	open.leader = &fakeController{id: -1, addr: open.addr}
	if err = reader(open).Read(t.Context(), Span{}, Listener{}); !errors.Is(err, errNoController) {
		t.Errorf("got %v", err)
	}
}

// TestSearch compares with looking at every batch.
func TestSearch(t *testing.T) {
	t.Parallel()
	w := newLog(0)
	w.records(t, story1)
	for i := range 5000 {
		if w.timeMs += 500; i%1000 == 999 {
			w.timeMs += 3_600_000 // the controller was down
		}
		w.noOp()
	}
	f := startController(t, 100, w)
	at := reader(f).at
	if err := at.find(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer at.close()
	r := &logReading{at: &at}
	first, err := r.stamp(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var times []time.Time
	for data := w.bytes; len(data) > 0; {
		b, size, err := cutBatch(data)
		if err != nil {
			t.Fatal(err)
		}
		for range b.NumRecords {
			times = append(times, b.time())
		}
		data = data[size:]
	}
	var got, want []string
	for ms := int64(900_000); ms < w.timeMs+100_000; ms += 250_000 {
		when := time.UnixMilli(ms)
		place, err := r.search(t.Context(), first, inspect.Offset(w.next), when)
		if err != nil {
			t.Fatal(err)
		}
		exact, _ := slices.BinarySearchFunc(times, when, time.Time.Compare)
		if int(place) > exact || exact-int(place) > 210 {
			got, want = append(got, fmt.Sprint(place)), append(want, fmt.Sprint(exact))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places further than 210 from where they belong (-want +got):\n%s", diff)
	}
}

package recording

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/fields"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew")

type ids = []inspect.BrokerID

var day = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func at(s int) time.Time { return day.Add(time.Duration(s) * time.Second) }

func offset(n int) inspect.Opt[inspect.Offset] { return inspect.Known(inspect.Offset(n)) }

// event is the one at that offset, a second later each.
func event(n int) inspect.IsrEvent {
	return inspect.IsrEvent{
		Time: at(n), Topic: "orders", Partition: int32(n), Type: inspect.IsrShrink, Cause: inspect.CauseBrokerFenced,
		Brokers: ids{3}, Replicas: ids{1, 2, 3}, ISRBefore: ids{3, 1, 2}, ISR: ids{1, 2}, ELR: inspect.Known(ids{}),
		Leader: 1, LeaderEpoch: inspect.Known[inspect.Epoch](7), PartitionEpoch: inspect.Known[int32](9), Offset: offset(n),
		Source: inspect.SourceMetadataLog,
	}
}

// log is a coverage of the log, look one by looks.
func log(from, to int) Coverage {
	return Coverage{
		Source: inspect.SourceMetadataLog, Where: "controller 100 (10.0.0.1:9093)", From: offset(from), To: offset(to),
		Epoch: inspect.Known[inspect.Epoch](2), Since: at(from), Until: at(to - 1),
	}
}

func lookedFor(since, until int) Coverage {
	return Coverage{
		Source: inspect.SourceMetadataDiff, Where: "brokers, by kafka-1:9092", Since: at(since), Until: at(until),
		Every: inspect.Known(2 * time.Second),
	}
}

func open(t *testing.T, name string) *Writer {
	t.Helper()
	w, err := Open(name, "cluster-1")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// commit appends events and commits.
func commit(t *testing.T, w *Writer, c Coverage, events ...inspect.IsrEvent) {
	t.Helper()
	for _, e := range events {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(c); err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T, w *Writer) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) (*Reader, []inspect.IsrEvent) {
	t.Helper()
	r, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return r, eventsOf(t, r)
}

func eventsOf(t *testing.T, r *Reader) (out []inspect.IsrEvent) {
	t.Helper()
	if err := r.Events(func(e inspect.IsrEvent) error { out = append(out, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

var same = cmp.Options{
	cmpopts.EquateEmpty(), cmp.Comparer(func(a, b inspect.Opt[ids]) bool {
		x, known := a.Get()
		y, too := b.Get()
		return known == too && slices.Equal(x, y)
	}), cmp.Comparer(func(a, b inspect.Opt[inspect.Offset]) bool { return a == b }),
	cmp.Comparer(func(a, b inspect.Opt[inspect.Epoch]) bool { return a == b }),
	cmp.Comparer(func(a, b inspect.Opt[int32]) bool { return a == b }),
	cmp.Comparer(func(a, b inspect.Opt[time.Duration]) bool { return a == b }),
}

// story is what the golden file holds: every field, known and not.
func story() []inspect.IsrEvent {
	back := event(12)
	back.Type, back.Cause, back.Out = inspect.IsrExpand, inspect.CauseCaughtUp, inspect.Known(1500*time.Millisecond)
	gone := event(13)
	gone.Leader, gone.ISR, gone.ELR = inspect.NoBroker, nil, inspect.Known(ids{1, 2})
	looked := inspect.IsrEvent{
		Time: at(30).Add(123456789), Topic: "payments.eu-1", Type: inspect.IsrLeader, Cause: inspect.CauseUnknown, Brokers: ids{2},
		Replicas: ids{2}, Leader: inspect.NoBroker, Source: inspect.SourceMetadataDiff,
	}
	return []inspect.IsrEvent{event(11), back, gone, looked}
}

func writeStory(t *testing.T, name string) {
	t.Helper()
	w, all := open(t, name), story()
	commit(t, w, log(10, 13), all[0], all[1])
	commit(t, w, log(10, 20), all[2])
	commit(t, w, lookedFor(25, 40), all[3])
	closed(t, w)
	w = open(t, name)
	anew := log(5, 6)
	anew.Since, anew.Until, anew.Anew, anew.Unreadable = at(100), at(101), true, 3
	commit(t, w, anew)
	closed(t, w)
}

// TestFormat: a recording of today is, byte for byte, what it was when its format was
// fixed, and that one can still be read.
func TestFormat(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "format-1.rec")
	name := filepath.Join(t.TempDir(), "new.rec")
	writeStory(t, name)
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the bytes differ from %s: those are in files out there, and have to stay readable; a field more goes into a message with a number of its own", golden)
	}
	r, events := read(t, golden)
	if diff := cmp.Diff(story(), events, same); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	anew := log(5, 6)
	anew.Since, anew.Until, anew.Anew, anew.Unreadable = at(100), at(101), true, 3
	if diff := cmp.Diff([]Coverage{log(10, 20), lookedFor(25, 40), anew}, r.Coverages(), same); diff != "" {
		t.Errorf("coverages (-want +got):\n%s", diff)
	}
	gaps := []Gap{{Since: at(19), Until: at(25)}, {Since: at(40), Until: at(100), Anew: true}}
	if diff := cmp.Diff(gaps, r.Gaps(), same); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
	if r.ClusterID() != "cluster-1" || r.Torn() != 0 || len(r.Damages()) != 0 || r.Len() != 4 {
		t.Errorf("cluster %s, torn %d, damages %v, %d events", r.ClusterID(), r.Torn(), r.Damages(), r.Len())
	}
}

// TestCrash cuts a recording off at every byte: the commits before are there whole, what
// comes behind is not, and a writer goes on from there.
func TestCrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.rec")
	w := open(t, whole)
	ends := []int64{w.end}
	for n := range 2 {
		commit(t, w, log(0, 10*n+10), event(10*n), event(10*n+1))
		ends = append(ends, w.committed)
	}
	closed(t, w)
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.rec")
	for size := range len(data) + 1 {
		if err := os.WriteFile(cut, data[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		commits := 0
		for _, end := range ends {
			if int64(size) >= end {
				commits++
			}
		}
		r, err := Read(cut)
		if commits == 0 {
			var none *NotOneError
			if !errors.As(err, &none) {
				t.Fatalf("cut to %d bytes: %v", size, err)
			}
		} else {
			events := eventsOf(t, r)
			if len(events) != 2*(commits-1) || r.Torn() != int64(size)-ends[commits-1] || len(r.Damages()) > 0 || len(r.Gaps()) > 0 {
				t.Fatalf("cut to %d bytes, %d commits: %d events, torn %d, damages %v, gaps %v", size, commits-1, len(events), r.Torn(), r.Damages(), r.Gaps())
			}
		}
		w := open(t, cut)
		at := 0
		if c, ok := w.Resume(); ok {
			at = int(c.To.Or(-1))
		}
		if at != 10*max(commits-1, 0) || commits > 0 && w.Found().Cut != int64(size)-ends[commits-1] {
			t.Fatalf("cut to %d bytes: goes on from %d, cut %d", size, at, w.Found().Cut)
		}
		commit(t, w, log(at, at+10), event(at))
		closed(t, w)
		r, events := read(t, cut)
		if len(events) != 2*max(commits-1, 0)+1 || len(r.Gaps()) > 0 || r.Torn() != 0 || len(r.Damages()) > 0 {
			t.Fatalf("cut to %d bytes and gone on: %d events, gaps %v, torn %d, damages %v", size, len(events), r.Gaps(), r.Torn(), r.Damages())
		}
	}
}

// TestDamage breaks a recording at every byte: what is lost lies in a gap, or behind
// the end of what is covered, and everything else is there.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.rec")
	w := open(t, whole)
	const commits = 3
	want := map[string]bool{}
	for n := range commits {
		commit(t, w, log(0, 10*n+10), event(10*n+3))
		want[fmt.Sprint(event(10*n+3))] = true
	}
	closed(t, w)
	closed(t, open(t, whole)) // a second head
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken.rec")
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 0x40
		if err := os.WriteFile(broken, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		r, events := read(t, broken)
		there := map[inspect.Offset]bool{}
		for _, e := range events {
			if !want[fmt.Sprint(e)] {
				t.Fatalf("byte %d: an event that never was: %+v", i, e)
			}
			there[e.Offset.Or(-1)] = true
		}
		if len(events) < commits-1 || len(there) != len(events) || len(r.Damages()) > 1 || len(r.Damages()) == 0 && r.Torn() == 0 {
			t.Fatalf("byte %d: %d events, damages %v, torn %d", i, len(events), r.Damages(), r.Torn())
		}
		for n := range commits {
			if o := inspect.Offset(10*n + 3); !there[o] && !isMissing(r, o) {
				t.Fatalf("byte %d: the event at %d is gone and nothing tells: coverages %v", i, o, r.Coverages())
			}
		}
	}
}

// isMissing reports whether a reader says that nothing is known of an offset.
func isMissing(r *Reader, o inspect.Offset) bool {
	all := r.Coverages()
	for _, c := range all {
		if c.From.Or(0) <= o && o < c.To.Or(0) {
			return false
		}
	}
	first := len(all) == 0 || o < all[0].From.Or(0)
	return first || o >= all[len(all)-1].To.Or(0) || slices.ContainsFunc(r.Gaps(), func(g Gap) bool { return g.From.Or(0) <= o && o < g.To.Or(0) })
}

// TestManyBlocks: a commit of more than a block has is whole or not there, and another
// head comes with every MiB.
func TestManyBlocks(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "many.rec")
	w := open(t, name)
	const each = 16_000
	var all []inspect.IsrEvent
	for n := range each {
		all = append(all, event(n))
	}
	commit(t, w, log(0, each), all...)
	whole := w.committed
	for n := range each {
		if err := w.Append(event(each + n)); err != nil {
			t.Fatal(err)
		}
	}
	// It ends before the commit: what was written of it is in the file and not told.
	if r, events := read(t, name); len(events) != each || r.Torn() == 0 {
		t.Errorf("before the commit: %d events, torn %d", len(events), r.Torn())
	}
	if cap(w.open.payload) > 2*fullPayload || cap(w.buf) > 2*fullPayload {
		t.Errorf("the writer holds %d and %d bytes", cap(w.open.payload), cap(w.buf))
	}
	if err := w.f.Close(); err != nil {
		t.Fatal(err)
	}
	w = open(t, name)
	if w.Found().Cut == 0 || w.committed <= whole {
		t.Errorf("cut %d, ends at %d, want a head behind %d", w.Found().Cut, w.committed, whole)
	}
	commit(t, w, log(each, 2*each), all...)
	closed(t, w)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if heads := strings.Count(string(data), "cluster-1"); heads < 3 {
		t.Errorf("%d heads in %d bytes", heads, len(data))
	}
	if _, events := read(t, name); len(events) != 2*each {
		t.Errorf("%d events", len(events))
	}
	// Where one of its blocks is damaged, the commit covers nothing.
	data[5000] ^= 1
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	r, events := read(t, name)
	want := log(each, 2*each)
	want.Since = at(each - 1)
	if diff := cmp.Diff([]Coverage{want}, r.Coverages(), same); diff != "" || len(events) < 2*each-1000 || len(events) == 2*each || len(r.Damages()) != 1 {
		t.Errorf("with a damaged block: %d events, damages %v, coverages (-want +got):\n%s", len(events), r.Damages(), diff)
	}
	// Without its beginning.
	if err := os.WriteFile(name, append(make([]byte, 300), data[300:]...), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, events := read(t, name); r.ClusterID() != "cluster-1" || len(events) < each || len(r.Damages()) != 1 {
		t.Errorf("without its beginning: cluster %q, %d events, damages %v", r.ClusterID(), len(events), r.Damages())
	}
}

// TestQuiet: where nothing happens a minute costs one small block, and how far it is
// covered is not lost.
func TestQuiet(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "quiet.rec")
	w := open(t, name)
	size := func() int64 {
		t.Helper()
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	commit(t, w, log(0, 10))
	before := size()
	for n := range 50 {
		commit(t, w, log(0, 11+n))
	}
	if size() != before {
		t.Errorf("a minute costs %d bytes before it is over", size()-before)
	}
	commit(t, w, log(0, 80))
	if one := size() - before; one == 0 || one > 200 {
		t.Errorf("a minute costs %d bytes", one)
	}
	commit(t, w, log(0, 90))
	// What was seen before a gap is not lost with it.
	commit(t, w, log(200, 210))
	commit(t, w, log(200, 220))
	if c, ok := w.Resume(); !ok || c.To != offset(210) {
		t.Errorf("resume %v: want what is written", c.To)
	}
	if c, ok := w.Last(); !ok || c.To != offset(220) {
		t.Errorf("last %v", c.To)
	}
	closed(t, w)
	r, _ := read(t, name)
	if diff := cmp.Diff([]Coverage{log(0, 90), log(200, 220)}, r.Coverages(), same); diff != "" {
		t.Errorf("coverages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Gap{{From: offset(90), To: offset(200), Since: at(89), Until: at(200)}}, r.Gaps(), same); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
}

// TestLooksBesideTheLog: where the log was read too, later or sooner, it is what counts.
func TestLooksBesideTheLog(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "both.rec")
	looked := func(n int) inspect.IsrEvent {
		e := event(n)
		e.Offset, e.Source = inspect.Unknown[inspect.Offset](), inspect.SourceMetadataDiff
		return e
	}
	w := open(t, name)
	commit(t, w, log(0, 10), event(3))
	commit(t, w, lookedFor(12, 20), looked(15))
	commit(t, w, lookedFor(12, 30), looked(25))
	commit(t, w, log(10, 24), event(14)) // the log had that still
	commit(t, w, lookedFor(40, 50))
	commit(t, w, log(60, 70), event(61)) // and this not any more
	closed(t, w)
	r, events := read(t, name)
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprintf("%s %d", e.Source, int(e.Time.Sub(day).Seconds())))
	}
	if diff := cmp.Diff([]string{"metadata-log 3", "metadata-diff 25", "metadata-log 14", "metadata-log 61"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	rest := lookedFor(23, 30)
	if diff := cmp.Diff([]Coverage{log(0, 24), rest, lookedFor(40, 50), log(60, 70)}, r.Coverages(), same); diff != "" {
		t.Errorf("coverages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Gap{{Since: at(30), Until: at(40)}, {From: offset(24), To: offset(60), Since: at(50), Until: at(60)}}, r.Gaps(), same); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
}

// TestLooksUntilTheLog: once the log reaches as far as looks had, that is written, and their
// events are left out at once.
func TestLooksUntilTheLog(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "both.rec")
	looked := event(15)
	looked.Offset, looked.Source = inspect.Unknown[inspect.Offset](), inspect.SourceMetadataDiff
	w := open(t, name)
	commit(t, w, lookedFor(0, 20), looked)
	closed(t, w)
	w = open(t, name)
	commit(t, w, log(0, 10), event(5))
	commit(t, w, log(0, 20))
	if _, events := read(t, name); len(events) != 2 {
		t.Errorf("%d events before the log has told what looks had", len(events))
	}
	commit(t, w, log(0, 21))
	if _, events := read(t, name); len(events) != 1 || events[0].Source != inspect.SourceMetadataLog {
		t.Errorf("then %+v", events)
	}
	before := w.Size()
	commit(t, w, log(0, 22))
	if w.Size() != before {
		t.Error("it goes on being written at once")
	}
	closed(t, w)
}

func TestOneWriter(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "one.rec")
	w := open(t, name)
	if _, err := Open(name, "cluster-1"); !errors.Is(err, ErrInUse) {
		t.Errorf("a second writer: %v", err)
	}
	commit(t, w, log(0, 10), event(3))
	if _, events := read(t, name); len(events) != 1 {
		t.Errorf("a reader beside it: %d events", len(events))
	}
	closed(t, w)
	closed(t, open(t, name))
}

// TestPrepare: who does not know the cluster yet owns the file already, and learns what it
// is; a head that was never finished is begun again by the cluster that it names.
func TestPrepare(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "prepared.rec")
	prepare := func() *Prepared {
		t.Helper()
		p, err := Prepare(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Prepare(name); !errors.Is(err, ErrInUse) {
			t.Errorf("prepared twice: %v", err)
		}
		if _, err := Open(name, "cluster-1"); !errors.Is(err, ErrInUse) {
			t.Errorf("a writer beside it: %v", err)
		}
		return p
	}
	begin := func(p *Prepared) *Writer {
		t.Helper()
		w, err := p.Open("cluster-1")
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	if p := prepare(); p.ClusterID().IsKnown() || p.Claim("any") != nil || p.Claim("any") != nil || p.Claim("other") == nil || p.Close() != nil {
		t.Error("a new file does not belong to who claims it first")
	}
	w := begin(prepare())
	commit(t, w, log(0, 10), event(3))
	closed(t, w)
	p := prepare()
	var other *ForeignError
	if err := p.Claim("cluster-2"); !errors.As(err, &other) || p.Claim("cluster-1") != nil {
		t.Errorf("another cluster: %v", err)
	}
	if _, err := p.Open("cluster-2"); !errors.As(err, &other) {
		t.Errorf("another cluster: %v", err)
	}
	w = begin(prepare()) // what was opened in vain is free
	if last, ok := w.Last(); !ok || last.To != inspect.Known[inspect.Offset](10) {
		t.Errorf("goes on from %+v", last)
	}
	closed(t, w)
	if _, events := read(t, name); len(events) != 1 {
		t.Errorf("%d events", len(events))
	}
	whole := (&block{kind: kindHead, payload: (&head{version, "cluster-1"}).encode()}).appendTo(nil)
	for n := range whole {
		if err := os.WriteFile(name, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		closed(t, begin(prepare()))
		if r, _ := read(t, name); r.ClusterID() != "cluster-1" {
			t.Errorf("%d bytes: cluster %q", n, r.ClusterID())
		}
	}
}

// TestDiscard: what was not committed is not in the file, however much it was.
func TestDiscard(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5000} {
		name := filepath.Join(t.TempDir(), "discard.rec")
		w := open(t, name)
		commit(t, w, log(0, 10), event(3))
		for i := range n {
			if err := w.Append(event(10 + i)); err != nil {
				t.Fatal(err)
			}
		}
		closed(t, w)
		if r, events := read(t, name); len(events) != 1 || r.Torn() != 0 {
			t.Errorf("%d appended: %d events, torn %d", n, len(events), r.Torn())
		}
	}
}

// TestFailedWrite: after it nothing is written, and the file ends at its last commit.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "failed.rec")
	w := open(t, name)
	commit(t, w, log(0, 10), event(3))
	f := w.f
	var err error
	if w.f, err = os.Open(name); err != nil { // that cannot be written to
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(event(11)), w.Commit(log(0, 20))); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("a write that failed: %v", err)
	}
	w.f.Close()
	w.f = f
	if err := w.Append(event(12)); err == nil {
		t.Error("after a failed write another is taken")
	}
	if err := w.Close(); err == nil {
		t.Error("the failure is forgotten")
	}
	if r, events := read(t, name); len(events) != 1 || r.Torn() != 0 {
		t.Errorf("%d events, torn %d", len(events), r.Torn())
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(content []byte) string {
		name := filepath.Join(dir, fmt.Sprintf("f%d", len(content)))
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	block := func(h head) []byte { return (&block{kind: kindHead, payload: h.encode()}).appendTo(nil) }
	two := append(block(head{1, "cluster-1"}), block(head{1, "cluster-12"})...)
	for name, want := range map[string]string{
		file([]byte("a text of somebody's, that must not be lost\n")): "is not a recording of kafkaops",
		file(make([]byte, 5<<20)):                                     "is not a recording of kafkaops",
		file(block(head{2, "a"})):                                     "is in format 2, and this kafkaops reads format 1: it was written by a newer one",
		file(block(head{1, ""})):                                      "names no cluster",
		file(two):                                                     "holds the recordings of two clusters, cluster-1 and cluster-12",
		dir:                                                           "is not a file",
	} {
		before, _ := os.ReadFile(name)
		_, err := Read(name)
		_, err2 := Open(name, "cluster-1")
		_, err3 := Prepare(name)
		for _, err := range []error{err, err2, err3} {
			var none *NotOneError
			if !errors.As(err, &none) || !strings.Contains(err.Error(), name+": "+want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		if after, _ := os.ReadFile(name); string(after) != string(before) {
			t.Errorf("%s was written to", name)
		}
	}
	foreign := filepath.Join(dir, "foreign")
	closed(t, open(t, foreign))
	_, err := Open(foreign, "cluster-2")
	var other *ForeignError
	if !errors.As(err, &other) || !strings.Contains(err.Error(), "belongs to cluster cluster-1, and this is cluster-2") {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(dir, "none"), ""); err == nil {
		t.Error("a recording of no cluster")
	}
	if _, err := Read(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Read(file(nil)); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Error(err)
	}
}

// TestLaterKinds: what a later version puts into a file is passed over, and kept.
func TestLaterKinds(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "later.rec")
	w := open(t, name)
	commit(t, w, log(0, 10), event(3))
	later := &block{kind: 7, payload: []byte("a series")}
	if err := errors.Join(w.write(later), w.sync()); err != nil {
		t.Fatal(err)
	}
	more := fields.AppendUint(nil, 99, 5) // a field that is not known either
	more = fields.AppendBytes(more, 1, append(appendEvent(nil, new(event(11))), fields.AppendText(nil, 98, "x")...))
	c := log(10, 20)
	more = fields.AppendUint(fields.AppendBytes(more, 2, c.encode()), 3, 1)
	if err := errors.Join(w.write(&block{kind: kindIsr, payload: more}), w.sync()); err != nil {
		t.Fatal(err)
	}
	closed(t, w)
	closed(t, open(t, name))
	r, events := read(t, name)
	if diff := cmp.Diff([]inspect.IsrEvent{event(3), event(11)}, events, same); diff != "" || len(r.Damages()) > 0 || len(r.Gaps()) > 0 {
		t.Errorf("damages %v, gaps %v, events (-want +got):\n%s", r.Damages(), r.Gaps(), diff)
	}
	if data, _ := os.ReadFile(name); !strings.Contains(string(data), "a series") {
		t.Error("it is gone")
	}
}

// FuzzScan: whatever a file holds, a reader ends, and tells no more than is there.
func FuzzScan(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "format-1.rec"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add(golden[:len(golden)/2])
	f.Add((&block{kind: kindIsr, payload: []byte{0xa, 0xff, 0xff}}).appendTo(slices.Clone(golden)))
	f.Add(append(slices.Clone(marker), golden...))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Read(name)
		if err != nil {
			return
		}
		n := len(eventsOf(t, r))
		if n > r.Len()+len(data) || r.Torn() < 0 || r.Torn() > int64(len(data)) {
			t.Errorf("%d events of %d, torn %d of %d", n, r.Len(), r.Torn(), len(data))
		}
		w, err := Open(name, r.ClusterID())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r2, err := Read(name)
		if err != nil || len(eventsOf(t, r2)) != n || r2.Torn() != 0 {
			t.Errorf("after a writer: %v, torn %d", err, r2.Torn())
		}
	})
}

// TestFencedFor: fields that came later are read back.
func TestFencedFor(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.rec")
	back := event(10)
	back.Type, back.Out, back.FencedFor = inspect.IsrExpand, inspect.Known(4*time.Second), inspect.Known(3*time.Second)
	w := open(t, name)
	commit(t, w, log(10, 11), back)
	closed(t, w)
	if _, events := read(t, name); len(events) != 1 || events[0].FencedFor != back.FencedFor {
		t.Errorf("got %+v", events)
	}
}

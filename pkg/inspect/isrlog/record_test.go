package isrlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
)

// eventfulLog has runs over several batches, openings, elections, two epochs and a
// transaction, one record a batch. starts are where the batches begin.
func eventfulLog(t *testing.T) (w *logWriter, ends []int64) {
	t.Helper()
	w = newLog(0)
	add := func(lines string) {
		w.timeMs += 700
		w.records(t, lines)
		ends = append(ends, w.next)
	}
	leader := func(id int32) {
		w.epoch++
		w.control(t, &kraft.LeaderChange{LeaderID: id})
		ends = append(ends, w.next)
	}
	leader(100)
	add("begin .\ntopic t\npartition t/0 replicas=1,2,3 isr=1,2,3 leader=1")
	add("partition t/1 replicas=2,3,1 isr=1,2,3 leader=2\npartition t/2 replicas=3,1,2 isr=1,2,3 leader=3\nend .")
	for _, lines := range []string{
		"no-op .", "change t/0 isr=1,2", "no-op .", "change t/0 isr=1,2,3", "no-op .",
		// Broker 3's session ends: a run of three batches.
		"change t/0 isr=1,2", "change t/1 isr=1,2", "change t/2 isr=1,2 leader=1", "broker 3 fenced=1", "no-op .",
		"broker 3 fenced=-1", "change t/0 isr=1,2,3", "change t/1 isr=1,2,3", "change t/2 isr=1,2,3",
		// Broker 2 is stopped: what comes behind is its.
		"broker 2 stopping=1", "change t/0 isr=1,3", "change t/1 isr=1,3 leader=3", "no-op .", "change t/2 isr=1,3", "broker 2 fenced=1",
	} {
		add(lines)
	}
	leader(101)
	for _, lines := range []string{"no-op .", "register 2", "broker 2 fenced=-1", "change t/0 isr=1,2,3", "change t/1 isr=1,2,3", "change t/2 isr=1,2,3", "no-op .", "remove t", "no-op ."} {
		add(lines)
	}
	return w, ends
}

// controllerOf serves a log in its newest epoch.
func controllerOf(t *testing.T, w *logWriter) *fakeController {
	t.Helper()
	f := startController(t, 100, w)
	f.epoch = w.epoch
	return f
}

func openRecording(t *testing.T, name string) *recording.Writer {
	t.Helper()
	w, err := recording.Open(name, "cluster-1")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// recordOnce follows until everything up to the high watermark was told, is
// interrupted, and returns what was told.
func recordOnce(t *testing.T, f *fakeController, name string) *heard {
	t.Helper()
	w := openRecording(t, name)
	var h heard
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	to := h.listener()
	to.Progress = func(Evidence) { cancel() }
	if err := Record(ctx, reader(f), Span{Follow: true}, w, to); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &h
}

func recorded(t *testing.T, name string) (r *recording.Reader, lines []string) {
	t.Helper()
	r, err := recording.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Events(func(e inspect.IsrEvent) error { lines = append(lines, line(&e)); return nil }); err != nil {
		t.Fatal(err)
	}
	return r, lines
}

// TestRecordResumes interrupts a recording behind every batch of a log, and lets it go
// on: every event is there, once, with the cause that it has where nothing interrupts.
// So it is where the interruption is a crash, that loses what the last one wrote.
func TestRecordResumes(t *testing.T) {
	t.Parallel()
	w, ends := eventfulLog(t)
	f := controllerOf(t, w)
	want := readLog(t, reader(f), Span{}).events
	if len(want) < 20 {
		t.Fatalf("%d events", len(want))
	}
	for _, crash := range []int{0, 3, 2} {
		name := filepath.Join(t.TempDir(), "a.rec")
		var told []string
		for i, end := range ends {
			f.change(func() { f.hw = end })
			before, _ := os.ReadFile(name)
			h := recordOnce(t, f, name)
			if len(h.notes) > 0 {
				t.Errorf("behind offset %d: %q", end, h.notes)
			}
			if crash > 0 && i%crash == 1 {
				if err := os.WriteFile(name, before, 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			told = append(told, h.events...)
		}
		told = append(told, recordOnce(t, f, name).events...)
		r, got := recorded(t, name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("crash %d: recorded (-want +got):\n%s", crash, diff)
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("crash %d: told (-want +got):\n%s", crash, diff)
		}
		all := r.Coverages()
		if len(all) != 1 || all[0].To != inspect.Known(inspect.Offset(w.next)) || len(r.Gaps()) > 0 {
			t.Errorf("crash %d: coverages %+v, gaps %v", crash, all, r.Gaps())
		}
	}
}

// TestRecordGap: what the log has lost while nobody recorded is told, then and by every
// reader, and nothing else is lost.
func TestRecordGap(t *testing.T) {
	t.Parallel()
	f := controllerOf(t, small(t))
	name := filepath.Join(t.TempDir(), "a.rec")
	recordOnce(t, f, name)
	later := newLog(20)
	later.timeMs += 3_600_000
	later.records(t, "change t/0 isr=1,2,3")
	later.noOp()
	later.noOp()
	id := snapshotID{20, 1}
	f.change(func() {
		f.log, f.start, f.newest = later, 20, id
		f.snapshots[id] = snapshotOf(t, "topic t\npartition t/0 replicas=1,2,3 isr=1,2 leader=1 pepoch=9")
	})
	h := recordOnce(t, f, name)
	h.check(t, []string{"20 16:40 t-0 expand caught-up [3] isr [1 2]->[1 2 3] leader 1 epoch 0/10"}, []string{
		fmt.Sprintf("controller 100 (%s) no longer has offsets 7 to 19: what happened between 1970-01-01T00:16:43Z and then is missing", f.addr),
	})
	r, got := recorded(t, name)
	if diff := cmp.Diff([]string{created, shrunk, grown, h.events[0]}, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if gaps := r.Gaps(); len(gaps) != 1 || gaps[0].From != inspect.Known[inspect.Offset](7) || gaps[0].To != inspect.Known[inspect.Offset](20) {
		t.Errorf("gaps %+v", gaps)
	}
	var stored heard
	if err := NewStored(r, nil).Read(t.Context(), Span{}, stored.listener()); err != nil {
		t.Fatal(err)
	}
	stored.check(t, got, []string{name + ": nothing was recorded from 1970-01-01T00:16:43Z to 1970-01-01T01:16:40Z, offsets 7 to 19"})
	if e := stored.evidence; e.From != inspect.Known[inspect.Offset](20) || e.Source != inspect.SourceRecording {
		t.Errorf("evidence %+v: want what lies behind the gap", e)
	}
	// A span that the gap does not touch.
	stored = heard{}
	if err := NewStored(r, nil).Read(t.Context(), Span{Since: time.UnixMilli(4_600_000)}, stored.listener()); err != nil {
		t.Fatal(err)
	}
	stored.check(t, got[3:], nil)
}

// TestRecordTrimmed: the log begins where the recording ends, or a little before.
func TestRecordTrimmed(t *testing.T) {
	t.Parallel()
	for _, start := range []int64{7, 6} {
		w := small(t)
		f := controllerOf(t, w)
		name := filepath.Join(t.TempDir(), "a.rec")
		recordOnce(t, f, name)
		id := snapshotID{inspect.Offset(start), 1}
		f.change(func() {
			cut := newLog(start)
			cut.timeMs = w.timeMs
			if start == 6 {
				cut.noOp()
			}
			cut.timeMs += 5000
			cut.records(t, "change t/0 isr=1,2")
			cut.noOp()
			f.log, f.start, f.newest = cut, start, id
			f.snapshots[id] = snapshotOf(t, "topic t\npartition t/0 replicas=1,2,3 isr=1,2,3 leader=1 pepoch=2")
		})
		want := "7 16:48 t-0 shrink replica-lag [3] isr [1 2 3]->[1 2] leader 1 epoch 0/3"
		recordOnce(t, f, name).check(t, []string{want}, nil)
		r, got := recorded(t, name)
		if diff := cmp.Diff([]string{created, shrunk, grown, want}, got); diff != "" || len(r.Gaps()) > 0 {
			t.Errorf("log from %d: gaps %v, events (-want +got):\n%s", start, r.Gaps(), diff)
		}
	}
}

// TestRecordOut: how long a replica had been out is known where it left in the
// recording, and the log knows no more of it than its snapshot.
func TestRecordOut(t *testing.T) {
	t.Parallel()
	w := newLog(0)
	w.records(t, story1)
	w.noOp()
	w.timeMs += 1000
	w.records(t, "change t/0 isr=1,3")
	w.noOp()
	f := controllerOf(t, w)
	name := filepath.Join(t.TempDir(), "a.rec")
	recordOnce(t, f, name)
	id := snapshotID{5, 1}
	f.change(func() {
		cut := newLog(5)
		cut.timeMs = w.timeMs + 90_000
		cut.records(t, "change t/0 isr=1,2,3")
		cut.noOp()
		f.log, f.start, f.newest = cut, 5, id
		f.snapshots[id] = snapshotOf(t, "topic t\npartition t/0 replicas=1,2,3 isr=1,3 leader=1 pepoch=1")
	})
	want := "5 18:11 t-0 expand caught-up [2] isr [1 3]->[1 2 3] leader 1 epoch 0/2 out 1m30s"
	// Beside the log, before it is recorded.
	r, _ := recorded(t, name)
	var h heard
	if err := NewStored(r, reader(f)).Read(t.Context(), Span{}, h.listener()); err != nil {
		t.Fatal(err)
	}
	h.check(t, []string{created, shrunk, want}, nil)
	if e := h.evidence; e.From != inspect.Known[inspect.Offset](0) || e.To != inspect.Known[inspect.Offset](7) || e.Source != inspect.SourceMetadataLog ||
		e.Where != fmt.Sprintf("controller 100 (%s) and %s", f.addr, name) {
		t.Errorf("evidence %+v", e)
	}
	recordOnce(t, f, name).check(t, []string{want}, nil)
}

// TestRecordAnotherLog: a log that was restored from a copy, or begun anew, does not go
// on from where the recording ends, whatever its offsets are.
func TestRecordAnotherLog(t *testing.T) {
	t.Parallel()
	w, _ := eventfulLog(t)
	f := controllerOf(t, w)
	name := filepath.Join(t.TempDir(), "a.rec")
	before := len(recordOnce(t, f, name).events)
	other := newLog(0)
	other.timeMs = w.timeMs + 60_000
	other.records(t, story1)
	other.noOp()
	for _, epoch := range []int32{1, 9} { // lower, and higher than the recording's
		other.epoch = epoch
		f.change(func() { f.log, f.epoch = other, epoch })
		h := recordOnce(t, f, name)
		if len(h.notes) != 1 || !strings.Contains(h.notes[0], fmt.Sprintf("does not have what was read before up to offset %d: its log was lost, or restored from a copy", w.next)) {
			t.Errorf("epoch %d: notes %q", epoch, h.notes)
		}
		r, got := recorded(t, name)
		if len(h.events) != 1 || len(got) != before+1 || len(r.Gaps()) != 1 || !r.Gaps()[0].Anew {
			t.Errorf("epoch %d: told %q, %d recorded after %d, gaps %+v", epoch, h.events, len(got), before, r.Gaps())
		}
		if len(recordOnce(t, f, name).events) > 0 {
			t.Error("told again")
		}
		name = filepath.Join(t.TempDir(), "b.rec")
		f.change(func() { f.log, f.epoch = w, w.epoch })
		recordOnce(t, f, name)
	}
}

// TestRecordFails: an error of the recording ends the reading, and is its.
func TestRecordFails(t *testing.T) {
	t.Parallel()
	f := controllerOf(t, small(t))
	w := openRecording(t, filepath.Join(t.TempDir(), "a.rec"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var h heard
	err := Record(t.Context(), reader(f), Span{Follow: true}, w, h.listener())
	var ours *RecordError
	if !errors.As(err, &ours) || !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestRecordUntil: it ends, and what came after is for the next one.
func TestRecordUntil(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.timeMs += 120_000
	w.records(t, "change t/0 isr=1,2")
	w.noOp()
	f := controllerOf(t, w)
	name := filepath.Join(t.TempDir(), "a.rec")
	rec := openRecording(t, name)
	var h heard
	if err := Record(t.Context(), reader(f), Span{Follow: true, Until: time.UnixMilli(1_002_000)}, rec, h.listener()); err != nil {
		t.Fatal(err)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	h.check(t, []string{created, shrunk}, nil)
	recordOnce(t, f, name)
	if r, got := recorded(t, name); len(got) != 4 || len(r.Gaps()) > 0 {
		t.Errorf("recorded %q, gaps %v", got, r.Gaps())
	}
}

// TestLogOneSnapshot: retention left one snapshot, with which the log begins, and there
// was an election since.
func TestLogOneSnapshot(t *testing.T) {
	t.Parallel()
	w := newLog(50)
	w.epoch = 2
	w.control(t, &kraft.LeaderChange{LeaderID: 100})
	w.noOp()
	w.records(t, "change t/0 isr=1,3")
	w.noOp()
	f := controllerOf(t, w)
	id := snapshotID{50, 1}
	f.start, f.newest = 50, id
	f.snapshots[id] = snapshotOf(t, "topic t\npartition t/0 replicas=1,2,3 isr=1,2,3 leader=1 pepoch=8")
	for _, since := range []time.Time{{}, time.UnixMilli(900_000), time.UnixMilli(2_000_000)} {
		h := readLog(t, reader(f), Span{Since: since})
		if want := since.UnixMilli() < 2_000_000; len(h.events) == 1 != want || len(h.notes) > 0 {
			t.Errorf("since %s: %q, notes %q", since, h.events, h.notes)
		}
	}
}

// TestRecordLooks: where the log cannot be had, looks are recorded; the log's part
// stands where that could be read.
func TestRecordLooks(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.rec")
	isr := []inspect.BrokerID{1, 2, 3}
	n := 0
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	poll := &Poll{Every: time.Millisecond, Take: func(context.Context) (*inspect.Snapshot, error) {
		if n++; n == 3 {
			isr = []inspect.BrokerID{1, 2}
		}
		return &inspect.Snapshot{TakenAt: time.Now(), Topics: []inspect.Topic{{Name: "t", Partitions: []inspect.Partition{
			{Topic: "t", Leader: 1, Replicas: []inspect.BrokerID{1, 2, 3}, ISR: isr},
		}}}}, nil
	}}
	w := openRecording(t, name)
	var h heard
	to := h.listener()
	to.Progress = func(Evidence) {
		if n > 5 {
			cancel()
		}
	}
	if err := Record(ctx, poll, Span{Follow: true}, w, to); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, got := recorded(t, name)
	if diff := cmp.Diff(h.events, got); diff != "" || len(got) != 1 {
		t.Errorf("recorded %q (-want +got):\n%s", got, diff)
	}
	all := r.Coverages()
	if len(all) != 1 || all[0].Source != inspect.SourceMetadataDiff || all[0].Since.Before(began) || all[0].Until.After(time.Now()) || all[0].Every != inspect.Known(time.Millisecond) {
		t.Errorf("coverages %+v", all)
	}
}

// TestStoredBesideSilence: who does not answer, and takes all the time there is, takes
// nothing away of what was recorded.
func TestStoredBesideSilence(t *testing.T) {
	t.Parallel()
	f := startController(t, 100, small(t))
	name := filepath.Join(t.TempDir(), "a.rec")
	want := recordOnce(t, f, name).events
	r, err := recording.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	var h heard
	if err := NewStored(r, silentSource{}).Read(ctx, Span{}, h.listener()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(want, h.events); diff != "" || !h.evidence.Until.IsKnown() {
		t.Errorf("evidence %+v, events (-want +got):\n%s", h.evidence, diff)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := NewStored(r, nil).Read(stopped, Span{}, h.listener()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v of a reading that was interrupted", err)
	}
}

// silentSource never answers.
type silentSource struct{}

func (silentSource) Read(ctx context.Context, _ Span, _ Listener) error {
	<-ctx.Done()
	return ctx.Err()
}

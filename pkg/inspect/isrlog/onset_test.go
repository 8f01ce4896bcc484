package isrlog

import (
	"context"
	"encoding/base64"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func wanted(topic string, index int32) *inspect.Partition {
	id := topicID(topic)
	return &inspect.Partition{Topic: topic, TopicID: inspect.Known(base64.RawURLEncoding.EncodeToString(id[:])), Index: index}
}

// onsetsOf are the onsets of these partitions of topic t, as text.
func onsetsOf(t *testing.T, f *fakeController, partitions ...*inspect.Partition) map[string]string {
	t.Helper()
	return onsetsBeside(t, f, new(Earlier), partitions...)
}

func onsetsBeside(t *testing.T, f *fakeController, known *Earlier, partitions ...*inspect.Partition) map[string]string {
	t.Helper()
	if err := reader(f).Onsets(t.Context(), partitions, known); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, p := range partitions {
		text := "nothing"
		if o := p.Onset; o != nil {
			minute := func(at inspect.Opt[time.Time]) string {
				if when, ok := at.Get(); ok {
					return when.UTC().Format("04:05")
				}
				return "-"
			}
			text = minute(o.Since) + " " + string(o.Cause.Or("-")) + " before " + minute(o.Before)
		}
		out[p.Topic+"-"+string('0'+p.Index)] = text
	}
	return out
}

// TestOnsets: of each partition since when it is not whole, from the newest snapshot on,
// and why, whatever happens to others in between.
func TestOnsets(t *testing.T) {
	t.Parallel()
	w := newLog(50) // 16:40, that is 1,000 s after 1970 began
	w.records(t, "change t/1 isr=1,3\nchange t/8 isr=1\nchange u/0 isr=1")
	w.noOp()
	w.timeMs += 60_000
	// Broker 2 is fenced: partition 1 lacks it already, and partition 9 is nobody's.
	w.records(t, "change t/0 isr=1,3\nchange t/9 isr=1,3\nchange t/2 isr=3 leader=3\nbroker 2 fenced=1")
	w.timeMs += 60_000
	w.records(t, "change t/3 isr=1\nchange t/4 isr=1,2")
	w.noOp()
	w.timeMs += 60_000
	w.records(t, "change t/4 isr=1,2,3\nchange t/3 isr=1,2\npartition t/6 replicas=1,2 isr=1 leader=1\nremove u\nchange t/5 isr=2,3")
	w.records(t, "change t/1 leader=-1")
	w.noOp()
	f := startController(t, 100, w)
	f.start, f.newest = 50, snapshotID{50, 1}
	s := newLog(0)
	s.control(t, &kraft.SnapshotHeader{LastContainedLogTimestamp: 990_000}) // 16:30
	s.records(t, `topic t
		partition t/0 replicas=1,2,3 isr=1,2,3 leader=1
		partition t/1 replicas=1,2,3 isr=1,2,3 leader=1
		partition t/2 replicas=2,3 isr=2,3 leader=2
		partition t/3 replicas=1,2,3 isr=1,2 leader=1
		partition t/4 replicas=1,2,3 isr=1,2,3 leader=1
		partition t/5 replicas=1,2,3 isr=1,2 leader=1
		partition t/7 replicas=1,2,3,4 adding=4 isr=1,2,3 leader=1
		partition t/8 replicas=1,2 isr=1,2 leader=1
		partition t/9 replicas=1,2,3 isr=1,2,3 leader=1
		topic u
		partition u/0 replicas=1,2 isr=1,2 leader=1`)
	s.control(t, &kraft.SnapshotFooter{})
	f.snapshots[f.newest] = s.bytes
	got := onsetsOf(t, f, wanted("t", 0), wanted("t", 1), wanted("t", 2), wanted("t", 3), wanted("t", 4), wanted("t", 5),
		wanted("t", 6), wanted("t", 7), wanted("u", 0), wanted("v", 0), &inspect.Partition{Topic: "w"})
	want := map[string]string{
		"t-0": "17:40 broker-fenced before -",
		"t-1": "16:40 replica-lag before -",
		"t-2": "17:40 broker-fenced before -",
		"t-3": "- - before 16:30",
		"t-4": "nothing",
		"t-5": "- - before 16:30", // another one is out by now, and it never was whole
		"t-6": "19:40 topic-created before -",
		"t-7": "nothing",
		"u-0": "nothing",
		"v-0": "nothing",
		"w-0": "nothing",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestOnsetsYoung: without a snapshot the log has everything from its start.
func TestOnsetsYoung(t *testing.T) {
	t.Parallel()
	w := newLog(0)
	w.records(t, story1)
	w.timeMs += 60_000
	w.records(t, "change t/0 isr=1,3")
	w.noOp()
	if got := onsetsOf(t, startController(t, 100, w), wanted("t", 0)); got["t-0"] != "17:40 replica-lag before -" {
		t.Errorf("got %q", got)
	}
}

// TestOnsetsBefore: what was wrong in the newest snapshot already is told where it lies
// shortly before, and can be understood from what lies there.
func TestOnsetsBefore(t *testing.T) {
	t.Parallel()
	w := newLog(0)
	w.records(t, `topic t
		partition t/0 replicas=1,2,3 isr=1,2,3 leader=1
		partition t/1 replicas=1,2,3 isr=1,2,3 leader=1
		partition t/2 replicas=1,2,3 isr=1,2,3 leader=1
		partition t/3 replicas=1,2,3 isr=1,2,3 leader=1
		partition t/4 replicas=1,2,3 isr=1,2,3 leader=1
		partition t/5 replicas=1,2,3 isr=1,2,3 leader=1
		topic w
		partition w/0 replicas=1,2 isr=1,2 leader=1`)
	const taken = 130_000
	happens := map[int64]string{ // by how many records before the snapshot
		125_000: "change t/2 isr=1,3",                    // seventeen hours
		29_000:  "change t/3 isr=1,3",                    // four hours, and again
		21_600:  "change t/1 isr=1,3\nbroker 2 fenced=1", // three hours
		10_800:  "topic u\npartition u/0 replicas=1,2 isr=1 leader=1",
		7201:    "broker 3 stopping=1\nchange t/4 isr=1,2", 7196: "broker 3 fenced=1", // about where is looked from
		3600: "change t/0 isr=1,3", 3500: "change t/3 isr=1", // half an hour
		3400: "change t/5 isr=1", 3300: "change t/5 isr=1,2,3", 3200: "change t/5 isr=1,2",
		3000: "remove w",
	}
	times := map[int64]int64{}
	for w.next < taken {
		w.timeMs += 500
		if ago := taken - w.next; happens[ago] != "" {
			times[ago] = w.timeMs
			w.records(t, happens[ago])
			delete(happens, ago)
		}
		w.noOp()
	}
	if len(happens) > 0 {
		t.Fatalf("did not happen: %v", happens)
	}
	f := startController(t, 100, w)
	f.newest = snapshotID{inspect.Offset(w.next), 1}
	s := newLog(0)
	s.control(t, &kraft.SnapshotHeader{LastContainedLogTimestamp: w.timeMs})
	s.records(t, `topic t
		partition t/0 replicas=1,2,3 isr=1,3 leader=1 pepoch=1
		partition t/1 replicas=1,2,3 isr=1,3 leader=1 pepoch=1
		partition t/2 replicas=1,2,3 isr=1,3 leader=1 pepoch=1
		partition t/3 replicas=1,2,3 isr=1 leader=1 pepoch=2
		partition t/4 replicas=1,2,3 isr=1,2 leader=1 pepoch=1
		partition t/5 replicas=1,2,3 isr=1,2 leader=1 pepoch=3
		topic u
		partition u/0 replicas=1,2 isr=1 leader=1`)
	s.control(t, &kraft.SnapshotFooter{})
	f.snapshots[f.newest] = s.bytes
	before := time.UnixMilli(w.timeMs)
	w.timeMs += 60_000
	f.change(w.noOp)
	since := func(ago int64, cause string) string {
		return time.UnixMilli(times[ago]).UTC().Format("04:05") + " " + cause + " before -"
	}
	want := map[string]string{
		"t-0": since(3600, "replica-lag"),
		"t-1": since(21_600, "broker-fenced"),
		"t-2": "- - before " + before.UTC().Format("04:05"),
		"t-3": since(29_000, "replica-lag"),
		"t-4": since(7201, "controlled-shutdown"),
		"t-5": since(3200, "replica-lag"),
		"u-0": since(10_800, "topic-created"),
	}
	all := func() []*inspect.Partition {
		return []*inspect.Partition{wanted("t", 0), wanted("t", 1), wanted("t", 2), wanted("t", 3), wanted("t", 4), wanted("t", 5), wanted("u", 0)}
	}
	var known Earlier
	got := onsetsBeside(t, f, &known, all()...)
	t.Logf("%d bytes in %d answers", f.sent, f.fetches)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if most := int64(12 << 20); f.sent > most {
		t.Errorf("the controller sent %d bytes, want at most %d", f.sent, most)
	}
	f.sent = 0
	if diff := cmp.Diff(want, onsetsBeside(t, f, &known, all()...)); diff != "" {
		t.Errorf("asked again (-want +got):\n%s", diff)
	}
	if f.sent > 10_000 {
		t.Errorf("asked again, the controller sent %d bytes", f.sent)
	}
}

// TestOnsetsTooLate: what was not read to its end tells nothing, for what comes behind
// may have mended it.
func TestOnsetsTooLate(t *testing.T) {
	t.Parallel()
	w := newLog(0)
	w.records(t, story1)
	w.records(t, "change t/0 isr=1,3")
	w.noOp()
	f := startController(t, 100, w)
	f.hw = w.next + 1 // committed, and never to be had
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	p := wanted("t", 0)
	if err := reader(f).Onsets(ctx, []*inspect.Partition{p}, new(Earlier)); err == nil || p.Onset != nil {
		t.Errorf("error %v, onset %+v", err, p.Onset)
	}
}

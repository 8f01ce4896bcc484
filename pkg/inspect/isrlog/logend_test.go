package isrlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// ending is a reading from the log's end on, and what it tells. It waits for nobody.
type ending struct {
	events, notes chan string
	reached       chan Reached
	states        chan string // at the end, as Reached has it, while it is called
	again         bool
	stop          func() error
}

// fromEnd begins one.
func fromEnd(t *testing.T, l *Log, again bool) *ending {
	t.Helper()
	e := &ending{
		events: make(chan string, 1000), notes: make(chan string, 1000), reached: make(chan Reached, 10_000),
		states: make(chan string, 10_000), again: again,
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- l.Read(ctx, Span{Follow: true, FromEnd: true}, Listener{
			Event: func(ev inspect.IsrEvent) { e.events <- line(&ev) }, Evidence: func(Evidence) {},
			Note: func(s string, lost bool) { e.notes <- fmt.Sprint(s, " lost ", lost) },
			Reached: func(r Reached) bool {
				e.reached <- r
				e.states <- text(r.Look(day, nil))
				return e.again
			},
		})
	}()
	e.stop = func() error { cancel(); return <-done }
	t.Cleanup(cancel)
	return e
}

// text is a look in lines.
func text(s *inspect.Snapshot) string {
	var b strings.Builder
	for _, broker := range s.Brokers {
		fmt.Fprintf(&b, "broker %d fenced %s\n", broker.ID, broker.Fenced)
	}
	for p := range s.Partitions {
		fmt.Fprintf(&b, "%s-%d of %s: leader %d epoch %s isr %v elr %v replicas %v adding %v\n",
			p.Topic, p.Index, p.TopicID, p.Leader, p.LeaderEpoch, p.ISR, p.ELR.Or(nil), p.Replicas, p.Adding.Or(nil))
	}
	return b.String()
}

// untilState waits until the end is there with this state.
func (e *ending) untilState(t *testing.T, want string) {
	t.Helper()
	var got string
	limit := time.After(time.Minute)
	for got != want {
		select {
		case got = <-e.states:
		case <-limit:
			t.Fatalf("the state is (-want +got):\n%s", cmp.Diff(want, got))
		}
	}
}

func (e *ending) wants(t *testing.T, lines ...string) {
	t.Helper()
	for _, want := range lines {
		select {
		case got := <-e.events:
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no %q", want)
		}
	}
}

const stateOfT = "t-0 of %s: leader 1 epoch 0 isr %s elr [] replicas [1 2 3] adding []\n"

// TestLogFromEnd: nothing of what was there is told, whatever the clocks say, and all
// that comes is, also by a change that was there and whose cause comes later.
func TestLogFromEnd(t *testing.T) {
	t.Parallel()
	log := small(t)
	log.records(t, "change t/0 isr=1,3") // held: a broker's fencing may follow
	f := startController(t, 100, log)
	e := fromEnd(t, reader(f), false)
	id := topicID("t").String()
	e.untilState(t, fmt.Sprintf(stateOfT, id, "[1 3]"))
	if r := <-e.reached; r.Next != 8 || r.Asked.After(time.Now()) || time.Since(r.Asked) > time.Minute {
		t.Errorf("reached %+v, want 8", r)
	}
	f.change(func() {
		log.records(t, "register 2\nregister 3\nbroker 3 fenced=-1\nchange t/0 isr=1,2,3")
		log.noOp()
	})
	e.wants(t, "11 16:43 t-0 expand caught-up [2] isr [1 3]->[1 2 3] leader 1 epoch 0/4 out 0s")
	e.untilState(t, "broker 2 fenced true\nbroker 3 fenced false\n"+fmt.Sprintf(stateOfT, id, "[1 2 3]"))
	if err := e.stop(); !errors.Is(err, context.Canceled) || len(e.events) > 0 {
		t.Errorf("ended with %v, and %d more events", err, len(e.events))
	}
}

// TestLogFromEndReadsLittle: the newest snapshot is all that is needed of what was.
func TestLogFromEndReadsLittle(t *testing.T) {
	t.Parallel()
	log := small(t)
	for range 20_000 {
		log.noOp()
	}
	f := startController(t, 100, log)
	id := snapshotID{inspect.Offset(log.next - 5), 1}
	f.change(func() {
		f.newest = id
		f.snapshots[id] = snapshotOf(t, "topic t\npartition t/0 replicas=1,2,3 isr=1,2 leader=1")
	})
	e := fromEnd(t, reader(f), false)
	e.untilState(t, fmt.Sprintf(stateOfT, topicID("t").String(), "[1 2]"))
	f.change(func() { log.records(t, "change t/0 isr=1,2,3"); log.noOp() })
	e.wants(t, fmt.Sprintf("%d 16:43 t-0 expand caught-up [3] isr [1 2]->[1 2 3] leader 1 epoch 0/1", log.next-2))
	if err := e.stop(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	f.change(func() {
		if most := int64(len(log.bytes) / 10); f.sent > most {
			t.Errorf("%d bytes of a log of %d were read, want at most %d", f.sent, len(log.bytes), most)
		}
	})
}

// TestLogReached: it is not called where the controller does not know yet how far the log
// is committed, and is called soon where it is to be; but no oftener than an idle log is
// asked.
func TestLogReached(t *testing.T) {
	t.Parallel()
	log := small(t)
	f := startController(t, 100, log)
	e := fromEnd(t, reader(f), true)
	<-e.reached
	// Where nothing happens a controller may keep a request for pollWait.
	began := time.Now()
	for range 3 {
		<-e.reached
	}
	if took := time.Since(began); took < 2*pollEvery {
		t.Errorf("asked 3 times within %s", took)
	}
	f.change(func() { f.hw = 3; f.fetches = 0 })
	for asked := 0; asked < 4; { // the first may have been under way, and so told of
		time.Sleep(pollEvery / 4)
		f.change(func() { asked = f.fetches })
	}
	for len(e.reached) > 0 {
		<-e.reached
	}
	f.change(func() { f.fetches = 0 })
	for asked := 0; asked < 2; {
		time.Sleep(pollEvery / 4)
		f.change(func() { asked = f.fetches })
	}
	if n := len(e.reached); n > 0 {
		t.Errorf("the end was reached %d times, beyond the high watermark", n)
	}
	f.change(func() { f.hw = 0 })
	<-e.reached
	_ = e.stop()
}

// TestLogFromEndTrimmed: retention passes a reader that is slow. What is missing is said,
// and what comes behind it is told; of another log nothing that was there.
func TestLogFromEndTrimmed(t *testing.T) {
	t.Parallel()
	f := startController(t, 100, small(t))
	e := fromEnd(t, reader(f), false)
	<-e.reached
	later := func(base int64) {
		id := snapshotID{inspect.Offset(base), 1}
		w := newLog(base)
		w.timeMs += 10_000
		w.records(t, "change t/0 isr=1,2,3")
		w.noOp()
		f.change(func() {
			f.log, f.start, f.newest = w, base, id
			f.snapshots[id] = snapshotOf(t, "topic t\npartition t/0 replicas=1,2,3 isr=1,2 leader=1 pepoch=9")
		})
	}
	wantNote := func(from, to int) {
		t.Helper()
		want := fmt.Sprintf("controller 100 (%s) no longer has offset %d: went on from %d; what happened in between is missing lost true", f.addr, from, to)
		select {
		case got := <-e.notes:
			if got != want {
				t.Errorf("note %q, want %q", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatal("no note")
		}
	}
	later(20)
	e.wants(t, "20 16:50 t-0 expand caught-up [3] isr [1 2]->[1 2 3] leader 1 epoch 0/10")
	wantNote(7, 20)
	e.untilState(t, fmt.Sprintf(stateOfT, topicID("t").String(), "[1 2 3]"))
	later(3)
	wantNote(22, 3)
	f.change(func() { f.log.records(t, "change t/0 isr=1,3"); f.log.noOp() })
	e.wants(t, "5 16:50 t-0 shrink replica-lag [2] isr [1 2 3]->[1 3] leader 1 epoch 0/11")
	if err := e.stop(); !errors.Is(err, context.Canceled) || len(e.events) > 0 {
		t.Errorf("ended with %v, and %d more events", err, len(e.events))
	}
}

// TestLogOfAnotherCluster: its controllers are not read, though they would answer.
func TestLogOfAnotherCluster(t *testing.T) {
	t.Parallel()
	f := startController(t, 100, small(t))
	f.cluster = "theirs"
	if h := readLog(t, reader(f), Span{ClusterID: "theirs"}); len(h.events) != 3 {
		t.Errorf("of the cluster that is meant: %q", h.events)
	}
	err := reader(f).Read(t.Context(), Span{ClusterID: "ours"}, Listener{})
	if want := "controller " + f.addr + " is of another cluster than ours: name this cluster's own by --controller"; err == nil || err.Error() != want || !Lasts(err) {
		t.Errorf("got %v, want %s", err, want)
	}
}

package isrlog

import (
	"context"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Source is where events are read from: [Log], [Dir] or [Poll].
type Source interface {
	// Read tells the events of a span in the order in which they happened. It returns
	// at the span's end, or where it is followed when ctx ends, then with ctx.Err().
	// What could be read is told before an error is returned.
	Read(ctx context.Context, span Span, to Listener) error
}

// Span is what of the history is wanted.
type Span struct {
	// Since and Until bound the time of events, the latter excluded; zero: open.
	Since, Until time.Time
	// Follow goes on with what happens from now on.
	Follow bool
	// FromEnd leaves out what lies before the end of the log, as it is when it is read
	// first: no clock is asked where that is, and no more is read than the state of that
	// moment takes. Of [Log] only.
	FromEnd bool
	// ClusterID is the cluster that is meant, where it is known: controllers of another
	// one refuse to be read. Of [Log] only.
	ClusterID string
	// After, where it is known, is where an earlier reading of the log ended: events of
	// earlier offsets have been told, and Since does not count. Sources without
	// offsets pass it over.
	After inspect.Opt[Place]
}

// Place is one in the log.
type Place struct {
	// Offset is the one that comes next, Epoch the quorum's of what lies before, and
	// Time that of the last record before.
	Offset inspect.Offset
	Epoch  inspect.Epoch
	Time   time.Time
}

func (s *Span) contains(t time.Time) bool {
	return !t.Before(s.Since) && (s.Until.IsZero() || t.Before(s.Until))
}

// ended reports whether nothing that comes can belong to the span any more. Times of
// the log are those of several controllers, whose clocks may differ.
func (s *Span) ended(t time.Time) bool {
	return !s.Until.IsZero() && t.After(s.Until.Add(clockSkew))
}

// clockSkew is by how much the clocks of two controllers may differ before events
// are missed at a span's ends.
const clockSkew = time.Minute

// Listener takes what a Source has to tell. All of it is called by one goroutine.
type Listener struct {
	// Event takes an event.
	Event func(inspect.IsrEvent)
	// Evidence takes what the events rest on: once before the first where they are
	// followed, and at the end.
	Evidence func(Evidence)
	// Progress, where it is not nil, takes the evidence whenever all events before its To
	// have been told, and none of those from To on, so that a later reading can go on
	// from there. A reading that is interrupted then keeps to itself what it has not
	// understood yet.
	Progress func(Evidence)
	// Note takes a line about what could not be read, or how it went on; lost: there
	// is something that is missing because of it.
	Note func(line string, lost bool)
	// Reached may be nil. It is called each time that a [Log] which is followed has been
	// read to its end, and reports whether to call it again soon, without waiting for
	// anything to happen.
	Reached func(Reached) (again bool)
}

// Reached is the end of a log, up to which it has been read.
type Reached struct {
	// Asked is when the question was sent that was answered with Next for the end: all
	// that anybody knew by then lies before it.
	Asked time.Time
	Next  inspect.Offset
	// Look returns the state, see [Replay.Look]: that of Next while Reached is called,
	// and that of the last record that was read once Read has returned.
	Look func(at time.Time, keep func(topic string) bool) *inspect.Snapshot
}

func (to *Listener) progress(e Evidence) {
	if to.Progress != nil {
		to.Progress(e)
	}
}

// Evidence is what events rest on.
type Evidence struct {
	Source inspect.IsrSource
	// Where is who or what was read: "controller 100 (10.0.0.1:9093)", a directory.
	Where string
	// From is the first offset, and Since its time, from which on nothing is
	// missing; unknown where nothing was read. Before it there is state at most,
	// and no events.
	From  inspect.Opt[inspect.Offset]
	Since inspect.Opt[time.Time]
	// To is the offset behind the last record that was read, Until that one's time.
	To    inspect.Opt[inspect.Offset]
	Until inspect.Opt[time.Time]
	// Tentative is the offset from which on records may never have been committed:
	// a copy on disk does not say.
	Tentative inspect.Opt[inspect.Offset]
	// Every is how often somebody looked, where only looks are compared: what was
	// undone in between is missing, so that the events are a lower bound.
	Every inspect.Opt[time.Duration]
	Gaps  Gaps
	// Epoch is the quorum's, of the last record before To.
	Epoch inspect.Opt[inspect.Epoch]
	// Anew: the log is another one than that in which Span.After lies.
	Anew bool
}

// read notes that the log was read up to there.
func (e *Evidence) read(b *batch) {
	if !e.From.IsKnown() {
		e.From = inspect.Known(inspect.Offset(b.FirstOffset))
	}
	if !e.Since.IsKnown() {
		e.Since = inspect.Known(b.time())
	}
	e.To, e.Until = inspect.Known(b.next()), inspect.Known(b.time())
	e.Epoch = inspect.Known(inspect.Epoch(b.PartitionLeaderEpoch))
}

// restart forgets where it began: something is missing before what comes next.
func (e *Evidence) restart() {
	e.From, e.Since = inspect.Unknown[inspect.Offset](), inspect.Unknown[time.Time]()
}

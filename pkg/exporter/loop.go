package exporter

import (
	"context"
	"errors"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// Run collects and samples until the context ends, and returns its error. Nothing
// that a cluster does ends it: one that does not answer now may do so in a second.
//
// All passes happen in one goroutine, one after the other. A pass is bounded by its
// source; while it takes longer than the interval, the next follows at once. Another
// goroutine follows the metadata log, and only leaves word of it: no pass waits for that,
// nor for one that keeps what happens in a file.
func (e *Exporter) Run(ctx context.Context) error {
	l := newLoop(e)
	ctx, cancel := context.WithCancel(ctx)
	defer l.keep.wait()
	defer l.watch.wait()
	defer cancel()
	clock := e.options.Clock
	var nextCollection, nextSample time.Time
	for {
		began := clock.Now()
		switch {
		case !began.Before(nextCollection):
			l.collect(ctx)
			nextCollection = began.Add(e.options.CollectInterval)
		case l.answered:
			l.sample(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		nextSample = began.Add(l.state.sampleInterval())
		next := nextSample
		if nextCollection.Before(next) {
			next = nextCollection
		}
		if err := clock.Sleep(ctx, max(0, next.Sub(clock.Now()))); err != nil {
			return err
		}
	}
}

// loop is what Run's goroutine owns.
type loop struct {
	exporter *Exporter
	state    *state
	// answered is of the last collection. After one that nobody answered no samples
	// are taken: a password that is refused is not tried again every second.
	answered bool
	journal  journal
	watch    *isrWatch
	keep     *isrKeep // nil for none
}

func newLoop(e *Exporter) *loop {
	l := &loop{exporter: e, state: newState(e.options), journal: journal{log: e.options.Log}, watch: newISRWatch(&e.options)}
	l.state.isr.told = e.people.event
	l.keep = newISRKeep(&e.options, l.watch.readable, e.lastSampleInterval)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keep = l.keep
	return l
}

func (l *loop) collect(ctx context.Context) {
	e := l.exporter
	clock := e.options.Clock
	began := clock.Now()
	snap, err := l.newest(ctx)
	if ctx.Err() != nil {
		return // cut off: says nothing of the cluster
	}
	l.watch.deliver(l.state.isr)
	if l.answered = err == nil; !l.answered {
		l.journal.failed(failuresOf(err))
		e.mu.Lock()
		defer e.mu.Unlock()
		e.tally.snapshotFailed(err)
		e.lastError = err
		e.lastAnswered, e.duration = false, inspect.Known(clock.Now().Sub(began))
		return
	}
	e.people.collected(snap)
	l.watch.start(ctx, snap.ClusterID.Or(""))
	l.keep.start(ctx, snap.ClusterID.Or(""))
	l.keep.look(snap)
	v := l.state.collected(snap, time.Now())
	e.people.look(snap)
	p := newPage(v, e.options.ClusterLabel)
	l.journal.collected(snap)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tally.count(snap.Failures, snap.Groups)
	if snap.Complete() {
		e.tally.complete++
	} else {
		e.tally.partial++
	}
	if !e.keepView {
		p.view = nil
	}
	e.page, e.lastAnswered = p, true
	e.clusterID, e.lastError = snap.ClusterID.Or("without an id"), nil
	e.duration = inspect.Known(clock.Now().Sub(began))
	e.sampleInterval = l.state.sampleInterval()
}

// errOlder is of a collection that is not shown.
var errOlder = errors.New("who told the ISRs and leaders tells an older state than was seen before")

// newest takes a collection, and another one where that tells an older state than was
// seen before: a broker that was paused is asked first, and is a moment behind.
func (l *loop) newest(ctx context.Context) (*inspect.Snapshot, error) {
	for range 2 {
		snap, err := l.exporter.options.Collect.Snapshot(ctx, l.state.collectQuery())
		if err != nil || !l.state.isOlder(snap) {
			return snap, err
		}
		l.state.look(snap, time.Now())
	}
	return nil, errOlder
}

// sample's failures are not counted: the next collection has them too, if they last.
func (l *loop) sample(ctx context.Context) {
	o := &l.exporter.options
	from := o.Sample
	if l.state.sampleInterval() > 2*o.SampleInterval {
		from = o.Collect // a cluster so large is given more time
	}
	snap, err := from.Snapshot(ctx, l.state.sampleQuery())
	l.watch.deliver(l.state.isr)
	if err != nil || ctx.Err() != nil {
		return
	}
	watched := l.exporter.people.watched(o.Clock.Now())
	if watched {
		l.exporter.people.sampled(snap)
	}
	l.keep.look(snap)
	l.state.sampled(snap, time.Now())
	if watched {
		l.exporter.people.look(snap)
	}
}

func failuresOf(err error) []inspect.Failure {
	var boot *source.BootstrapError
	if errors.As(err, &boot) {
		return boot.Failures
	}
	return []inspect.Failure{{Error: err.Error()}}
}

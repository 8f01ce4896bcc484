package cli

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/advise"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/tui"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/looks"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// What top asks for at each look; what it asks seldom is what record does.
const (
	topOften = recordOften | inspect.PartQuorum
	// topShare: a look is followed by a pause of so many times what it took, where that is
	// longer than the interval.
	topShare = 3
)

// topLive is the live cluster as top's Source.
type topLive struct {
	target            *target
	filter            topicFilter
	interval, timeout time.Duration
	source            *source.Source
	carry             looks.Carrier
	// meters are read beside the looks; nil where nobody is to be asked. troubles are what
	// they did not tell lately, by its line.
	meters   *agents
	troubles map[string]meterTrouble
	// seldomAt is when a look last asked for all, begun and ended when the last one did.
	seldomAt, begun, ended time.Time

	// Another goroutine follows the changes of ISRs, from the first look on.
	handed    isrlog.Handed
	following aside
	// beside is for what goes on beside the looks, and stop ends it; nil before the first.
	beside   context.Context
	stop     context.CancelFunc
	mu       sync.Mutex
	events   []inspect.IsrEvent
	evidence string
	known    topKnown
	// onsets are asked for by one more.
	onsets topOnsets
}

// topKnown are the stretches of which all changes of ISRs were told.
type topKnown struct {
	spans []advise.Span
	// to is the offset behind the last of them.
	to inspect.Opt[inspect.Offset]
}

// read takes how far a source has been read.
func (k *topKnown) read(e *isrlog.Evidence) {
	since, ok := e.Since.Get()
	until, also := e.Until.Get()
	if !ok || !also || e.Source != inspect.SourceMetadataLog {
		k.to = inspect.Unknown[inspect.Offset]() // looks do not see all
		return
	}
	begin, told := e.From.Get()
	if to, goesOn := k.to.Get(); goesOn && told && begin <= to {
		k.spans[len(k.spans)-1].Until = until
	} else {
		const most = 100 // of a log that comes and goes
		k.spans = append(k.spans[max(0, len(k.spans)-most):], advise.Span{Since: since, Until: until})
	}
	k.to = e.To
}

func newTopLive(t *target, filter topicFilter, interval, timeout time.Duration) *topLive {
	return &topLive{target: t, filter: filter, interval: interval, timeout: timeout, source: source.New(t.brokers, timeout, t.options()...)}
}

// Next takes the next look.
func (l *topLive) Next(ctx context.Context, want tui.Want) (tui.Seen, error) {
	l.following.check()
	l.onsets.asking.check()
	if !l.begun.IsZero() {
		due := l.begun.Add(l.interval)
		if rest := l.ended.Add(topShare * l.ended.Sub(l.begun)); rest.After(due) {
			due = rest
		}
		if err := sleep(ctx, time.Until(due)); err != nil {
			return tui.Seen{}, err
		}
	}
	q := l.filter.query()
	q.Parts, q.NoMinISR = topOften, true
	l.begun = time.Now()
	if l.begun.Sub(l.seldomAt) >= seldomEvery {
		q.Parts, q.NoMinISR = topOften|recordSeldom, false
	}
	if want.Groups {
		q.Parts |= inspect.PartGroups
	}
	s, err := l.source.Snapshot(ctx, q)
	l.ended = time.Now()
	if err != nil {
		return tui.Seen{}, l.target.explain(err)
	}
	if q.Parts.Has(recordSeldom) {
		l.seldomAt = l.begun
	}
	l.carry.Carry(s)
	if l.stop == nil {
		l.beside, l.stop = context.WithCancel(context.WithoutCancel(ctx))
		l.follow(l.beside)
	}
	l.takeMeters(l.beside, s)
	l.mu.Lock()
	seen := tui.Seen{Snap: s, Events: l.events, Evidence: l.evidence, Known: slices.Clone(l.known.spans)}
	l.events = nil
	l.mu.Unlock()
	l.onsets.fill(l.beside, l.target, s, len(seen.Events) > 0, l.timeout)
	l.handed.Leave(s)
	return seen, nil
}

// meterTrouble is what an agent did not tell, and when.
type meterTrouble struct {
	inspect.Failure
	at time.Time
}

// takeMeters takes what the agents told since the look before, and asks them again. What
// they did not tell is told with the looks until they have been asked once more.
func (l *topLive) takeMeters(ctx context.Context, s *inspect.Snapshot) {
	if l.meters == nil {
		return
	}
	if l.troubles == nil {
		l.troubles = map[string]meterTrouble{}
	}
	for _, f := range l.meters.take(s) {
		l.troubles[render.FailureLine(f)] = meterTrouble{f, s.TakenAt}
	}
	lasts := 2*max(agentsEvery, l.timeout) + l.interval
	for line, t := range l.troubles {
		if s.TakenAt.Sub(t.at) > lasts {
			delete(l.troubles, line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(l.troubles)) {
		s.Failures = append(s.Failures, l.troubles[line].Failure)
	}
	l.meters.ask(ctx, s.Brokers)
}

// follow begins to read the changes of ISRs, from the log where it can be had: all that it
// has, as tune does.
func (l *topLive) follow(ctx context.Context) {
	log := isrlog.NewLog(l.target.brokers, &l.target.controllersAt, l.timeout)
	f := isrlog.Follow{
		Log: log, Await: log.Await,
		Looks: func() *isrlog.Poll { return l.handed.Poll(l.interval, len(l.filter.query().Topics) == 0) },
	}
	to := isrlog.Listener{
		Event: func(e inspect.IsrEvent) {
			if !l.filter.keep(e.Topic, false) {
				return
			}
			l.mu.Lock()
			l.events = append(l.events, e)
			l.mu.Unlock()
		},
		Evidence: func(e isrlog.Evidence) {
			l.mu.Lock()
			l.evidence = render.EvidenceLine(&e)
			l.mu.Unlock()
		},
		Progress: func(e isrlog.Evidence) {
			l.mu.Lock()
			l.known.read(&e)
			l.mu.Unlock()
		},
		Note: func(string, bool) {},
	}
	l.following.Go(func() { _ = f.Run(ctx, isrlog.Span{}, to) })
}

func (l *topLive) close() {
	if l.stop != nil {
		l.stop()
	}
	l.following.Wait()
	l.onsets.asking.Wait()
	if l.meters != nil {
		l.meters.wait()
	}
}

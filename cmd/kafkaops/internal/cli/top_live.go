package cli

import (
	"context"
	"sync"
	"time"

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
	// topHistory is how far back changes of ISRs are read.
	topHistory = 24 * time.Hour
)

// topLive is the live cluster as top's Source.
type topLive struct {
	target            *target
	filter            topicFilter
	interval, timeout time.Duration
	source            *source.Source
	carry             looks.Carrier
	// seldomAt is when a look last asked for all, begun and ended when the last one did.
	seldomAt, begun, ended time.Time

	// Another goroutine follows the changes of ISRs, from the first look on.
	handed    isrlog.Handed
	following sync.WaitGroup
	stop      context.CancelFunc
	mu        sync.Mutex
	events    []inspect.IsrEvent
	evidence  string
}

func newTopLive(t *target, filter topicFilter, interval, timeout time.Duration) *topLive {
	return &topLive{target: t, filter: filter, interval: interval, timeout: timeout, source: source.New(t.brokers, timeout, t.options()...)}
}

// Next takes the next look.
func (l *topLive) Next(ctx context.Context, want tui.Want) (tui.Seen, error) {
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
		l.follow(ctx)
	}
	l.handed.Leave(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := tui.Seen{Snap: s, Events: l.events, Evidence: l.evidence}
	l.events = nil
	return seen, nil
}

// follow begins to read the changes of ISRs, from the log where it can be had. It outlives
// the look that began it.
func (l *topLive) follow(ctx context.Context) {
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	log := isrlog.NewLog(l.target.brokers, &l.target.controllersAt, l.timeout)
	f := isrlog.Follow{
		Log: log, Await: log.Await,
		Looks: func() *isrlog.Poll { return l.handed.Poll(l.interval, len(l.filter.query().Topics) == 0) },
	}
	to := isrlog.Listener{
		Event: func(e inspect.IsrEvent) {
			if !l.filter.keep(e.Topic, false) || e.Type == inspect.IsrCreate || e.Type == inspect.IsrDelete {
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
		Note: func(string, bool) {},
	}
	l.following.Go(func() { _ = f.Run(ctx, isrlog.Span{Since: time.Now().Add(-topHistory)}, to) })
}

func (l *topLive) close() {
	if l.stop != nil {
		l.stop()
	}
	l.following.Wait()
}

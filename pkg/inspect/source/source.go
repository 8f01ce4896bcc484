package source

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// Source reads one cluster. It holds no connection between passes, so that a
// long-running command outlives every broker it has once talked to.
type Source struct {
	conf    connect.Config
	timeout time.Duration

	mu sync.Mutex
	// learned are the brokers' own addresses from the last pass, tried after the
	// bootstrap list.
	learned []string
}

// New returns a Source whose passes take at most timeout each.
func New(conf connect.Config, timeout time.Duration) *Source {
	return &Source{conf: conf, timeout: timeout}
}

// Query says what one pass is to observe.
type Query struct {
	Parts inspect.Parts
	// Topics are the exact names to ask about; empty means all that the
	// credentials may see.
	Topics []string
	// Keep, where it is not nil, drops topics before anything more is asked about
	// them.
	Keep func(name string, internal bool) bool
}

// Snapshot takes one pass within the timeout. The error is not nil only where
// nothing could be observed: then it is a *[BootstrapError]. Everything else that
// was not answered is among the Snapshot's Failures.
func (s *Source) Snapshot(ctx context.Context, q Query) (*inspect.Snapshot, error) {
	snap := &inspect.Snapshot{TakenAt: time.Now(), Asked: q.Parts}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	p := &pass{src: s, query: q, snap: snap}
	boot, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	defer boot.Close()
	s.learn(snap.Brokers)
	p.details(ctx, boot)
	slices.SortStableFunc(p.failures, inspect.Failure.Compare)
	snap.Failures = p.failures
	return snap, nil
}

func (s *Source) learn(brokers []inspect.Broker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.learned = s.learned[:0]
	for i := range brokers {
		if !brokers[i].Fenced.Or(false) {
			s.learned = append(s.learned, brokers[i].Address())
		}
	}
}

// addresses are where to begin: the bootstrap list, then what was learned.
func (s *Source) addresses() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	addrs := slices.Clone(s.conf.Bootstrap)
	for _, a := range s.learned {
		if !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	return addrs
}

// bounded gives one request its share of the pass: a third of the timeout, so
// that a silent broker is given up while there is time to ask the others.
func (s *Source) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout/3)
}

// pass is one Snapshot in the making.
type pass struct {
	src   *Source
	query Query
	snap  *inspect.Snapshot

	mu       sync.Mutex
	failures []inspect.Failure
}

func (p *pass) fail(f inspect.Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = append(p.failures, f)
}

// details asks for everything beyond brokers, topics and partitions. Its
// goroutines write to different fields of the Snapshot.
func (p *pass) details(ctx context.Context, boot *connect.Conn) {
	var wg sync.WaitGroup
	wg.Go(func() {
		p.reassignments(ctx, boot)
		p.minInsyncReplicas(ctx, boot)
	})
	const perBroker = inspect.PartReachable | inspect.PartOffsets | inspect.PartLogDirs
	if p.query.Parts&perBroker != 0 {
		p.askBrokers(ctx)
	}
	wg.Wait()
}

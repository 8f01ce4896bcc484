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
	// leads is the active controller as it was last seen.
	leads leadership
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
	// Groups is about [inspect.PartGroups].
	Groups GroupQuery
	// ForGroups is a pass that serves groups' lag alone: only the topics that a
	// group has committed for or been assigned are kept, and of those only what
	// that lag needs is asked: no reassignments, no min.insync.replicas, no upper
	// bounds of replicas' lag. Name no Topics with it: what is not asked about
	// would look deleted.
	ForGroups bool
	// Sample, Suspects, LogSizes and LeaderlessELR are for who asks again and again;
	// see sample.go.
	Sample        SampleKind
	Suspects      map[inspect.BrokerID]bool
	LogSizes      bool
	LeaderlessELR bool
}

// Snapshot takes one pass within the timeout. The error is not nil only where
// nothing could be observed: then it is a *[BootstrapError]. Everything else that
// was not answered is among the Snapshot's Failures.
func (s *Source) Snapshot(ctx context.Context, q Query) (*inspect.Snapshot, error) {
	snap := &inspect.Snapshot{TakenAt: time.Now(), Asked: q.Parts}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	p := &pass{
		src: s, query: q, snap: snap,
		conns: map[inspect.BrokerID]*connect.Conn{}, downs: map[inspect.BrokerID]*inspect.Failure{},
	}
	boot, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	defer boot.Close()
	s.learn(snap.Brokers)
	p.leaderlessELR(ctx, boot)
	if q.Sample != SampleNone {
		p.sample(ctx)
	} else {
		p.details(ctx, boot)
	}
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
	// conns are connections that the groups were asked over, for whoever asks the
	// broker next; downs are brokers that could not be connected then.
	// Between the groups and the end of the pass nobody adds to downs.
	conns map[inspect.BrokerID]*connect.Conn
	downs map[inspect.BrokerID]*inspect.Failure
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
	if !p.query.ForGroups {
		wg.Go(func() {
			// Brokers pass ListPartitionReassignments on to the active controller: where
			// there is none it is not answered, and the connection is of no more use.
			p.minInsyncReplicas(ctx, boot)
			p.reassignments(ctx, boot)
		})
	}
	if p.query.Parts.Has(inspect.PartQuorum) {
		wg.Go(func() { p.quorum(ctx, boot) })
	}
	if p.query.Parts.Has(inspect.PartConfigs) {
		wg.Go(func() { p.topicConfigs(ctx, boot.Addr()) })
	}
	if p.query.Parts.Has(inspect.PartGroups) {
		defer p.closeKept()
		p.groups(ctx, boot)
	}
	const perBroker = inspect.PartReachable | inspect.PartOffsets | inspect.PartLogDirs | inspect.PartTransactions | facetParts
	if p.query.Parts&perBroker != 0 {
		p.askBrokers(ctx)
	}
	if p.query.Parts.Has(inspect.PartTransactions) {
		p.transactions(ctx, boot)
	}
	wg.Wait()
}

// keep leaves a connection that works for whoever asks the broker next.
func (p *pass) keep(id inspect.BrokerID, conn *connect.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[id] = conn
}

// take returns the connection that was kept, or nil; it is the caller's then.
func (p *pass) take(id inspect.BrokerID) *connect.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	conn := p.conns[id]
	delete(p.conns, id)
	return conn
}

// closeKept also tells, once and with all that is lost by it, of brokers that
// could not be connected.
func (p *pass) closeKept() {
	for _, conn := range p.conns {
		conn.Close()
	}
	for _, f := range p.downs {
		p.fail(*f)
	}
}

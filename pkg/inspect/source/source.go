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
	// controllers is where the controllers are asked; nil asks them through the
	// brokers.
	controllers *connect.Config
	// expected is the id that the cluster must have; empty for any.
	expected string
	*memory
}

// memory is what Sources of one cluster remember from pass to pass.
type memory struct {
	mu sync.Mutex
	// learned are the brokers' own addresses from the last pass, tried after the
	// bootstrap list; clusterID is of that pass.
	learned   []string
	clusterID inspect.Opt[string]
	// leads is the active controller as it was last seen.
	leads leadership
	// front is tried before all others, since a while: see [pass.askOthersForQuorum].
	front string
	since time.Time
}

// Option is what a Source may have beside addresses.
type Option func(*Source)

// WithControllers asks the controllers at their own listener, with its own
// credentials, and not through the brokers. Any of them will do as a beginning.
func WithControllers(conf connect.Config) Option {
	return func(s *Source) { s.controllers = &conf }
}

// ExpectCluster makes every pass end with a [*WrongClusterError], before anything
// more is asked, where the cluster has another id or tells none.
func ExpectCluster(id string) Option {
	return func(s *Source) { s.expected = id }
}

// New returns a Source whose passes take at most timeout each.
func New(conf connect.Config, timeout time.Duration, opts ...Option) *Source {
	s := &Source{conf: conf, timeout: timeout, memory: &memory{}}
	for _, o := range opts {
		o(s)
	}
	return s
}

// Within returns a Source of the same cluster with another timeout. The two share
// what they learn of its brokers.
func (s *Source) Within(timeout time.Duration) *Source {
	other := *s
	other.timeout = timeout
	return &other
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
	// Access is about [inspect.PartAccess].
	Access AccessQuery
	// ForGroups is a pass that serves groups' lag alone: only the topics that a
	// group has committed for or been assigned are kept, and of those only what
	// that lag needs is asked: no reassignments, no min.insync.replicas, no upper
	// bounds of replicas' lag. Name no Topics with it: what is not asked about
	// would look deleted.
	ForGroups bool
	// NoMinISR and NoReassignments leave out what partitions are judged by and what
	// needs a permission of its own: DESCRIBE_CONFIGS on the topics, DESCRIBE on the
	// cluster. Health and verdict are then unknown.
	NoMinISR, NoReassignments bool
	// QuorumAlone is a pass that serves [inspect.PartQuorum] alone: with
	// [WithControllers] it does without brokers where none answers, or none is
	// known.
	QuorumAlone bool
	// QuorumBeside is a pass whose answer shows neither the quorum nor a verdict:
	// where the credentials may not ask for it, that is a notice. What else goes
	// wrong with the request stays a failure.
	QuorumBeside bool
	// Sample, Suspects, LogSizes and LeaderlessELR are for who asks again and again;
	// see sample.go.
	Sample        SampleKind
	Suspects      map[inspect.BrokerID]bool
	LogSizes      bool
	LeaderlessELR bool
}

// Snapshot takes one pass within the timeout. The error is not nil only where
// nothing could be observed: then it is a *[BootstrapError], or a
// *[WrongClusterError] where nothing was to be. Everything else that was not
// answered is among the Snapshot's Failures.
func (s *Source) Snapshot(ctx context.Context, q Query) (*inspect.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	snap, cutOff, err := s.once(ctx, q, "")
	if cutOff == "" || err != nil {
		return snap, err
	}
	if again, _, err := s.once(ctx, q, cutOff); err == nil {
		return again, nil
	}
	return snap, nil
}

// once takes one pass. cutOff is the address of who told the topology, where that
// turns out to be cut off from the controllers: what it told may be old, and another
// pass begins elsewhere. Of the one before it, was was that address.
func (s *Source) once(ctx context.Context, q Query, was string) (_ *inspect.Snapshot, cutOff string, _ error) {
	snap := &inspect.Snapshot{TakenAt: time.Now(), Asked: q.Parts}
	p := &pass{
		src: s, query: q, snap: snap, toldController: inspect.NoBroker,
		unoffered: map[unoffered][]inspect.Failure{}, asked: map[inspect.BrokerID]*connect.Conn{},
		conns: map[inspect.BrokerID]*connect.Conn{}, downs: map[inspect.BrokerID]*inspect.Failure{},
	}
	boot, err := p.begin(ctx)
	switch {
	case err != nil:
		return nil, "", err
	case boot != nil:
		defer boot.Close()
		snap.ToldBy = boot.Addr()
		s.learn(snap)
		if was != "" {
			p.fail(inspect.Failure{
				Address: was, Request: describeQuorum, Phase: inspect.PhaseRequest, Notice: true,
				Error: "it reaches no active controller, and another broker does: what it tells of the cluster may be old",
				Lost:  "went on with " + boot.Addr(),
			})
		}
		p.leaderlessELR(ctx, boot)
		if q.Sample != SampleNone {
			p.sample(ctx)
		} else {
			p.details(ctx, boot)
		}
	}
	p.tellUnoffered()
	slices.SortStableFunc(p.failures, inspect.Failure.Compare)
	snap.Failures = p.failures
	if boot != nil && p.bootCutOff {
		cutOff = boot.Addr()
	}
	return snap, cutOff, nil
}

func (m *memory) learn(snap *inspect.Snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clusterID = snap.ClusterID
	m.learned = m.learned[:0]
	for i := range snap.Brokers {
		if b := &snap.Brokers[i]; !b.Fenced.Or(false) {
			m.learned = append(m.learned, b.Address())
		}
	}
}

// strange reports whether an address that was learned leads to another cluster now:
// another machine has got it. Where the bootstrap list leads is the user's to say.
func (s *Source) strange(addr string, id inspect.Opt[string]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.Contains(s.conf.Bootstrap, addr) && s.clusterID.IsKnown() && id.IsKnown() && s.clusterID != id
}

// frontFor is for how long a pass begins with another address than the first. Then
// the next pass that asks for the quorum tries the first again.
const frontFor = time.Minute

// beginWith lets passes begin with an address.
func (m *memory) beginWith(addr string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.front, m.since = addr, time.Now()
}

// addresses are where to begin: the bootstrap list, then what was learned.
func (s *Source) addresses(asksQuorum bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if asksQuorum && time.Since(s.since) > frontFor {
		s.front = ""
	}
	addrs := slices.Clone(s.conf.Bootstrap)
	if s.front != "" {
		addrs = slices.Insert(slices.DeleteFunc(addrs, func(a string) bool { return a == s.front }), 0, s.front)
	}
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
	// visible counts the topics that were told of, before Query.Keep.
	visible int
	// leaderless are the partitions of the offsets topic that have no leader, of so
	// many coordinators.
	leaderless   []int32
	coordinators int

	// bootCutOff: whoever told the topology reaches no controller, and another does.
	bootCutOff bool

	// toldController is whom the bootstrap broker calls the controller: a random
	// live broker in KRaft mode, and in ZooKeeper mode truly the one.
	toldController inspect.BrokerID

	mu       sync.Mutex
	failures []inspect.Failure
	// unoffered has one entry for each broker that does not have the API.
	unoffered map[unoffered][]inspect.Failure
	// asked are the connections that brokers were asked over, for which APIs they
	// have; they may be closed.
	asked map[inspect.BrokerID]*connect.Conn
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
	p.tellHidden(ctx, boot)
	var wg sync.WaitGroup
	if !p.query.ForGroups {
		wg.Go(func() {
			// Brokers pass ListPartitionReassignments on to the active controller: where
			// there is none it is not answered.
			if !p.query.NoMinISR {
				p.over(ctx, boot, func(conn *connect.Conn) { p.minInsyncReplicas(ctx, conn) })
			}
			if !p.query.NoReassignments {
				p.over(ctx, boot, func(conn *connect.Conn) { p.reassignments(ctx, conn) })
			}
		})
	}
	if p.query.Parts.Has(inspect.PartQuorum) {
		wg.Go(func() {
			if p.src.controllers != nil {
				p.quorumAtControllers(ctx)
				return
			}
			p.quorum(ctx, boot)
		})
	}
	if p.query.Parts.Has(inspect.PartConfigs) {
		wg.Go(func() { p.topicConfigs(ctx, boot) })
	}
	if p.query.Parts.Has(inspect.PartAccess) {
		wg.Go(func() { p.access(ctx, boot) })
	}
	if p.query.Parts.Has(inspect.PartGroups) {
		defer p.closeKept()
		p.groups(ctx, boot)
	}
	const perBroker = inspect.PartReachable | inspect.PartFencedReachable | inspect.PartOffsets | inspect.PartLogDirs | inspect.PartTransactions | facetParts
	if p.query.Parts&perBroker != 0 {
		p.askBrokers(ctx)
	}
	if p.query.Parts&facetParts != 0 && p.query.Parts.Has(inspect.PartFenced) && !p.query.Parts.Has(inspect.PartAccess) {
		p.tellDown()
	}
	if p.query.Parts.Has(inspect.PartTransactions) {
		p.transactions(ctx, boot)
	}
	wg.Wait()
	p.closedTopics(ctx, boot)
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

package source

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// askBrokers asks every broker for its own part, all at the same time.
func (p *pass) askBrokers(ctx context.Context) {
	var plan map[inspect.BrokerID]*work
	if p.query.Parts.Has(inspect.PartOffsets) {
		plan = planWork(p.snap)
	}
	all := p.query.Parts&(inspect.PartReachable|inspect.PartLogDirs|inspect.PartTransactions|facetParts) != 0
	var asked []*inspect.Broker
	for i := range p.snap.Brokers {
		b := &p.snap.Brokers[i]
		if !b.Fenced.Or(false) && (all || plan[b.ID] != nil) {
			asked = append(asked, b)
		}
	}
	o := &offsets{pass: p, rounds: newRounds(len(asked))}
	if p.query.Groups.Times {
		o.commits = commitsByPartition(p.snap.Groups)
	}
	var wg sync.WaitGroup
	if p.query.Parts.Has(inspect.PartFencedReachable) {
		p.knock(ctx, &wg)
	}
	for _, b := range asked {
		w := plan[b.ID]
		if w == nil {
			w = &work{}
		}
		delete(plan, b.ID)
		wg.Go(func() { p.askBroker(ctx, b, w, o) })
	}
	// What is left in the plan is on brokers that the cluster does not list.
	for id, w := range plan {
		w.lose(fmt.Sprintf("broker %d is not among the live brokers", id))
	}
	wg.Wait()
	o.settle()
}

// knock sees which of the brokers that are fenced answer all the same.
func (p *pass) knock(ctx context.Context, wg *sync.WaitGroup) {
	for i := range p.snap.Brokers {
		b := &p.snap.Brokers[i]
		if !b.Fenced.Or(false) {
			continue
		}
		wg.Go(func() {
			conn, err := p.open(ctx, b)
			if err != nil {
				return // that is what was to be expected
			}
			defer conn.Close()
			b.Reachable = inspect.Known(true)
		})
	}
}

// askBroker asks one broker, over one connection.
func (p *pass) askBroker(ctx context.Context, b *inspect.Broker, w *work, o *offsets) {
	if f := p.downs[b.ID]; f != nil { // nobody writes to it any more
		o.rounds.leaveFrom(0)
		w.lose(f.Error)
		if lost := p.lostReplicas(w); lost != "" {
			f.Lost = strings.TrimPrefix(f.Lost+", "+lost, ", ")
			f.Notice = false
		}
		return
	}
	conn, err := p.connection(ctx, b)
	b.Reachable = inspect.Known(err == nil)
	if err != nil {
		o.rounds.leaveFrom(0)
		f := failureOf(inspect.Known(b.ID), err)
		f.Lost = p.lostReplicas(w)
		f.Hint = p.advertisedHint(f)
		w.lose(f.Error)
		p.fail(f)
		return
	}
	p.mu.Lock()
	p.asked[b.ID] = conn
	p.mu.Unlock()
	up := false
	reader := &reader{offsets: o, conn: conn, broker: b, work: w}
	reader.read(ctx)
	conn = reader.conn // it may have had to be opened again
	defer conn.Close()
	defer func() {
		b.Reachable = inspect.Known(up || conn.Answered()) // a kept connection is no answer yet
		b.RoundTrip = conn.Fastest()
	}()
	if p.query.Parts.Has(inspect.PartLogDirs) {
		b.VersionRange = guessVersion(conn.APIVersions())
		p.over(ctx, conn, func(conn *connect.Conn) {
			p.logDirs(ctx, conn, b)
			up = conn.Answered()
		})
	}
	p.facets(ctx, conn, b)
}

// over asks over the connection, or over a new one where it has broken: a request
// that is held must not cost the answers to those behind it. Where the broker
// takes no new one either, the old one says what it broke on.
func (p *pass) over(ctx context.Context, conn *connect.Conn, ask func(*connect.Conn)) {
	if conn.Broken() {
		opening, cancel := p.src.bounded(ctx)
		again, err := p.src.conf.Open(opening, conn.Addr())
		cancel()
		if err == nil {
			defer again.Close()
			conn = again
		}
	}
	ask(conn)
}

// connection is the one that the groups were asked over, or a new one.
func (p *pass) connection(ctx context.Context, b *inspect.Broker) (*connect.Conn, error) {
	if conn := p.take(b.ID); conn != nil {
		return conn, nil
	}
	return p.open(ctx, b)
}

func (p *pass) open(ctx context.Context, b *inspect.Broker) (*connect.Conn, error) {
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	if p.query.Suspects[b.ID] {
		var short context.CancelFunc
		ctx, short = context.WithTimeout(ctx, suspectPatience)
		defer short()
	}
	return p.src.conf.Open(ctx, b.Address())
}

func (p *pass) lostReplicas(w *work) string {
	if p.query.ForGroups {
		switch n := len(w.leads); n {
		case 0:
			return ""
		case 1:
			return "the end of the partition that it leads is unknown"
		default:
			return fmt.Sprintf("the ends of the %d partitions that it leads are unknown", n)
		}
	}
	switch n := w.replicas(); n {
	case 0:
		return ""
	case 1:
		return "its replica is shown as unknown"
	default:
		return fmt.Sprintf("its %d replicas are shown as unknown", n)
	}
}

// advertisedHint tells an address that cannot be dialed, though a bootstrap
// server answered, from a broker that is down: the usual cause is a wrong
// advertised.listeners.
func (p *pass) advertisedHint(f inspect.Failure) string {
	if f.Phase != inspect.PhaseDial {
		return ""
	}
	for _, a := range p.src.conf.Bootstrap {
		if a == f.Address {
			return ""
		}
	}
	return "the bootstrap server answered; this is the address that the broker advertises (advertised.listeners): is it up, and reachable from here?"
}

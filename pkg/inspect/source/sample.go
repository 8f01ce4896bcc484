package source

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// What programs need that ask every second: a pass that costs next to nothing,
// and does not wait, again and again, for a broker that did not answer the pass
// before. Give their Sources one [connect.Pool].

// SampleKind says that a pass is a sample, and of what: brokers, topics and
// partitions by Metadata from one broker, then only these offsets. Parts are not
// asked for then, and suspects not at all.
type SampleKind int

const (
	// SampleNone is a whole pass.
	SampleNone SampleKind = iota
	// SampleLeaders reads the leaders' LEO, and then their HW: 2 requests a broker.
	// Offsets.LEOBefore and HW are known. Whether the service's LEO can be believed,
	// a whole pass has to tell: that asks followers too.
	SampleLeaders
	// SampleEnds reads the leaders' HW: 1 request a broker, for services that tell
	// no replicas' own LEO.
	SampleEnds
)

// suspectPatience is how long a broker that did not answer before has to accept a
// connection.
const suspectPatience = time.Second

// sample reads the leaders' offsets. Leaders tell both of theirs by themselves, so
// that no broker waits for another.
func (p *pass) sample(ctx context.Context) {
	p.snap.Asked |= inspect.PartOffsets
	plan := planWork(p.snap)
	var asked []*inspect.Broker
	for i := range p.snap.Brokers {
		if b := &p.snap.Brokers[i]; plan[b.ID] != nil && !p.query.Suspects[b.ID] {
			asked = append(asked, b)
		}
	}
	o := &offsets{pass: p}
	var wg sync.WaitGroup
	for _, b := range asked {
		w := plan[b.ID]
		delete(plan, b.ID)
		wg.Go(func() { p.sampleBroker(ctx, b, w, o) })
	}
	for id, w := range plan {
		w.lose(fmt.Sprintf("broker %d did not answer the pass before", id))
	}
	wg.Wait()
	if p.query.Sample == SampleLeaders {
		o.settle()
	}
}

func (p *pass) sampleBroker(ctx context.Context, b *inspect.Broker, w *work, o *offsets) {
	conn, err := p.open(ctx, b)
	if err != nil {
		b.Reachable = inspect.Known(false)
		w.lose(failureOf(inspect.Known(b.ID), err).Error)
		p.fail(failureOf(inspect.Known(b.ID), err))
		return
	}
	r := &reader{offsets: o, conn: conn, broker: b, work: w}
	if err := r.sample(ctx, p.query.Sample); err != nil {
		r.broken(err)
	}
	b.Reachable, b.RoundTrip = inspect.Known(r.conn.Answered()), r.conn.Fastest()
	r.conn.Close()
}

// sample reads LEO before HW, as [reader.read] does: what lies between was there.
func (r *reader) sample(ctx context.Context, kind SampleKind) error {
	if kind == SampleLeaders {
		if err := r.readLeadersFirst(ctx); err != nil {
			return err
		}
	}
	return r.list(ctx, consumer, latest, false, r.work.leads, func(p *inspect.Partition, code int16) {
		p.Offsets.Error = codeName(code)
	}, func(p *inspect.Partition, at inspect.Offset) {
		p.Offsets.HW = inspect.Known(at)
	})
}

// leaderlessELR asks for the eligible leader replicas of leaderless partitions
// alone, as many as fit into one answer: whoever leads them next may come from
// there. [inspect.Snapshot.KeepsELR] says whether there can be any.
func (p *pass) leaderlessELR(ctx context.Context, boot *connect.Conn) {
	level, told := boot.Feature(elrFeature)
	p.snap.KeepsELR = inspect.Known(told && level > 0)
	if !p.query.LeaderlessELR || !p.snap.KeepsELR.Or(false) {
		return
	}
	asked := &pass{src: p.src, snap: &inspect.Snapshot{}}
	n := 0
	for i := range p.snap.Topics {
		t := &p.snap.Topics[i]
		for j := range t.Partitions {
			if t.Partitions[j].Leader != inspect.NoBroker {
				continue
			}
			if n += len(t.Partitions); n <= pagePartitions || len(asked.query.Topics) == 0 {
				asked.query.Topics = append(asked.query.Topics, t.Name)
			}
			break
		}
	}
	if len(asked.query.Topics) == 0 {
		return
	}
	if f := asked.describeTopicPartitions(ctx, boot); f != nil {
		f.Lost = "eligible leader replicas are unknown"
		p.fail(*f)
		return
	}
	asked.settle()
	elr := map[string]*inspect.Topic{}
	for i := range asked.snap.Topics {
		elr[asked.snap.Topics[i].Name] = &asked.snap.Topics[i]
	}
	for part := range p.snap.Partitions {
		t := elr[part.Topic]
		if t == nil || part.Leader != inspect.NoBroker {
			continue
		}
		if now := t.Partition(part.Index); now != nil && now.LeaderEpoch == part.LeaderEpoch {
			part.ELR, part.LastKnownELR = now.ELR, now.LastKnownELR
		}
	}
}

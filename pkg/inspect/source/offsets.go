package source

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

const (
	listOffsets       = "ListOffsets"
	newestListOffsets = 6
)

// Kafka's special timestamps and replica ids (ListOffsetsRequest).
const (
	latest    = -1
	earliest  = -2
	consumer  = -1
	debugging = -2
)

// offsets is what the readers of all brokers share.
type offsets struct {
	pass   *pass
	rounds *rounds

	// commits are those whose times are asked for; nil where none are.
	commits map[inspect.TopicPartition][]*inspect.Commit

	mu    sync.Mutex
	debug debugTally
}

// reader reads one broker's offsets.
type reader struct {
	offsets *offsets
	conn    *connect.Conn
	broker  *inspect.Broker
	work    *work
	// noDebug: the broker closed the connection on replica id −2.
	noDebug bool
}

// read goes through the rounds; rounds.go has their order.
func (r *reader) read(ctx context.Context) {
	rounds, w := r.offsets.rounds, r.work
	if w.replicas() > 0 {
		id := inspect.Known(r.broker.ID)
		if _, ok := r.offsets.pass.version(r.conn, id, keyListOffsets, newestListOffsets, "offsets are unknown"); !ok {
			rounds.leaveFrom(0)
			w.lose("the broker does not offer " + listOffsets)
			return
		}
	}
	rounds.connected.arrive()
	rounds.connected.wait(ctx)

	if err := r.readLeadersFirst(ctx); err != nil {
		rounds.leaveFrom(1)
		r.broken(err)
		return
	}
	rounds.leadersRead.arrive()
	rounds.leadersRead.wait(ctx)

	if err := r.readFollowers(ctx); err != nil {
		rounds.leaveFrom(2)
		r.broken(err)
		return
	}
	if rounds.followersRead.arrive() {
		for _, f := range w.answers {
			f.Late = true
		}
	}
	if err := r.readCommitted(ctx); err != nil {
		r.broken(err)
		return
	}
	if !r.offsets.pass.query.ForGroups { // where nobody asks for upper bounds
		rounds.followersRead.wait(ctx)
		if err := r.readLeadersAgain(ctx); err != nil {
			r.broken(err)
			return
		}
	}
	if r.offsets.commits != nil {
		if err := r.readTimes(ctx); err != nil {
			r.broken(err)
		}
	}
}

// broken ends this broker's part: the connection no longer works.
func (r *reader) broken(err error) {
	f := failureOf(inspect.Known(r.broker.ID), err)
	f.Lost = "what it had not told yet is shown as unknown"
	if f.Request != listOffsets { // it failed while being opened again
		f.Lost = r.offsets.pass.lostReplicas(r.work)
	}
	r.work.lose(f.Error)
	r.offsets.pass.fail(f)
}

// readLeadersFirst reads L0.
func (r *reader) readLeadersFirst(ctx context.Context) error {
	return r.debug(ctx, leaders, r.work.leads, &r.broker.LeaderLEOsAt, func(p *inspect.Partition, code int16) {
		p.Offsets.Error = codeName(code)
	}, func(p *inspect.Partition, at inspect.Offset) {
		p.Offsets.LEOBefore = inspect.Known(at)
	})
}

// readFollowers reads f.
func (r *reader) readFollowers(ctx context.Context) error {
	next := 0
	return r.debug(ctx, followers, r.work.follows, &r.broker.FollowerLEOsAt, func(p *inspect.Partition, code int16) {
		r.work.answerFor(p, &next).Error = codeName(code)
	}, func(p *inspect.Partition, at inspect.Offset) {
		r.work.answerFor(p, &next).LEO = inspect.Known(at)
	})
}

// debug asks with replica id −2, notes when log end offsets came, and tallies the
// answers. A service that closes the connection on it is asked for the rest over a new one.
func (r *reader) debug(
	ctx context.Context, who role, parts []*inspect.Partition, at *inspect.Opt[time.Time],
	refused func(*inspect.Partition, int16), set func(*inspect.Partition, inspect.Offset),
) error {
	if r.noDebug {
		return nil
	}
	codes, answered := newRefusals(), 0
	err := r.list(ctx, debugging, latest, false, parts, func(p *inspect.Partition, code int16) {
		refused(p, code)
		codes.add(code, name(p))
	}, func(p *inspect.Partition, leo inspect.Offset) {
		set(p, leo)
		answered++
	})
	if answered > 0 {
		// By TakenAt's clock, also where the machine's was set meanwhile.
		begun := r.offsets.pass.snap.TakenAt
		*at = inspect.Known(begun.Add(time.Since(begun)))
	}
	r.offsets.tally(who, answered, r.refusals(codes))
	var ce *connect.Error
	if !errors.As(err, &ce) || !ce.Closed() {
		return err
	}
	r.conn.Close()
	again, openErr := r.offsets.pass.open(ctx, r.broker)
	if openErr != nil {
		return openErr
	}
	r.conn, r.noDebug = again, true
	closed := failureOf(inspect.Known(r.broker.ID), err)
	r.work.loseLEOs(closed.Error)
	r.offsets.tally(leaders, 0, []debugRefusal{{closedConn, len(r.work.leads), "it closes the connection", closed}})
	r.offsets.tally(followers, 0, []debugRefusal{{closedConn, len(r.work.follows), "it closes the connection", closed}})
	return nil
}

// answerFor walks the answers beside follows, which list asks in order.
func (w *work) answerFor(p *inspect.Partition, next *int) *inspect.FollowerOffset {
	for w.follows[*next] != p {
		*next++
	}
	return w.answers[*next]
}

// readCommitted reads log start, LSO and HW, in this order, so that they cannot
// come out of order on a log that moves.
func (r *reader) readCommitted(ctx context.Context) error {
	codes := newRefusals()
	counted := map[*inspect.Partition]bool{} // one line for a partition, not one a step
	refused := func(p *inspect.Partition, code int16) {
		if !counted[p] {
			counted[p] = true
			p.Offsets.Error = codeName(code)
			codes.add(code, name(p))
		}
	}
	steps := []struct {
		timestamp int64
		committed bool
		set       func(*inspect.Partition, inspect.Offset)
	}{
		{earliest, false, func(p *inspect.Partition, at inspect.Offset) { p.Offsets.LogStart = inspect.Known(at) }},
		{latest, true, func(p *inspect.Partition, at inspect.Offset) { p.Offsets.LSO = inspect.Known(at) }},
		{latest, false, func(p *inspect.Partition, at inspect.Offset) { p.Offsets.HW = inspect.Known(at) }},
	}
	for _, s := range steps {
		if err := r.list(ctx, consumer, s.timestamp, s.committed, r.work.leads, refused, s.set); err != nil {
			return err
		}
	}
	for _, c := range codes.sorted() {
		r.offsets.pass.fail(r.refusal(c))
	}
	return nil
}

// readLeadersAgain reads L2.
func (r *reader) readLeadersAgain(ctx context.Context) error {
	if r.noDebug {
		return nil
	}
	// A refusal here was one in round 0 too, or the upper bound stays unknown.
	ignore := func(*inspect.Partition, int16) {}
	return r.list(ctx, debugging, latest, false, r.work.leads, ignore, func(p *inspect.Partition, at inspect.Offset) {
		p.Offsets.LEOAfter = inspect.Known(at)
	})
}

// refusals words the codes that answered replica id −2.
func (r *reader) refusals(codes *refusals) []debugRefusal {
	var out []debugRefusal
	for _, c := range codes.sorted() {
		out = append(out, debugRefusal{c.code, c.count, codeName(c.code), r.refusal(c)})
	}
	return out
}

func (r *reader) refusal(c *refused) inspect.Failure {
	f := refusal(inspect.Known(r.broker.ID), r.conn.Addr(), listOffsets, c.code)
	f.Lost = "offsets are unknown for " + c.what("partition")
	return f
}

func name(p *inspect.Partition) string { return fmt.Sprintf("%s-%d", p.Topic, p.Index) }

// list sends one ListOffsets about parts and hands out the answers in the same
// order: set for an offset, refused for an error code.
func (r *reader) list(
	ctx context.Context, replicaID int32, timestamp int64, committed bool, parts []*inspect.Partition,
	refused func(*inspect.Partition, int16), set func(*inspect.Partition, inspect.Offset),
) error {
	if len(parts) == 0 {
		return nil
	}
	version, _ := r.conn.Version(keyListOffsets, newestListOffsets)
	req := &sarama.OffsetRequest{Version: version}
	if committed {
		req.IsolationLevel = sarama.ReadCommitted
	}
	req.SetReplicaID(replicaID)
	for _, p := range parts {
		req.AddBlock(p.Topic, p.Index, timestamp, 1)
	}
	ctx, cancel := r.offsets.pass.src.bounded(ctx)
	defer cancel()
	resp, err := connect.Ask(ctx, r.conn, listOffsets, func(b *sarama.Broker) (*sarama.OffsetResponse, error) {
		return b.GetAvailableOffsets(req)
	})
	if err != nil {
		return err
	}
	for _, p := range parts {
		block := resp.Blocks[p.Topic][p.Index]
		switch {
		case block == nil:
			refused(p, int16(sarama.ErrUnknown))
		case block.Err != sarama.ErrNoError:
			refused(p, int16(block.Err))
		case block.Offset < 0:
			refused(p, int16(sarama.ErrOffsetNotAvailable))
		default:
			set(p, inspect.Offset(block.Offset))
		}
	}
	return nil
}

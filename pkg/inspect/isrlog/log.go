package isrlog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Log is the metadata log as the active controller serves it, up to its high
// watermark: what is beyond may still be cut off.
type Log struct {
	at    controllers
	reach reach
}

// NewLog reads from the controllers that the brokers name or, where that is not nil,
// from controllersAt; where that has no addresses, it says how those are reached that the
// brokers name. One request is bounded by a third of timeout, as everywhere.
func NewLog(brokers connect.Config, controllersAt *connect.Config, timeout time.Duration) *Log {
	l := &Log{at: controllers{conf: &brokers, brokers: &brokers, limit: timeout / 3}, reach: usual}
	if controllersAt != nil {
		l.at.conf = controllersAt
		if len(controllersAt.Bootstrap) > 0 {
			l.at.brokers = nil
		}
	}
	return l
}

const (
	// fetchBytes bounds an answer (KafkaRaftClient.MAX_FETCH_SIZE_BYTES is 8 MiB).
	fetchBytes = 4 << 20
	// pollWait is how long a controller may keep a request that has nothing to tell.
	// Its no-op records answer one every 500 ms.
	pollWait = 2 * time.Second
	// pollEvery is the least time between two requests where nothing more is known to
	// be there: an idle cluster costs 2.5 a second.
	pollEvery = 400 * time.Millisecond
	// retryEvery is the time between two searches for an active controller. An election
	// takes longer than that only where the old one did not stop in order.
	retryEvery = 500 * time.Millisecond
)

// logReading is one pass over the log.
type logReading struct {
	at       *controllers
	reach    reach
	span     Span
	to       Listener
	replay   *Replay
	evidence Evidence
	// next is the offset to fetch, from the first one that is not read, which may be
	// one less, and lastEpoch the epoch of the batch before it; target is where the pass ends, unless it follows.
	next, from, target inspect.Offset
	// hw is what the last answer told, live where events begin with FromEnd.
	hw, live  inspect.Offset
	lastEpoch int32
	gaps      Gaps
	ended     bool
	// loaded is when the last record was written that the snapshot contains.
	loaded time.Time
	// earliest is the snapshot of the log's start, once it was looked for and found.
	earliest snapshotID
	// ahead is what was read already of what comes at next.
	ahead ahead
	// once: what the log does not go on with ends the pass.
	once bool
	// again: Reached wants to be called without waiting.
	again bool
}

// Read implements [Source]. An error before any event says why there is nothing to
// read: a *[RefusedError], a *connect.Error, or what there is no controller for. It is
// ctx.Err() where a controller was found, and the time was too short to read its log.
func (l *Log) Read(ctx context.Context, span Span, to Listener) error {
	at := l.at // the next reading finds its own way
	at.cluster = span.ClusterID
	defer at.close()
	if err := at.find(ctx); err != nil {
		return err
	}
	r := &logReading{at: &at, reach: l.reach, span: span, to: to, live: math.MaxInt64}
	r.evidence.Source = inspect.SourceMetadataLog
	r.tellWhere()
	if err := r.begin(ctx); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	if span.Follow {
		to.Evidence(r.evidence)
	}
	err := r.run(ctx)
	if to.Progress == nil || ctx.Err() == nil {
		r.replay.Flush()
		if err == nil {
			r.progress()
		}
	}
	r.addGaps()
	r.evidence.Gaps = r.gaps
	to.Evidence(r.evidence)
	return err
}

// Try finds the active controller and asks it for no more than whether these credentials
// may read its log. Errors are those of Read.
func (l *Log) Try(ctx context.Context) error {
	at := l.at
	defer at.close()
	return at.find(ctx)
}

// Await tries again and again, ever less often, until the log can be read. It returns the
// context's error where that ends first.
func (l *Log) Await(ctx context.Context) error {
	for wait := RetryFirst; ; wait = min(2*wait, RetryMost) {
		err := l.Try(ctx)
		if err == nil {
			return nil
		}
		if Lasts(err) {
			wait = RetryLasting
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

func (r *logReading) tellWhere() {
	r.evidence.Where = fmt.Sprintf("controller %d (%s)", r.at.id, r.at.addr)
}

func (r *logReading) restart() {
	if r.replay != nil {
		r.replay.Flush()
		r.addGaps()
	}
	r.replay = NewReplay(inspect.SourceMetadataLog, func(e inspect.IsrEvent) {
		if r.contains(&e) {
			r.to.Event(e)
		}
	})
}

// isBefore reports an offset that the span leaves out.
func (r *logReading) isBefore(at inspect.Offset) bool { return r.span.FromEnd && at < r.live }

func (r *logReading) contains(e *inspect.IsrEvent) bool {
	at := e.Offset.Or(0)
	if after, ok := r.span.After.Get(); ok && at < after.Offset || r.isBefore(at) {
		return false
	}
	return r.span.contains(e.Time)
}

// progress tells how far everything has been told.
func (r *logReading) progress() {
	if r.to.Progress == nil || !r.evidence.To.IsKnown() {
		return
	}
	e := r.evidence
	e.Gaps = r.gaps
	now := r.replay.Gaps()
	e.Gaps.Strays += now.Strays
	e.Gaps.Newer += now.Newer
	if first, ok := r.replay.Waiting(); ok {
		// No epoch begins with such a record: what lies before is of the same.
		e.To, e.Until, e.Epoch = inspect.Known(first.Offset), inspect.Known(first.Time), inspect.Known(first.Epoch)
	}
	r.to.progress(e)
}

func (r *logReading) addGaps() {
	g := r.replay.Gaps()
	r.gaps.Strays += g.Strays
	r.gaps.Newer += g.Newer
}

// run reads on to the end of the span.
func (r *logReading) run(ctx context.Context) error {
	for !r.ended && (r.span.Follow || r.next < r.target) {
		began := time.Now()
		more, err := r.poll(ctx)
		if err == nil && !more && r.span.Follow {
			r.reached(began)
			err = pause(ctx, pollEvery-time.Since(began))
		}
		if err == nil {
			continue
		}
		if err := r.recover(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

// reached tells the listener, where this is the end: a controller that has just become
// the active one does not know the high watermark yet.
func (r *logReading) reached(asked time.Time) {
	r.again = r.to.Reached != nil && (r.hw != r.next || r.to.Reached(Reached{
		Asked: asked, Next: r.next,
		Look: func(at time.Time, keep func(string) bool) *inspect.Snapshot { return r.replay.Look(at, keep) },
	}))
}

// recover finds the active controller again after an error that another one, or the
// same a moment later, may not have.
func (r *logReading) recover(ctx context.Context, err error) error {
	var refused *RefusedError
	var damaged *damagedError
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.As(err, &refused) || errors.As(err, &damaged) {
		return err
	}
	r.to.Note(fmt.Sprintf("%v; looking for the active controller", err), false)
	for {
		if err := pause(ctx, retryEvery); err != nil {
			return err
		}
		found := r.at.find(ctx)
		if found == nil {
			break
		}
		if !r.span.Follow && ctx.Err() == nil {
			return found
		}
	}
	r.tellWhere()
	r.to.Note("went on with "+r.evidence.Where, false)
	return nil
}

// damagedError is about what was read, and will be the same again.
type damagedError struct {
	addr string
	err  error
}

func (e *damagedError) Error() string { return fmt.Sprintf("controller %s: %v", e.addr, e.err) }
func (e *damagedError) Unwrap() error { return e.err }

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errMoved: the log does not go on where it was read to.
var errMoved = errors.New("leadership moved")

// poll reads what there is at next; more is whether there is more right now.
func (r *logReading) poll(ctx context.Context) (more bool, err error) {
	wait := pollWait
	if r.again {
		wait = 0
	}
	got, err := r.fetchNext(ctx, wait)
	switch {
	case err != nil:
		return false, err
	case got.code != 0:
		return false, fmt.Errorf("controller %s: %w", r.at.addr, errMoved)
	case got.snapshot.offset < 0 && !got.diverged:
	case r.once:
		return false, fmt.Errorf("controller %s: offset %d: %w", r.at.addr, r.next, errMoved)
	default:
		return true, r.jump(ctx, got.diverged)
	}
	r.target, r.hw = max(r.target, got.hw), got.hw
	idle := len(got.data) == 0
	for data := got.data; len(data) > 0; {
		b, size, err := cutBatch(data)
		if errors.Is(err, errTorn) {
			break // cut off by the bound of the answer
		}
		if err != nil {
			return false, &damagedError{r.at.addr, err}
		}
		if b.next() > got.hw {
			break
		}
		if err := b.replay(r.replay, r.from); err != nil {
			return false, &damagedError{r.at.addr, err}
		}
		r.next, r.from, r.lastEpoch = b.next(), b.next(), b.PartitionLeaderEpoch
		if !r.isBefore(b.next() - 1) {
			r.evidence.read(&b)
		}
		r.ended = r.span.ended(b.time())
		data = data[size:]
	}
	if idle {
		r.replay.Flush() // without no-op records nothing else ends a run
	}
	r.progress()
	return r.next < got.hw, nil
}

// fetchNext asks for what lies at next, unless it was read already.
func (r *logReading) fetchNext(ctx context.Context, wait time.Duration) (*fetched, error) {
	kept := r.ahead
	r.ahead = ahead{}
	if kept.from == r.next && len(kept.data) > 0 {
		return &fetched{hw: r.target, data: kept.data, snapshot: snapshotID{-1, -1}}, nil
	}
	return r.at.fetch(ctx, fetchQuery{
		offset: r.next, lastEpoch: r.lastEpoch, hw: r.target, wait: wait, maxBytes: fetchBytes,
	})
}

// jump goes on from a snapshot where the log does not hold what comes next any more,
// or has it otherwise.
func (r *logReading) jump(ctx context.Context, diverged bool) error {
	lost := r.next
	r.live = lost
	r.evidence.restart()
	r.span.Since = maxTime(r.span.Since, r.evidence.Until.Or(time.Time{}))
	r.span.After = inspect.Unknown[Place]()
	if err := r.begin(ctx); err != nil {
		return err
	}
	if diverged { // what the log has otherwise than it was read may be anywhere
		r.evidence.restart()
		r.evidence.Anew = true
	}
	r.to.Note(fmt.Sprintf("%s no longer has offset %d: went on from %d; what happened in between is missing", r.evidence.Where, lost, r.next), true)
	return nil
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// load reads a snapshot into the replay. FetchSnapshot answers whatever is wrong with
// −1, for Kafka fails to encode what it means: none is asked for that was not named.
func (r *logReading) load(ctx context.Context, id snapshotID) error {
	var all []byte
	for size := int64(1); int64(len(all)) < size; {
		piece, whole, err := r.at.fetchSnapshot(ctx, id, int64(len(all)))
		if err != nil {
			return err
		}
		if len(piece) == 0 || whole > maxSnapshot {
			return fmt.Errorf("controller %s: snapshot %d-%d: %d bytes at %d of %d", r.at.addr, id.offset, id.epoch, len(piece), len(all), whole)
		}
		all, size = append(all, piece...), whole
	}
	var err error
	if r.loaded, err = loadSnapshot(bytes.NewReader(all), r.replay); err != nil {
		return fmt.Errorf("controller %s: snapshot %d-%d: %w", r.at.addr, id.offset, id.epoch, err)
	}
	return nil
}

// maxSnapshot is more than a million partitions take.
const maxSnapshot = 512 << 20

func (c *controllers) fetchSnapshot(ctx context.Context, id snapshotID, position int64) (piece []byte, size int64, err error) {
	req := kmsg.NewPtrFetchSnapshotRequest()
	req.ReplicaID, req.MaxBytes, req.ClusterID = -1, fetchBytes, c.clusterID()
	p := kmsg.NewFetchSnapshotRequestTopicPartition()
	p.CurrentLeaderEpoch, p.Position = c.epoch, position
	p.SnapshotID.EndOffset, p.SnapshotID.Epoch = int64(id.offset), id.epoch
	t := kmsg.NewFetchSnapshotRequestTopic()
	t.Topic, t.Partitions = metadataTopic, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	resp, err := connect.AskRaw[*kmsg.FetchSnapshotResponse](ctx, c.raw, req)
	switch {
	case err != nil:
		return nil, 0, err
	case resp.ErrorCode == kerr.ClusterAuthorizationFailed.Code:
		return nil, 0, &RefusedError{Address: c.addr, Request: "FetchSnapshot", Missing: clusterAction}
	case resp.ErrorCode != 0:
		return nil, 0, &codeError{c.addr, "FetchSnapshot", resp.ErrorCode}
	case len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1:
		return nil, 0, &codeError{c.addr, "FetchSnapshot", kerr.UnknownTopicOrPartition.Code}
	}
	a := &resp.Topics[0].Partitions[0]
	if a.ErrorCode != 0 {
		return nil, 0, &codeError{c.addr, "FetchSnapshot", a.ErrorCode}
	}
	return a.Bytes, a.Size, nil
}

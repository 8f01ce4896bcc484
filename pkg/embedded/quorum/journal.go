package quorum

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// The disk's lanes, see the package comment.
const (
	laneLog      uint64 = 0
	laneSnapshot uint64 = 1
)

// order is one of this package's orders. done takes in what it has found, in the
// step of its Ran.
type order interface {
	machine.Order
	done(n *Node, now machine.Time, out []machine.Effect) []machine.Effect
}

func (n *Node) run(lane uint64, o order, out []machine.Effect) []machine.Effect {
	n.running++
	return append(out, machine.Run{Lane: lane, Order: o})
}

func (n *Node) ran(now machine.Time, o order, out []machine.Effect) []machine.Effect {
	n.running--
	return o.done(n, now, out)
}

// decided is one batch on its way to the disk.
type decided struct {
	batch
	after metadata.Image
	// timestampMs is that of its records.
	timestampMs int64
}

// write queues a batch of the controller.
func (n *Node) write(now machine.Time, b controller.Batch) error {
	if len(b.Records) == 0 {
		return nil
	}
	return n.writeRecords(now, b, n.c.Image())
}

// writeRecords queues records that lead to an image. They are one batch of the
// log, so that they are there as a whole or not at all.
func (n *Node) writeRecords(now machine.Time, b controller.Batch, after metadata.Image) error {
	// What a batch itself changes of metadata.version holds from the next one on.
	bytes, err := encode(&n.builder, record.Options{BaseOffset: b.Base, LeaderEpoch: n.epoch}, now.Wall, n.decidedImage().MetadataVersion(), b.Records)
	if err != nil {
		return fmt.Errorf("metadata log at offset %d: %w", b.Base, err)
	}
	n.queue(batch{b.Base, b.End(), bytes}, after, now.Wall)
	if n.opts.Observe != nil {
		n.opts.Observe(b, after)
	}
	return nil
}

func (n *Node) queue(b batch, after metadata.Image, timestampMs int64) {
	n.pending = append(n.pending, decided{b, after, timestampMs})
}

// decidedImage is what all that is queued leads to.
func (n *Node) decidedImage() metadata.Image {
	if i := len(n.pending); i > 0 {
		return n.pending[i-1].after
	}
	return n.image
}

// encode makes a batch of records.
func encode(builder *record.Builder, opts record.Options, timestampMs int64, level kraft.MetadataVersion, recs []kraft.Record) ([]byte, error) {
	builder.Reset(opts)
	var value []byte
	for _, rec := range recs {
		var err error
		if value, err = kraft.Append(value[:0], rec, level.RecordVersion(rec)); err != nil {
			return nil, err
		}
		if err := builder.Add(record.Entry{TimestampMs: timestampMs, Value: value}); err != nil {
			return nil, err
		}
	}
	return builder.AppendTo(nil, nil)
}

// appendOrder appends batches and syncs.
type appendOrder struct {
	log      *storage.Log
	segment  int32 // segment.bytes
	batches  []batch
	nowMs    int64
	err      error
	logBytes int64 // then
}

// Run is Order's.
func (o *appendOrder) Run() {
	var all []byte
	largest := int(o.segment)
	for _, b := range o.batches {
		all = append(all, b.bytes...)
		largest = max(largest, len(b.bytes))
	}
	// An operation is one batch whatever it comes to, so its segment has to be as
	// large.
	cfg := logConfig(o.segment)
	cfg.SegmentBytes = int32(largest)
	o.log.Configure(cfg)
	if o.err = o.log.Append(all, o.nowMs); o.err != nil {
		return
	}
	o.err = o.log.Flush(o.log.End(), o.nowMs)
	o.log.SetHW(o.log.End())
	o.logBytes = o.log.SizeBytes()
}

func logConfig(segmentBytes int32) storage.Config {
	cfg := storage.DefaultConfig()
	cfg.SegmentBytes = segmentBytes
	// Only what lies before Start goes, see trim.go.
	cfg.RetentionBytes, cfg.RetentionMs = -1, -1
	return cfg
}

func (n *Node) newAppend(now machine.Time) *appendOrder {
	o := &appendOrder{log: n.log, segment: n.opts.SegmentBytes, nowMs: now.Wall, batches: make([]batch, 0, len(n.pending))}
	for _, d := range n.pending {
		o.batches = append(o.batches, d.batch)
	}
	return o
}

func (n *Node) startAppend(now machine.Time, out []machine.Effect) []machine.Effect {
	if n.appending || len(n.pending) == 0 {
		return out
	}
	n.appending = true
	return n.run(laneLog, n.newAppend(now), out)
}

func (o *appendOrder) done(n *Node, now machine.Time, out []machine.Effect) []machine.Effect {
	n.appending = false
	if o.err != nil {
		return n.stop(o.err, out)
	}
	n.appended(o)
	out = n.release(out)
	return n.serveFetches(now, out)
}

// appended takes in that the first pending batches are durable.
func (n *Node) appended(o *appendOrder) {
	k := len(o.batches)
	last := n.pending[k-1]
	for _, b := range o.batches {
		n.tail.add(b)
		n.sinceBytes += int64(len(b.bytes))
	}
	n.durable, n.image, n.lastMs, n.logBytes = last.end, last.after, last.timestampMs, o.logBytes
	clear(n.pending[:k])
	n.pending = n.pending[k:]
	if len(n.pending) == 0 {
		n.pending = nil
	}
}

// held is a reply that waits for what was decided before it.
type held struct {
	reply machine.Reply
	need  int64 // the offset up to which all must be durable
}

// answer sends a reply when everything decided until now is durable.
func (n *Node) answer(token machine.Token, resp kmsg.Response, out []machine.Effect) []machine.Effect {
	r := machine.Reply{Token: token, Response: resp}
	if n.c.NextOffset() <= n.durable {
		return append(out, r)
	}
	n.held = append(n.held, held{r, n.c.NextOffset()})
	return out
}

// release sends the replies that have waited long enough, in order.
func (n *Node) release(out []machine.Effect) []machine.Effect {
	i := 0
	for ; i < len(n.held) && n.held[i].need <= n.durable; i++ {
		out = append(out, n.held[i].reply)
		n.held[i] = held{}
	}
	n.held = n.held[i:]
	if len(n.held) == 0 {
		n.held = nil
	}
	return out
}

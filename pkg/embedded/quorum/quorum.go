package quorum

import (
	"cmp"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// Options are what a controller node is started with.
type Options struct {
	// Controller are the rules' own settings.
	Controller controller.Options
	// EndPoints are where it listens, as it says of itself; nil: nowhere.
	EndPoints []kraft.Endpoint
	// Features are what a new cluster is finalized at beside metadata.version; nil is
	// the newest level of each that Controller.Features has.
	Features []kraft.FeatureLevel
	// APIs are what ApiVersions tells of; the zero value is all. Brokers are answered in
	// any version that there is.
	APIs wire.APIs
	// FS is the metadata log directory: __cluster_metadata-0 lies in it.
	FS vfs.FS
	// SnapshotBytes and SnapshotMs: metadata.log.max.record.bytes.between.snapshots,
	// metadata.log.max.snapshot.interval.ms; RetainBytes: metadata.max.retention.bytes;
	// SegmentBytes: metadata.log.segment.bytes. 0 is Kafka's default, and less turns
	// off the first three. A batch that is larger than a segment gets one to itself.
	SnapshotBytes, SnapshotMs, RetainBytes int64
	SegmentBytes                           int32
	// Observe, if set, is called with each batch that the controller decided, before
	// it is durable, and with the image that it leads to.
	Observe func(b controller.Batch, after metadata.Image)
}

func (o Options) withDefaults() Options {
	o.SnapshotBytes = cmp.Or(o.SnapshotBytes, 20<<20)
	o.SnapshotMs = cmp.Or(o.SnapshotMs, 3_600_000)
	o.RetainBytes = cmp.Or(o.RetainBytes, 100<<20)
	o.SegmentBytes = cmp.Or(o.SegmentBytes, 1<<30)
	return o
}

// Node is the controller's process: its rules, its log, its requests.
//
// Invariants: the log holds all batches below durable and image is their replay;
// pending holds those from there to the controller's NextOffset, of which the
// append order that runs has the first ones.
type Node struct {
	opts Options
	dir  *storage.Dir
	log  *storage.Log // an order's while it runs
	c    *controller.Controller

	epoch   int32
	epochs  logstate.Epochs
	voters  *record.KRaftVoters // nil: kraft.version 0
	durable int64
	image   metadata.Image
	// lastMs is the timestamp of the last durable batch.
	lastMs int64
	// lossy: the log holds what the image does not keep.
	lossy bool

	pending   []decided
	builder   record.Builder
	appending bool
	held      []held

	tail      tail
	parked    []*fetch
	observers map[int32]*observer

	snapshots    []snapshot // by offset
	snapshotting bool
	trimming     bool
	// sinceBytes is what was appended since the newest snapshot, nextSnapshotMs when
	// another is due for its age, on the clock Mono.
	sinceBytes     int64
	nextSnapshotMs int64
	logStart       int64
	logBytes       int64

	notes   []machine.Note // found by Open, to be told with the first step
	running int            // orders that have not returned
	closing bool           // by Shutdown
	stopped bool
}

var _ machine.Machine = (*Node)(nil)

// Step is Machine's.
func (n *Node) Step(now machine.Time, in machine.Input, out []machine.Effect) []machine.Effect {
	if n.stopped {
		return out
	}
	for _, note := range n.notes {
		out = append(out, note)
	}
	n.notes = nil
	switch in := in.(type) {
	case machine.Request:
		out = n.request(now, in, out)
	case machine.Ran:
		out = n.ran(now, in.Order.(order), out)
	case machine.Tick:
		out = n.tick(now, out)
	case machine.Closed:
		// Nobody waits for these any more.
		out = n.dismiss(func(f *fetch) bool { return f.conn == in.Conn }, out)
	case machine.Response:
		// It asks nobody.
	}
	return n.proceed(now, out)
}

// proceed hands the disk what there is for it.
func (n *Node) proceed(now machine.Time, out []machine.Effect) []machine.Effect {
	if n.stopped {
		return out
	}
	out = n.startAppend(now, out)
	out = n.startSnapshot(now, out)
	out = n.startTrim(now, out)
	return n.startClose(now, out)
}

// tick does what time asks for.
func (n *Node) tick(now machine.Time, out []machine.Effect) []machine.Effect {
	for !n.closing && n.c.NextDeadline() <= now.Mono {
		if err := n.write(now, n.c.Tick(now.Mono)); err != nil {
			return n.stop(err, out)
		}
	}
	return n.expireFetches(now, out)
}

// NextDeadline is Machine's.
func (n *Node) NextDeadline() int64 {
	if n.stopped || n.closing {
		return machine.Never
	}
	next := n.c.NextDeadline()
	for _, f := range n.parked {
		next = min(next, f.deadlineMs)
	}
	if n.snapshotDue() {
		next = min(next, n.nextSnapshotMs)
	}
	return next
}

// stop gives up: the next start finds out what the disk holds.
func (n *Node) stop(err error, out []machine.Effect) []machine.Effect {
	n.stopped = true
	return append(out, machine.Stop{Err: err})
}

// Ready reports that it takes requests: a sole voter leads as soon as it is there.
func (n *Node) Ready() bool { return true }

// Image is what was decided and is durable.
func (n *Node) Image() metadata.Image { return n.image }

// DurableOffset is the offset behind the last durable record.
func (n *Node) DurableOffset() int64 { return n.durable }

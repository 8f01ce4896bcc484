package quorum

import (
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Options are what a controller node is started with.
type Options struct {
	// Controller are the rules' own settings.
	Controller controller.Options
	// FS is the metadata log directory: __cluster_metadata-0 lies in it.
	FS vfs.FS
	// SnapshotBytes and SnapshotMs: metadata.log.max.record.bytes.between.snapshots,
	// metadata.log.max.snapshot.interval.ms; RetainBytes: metadata.max.retention.bytes;
	// SegmentBytes: metadata.log.segment.bytes. 0 is Kafka's default.
	SnapshotBytes, SnapshotMs, RetainBytes int64
	SegmentBytes                           int32
	// Observe, if set, is called with each batch that the controller decided, before
	// it is durable, and with the image that it leads to.
	Observe func(b controller.Batch, after metadata.Image)
}

// Node is the controller's process: its rules, its log, its requests.
type Node struct{}

var _ machine.Machine = (*Node)(nil)

// Open opens the metadata log directory, or formats an empty one, replays it and
// becomes the leader of a new epoch.
func Open(opts Options, now machine.Time) (*Node, error) { panic("TODO") }

// Step is Machine's.
func (n *Node) Step(now machine.Time, in machine.Input, out []machine.Effect) []machine.Effect { panic("TODO") }

// NextDeadline is Machine's.
func (n *Node) NextDeadline() int64 { panic("TODO") }

// Shutdown closes the log; Stop{nil} comes out.
func (n *Node) Shutdown(now machine.Time, out []machine.Effect) []machine.Effect { panic("TODO") }

// Abandon is the end of a process that was killed: files are closed, nothing is
// written.
func (n *Node) Abandon() { panic("TODO") }

// Image is what was decided and is durable.
func (n *Node) Image() metadata.Image { panic("TODO") }

// DurableOffset is the offset behind the last durable record.
func (n *Node) DurableOffset() int64 { panic("TODO") }

package node

import (
	"math/rand/v2"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Options are what a broker is started with.
type Options struct {
	ID        int32
	ClusterID string
	Rack      string // broker.rack; "" for none
	// EndPoints are what it registers, the first one being what other brokers and
	// clients get told.
	EndPoints []kraft.Endpoint
	// FS is the log directory.
	FS vfs.FS
	// Rand draws incarnation ids and the like. It is the node's alone.
	Rand *rand.Rand
	// Static are configs of the broker's file by their Kafka names. What is not
	// there has Kafka's default; an unknown name is an error of Open.
	Static map[string]string
	// Observe, if set, is called after each step of a replica, before its effects
	// are carried out. It must not call into the node.
	Observe func(p Partition, in replica.Input, out []replica.Effect)
}

// Partition names a partition for good: a topic that is made anew has another ID.
type Partition struct {
	Topic string
	ID    kraft.UUID
	Index int32
}

// Node is one broker.
type Node struct{}

var _ machine.Machine = (*Node)(nil)

// Open opens the log directory, recovers its logs and returns a broker that is
// about to register.
func Open(opts Options, now machine.Time) (*Node, error) { panic("TODO") }

// Step is Machine's.
func (n *Node) Step(now machine.Time, in machine.Input, out []machine.Effect) []machine.Effect { panic("TODO") }

// NextDeadline is Machine's.
func (n *Node) NextDeadline() int64 { panic("TODO") }

// Shutdown asks for a controlled shutdown (KIP-841); when it is done, the
// directory is closed with the mark of a clean stop and Stop{nil} comes out.
func (n *Node) Shutdown(now machine.Time, out []machine.Effect) []machine.Effect { panic("TODO") }

// Abandon is the end of a process that was killed: files are closed, nothing is
// written.
func (n *Node) Abandon() { panic("TODO") }

// Image is the metadata that the node has applied, MetadataOffset the offset
// behind it in the controller's log.
func (n *Node) Image() metadata.Image { panic("TODO") }

// MetadataOffset is the offset behind the last applied record.
func (n *Node) MetadataOffset() int64 { panic("TODO") }

// BrokerEpoch is that of the present registration, -1 before it.
func (n *Node) BrokerEpoch() int64 { panic("TODO") }

// Replica returns a partition's replica and its log, nil if this broker has none:
// for tests and metrics, to be read only.
func (n *Node) Replica(topic string, index int32) (*replica.Replica, *storage.Log) { panic("TODO") }

package controller

import (
	"math/rand/v2"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// Options are a controller's own settings. Start from [DefaultOptions].
type Options struct {
	NodeID    int32  // node.id: whose broker-level configs count for elections
	ClusterID string // what a broker must name when it registers
	// Rand draws topic ids and where placement begins. It is the controller's alone.
	Rand *rand.Rand

	SessionTimeoutMs  int64 // broker.session.timeout.ms
	NumPartitions     int32 // num.partitions, for topics that do not say
	ReplicationFactor int16 // default.replication.factor, likewise
	// LeaderImbalanceCheckMs is leader.imbalance.check.interval.seconds in ms; 0 is
	// auto.leader.rebalance.enable=false.
	LeaderImbalanceCheckMs int64
	UncleanElectionCheckMs int64 // unclean.leader.election.interval.ms; 0: never
	MaxIdleMs              int64 // metadata.max.idle.interval.ms; 0: no NoOp records
	// BrokersDown: none of the brokers that the image has is running, for the whole cluster
	// is being started. A new life of one need not wait until its old session is over.
	// Kafka cannot know that.
	BrokersDown bool
	// Static are configs from the node's file, by their broker-level names, such as
	// min.insync.replicas. Dynamic ones come before them.
	Static map[string]string
	// Features are what this node supports, metadata.version among them. Add those
	// that the engine obeys elsewhere, such as group.version.
	Features []kraft.FeatureRange
}

// metadata.version of Kafka 4.4, and the first that has ELRs (4.0-IV1).
const (
	metadataVersion44    = 33
	metadataVersion40IV1 = 23
)

// The features that the controller itself looks at.
const (
	featureMetadataVersion = "metadata.version"
	featureELR             = "eligible.leader.replicas.version"
)

// DefaultOptions are Kafka's defaults.
func DefaultOptions(nodeID int32, clusterID string, rnd *rand.Rand) Options {
	return Options{
		NodeID: nodeID, ClusterID: clusterID, Rand: rnd,
		SessionTimeoutMs:       9_000,
		NumPartitions:          1,
		ReplicationFactor:      1,
		LeaderImbalanceCheckMs: 300_000,
		UncleanElectionCheckMs: 300_000,
		MaxIdleMs:              500,
		Features: []kraft.FeatureRange{
			{Name: featureMetadataVersion, MinSupportedVersion: metadataVersion40IV1, MaxSupportedVersion: metadataVersion44},
			{Name: featureELR, MinSupportedVersion: 0, MaxSupportedVersion: 1},
		},
	}
}

// Controller decides. Everything that must survive it is in its image; beside it
// there is only what Kafka forgets with its controller too: when brokers were
// last heard of, and when the next round of each periodic task is due.
//
// Invariants: the image is the replay of all batches; next is the offset behind
// them.
type Controller struct {
	opts     Options
	image    metadata.Image
	next     int64
	sessions map[int32]*session // one for each registered broker
	due      deadlines
}

// New starts a controller on the image that its log replays to, with nextOffset
// the log's end. If the log ends within a metadata transaction
// (metadata.Replay.InTransaction), append an AbortTransaction before. Brokers that
// are not fenced get a whole session from now on (Kafka's
// ClusterControlManager.activate).
func New(opts Options, image metadata.Image, nextOffset, nowMs int64) *Controller {
	c := &Controller{opts: opts, image: image, next: nextOffset, sessions: map[int32]*session{}}
	for id, b := range image.Brokers() {
		s := newSession(nextOffset - 1)
		s.down = opts.BrokersDown
		if !b.Fenced {
			s.heard(nowMs)
		}
		c.sessions[id] = s
	}
	c.due.start(opts, nowMs)
	return c
}

// Bootstrap returns what the log of a new cluster begins with: in one metadata
// transaction metadata.version, which is that of Kafka 4.4, and the features given,
// such as eligible.leader.replicas.version 1. That one also needs a cluster-wide
// min.insync.replicas, which then can be changed but not removed: static's, the
// configs of the node's file, else Kafka's default (Kafka's
// ActivationRecordsGenerator.recordsForEmptyLog).
func Bootstrap(static map[string]string, features ...kraft.FeatureLevel) []kraft.Record {
	name := "Bootstrap records"
	all := []kraft.Record{
		&kraft.BeginTransaction{Name: &name},
		&kraft.FeatureLevel{Name: featureMetadataVersion, FeatureLevel: metadataVersion44},
	}
	elr := false
	for _, f := range features {
		all = append(all, &f)
		elr = elr || f.Name == featureELR && f.FeatureLevel >= 1
	}
	if elr {
		value, ok := static[minISRKey]
		if !ok {
			value = defaultOf(minISRKey)
		}
		all = append(all, &kraft.Config{ResourceType: kraft.ResourceBroker, Name: minISRKey, Value: &value})
	}
	return append(all, &kraft.EndTransaction{})
}

// Image is what was decided until now, durable or not.
func (c *Controller) Image() metadata.Image { return c.image }

// NextOffset is where the next batch will begin: the end of the log once
// everything returned is in it.
func (c *Controller) NextOffset() int64 { return c.next }

// Batch is one operation's records, to be appended atomically. Most have none.
type Batch struct {
	Base    int64 // the offset of the first record
	Records []kraft.Record
}

// End is the offset behind the batch.
func (b Batch) End() int64 { return b.Base + int64(len(b.Records)) }

// Request is one of this package's requests. Reply is what it is answered with.
type Request[Reply any] interface {
	// decide writes records and answers. What it has written holds even if it
	// answers an error: a request that is refused must write nothing.
	decide(op *operation) Reply
}

// Handle decides about one request. See the package's contract for what to do
// with the batch before the reply is sent.
func Handle[Reply any](c *Controller, nowMs int64, req Request[Reply]) (Reply, Batch) {
	op := c.begin(nowMs)
	reply := req.decide(op)
	return reply, op.commit()
}

package node

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// Options are what a broker is started with.
type Options struct {
	ID        int32
	ClusterID string
	Rack      string // broker.rack; "" for none
	// EndPoints are what it registers, the first one being what other brokers and
	// clients get told.
	EndPoints []kraft.Endpoint
	// FS is the log directory, LogDir what clients are told that it is called; "" is a
	// name made up from the id.
	FS     vfs.FS
	LogDir string
	// Rand draws incarnation ids and the like. It is the node's alone.
	Rand *rand.Rand
	// Static are configs of the broker's file by their Kafka names. What is not
	// there has Kafka's default; an unknown name is an error of Open.
	Static map[string]string
	// EarlyIDs has it ask for its first producer ids when it starts to run. Kafka's broker
	// asks when somebody wants one, and sends that client away until it has some.
	EarlyIDs bool
	// Buffers, if set, are where it reads records for who fetches them, and where it
	// gives back the frames of what it was sent.
	Buffers machine.Buffers
	// APIs are what clients may ask; the zero value is all. Other brokers are answered
	// in any version.
	APIs wire.APIs
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
type Node struct {
	opts Options
	cfg  brokerConfig
	dir  *storage.Dir
	self replica.BrokerID

	life    life
	follow  follow
	brokers brokers // of the image, for replicas
	shared  replica.Config

	// hosted are the partitions of this broker, by name and by id; parts has them
	// in order of their names.
	hosted map[storage.TopicPartition]*partition
	byID   map[partitionID]*partition
	parts  []*partition
	// lanes are the disk's, one for each name that a log ever had: what comes
	// after a deletion waits for it.
	lanes map[storage.TopicPartition]uint64

	fetchers []*fetcher // by leader
	alter    alterer
	assign   assigner
	ids      producerIDs
	groups   groups
	upkeep   upkeep
	parked   []*fetchRequest // fetches to look at again when the step ends
	sessions sessions
	quotas   quotas
	asked    questions // what replicas will settle
	creating []string  // topics that the controller was asked to make

	alarms alarms
	sends  map[machine.Token]ender
	token  machine.Token
	// tokens names the answers of leaders for replicas.
	tokens replica.Token
	// running is how many orders the disk has, opening how many of them open logs.
	running, opening int

	validator *record.Validator

	// During a step only.
	now machine.Time
	out []machine.Effect
	// came is the frame of the Response that is taken in.
	came []byte
	// effects is a stack: what a replica orders while the orders of another are
	// carried out lies on top.
	effects []replica.Effect

	stopped bool
}

var _ machine.Machine = (*Node)(nil)

// ender is what a Send's end concerns. body is nil where the connection was lost.
type ender interface {
	ended(n *Node, body kmsg.Response)
}

// Open opens the log directory, recovers its logs and returns a broker that is
// about to register.
func Open(opts Options, now machine.Time) (*Node, error) {
	cfg, err := newBrokerConfig(opts.Static)
	if err != nil {
		return nil, err
	}
	n := &Node{
		opts: opts, cfg: cfg, self: replica.BrokerID(opts.ID), now: now,
		hosted: map[storage.TopicPartition]*partition{}, byID: map[partitionID]*partition{},
		lanes: map[storage.TopicPartition]uint64{}, sends: map[machine.Token]ender{},
		sessions:  sessions{byID: map[int32]*session{}},
		quotas:    newQuotas(cfg.quotaWindows, cfg.quotaWindowMs),
		validator: record.NewValidator(record.DefaultInflateLimit),
	}
	n.dir, err = storage.Open(opts.FS, storage.Options{
		Identity: storage.Identity{ClusterID: opts.ClusterID, NodeID: opts.ID, DirectoryID: kraft.DrawUUID(n.opts.Rand).String()},
		Config:   func(string) storage.Config { return n.topicConfig(metadata.Empty(), "").log },
	}, now.Wall)
	if err != nil {
		return nil, err
	}
	if err := n.begin(); err != nil {
		n.Abandon()
		return nil, err
	}
	return n, nil
}

// begin sets what the first Tick does.
func (n *Node) begin() error {
	directory, err := kraft.ParseUUID(n.dir.Identity().DirectoryID)
	if err != nil {
		return fmt.Errorf("meta.properties: directory.id: %w", err)
	}
	n.shared = replica.Config{
		Self: n.self, LagTimeMaxMs: n.cfg.lagTimeMaxMs, FetchBackoffMs: n.cfg.fetchBackoffMs, Brokers: &n.brokers,
	}
	n.life.begin(n, directory)
	n.follow.begin(n)
	n.alter.begin()
	n.assign.begin()
	n.groups.begin(n)
	n.upkeep.begin(n)
	return nil
}

// Step is Machine's.
func (n *Node) Step(now machine.Time, in machine.Input, out []machine.Effect) []machine.Effect {
	if n.stopped {
		panic("node: stepped after it has stopped")
	}
	n.now, n.out = now, out
	switch in := in.(type) {
	case machine.Request:
		n.request(in)
	case machine.Response:
		if e, ok := n.sends[in.Token]; ok {
			delete(n.sends, in.Token)
			n.came = in.Frame
			e.ended(n, in.Body)
			n.came = nil
		}
	case machine.Ran:
		n.running--
		n.ran(in.Order)
	case machine.Tick:
		n.alarms.Ring(now.Mono)
	case machine.Closed:
		// Nothing is remembered of a connection.
	}
	return n.finish()
}

// finish does what is done once in a step, whatever led to it.
func (n *Node) finish() []machine.Effect {
	n.coordinate()
	if !n.stopped {
		n.reread()
		n.fetch()
		n.alter.send(n)
		n.assign.send(n)
		n.maybeClose()
	}
	out := n.out
	n.out = nil
	return out
}

// NextDeadline is Machine's.
func (n *Node) NextDeadline() int64 { return n.alarms.NextMs() }

// Shutdown asks for a controlled shutdown (KIP-841); when it is done, the
// directory is closed with the mark of a clean stop and Stop{nil} comes out.
func (n *Node) Shutdown(now machine.Time, out []machine.Effect) []machine.Effect {
	n.now, n.out = now, out
	n.life.shutDown(n)
	return n.finish()
}

// Abandon is the end of a process that was killed, and of one that has stopped
// with an error: files are closed, nothing is written. No order may be running.
func (n *Node) Abandon() {
	n.stopped = true
	// What it could tell nobody needs: the process is dead.
	_ = n.dir.Abandon()
}

// Running reports whether the broker has registered and caught up: from then on it
// asks to be unfenced.
func (n *Node) Running() bool { return n.life.state == running }

// Ready reports whether it takes requests yet: those of a broker come once it runs, in
// any of its states after that.
func (n *Node) Ready() bool { return n.life.ran }

// Image is the metadata that the node has applied, MetadataOffset the offset
// behind it in the controller's log.
func (n *Node) Image() metadata.Image { return n.follow.image }

// MetadataOffset is the offset behind the last applied record.
func (n *Node) MetadataOffset() int64 { return n.follow.applied }

// BrokerEpoch is that of the present registration, -1 before it.
func (n *Node) BrokerEpoch() int64 { return n.life.epoch }

func (n *Node) logDir() string {
	return cmp.Or(n.opts.LogDir, fmt.Sprintf("/memory/broker-%d", n.opts.ID))
}

// Replica returns a partition's replica and its log, nil if this broker has none:
// for tests and metrics, to be read only.
func (n *Node) Replica(topic string, index int32) (*replica.Replica, *storage.Log) {
	p := n.hosted[storage.TopicPartition{Topic: topic, Partition: index}]
	if !p.live() {
		return nil, nil
	}
	return p.replica, p.log
}

// send sends a request whose end is e's.
func (n *Node) send(to machine.Peer, req kmsg.Request, e ender) {
	n.token++
	n.sends[n.token] = e
	n.out = append(n.out, machine.Send{Token: n.token, To: to, Request: req})
}

func (n *Node) reply(token machine.Token, resp kmsg.Response) {
	n.out = append(n.out, machine.Reply{Token: token, Response: resp})
}

// hangUp ends the connection: what Kafka does where it has no answer.
func (n *Node) hangUp(token machine.Token) {
	n.out = append(n.out, machine.Reply{Token: token, Close: true})
}

func (n *Node) notef(format string, args ...any) {
	n.out = append(n.out, machine.Note{Text: fmt.Sprintf(format, args...)})
}

// warnf is notef for what is damaged or lost.
func (n *Node) warnf(format string, args ...any) {
	n.out = append(n.out, machine.Note{Text: fmt.Sprintf(format, args...), Warn: true})
}

// stop is the end. err is nil where it was asked for; else files stay open until
// Abandon, for the disk may have orders.
func (n *Node) stop(err error) {
	if n.stopped {
		return
	}
	n.stopped = true
	n.out = append(n.out, machine.Stop{Err: err})
}

package inspect

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// BrokerID is a node.id of a broker.
type BrokerID int32

// NoBroker stands where Kafka's protocol has −1: a partition without a leader.
const NoBroker BrokerID = -1

// Offset is a position in one partition's log.
type Offset int64

// Epoch is a leader epoch: it rises by one whenever the controller sets a
// partition's leader.
type Epoch int32

// Parts names what a Snapshot was asked to hold beyond brokers, topics,
// partitions, reassignments and min.insync.replicas. A part that was not asked
// for is unknown in the Snapshot and no failure.
type Parts uint32

// The parts, each with the requests that it costs.
const (
	// PartELR asks DescribeTopicPartitions for eligible leader replicas.
	PartELR Parts = 1 << iota
	// PartReachable opens a connection to every broker and asks ApiVersions.
	PartReachable
	// PartOffsets reads LEO, HW, LSO and log start by ListOffsets.
	PartOffsets
	// PartFenced asks DescribeCluster for brokers that are registered but fenced.
	PartFenced
	// PartLogDirs asks every broker DescribeLogDirs.
	PartLogDirs
	// PartGroups asks every broker for the groups that it coordinates, by
	// ListGroups, DescribeGroups, ConsumerGroupDescribe and OffsetFetch.
	PartGroups
	// PartFencedReachable opens a connection to every broker that is fenced, and asks
	// ApiVersions. One that does not answer is no failure. It needs [PartFenced].
	PartFencedReachable Parts = 1 << 14
)

// Has reports whether all parts of q are in p.
func (p Parts) Has(q Parts) bool { return p&q == q }

// Snapshot is what one pass over a cluster observed. Brokers are sorted by id,
// topics by name, partitions by index, so that equal states give equal
// Snapshots.
type Snapshot struct {
	// ClusterID is unknown only where nothing answered.
	ClusterID Opt[string]
	// Controller is the active controller by DescribeQuorum's answer; unknown
	// where that was not asked (what brokers report is a random live broker).
	Controller Opt[BrokerID]
	// Quorum is known with [PartQuorum], unless it was refused or the cluster has
	// none that can be asked (ZooKeeper).
	Quorum Opt[Quorum]
	// Transactions is known with [PartTransactions].
	Transactions Opt[Transactions]
	// KeepsELR is whether the controller keeps eligible leader replicas (KIP-966);
	// known where Metadata was asked.
	KeepsELR Opt[bool]
	// TakenAt is when the pass began.
	TakenAt time.Time
	// ToldBy is the address that told brokers, topics and partitions. Two may tell
	// of different moments, so that what one tells after another may be older.
	ToldBy string
	// Asked says which parts were asked for.
	Asked   Parts
	Brokers []Broker
	Topics  []Topic
	// Groups is sorted by name; known with [PartGroups].
	Groups []Group
	// Access is known with [PartAccess].
	Access Opt[Access]
	// UnkeptTopics and UnkeptGroups are how many more were told of, and dropped by who
	// asked.
	UnkeptTopics, UnkeptGroups int
	// Gone are brokers that replicas are assigned to and that are not among Brokers,
	// by all topics that were told of; sorted.
	Gone []BrokerID
	// Failures are what was refused or not answered, in the order of broker,
	// address, request. Notices among them (see [Failure]) cost no data.
	Failures []Failure
}

// Complete reports whether everything that was asked was answered.
func (s *Snapshot) Complete() bool {
	for i := range s.Failures {
		if !s.Failures[i].Notice {
			return false
		}
	}
	return true
}

// Broker returns the broker with this id, or nil.
func (s *Snapshot) Broker(id BrokerID) *Broker {
	for i := range s.Brokers {
		if s.Brokers[i].ID == id {
			return &s.Brokers[i]
		}
	}
	return nil
}

// Partitions calls yield for every partition, sorted by topic and index. It is
// an iterator: for p := range s.Partitions.
func (s *Snapshot) Partitions(yield func(*Partition) bool) {
	for t := range s.Topics {
		for p := range s.Topics[t].Partitions {
			if !yield(&s.Topics[t].Partitions[p]) {
				return
			}
		}
	}
}

// Broker is one registered broker. Brokers that only appear in replica lists
// (stopped and fenced ones, when [PartFenced] was not asked) are not in it.
type Broker struct {
	ID   BrokerID
	Host string
	Port int32
	// Rack is unknown where the broker has no broker.rack.
	Rack Opt[string]
	// Fenced is known with [PartFenced], on Kafka 4.0 and newer.
	Fenced Opt[bool]
	// Reachable is known with [PartReachable] and where an offset, log directory or
	// group was asked: whether the broker answered ApiVersions. Of one that is fenced it
	// is known with [PartFencedReachable] and where it did.
	Reachable Opt[bool]
	// RoundTrip is how long the shortest of its answers took in this pass; unknown where
	// none came.
	RoundTrip Opt[time.Duration]
	// LeaderLEOsAt is when it told the log end offsets of what it leads, FollowerLEOsAt
	// those of what it follows; known with [PartOffsets] where it told them. One that
	// stood still for a while tells late, and holds up who is asked after it: neither is
	// the time at which the pass began.
	LeaderLEOsAt, FollowerLEOsAt Opt[time.Time]
	// VersionRange is inferred from the APIs the broker offers, such as "4.4" or
	// "4.0 to 4.1"; known with [PartLogDirs].
	VersionRange Opt[string]
	// LogDirs is known with [PartLogDirs] where the broker answered.
	LogDirs Opt[[]LogDir]
	// Features is known with [PartFeatures], from Kafka 2.7 on.
	Features Opt[BrokerFeatures]
	// Configs is known with [PartConfigs] where the broker answered.
	Configs Opt[[]Config]
	// Load is known where who looks asked an agent in the broker's process, see package
	// jmx: no part stands for it.
	Load Opt[Load] `json:",omitzero"`
}

// Address is the broker's address as it is dialed and written: host:port, IPv6
// in brackets.
func (b *Broker) Address() string { return b.BracketedHost() + ":" + strconv.Itoa(int(b.Port)) }

// Config is a setting of the broker; false where it was not told.
func (b *Broker) Config(name string) (value string, ok bool) {
	for _, config := range b.Configs.Or(nil) {
		if config.Name == name {
			return config.Value.Get()
		}
	}
	return "", false
}

// BracketedHost is the host as it stands before a port, or in a URL: IPv6 in brackets.
func (b *Broker) BracketedHost() string {
	if strings.Contains(b.Host, ":") {
		return "[" + b.Host + "]"
	}
	return b.Host
}

// LogDir is one entry of log.dirs on a broker (DescribeLogDirs v1 to v5).
type LogDir struct {
	Path string
	// Error is Kafka's error name where the directory is offline, else empty.
	Error string
	// TotalBytes and UsableBytes are of the volume; known from Kafka 3.3 on.
	TotalBytes, UsableBytes Opt[int64]
	// ReplicasBytes is the sum of the sizes of the replicas in it.
	ReplicasBytes Opt[int64]
	// Cordoned directories get no new replicas; known where the broker tells
	// (DescribeLogDirs v5, KIP-1066), with
	// [PartReplicaLogs].
	Cordoned Opt[bool]
	// Replicas are the logs in it, with [PartReplicaLogs].
	Replicas []ReplicaLog
}

// Topic is one topic with its partitions.
type Topic struct {
	Name string
	// ID is the topic id in Kafka's unpadded URL-safe base64, unknown before
	// Kafka 2.8.
	ID       Opt[string]
	Internal bool
	// Error is Kafka's error name where the topic could not be described; then
	// there are no partitions.
	Error string
	// MinInsyncReplicas is min.insync.replicas in force for the topic; unknown
	// where DescribeConfigs was refused or not answered.
	MinInsyncReplicas Opt[int32]
	// UncleanElection is unclean.leader.election.enable in force for the topic; it
	// comes and stays away with MinInsyncReplicas.
	UncleanElection Opt[bool]
	// Configs is known with [PartConfigs].
	Configs Opt[[]Config]
	// Operations are those that the credentials may use the topic with (KIP-430),
	// those that others imply included; known with [PartAccess], from Kafka 2.3 on.
	Operations Opt[map[Operation]bool]
	Partitions []Partition
}

// Partition is one partition with its replicas as the controller has them.
type Partition struct {
	Topic    string
	TopicID  Opt[string]
	Index    int32
	Internal bool
	// Leader is [NoBroker] where the partition has none.
	Leader      BrokerID
	LeaderEpoch Opt[Epoch]
	// Replicas is in assignment order: the first one is the preferred leader.
	Replicas []BrokerID
	// ISR may be empty on Kafka 4, where a leaderless partition's last in-sync
	// replicas are in ELR (KIP-966).
	ISR []BrokerID
	// ELR and LastKnownELR are unknown where not asked ([PartELR]) or where the
	// cluster keeps none (before Kafka 4.0, or eligible.leader.replicas.version 0).
	ELR, LastKnownELR Opt[[]BrokerID]
	// Offline are replicas whose broker is unregistered or fenced, or whose log
	// directory is offline.
	Offline []BrokerID
	// Adding and Removing are of a reassignment under way; unknown where
	// ListPartitionReassignments was refused or not answered.
	Adding, Removing Opt[[]BrokerID]
	// MinInsyncReplicas is the topic's.
	MinInsyncReplicas Opt[int32]
	// Offsets is nil where [PartOffsets] was not asked.
	Offsets *Offsets
	// Onset is nil where it is not known, or nothing is wrong.
	Onset *Onset
}

// Onset is since when a partition has been without a leader or without one of its
// replicas, by the metadata log: whichever came first, so that what is worst about it
// may be younger.
type Onset struct {
	// Since is when that came about, by the active controller's clock, and Cause why.
	Since Opt[time.Time]
	Cause Opt[IsrCause]
	// Before is known where Since is not: at that time it was so already.
	Before Opt[time.Time]
}

// Offsets is what ListOffsets answered for one partition in three rounds, in
// this order in time: LEOBefore at the leader; each follower's LEO, and at the
// leader HW, LSO and LogStart; LEOAfter at the leader. A value that was not
// answered, or that came too late for its place in that order, is unknown.
type Offsets struct {
	LEOBefore, LEOAfter Opt[Offset]
	HW, LSO, LogStart   Opt[Offset]
	// Followers are all replicas but the leader, in assignment order.
	Followers []FollowerOffset
	// Error says why the leader's offsets are unknown, else empty.
	Error string
}

// FollowerOffset is the LEO that a replica other than the leader told of itself.
type FollowerOffset struct {
	Broker BrokerID
	LEO    Opt[Offset]
	// Refused: the broker answered, but this service tells no replica's own LEO
	// (it does not honour replica id −2).
	Refused bool
	// Late: LEO was read after the leader's second reading, so it bounds the lag
	// from below only.
	Late bool
	// Error says why LEO is unknown, else empty.
	Error string
}

// Phase is how far a request got before it failed.
type Phase string

// The phases in the order in which a connection goes through them.
const (
	PhaseDial    Phase = "dial"
	PhaseTLS     Phase = "TLS"
	PhaseSASL    Phase = "SASL"
	PhaseRequest Phase = "request"
)

// Failure is one thing that was asked and not answered. Its fields are those of
// the "errors" in kafkaops' JSON.
type Failure struct {
	// Broker is unknown for a bootstrap address and for the cluster as a whole.
	Broker  Opt[BrokerID]
	Address string
	// Topic is set where only this topic is concerned.
	Topic string
	// Request is Kafka's name of the API.
	Request string
	Phase   Phase
	// Error is the cause in a few words.
	Error string
	// Lost says what is unknown because of it, such as "its 204 replicas are
	// shown as unknown"; Hint what to try or which ACL is missing. Both may be empty.
	Lost, Hint string
	// Missing is the ACL without which this was refused; none where it was not.
	Missing ACL
	// TimedOut: there was no reply in time, rather than a refusal or an error.
	TimedOut bool
	// Notice marks what is worth a line but cost no data, such as a bootstrap
	// address that did not answer while another one did.
	Notice bool
}

// Compare orders failures by broker (those without one first), address, request
// and topic; one request that is sent for two purposes fails twice, so by what is
// lost as well. Answers that come in another order must not show.
func (f Failure) Compare(other Failure) int {
	return cmp.Or(
		cmp.Compare(f.Broker.Or(NoBroker), other.Broker.Or(NoBroker)),
		cmp.Compare(f.Address, other.Address),
		cmp.Compare(f.Request, other.Request),
		cmp.Compare(f.Topic, other.Topic),
		cmp.Compare(f.Error, other.Error),
		cmp.Compare(f.Lost, other.Lost),
	)
}

package inspect

import (
	"slices"
	"unicode/utf16"
)

// GroupType is which protocol a group speaks, in Kafka's words.
type GroupType string

// The types of groups.
const (
	// GroupClassic: members rebalance among themselves (JoinGroup, SyncGroup), or
	// there are none and something commits offsets in the group's name.
	GroupClassic GroupType = "classic"
	// GroupConsumer: the coordinator assigns (KIP-848).
	GroupConsumer GroupType = "consumer"
	// GroupShare and GroupStreams (KIP-932, KIP-1071) are known by their state
	// only.
	GroupShare   GroupType = "share"
	GroupStreams GroupType = "streams"
)

// StateOnly reports whether members and commits of such groups are not asked.
func (t GroupType) StateOnly() bool { return t == GroupShare || t == GroupStreams }

// ProtocolConsumer is the protocol type of groups of consumers. Others, such as
// Connect's workers, use groups for something else than reading topics.
const ProtocolConsumer = "consumer"

// Group is one group as its coordinator told of it.
type Group struct {
	Name string
	// Type is unknown where a broker before Kafka 3.8, whose list has no types,
	// did not describe the group.
	Type Opt[GroupType]
	// Protocol is what the members have in common: [ProtocolConsumer], "connect";
	// empty where nobody ever joined and offsets were only committed.
	Protocol string
	// State is Kafka's word: Stable, Empty, PreparingRebalance, Reconciling, Dead …
	State Opt[string]
	// Coordinator is the broker that lists the group.
	Coordinator BrokerID
	// AlsoListedBy are other brokers that list it, as for a moment while it moves,
	// or for longer where a coordinator has missed that.
	AlsoListedBy []BrokerID
	// Members is sorted by id.
	Members Opt[[]Member]
	// Commits is sorted by topic and partition. They were read before the
	// Snapshot's offsets, so that a group cannot be ahead of a log that only grew.
	Commits Opt[[]Commit]
	// Error says why Members or Commits are unknown though they were asked, else
	// empty.
	Error string
}

// Member is one member of a group.
type Member struct {
	ID string
	// InstanceID is group.instance.id, empty for a dynamic member.
	InstanceID string
	ClientID   string
	// Host is as the coordinator saw the member, in Kafka's form: /10.0.0.7.
	Host string
	// Assigned is sorted by topic and partition. It is empty while the group
	// rebalances.
	Assigned []TopicPartition
}

// Commit is what a group has committed for one partition: it will read Offset
// next.
type Commit struct {
	TopicPartition
	// Offset is unknown where there is no commit, or an Error.
	Offset Opt[Offset]
	// UnreadSinceMs is the timestamp of the first record that is there and not yet
	// read, in milliseconds since 1970, found by asking the log for times to within
	// a twentieth of its age. Unknown where that was not asked or there is none.
	UnreadSinceMs Opt[int64]
	// Error is Kafka's error name where the commit could not be told, else empty.
	Error string
}

// Group returns the group of this name, or nil.
func (s *Snapshot) Group(name string) *Group {
	for i := range s.Groups {
		if s.Groups[i].Name == name {
			return &s.Groups[i]
		}
	}
	return nil
}

// OffsetsPartition is the partition of __consumer_offsets, of so many, that holds
// the group: Java's String.hashCode without its sign (Utils.abs), modulo their
// number. −1 where there are none.
func OffsetsPartition(group string, partitions int) int32 {
	if partitions <= 0 {
		return -1
	}
	var h int32
	for _, unit := range utf16.Encode([]rune(group)) {
		h = 31*h + int32(unit)
	}
	return (h & 0x7fffffff) % int32(partitions)
}

// Partition returns the topic's partition of this index, or nil.
func (t *Topic) Partition(index int32) *Partition {
	if n := int(index); n >= 0 && n < len(t.Partitions) && t.Partitions[n].Index == index {
		return &t.Partitions[n] // the usual case: all from 0 on are there
	}
	i := slices.IndexFunc(t.Partitions, func(p Partition) bool { return p.Index == index })
	if i < 0 {
		return nil
	}
	return &t.Partitions[i]
}

package fakekafka

import (
	"hash/fnv"
	"slices"
)

// NoLeader is the leader of a partition that has none.
const NoLeader int32 = -1

// Topic is a topic and its partitions, whose numbers are their indexes.
type Topic struct {
	Name string
	// ID, where it is zero, is made from the name.
	ID       [16]byte
	Internal bool
	// MinInsyncReplicas is the topic's own min.insync.replicas; 0 leaves it to the
	// cluster's default.
	MinInsyncReplicas int
	// Configs are further settings of the topic.
	Configs    map[string]string
	Partitions []*Partition

	// DenyDescribe hides the topic: no listing has it, and asked by name it
	// answers TOPIC_AUTHORIZATION_FAILED.
	DenyDescribe bool
	// DenyDescribeConfigs refuses only its configs.
	DenyDescribeConfigs bool
}

// Partition is a partition's registration and the logs of its replicas.
// LogStart ≤ HW ≤ the leader's LEO is the test's to keep, or to break.
type Partition struct {
	Leader      int32
	LeaderEpoch int32
	// Replicas are in assignment order; the first is the preferred leader.
	Replicas     []int32
	ISR          []int32
	ELR          []int32
	LastKnownELR []int32
	Adding       []int32
	Removing     []int32
	// Offline names further offline replicas. Those on fenced or unregistered
	// brokers and in offline log directories are offline without being named.
	Offline []int32

	LogStart int64
	HW       int64
	// LSO is nil while no transaction is open: then it is the HW.
	LSO *int64
	// Producers are those whose state the replicas keep.
	Producers []Producer
	// LEO is each replica's log end offset; one without an entry stands at the HW.
	LEO map[int32]int64
	// HWUnknown is the time after an election in which the leader does not know
	// the HW yet: clients that ask for it are told OFFSET_NOT_AVAILABLE.
	HWUnknown bool
	// AppendPerRead is how many records arrive before each ListOffsets answer that
	// names the partition, to play offsets that move while they are read.
	AppendPerRead int64
	// TimestampMs gives a record's timestamp by its offset, never decreasing; nil
	// is a log that no timestamp is found in.
	TimestampMs func(offset int64) int64

	// Dirs says in which log directory a replica lies; without an entry it is the
	// broker's first.
	Dirs map[int32]string
	// Moves are the replicas being moved to another directory of their broker.
	Moves map[int32]Move
}

// Move is a replica's future log in another directory.
type Move struct {
	Dir string
	LEO int64
}

// bytesPerRecord turns records into DescribeLogDirs' sizes.
const bytesPerRecord = 100

// SetLEO puts a replica's log end offset.
func (p *Partition) SetLEO(broker int32, leo int64) {
	if p.LEO == nil {
		p.LEO = make(map[int32]int64, len(p.Replicas))
	}
	p.LEO[broker] = leo
}

// LogEnd is a replica's log end offset.
func (p *Partition) LogEnd(broker int32) int64 {
	if leo, ok := p.LEO[broker]; ok {
		return leo
	}
	return p.HW
}

// Shrink takes replicas out of the ISR.
func (p *Partition) Shrink(brokers ...int32) {
	p.ISR = slices.DeleteFunc(slices.Clone(p.ISR), func(id int32) bool {
		return slices.Contains(brokers, id)
	})
}

// Append adds records to the logs of the leader and of the ISR, and moves the HW
// by as many. Replicas outside the ISR stay behind; without a leader, nothing moves.
func (p *Partition) Append(records int64) {
	if p.Leader == NoLeader {
		return
	}
	for _, id := range p.Replicas {
		switch _, own := p.LEO[id]; {
		case id == p.Leader || slices.Contains(p.ISR, id):
			if own {
				p.LEO[id] += records
			}
		case !own:
			// It stood at the HW without an entry, and must not follow it now.
			p.SetLEO(id, p.HW)
		}
	}
	p.HW += records
}

// lastStable is the LSO.
func (p *Partition) lastStable() int64 {
	if p.LSO != nil {
		return *p.LSO
	}
	return p.HW
}

// topicID makes a topic's id from its name: the same in every run.
func topicID(name string) (id [16]byte) {
	h := fnv.New128a()
	h.Write([]byte(name))
	h.Sum(id[:0])
	return id
}

package inspect

import (
	"cmp"
	"slices"
	"strings"
)

// PartReplicaLogs asks every broker DescribeLogDirs, as PartLogDirs does, and
// keeps what each directory holds.
const PartReplicaLogs Parts = 1 << 10

// ReplicaLog is one replica's log in a directory.
type ReplicaLog struct {
	Topic     string
	Partition int32
	SizeBytes int64
	// Future: it is being filled to replace the broker's current log of the
	// partition in another directory. OffsetLag is how many records it is behind
	// that one; of a current log Kafka tells none.
	Future    bool
	OffsetLag int64
}

// DirMove is a replica on its way from one directory of its broker to another.
type DirMove struct {
	Topic     string
	Partition int32
	// From is unknown where the broker lists no current log.
	From Opt[string]
	// SizeBytes is what is there already, and OfBytes the current log's size.
	SizeBytes int64
	OfBytes   Opt[int64]
	// OffsetLag is in records.
	OffsetLag int64
}

// DirReport is one log directory with what is to be known of it.
type DirReport struct {
	Broker BrokerID
	LogDir
	// Moves are the replicas on their way into it, by topic and partition.
	Moves []DirMove
	// SharesWith are other directories of the broker that seem to lie on the same
	// volume: free space is not to be added up over them.
	SharesWith []string
}

// sameVolumeBytes is by how much the free space of one volume may differ between
// two readings of the same answer, while the broker writes.
const sameVolumeBytes = 4 << 20

// LogDirReports lists the log directories of all brokers that told, by broker
// and path.
func (s *Snapshot) LogDirReports() []DirReport {
	var out []DirReport
	for i := range s.Brokers {
		b := &s.Brokers[i]
		dirs, _ := b.LogDirs.Get()
		for j := range dirs {
			r := DirReport{Broker: b.ID, LogDir: dirs[j], Moves: movesInto(dirs, j)}
			for k := range dirs {
				if k != j && sameVolume(&dirs[j], &dirs[k]) {
					r.SharesWith = append(r.SharesWith, dirs[k].Path)
				}
			}
			slices.Sort(r.SharesWith)
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b DirReport) int {
		return cmp.Or(cmp.Compare(a.Broker, b.Broker), strings.Compare(a.Path, b.Path))
	})
	return out
}

func sameVolume(a, b *LogDir) bool {
	totalA, okA := a.TotalBytes.Get()
	totalB, okB := b.TotalBytes.Get()
	usableA, ok := a.UsableBytes.Get()
	usableB, also := b.UsableBytes.Get()
	diff := usableA - usableB
	return okA && okB && ok && also && totalA == totalB && -sameVolumeBytes <= diff && diff <= sameVolumeBytes
}

func movesInto(dirs []LogDir, into int) []DirMove {
	var moves []DirMove
	for _, r := range dirs[into].Replicas {
		if !r.Future {
			continue
		}
		m := DirMove{Topic: r.Topic, Partition: r.Partition, SizeBytes: r.SizeBytes, OffsetLag: r.OffsetLag}
		for i := range dirs {
			for _, current := range dirs[i].Replicas {
				if !current.Future && current.Topic == r.Topic && current.Partition == r.Partition {
					m.From, m.OfBytes = Known(dirs[i].Path), Known(current.SizeBytes)
				}
			}
		}
		moves = append(moves, m)
	}
	slices.SortFunc(moves, func(a, b DirMove) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return moves
}

// replicaSizes are the sizes of all current logs, by broker and partition.
type replicaSizes map[replicaKey]int64

type replicaKey struct {
	broker    BrokerID
	topic     string
	partition int32
}

func (s *Snapshot) replicaSizes(wanted func(topic string, partition int32) bool) replicaSizes {
	sizes := replicaSizes{}
	for i := range s.Brokers {
		dirs, _ := s.Brokers[i].LogDirs.Get()
		for j := range dirs {
			for _, r := range dirs[j].Replicas {
				if !r.Future && wanted(r.Topic, r.Partition) {
					sizes[replicaKey{s.Brokers[i].ID, r.Topic, r.Partition}] = r.SizeBytes
				}
			}
		}
	}
	return sizes
}

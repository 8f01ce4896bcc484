package controller

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// Directories are what a broker says of its log directories with a heartbeat.
type Directories struct {
	OfflineLogDirs []kraft.UUID // those that failed (KIP-858)
	// CordonedLogDirs are those that want no new replicas (KIP-1066); nil: not said.
	CordonedLogDirs []kraft.UUID
}

// updateDirectories is handleDirectoriesOffline and handleDirectoriesCordoned. A
// replica in a directory that failed is out as if its broker were, and only it.
func (op *operation) updateDirectories(b *metadata.Broker, d Directories) {
	remaining := slices.DeleteFunc(slices.Clone(b.LogDirs), func(dir kraft.UUID) bool {
		return slices.Contains(d.OfflineLogDirs, dir)
	})
	if len(remaining) < len(b.LogDirs) {
		op.updatePartitions(func(p *kraft.Partition) bool {
			i := slices.Index(p.Replicas, b.BrokerID)
			return i >= 0 && slices.Contains(b.LogDirs, p.Directories[i]) && !slices.Contains(remaining, p.Directories[i])
		}, b.BrokerID, noBroker)
		if len(remaining) > 0 { // none cannot be said in a record: a broker without any stops
			op.write(&kraft.BrokerRegistrationChange{BrokerID: b.BrokerID, BrokerEpoch: b.BrokerEpoch, LogDirs: remaining})
		}
	}
	if d.CordonedLogDirs != nil && (b.CordonedLogDirs == nil || !slices.Equal(b.CordonedLogDirs, d.CordonedLogDirs)) {
		op.write(&kraft.BrokerRegistrationChange{
			BrokerID: b.BrokerID, BrokerEpoch: b.BrokerEpoch, CordonedLogDirs: append([]kraft.UUID{}, d.CordonedLogDirs...),
		})
	}
}

// AssignReplicasToDirs is how a broker with several log directories says into
// which it put its replicas (KIP-858). It is answered with an
// [AssignReplicasToDirsReply].
type AssignReplicasToDirs struct {
	BrokerID    int32
	BrokerEpoch int64
	Assignments []DirAssignment
}

// DirAssignment is where one replica of the broker is.
type DirAssignment struct {
	TopicID   kraft.UUID
	Partition int32
	Directory kraft.UUID
}

// AssignReplicasToDirsReply has an answer for each assignment, in order.
type AssignReplicasToDirsReply struct {
	Err     *Error   // for all: nothing was looked at
	Results []*Error // each nil or why not
}

// decide is handleAssignReplicasToDirs.
func (r AssignReplicasToDirs) decide(op *operation) (reply AssignReplicasToDirsReply) {
	b, err := op.broker(r.BrokerID, r.BrokerEpoch)
	if err != nil {
		return AssignReplicasToDirsReply{Err: err}
	}
	for _, a := range r.Assignments {
		reply.Results = append(reply.Results, op.assignDirectory(b, a))
	}
	return reply
}

func (op *operation) assignDirectory(b *metadata.Broker, a DirAssignment) *Error {
	topic, ok := op.image.TopicByID(a.TopicID)
	if !ok {
		return errorf(UnknownTopicID, "there is no topic with id %s", a.TopicID)
	}
	p, ok := topic.Partition(a.Partition)
	if !ok {
		return errorf(UnknownTopicOrPartition, "there is no partition %s-%d", topic.Name, a.Partition)
	}
	i := slices.Index(p.Replicas, b.BrokerID)
	if i < 0 {
		return errorf(NotLeaderOrFollower, "broker %d has no replica of %s-%d", b.BrokerID, topic.Name, a.Partition)
	}
	if p.Directories[i] != a.Directory {
		rec := kraft.NewPartitionChange(topic.ID, a.Partition)
		rec.Directories = slices.Clone(p.Directories)
		rec.Directories[i] = a.Directory
		op.write(rec)
	}
	if !online(b, a.Directory) {
		// The directory failed while the assignment was on its way.
		topic, _ := op.image.TopicByID(a.TopicID)
		op.updateTopic(topic, func(p *kraft.Partition) bool { return p.PartitionID == a.Partition }, b.BrokerID, noBroker)
	}
	return nil
}

// online reports whether a replica there can be used: what is not known yet may
// (Kafka's DirectoryId.isOnline).
func online(b *metadata.Broker, dir kraft.UUID) bool {
	switch dir {
	case kraft.UnassignedDirectory, kraft.MigratingDirectory:
		return true
	case kraft.LostDirectory:
		return false
	}
	return len(b.LogDirs) == 0 || slices.Contains(b.LogDirs, dir)
}

// reserved reports whether the id is one of the first hundred, which stand for
// something and are nobody's (DirectoryId.reserved).
func reserved(dir kraft.UUID) bool {
	return dir[len(dir)-1] < 100 && slices.Max(dir[:len(dir)-1]) == 0
}

// defaultDirectory is where a new replica of a broker goes as far as is known
// (ClusterControlManager.defaultDir).
func (op *operation) defaultDirectory(id int32) kraft.UUID {
	b, ok := op.image.Broker(id)
	switch {
	case ok && len(b.LogDirs) == 0:
		return kraft.MigratingDirectory
	case ok && len(b.LogDirs) == 1:
		return b.LogDirs[0]
	}
	return kraft.UnassignedDirectory
}

package node

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// assigner tells the controller in which directory replicas are, where the
// metadata has another one (AssignmentsManager, KIP-858). That is so after a broker
// came back with a new disk: to the controller its replicas lie in a directory that
// is not online, and such a replica is not elected.
type assigner struct {
	waiting, sent []*partition
	failures      int
	resting       bool
	pause         alarm
}

const (
	assignBackoffMs    int64 = 100
	assignBackoffMaxMs int64 = 10_000
	// maxAssignments bounds a request (AssignmentsManager.MAX_ASSIGNMENTS_PER_REQUEST).
	maxAssignments = 2250
)

func (a *assigner) begin() {
	a.pause.Ring = func() { a.resting = false }
}

// look takes a partition whose log is there and whose directory in the metadata is
// another one.
func (a *assigner) look(n *Node, p *partition) {
	if p.replica == nil || p.directory == n.life.directory || slices.Contains(a.waiting, p) || slices.Contains(a.sent, p) {
		return
	}
	a.waiting = append(a.waiting, p)
}

func (a *assigner) forget(p *partition) {
	a.waiting = slices.DeleteFunc(a.waiting, func(other *partition) bool { return other == p })
}

// send sends what waits, at the end of a step.
func (a *assigner) send(n *Node) {
	if len(a.waiting) == 0 || len(a.sent) > 0 || a.resting || n.life.epoch < 0 || n.life.state == closing {
		return
	}
	slices.SortFunc(a.waiting, comparePartitions)
	count := min(len(a.waiting), maxAssignments)
	a.sent = slices.Clone(a.waiting[:count])
	a.waiting = slices.Delete(a.waiting, 0, count)
	req := kmsg.NewPtrAssignReplicasToDirsRequest()
	req.BrokerID, req.BrokerEpoch = n.opts.ID, n.life.epoch
	dir := kmsg.NewAssignReplicasToDirsRequestDirectory()
	dir.ID = n.life.directory
	for _, p := range a.sent {
		if last := len(dir.Topics) - 1; last < 0 || dir.Topics[last].TopicID != p.id.topic {
			topic := kmsg.NewAssignReplicasToDirsRequestDirectoryTopic()
			topic.TopicID = p.id.topic
			dir.Topics = append(dir.Topics, topic)
		}
		part := kmsg.NewAssignReplicasToDirsRequestDirectoryTopicPartition()
		part.Partition = p.id.index
		topic := &dir.Topics[len(dir.Topics)-1]
		topic.Partitions = append(topic.Partitions, part)
	}
	req.Directories = append(req.Directories, dir)
	n.send(machine.Controller, req, a)
}

// ended is ender's. What one partition is refused with, newer metadata will settle.
func (a *assigner) ended(n *Node, body kmsg.Response) {
	sent := a.sent
	a.sent = nil
	if resp, ok := body.(*kmsg.AssignReplicasToDirsResponse); ok && resp.ErrorCode == 0 {
		a.failures = 0
		return
	}
	for _, p := range sent {
		if !p.closed {
			a.look(n, p)
		}
	}
	a.resting = true
	n.alarms.set(&a.pause, n.now.Mono+backoff(assignBackoffMs, assignBackoffMaxMs, a.failures))
	a.failures++
}

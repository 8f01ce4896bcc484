package node

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// brokers is what replicas ask about brokers: those of the newest image.
type brokers struct {
	all map[replica.BrokerID]replica.Broker
}

// Broker is replica.Brokers'.
func (b *brokers) Broker(id replica.BrokerID) (replica.Broker, bool) {
	broker, ok := b.all[id]
	return broker, ok
}

func (b *brokers) take(im metadata.Image) {
	b.all = map[replica.BrokerID]replica.Broker{}
	for id, r := range im.Brokers() {
		broker := replica.Broker{Epoch: r.BrokerEpoch, Fenced: r.Fenced, ShuttingDown: r.InControlledShutdown}
		if r.Rack != nil {
			broker.Rack = *r.Rack
		}
		b.all[replica.BrokerID(id)] = broker
	}
}

// publish brings the partitions in line with the image, of which changes says
// where it differs from the one before (BrokerMetadataPublisher,
// ReplicaManager.applyDelta). Nothing is obeyed before this life's registration
// is seen: what the metadata said of the last one is not for this one.
func (n *Node) publish(c changes) {
	im := n.follow.image
	if c.brokers || c.all {
		n.unsettleFollowers()
		n.brokers.take(im)
	}
	obeying := n.life.obeying
	n.life.check(n)
	switch {
	case !obeying:
		return // or everything was compared just now
	case c.all:
		n.publishAll(false)
		return
	}
	var gone []string
	for _, t := range c.gone {
		gone = append(gone, t.Name)
		for index := range t.Partitions() {
			if p := n.byID[partitionID{t.ID, index}]; p != nil {
				n.discard(p)
			}
		}
	}
	if len(gone) > 0 {
		n.groupTopicsGone(gone)
	}
	for _, id := range c.touched {
		if t, ok := im.TopicByID(id.topic); ok {
			if part, ok := t.Partition(id.index); ok {
				n.obey(t, part)
			}
		}
	}
	switch {
	case c.brokerConfigs:
		n.configure(func(*partition) bool { return true })
	case len(c.configs) > 0:
		n.configure(func(p *partition) bool { return slices.Contains(c.configs, p.name.Topic) })
	}
}

// publishAll compares everything. The first time, logs that are not to be hosted
// are set aside (LogManager.deleteStrayKRaftReplicas keeps them too).
func (n *Node) publishAll(first bool) {
	im := n.follow.image
	n.unsettleFollowers()
	n.brokers.take(im)
	for _, p := range slices.Clone(n.parts) {
		if t, ok := im.TopicByID(p.id.topic); !ok || !has(t, p.id.index) {
			n.discard(p)
		}
	}
	for _, t := range im.Topics() {
		for _, part := range t.Partitions() {
			n.obey(t, part)
		}
	}
	n.configure(func(*partition) bool { return true })
	if !first {
		return
	}
	for _, l := range n.dir.Logs() {
		if tp := l.TopicPartition(); n.hosted[tp] == nil {
			n.run(n.laneOf(tp), &strayOrder{n: n, tp: tp, unique: n.unique()})
		}
	}
}

func has(t *metadata.Topic, index int32) bool {
	_, ok := t.Partition(index)
	return ok
}

// unique is a name that no other directory has.
func (n *Node) unique() string {
	id := kraft.DrawUUID(n.opts.Rand)
	return fmt.Sprintf("%x", id[:])
}

// obey takes one partition's metadata.
func (n *Node) obey(t *metadata.Topic, part *kraft.Partition) {
	id := partitionID{t.ID, part.PartitionID}
	p := n.byID[id]
	at := slices.Index(part.Replicas, n.opts.ID)
	assigned := at >= 0
	if p == nil && !assigned {
		return
	}
	meta := replica.Partition{
		LeaderEpoch: replica.Epoch(part.LeaderEpoch), PartitionEpoch: part.PartitionEpoch,
		Leader: replica.BrokerID(part.Leader), Replicas: brokerIDs(part.Replicas), ISR: brokerIDs(part.ISR),
	}
	switch {
	case p == nil:
		p = n.host(t, id, meta)
	case !assigned:
		n.step(p, meta)
		n.discard(p)
	case p.replica == nil:
		p.meta = meta
		if p.log != nil && meta.Leader == n.self {
			n.start(p)
		}
	case meta.PartitionEpoch != p.meta.PartitionEpoch || meta.LeaderEpoch != p.meta.LeaderEpoch:
		p.meta = meta
		n.step(p, meta)
	}
	if assigned {
		p.directory = part.Directories[at]
		n.assign.look(n, p)
	}
}

func brokerIDs(ids []int32) []replica.BrokerID {
	all := make([]replica.BrokerID, len(ids))
	for i, id := range ids {
		all[i] = replica.BrokerID(id)
	}
	return all
}

// host makes a partition. Its log is there from the last life, or the disk makes
// it.
func (n *Node) host(t *metadata.Topic, id partitionID, meta replica.Partition) *partition {
	tp := storage.TopicPartition{Topic: t.Name, Partition: id.index}
	if old := n.hosted[tp]; old != nil {
		// Of a topic of that name that is gone: the image said so.
		n.discard(old)
	}
	p := &partition{name: tp, id: id, lane: n.laneOf(tp), meta: meta, cfg: n.topicConfig(n.follow.image, t.Name)}
	p.deadline.Ring = func() {
		n.step(p, replica.Tick{})
		if p.deadline.IsSet() && p.deadline.AtMs() <= n.now.Mono {
			// What is due still waits for the disk.
			n.alarms.set(&p.deadline, n.now.Mono+1)
		}
	}
	p.flush.Ring = func() { n.maybeFlush(p) }
	n.hosted[tp], n.byID[id] = p, p
	at, _ := slices.BinarySearchFunc(n.parts, p, comparePartitions)
	n.parts = slices.Insert(n.parts, at, p)
	n.opening++
	n.run(p.lane, &openOrder{n: n, p: p, unique: n.unique(), wall: n.now.Wall})
	return p
}

func comparePartitions(a, b *partition) int {
	return cmp.Or(strings.Compare(a.name.Topic, b.name.Topic), cmp.Compare(a.name.Partition, b.name.Partition))
}

// startOpened starts a partition whose log is there: a leader at once, followers
// when no log is being made any more. So those of one leader are in its fetcher's
// first fetch together, as ReplicaManager.applyLocalFollowersDelta adds them: one that
// came a moment later would have to wait for that fetch's answer.
func (n *Node) startOpened(opened *partition) {
	if !opened.closed && opened.meta.Leader == n.self {
		n.start(opened)
	}
	if n.opening > 0 {
		return
	}
	for _, p := range n.parts {
		if p.log != nil && p.replica == nil {
			n.start(p)
		}
	}
}

// start gives a partition its replica.
func (n *Node) start(p *partition) {
	p.cfg = n.topicConfig(n.follow.image, p.name.Topic)
	n.quotas.following = n.quotas.following || p.cfg.followerThrottled.any()
	p.log.Configure(p.cfg.log)
	p.replica = replica.New(&n.shared, p.cfg.settings, replica.Log{
		Start: p.log.Start(), End: p.log.End(), HW: p.log.HW(), Epochs: p.log.Epochs(),
		Producers: p.log.Producers(), Flushed: p.log.Flushed(),
	})
	n.step(p, p.meta)
	n.assign.look(n, p)
}

// discard ends the hosting of a partition: who waits is answered, and the log is
// deleted behind what the disk has yet to do with it.
func (n *Node) discard(p *partition) {
	p.leaving = true
	switch {
	case p.replica == nil:
	case p.busy:
		// What the disk does will not be told any more, so all that waits for it is
		// answered now.
		n.step(p, replica.DiskFailed{})
	default:
		n.retire(p)
	}
	p.closed = true
	if p.coordinator != nil {
		n.groupsGone(p.coordinator)
	}
	n.alarms.Clear(&p.deadline)
	n.alarms.Clear(&p.flush)
	n.fetchStop(p)
	n.alter.forget(p)
	n.assign.forget(p)
	n.wakeFollowers(p)
	n.wakeConsumers(p)
	p.fetched = nil
	delete(n.hosted, p.name)
	delete(n.byID, p.id)
	if at, ok := slices.BinarySearchFunc(n.parts, p, comparePartitions); ok {
		n.parts = slices.Delete(n.parts, at, at+1)
	}
	n.run(p.lane, &deleteOrder{n: n, p: p, unique: n.unique()})
}

// retire steps metadata in which this broker has no part, newer than all that a
// replica can know: an AlterPartition's answer is ahead of the image.
func (n *Node) retire(p *partition) {
	gone := p.meta
	gone.PartitionEpoch = math.MaxInt32
	gone.Leader, gone.Replicas, gone.ISR = replica.NoBroker, nil, nil
	n.step(p, gone)
}

// configure gives partitions their topics' configs, and quotas their rates.
func (n *Node) configure(which func(p *partition) bool) {
	n.configureQuotas(n.follow.image)
	defer func() {
		n.quotas.following = slices.ContainsFunc(n.parts, func(p *partition) bool { return p.cfg.followerThrottled.any() })
	}()
	var of string
	var cfg topicConfig
	for _, p := range n.parts {
		if !which(p) || p.replica == nil {
			continue
		}
		if of != p.name.Topic {
			of, cfg = p.name.Topic, n.topicConfig(n.follow.image, p.name.Topic)
		}
		changed := cfg.settings != p.cfg.settings
		p.cfg = cfg
		p.log.Configure(cfg.log)
		if changed {
			n.step(p, replica.Configure{Settings: cfg.settings})
		}
		n.maybeFlush(p)
	}
}

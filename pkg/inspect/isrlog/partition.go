package isrlog

import (
	"cmp"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// state is a partition between two records. Its lists are replaced and never
// changed, so that a state that was kept stays what it was.
type state struct {
	replicas, adding, removing []inspect.BrokerID
	isr, elr, lastKnown        []inspect.BrokerID
	leader                     inspect.BrokerID
	leaderEpoch                inspect.Epoch
	partitionEpoch             int32
}

// partition is one with the times that no record holds.
type partition struct {
	state
	// out has one entry for each replica that is out of the ISR and of which it is
	// known since when.
	out []absence
}

type absence struct {
	broker inspect.BrokerID
	since  time.Time
}

// change is a record that changed a partition.
type change struct {
	at            Position
	id            kraft.UUID // of the topic
	topic         string
	index         int32
	before, after state
	// unclean: the record says that the leader came from outside ISR and ELR.
	unclean bool
	// out is for how long those who came into the ISR had been out of it.
	out inspect.Opt[time.Duration]
}

func idsOf(ids []int32) []inspect.BrokerID {
	if len(ids) == 0 {
		return nil
	}
	out := make([]inspect.BrokerID, len(ids))
	for i, id := range ids {
		out[i] = inspect.BrokerID(id)
	}
	return out
}

func stateOf(rec *kraft.Partition) state {
	return state{
		replicas: idsOf(rec.Replicas), adding: idsOf(rec.AddingReplicas), removing: idsOf(rec.RemovingReplicas),
		isr: idsOf(rec.ISR), elr: idsOf(rec.EligibleLeaderReplicas), lastKnown: idsOf(rec.LastKnownELR),
		leader: inspect.BrokerID(rec.Leader), leaderEpoch: inspect.Epoch(rec.LeaderEpoch), partitionEpoch: rec.PartitionEpoch,
	}
}

// merge is Kafka's PartitionRegistration.merge: every record raises the partition
// epoch, and one that names a leader, were it the old one, the leader epoch.
func (s state) merge(rec *kraft.PartitionChange) state {
	s.partitionEpoch++
	if rec.Leader != kraft.NoLeaderChange {
		s.leader = inspect.BrokerID(rec.Leader)
		s.leaderEpoch++
	}
	for _, list := range []struct {
		kept *[]inspect.BrokerID
		told []int32
	}{
		{&s.replicas, rec.Replicas},
		{&s.adding, rec.AddingReplicas},
		{&s.removing, rec.RemovingReplicas},
		{&s.isr, rec.ISR},
		{&s.elr, rec.EligibleLeaderReplicas},
		{&s.lastKnown, rec.LastKnownELR},
	} {
		if list.told != nil {
			*list.kept = idsOf(list.told)
		}
	}
	return s
}

// apply makes s the partition's state, and says for how long those who came into the
// ISR had been out of it.
func (p *partition) apply(s state, at time.Time) inspect.Opt[time.Duration] {
	came := minus(s.isr, p.isr)
	longest := inspect.Unknown[time.Duration]()
	for _, a := range p.out {
		if slices.Contains(came, a.broker) {
			longest = inspect.Known(max(longest.Or(0), at.Sub(a.since)))
		}
	}
	left := minus(p.isr, s.isr)
	if len(came)+len(left) > 0 || len(minus(p.replicas, s.replicas)) > 0 {
		out := make([]absence, 0, len(s.replicas)-min(len(s.replicas), len(s.isr)))
		for _, a := range p.out {
			if slices.Contains(s.replicas, a.broker) && !slices.Contains(s.isr, a.broker) {
				out = append(out, a)
			}
		}
		for _, id := range left {
			if slices.Contains(s.replicas, id) {
				out = append(out, absence{id, at})
			}
		}
		p.out = out
	}
	p.state = s
	return longest
}

// minus are those of a that are not in b, in a's order; nil for none.
func minus(a, b []inspect.BrokerID) []inspect.BrokerID {
	var out []inspect.BrokerID
	for _, id := range a {
		if !slices.Contains(b, id) {
			out = append(out, id)
		}
	}
	return out
}

// differing are those that are in one of a and b, sorted.
func differing(a, b []inspect.BrokerID) []inspect.BrokerID {
	out := append(minus(a, b), minus(b, a)...)
	slices.Sort(out)
	return out
}

// union is sorted.
func union(lists ...[]inspect.BrokerID) []inspect.BrokerID {
	out := slices.Concat(lists...)
	slices.Sort(out)
	return slices.Compact(out)
}

// place puts a partition where there is none, or in place of what was there. It
// returns the topic and the state before, or nil.
func (r *Replay) place(rec *kraft.Partition, s state) (t *topic, was *partition) {
	const most = 1 << 20 // more partitions than a topic can have: a damaged log
	if !r.only.has(rec.TopicID, rec.PartitionID) {
		return nil, nil
	}
	t = r.topics[rec.TopicID]
	if t == nil || rec.PartitionID < 0 || rec.PartitionID >= most {
		r.gaps.Strays++
		return nil, nil
	}
	if n := int(rec.PartitionID) + 1; n > len(t.partitions) {
		t.partitions = append(t.partitions, make([]*partition, n-len(t.partitions))...)
	}
	was = t.partitions[rec.PartitionID]
	t.partitions[rec.PartitionID] = &partition{state: s}
	return t, was
}

// find returns the partition that a record is about, or nil.
func (r *Replay) find(id kraft.UUID, index int32) (*topic, *partition) {
	t := r.topics[id]
	if t == nil || index < 0 || int(index) >= len(t.partitions) || t.partitions[index] == nil {
		return nil, nil
	}
	return t, t.partitions[index]
}

// create also takes the whole state of a partition that is known, which Kafka writes
// in snapshots only.
func (r *Replay) create(at Position, rec *kraft.Partition) {
	t, was := r.place(rec, stateOf(rec))
	if t == nil || was != nil {
		return
	}
	p := t.partitions[rec.PartitionID]
	for _, id := range minus(p.replicas, p.isr) { // fenced when it was created
		p.out = append(p.out, absence{id, at.Time})
	}
	c := change{at: at, id: rec.TopicID, topic: t.name, index: rec.PartitionID, before: state{leader: inspect.NoBroker}, after: p.state}
	r.tell(&c, inspect.IsrCreate, inspect.CauseTopicCreated, p.replicas)
	r.watched(&c, inspect.CauseTopicCreated)
}

// remove: a topic's partitions go with it, without records of their own.
func (r *Replay) remove(at Position, rec *kraft.RemoveTopic) {
	t := r.topics[rec.TopicID]
	if t == nil {
		if r.only == nil {
			r.gaps.Strays++
		}
		return
	}
	delete(r.topics, rec.TopicID)
	for i, p := range t.partitions {
		if p == nil {
			continue
		}
		gone := state{leader: inspect.NoBroker, leaderEpoch: p.leaderEpoch, partitionEpoch: p.partitionEpoch}
		c := change{at: at, topic: t.name, index: int32(i), before: p.state, after: gone}
		r.tell(&c, inspect.IsrDelete, inspect.CauseTopicDeleted, p.replicas)
	}
}

// clearELR is Kafka's TopicDelta.maybeClearElr: it changes those partitions only that
// had something to clear.
func (r *Replay) clearELR(at Position, rec *kraft.ClearELR) {
	for _, t := range r.named(rec.TopicName) {
		for i, p := range t.partitions {
			if p == nil || len(p.elr)+len(p.lastKnown) == 0 {
				continue
			}
			before := p.state
			p.elr, p.lastKnown = nil, nil
			p.partitionEpoch++
			c := change{at: at, topic: t.name, index: int32(i), before: before, after: p.state}
			r.tell(&c, inspect.IsrELR, inspect.CauseConfigChange, union(before.elr, before.lastKnown))
		}
	}
}

// named returns the topic of that name, or all in the order of their names.
func (r *Replay) named(name string) []*topic {
	var out []*topic
	for _, t := range r.topics {
		if name == "" || t.name == name {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *topic) int { return cmp.Compare(a.name, b.name) })
	return out
}

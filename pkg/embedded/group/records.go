package group

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Versions of keys and values, as GroupCoordinatorRecordHelpers writes them.
const (
	offsetKey       int16 = 1 // 0 is read too
	groupKey        int16 = 2
	offsetValue     int16 = 4 // with the topic's id
	offsetValueOld  int16 = 1 // the one that can say when it expires
	groupValue      int16 = 3
	noTimestamp     int64 = -1
	noRetentionTime int64 = -1
)

// change is what one record says.
type change interface {
	record() Record
	// commit takes effect in what is committed.
	commit(committed offsets)
}

// offsetChange sets or, with value nil, removes an offset.
type offsetChange struct {
	group, topic string
	partition    int32
	value        *offset
}

func (c offsetChange) record() Record {
	key := kmsg.OffsetCommitKey{Version: offsetKey, Group: c.group, Topic: c.topic, Partition: c.partition}
	r := Record{Key: key.AppendTo(nil)}
	if c.value != nil {
		v := kmsg.OffsetCommitValue{
			Version: offsetValue, Offset: c.value.at, LeaderEpoch: c.value.leaderEpoch, Metadata: c.value.metadata,
			CommitTimestamp: c.value.committedMs, ExpireTimestamp: c.value.expiresMs, TopicID: c.value.topicID,
		}
		if c.value.expiresMs != noTimestamp {
			v.Version = offsetValueOld
		}
		r.Value = v.AppendTo(nil)
	}
	return r
}

func (c offsetChange) commit(committed offsets) { committed.set(c) }

// groupChange sets or, with value nil, removes a group.
type groupChange struct {
	id    string
	value *kmsg.GroupMetadataValue
}

func (c groupChange) record() Record {
	key := kmsg.GroupMetadataKey{Version: groupKey, Group: c.id}
	r := Record{Key: key.AppendTo(nil)}
	if c.value != nil {
		r.Value = c.value.AppendTo(nil)
	}
	return r
}

func (groupChange) commit(offsets) {}

// emptyValue is a group of which there is nothing to say yet
// (newEmptyGroupMetadataRecord).
func emptyValue(g *group) *kmsg.GroupMetadataValue {
	return &kmsg.GroupMetadataValue{Version: groupValue, CurrentStateTimestamp: g.stateMs, Members: []kmsg.GroupMetadataValueMember{}}
}

// value is the group with the shares that its members have (newGroupMetadataRecord).
func (g *group) value() *kmsg.GroupMetadataValue {
	v := emptyValue(g)
	v.Generation, v.Protocol = g.generation, g.protocol
	if g.protocolType != nil {
		v.ProtocolType = *g.protocolType
	}
	if g.leader != "" {
		leader := g.leader
		v.Leader = &leader
	}
	for _, m := range g.members {
		out := kmsg.NewGroupMetadataValueMember()
		out.MemberID, out.InstanceID, out.ClientID, out.ClientHost = m.id, m.instance, m.clientID, m.clientHost
		out.RebalanceTimeoutMillis, out.SessionTimeoutMillis = m.rebalanceTimeoutMs, m.sessionTimeoutMs
		out.Subscription, out.Assignment = m.metadata(g.protocol), m.assignment
		v.Members = append(v.Members, out)
	}
	return v
}

// apply takes effect in what is written. A group's own records are made of what it
// is already; only its end is news.
func (s *Shard) apply(c change) {
	switch c := c.(type) {
	case offsetChange:
		if c.value != nil && s.groups[c.group] == nil {
			// Who only commits has a group too (a "simple" one).
			s.groups[c.group] = newGroup(c.group, s.now.WallMs)
		}
		s.written.set(c)
	case groupChange:
		if c.value == nil {
			s.drop(c.id)
		}
	}
}

// drop forgets a group.
func (s *Shard) drop(id string) {
	g := s.groups[id]
	if g == nil {
		return
	}
	for len(g.members) > 0 {
		s.remove(g, g.members[0])
	}
	for _, t := range g.pending {
		s.timers.Clear(t) // in any order: what is cleared does not ring
	}
	s.timers.Clear(&g.joinTimer)
	s.timers.Clear(&g.syncTimer)
	delete(s.groups, id)
}

// Load replays a record of the partition's log, in the log's order. now stands for
// the time of the state of a group that only has offsets. Records of kinds that this
// package does not know are passed over.
func (s *Shard) Load(now Time, r Record) error {
	s.now = now
	if len(r.Key) < 2 {
		return fmt.Errorf("group record: key of %d bytes: want a version and more", len(r.Key))
	}
	c, err := decode(r)
	if err != nil || c == nil {
		return err
	}
	if g, ok := c.(groupChange); ok && g.value != nil {
		s.groups[g.id] = s.loaded(g.id, g.value)
		return nil
	}
	s.apply(c)
	c.commit(s.committed)
	return nil
}

func decode(r Record) (change, error) {
	switch version := int16(r.Key[0])<<8 | int16(r.Key[1]); version {
	case 0, offsetKey:
		var key kmsg.OffsetCommitKey
		if err := key.ReadFrom(r.Key); err != nil {
			return nil, fmt.Errorf("key of an offset: %w", err)
		}
		c := offsetChange{group: key.Group, topic: key.Topic, partition: key.Partition}
		if r.Value == nil {
			return c, nil
		}
		v := kmsg.OffsetCommitValue{LeaderEpoch: -1, ExpireTimestamp: noTimestamp}
		if err := v.ReadFrom(r.Value); err != nil {
			return nil, fmt.Errorf("offset of group %q, %s-%d: %w", key.Group, key.Topic, key.Partition, err)
		}
		c.value = &offset{
			at: v.Offset, leaderEpoch: v.LeaderEpoch, metadata: v.Metadata,
			committedMs: v.CommitTimestamp, expiresMs: v.ExpireTimestamp, topicID: v.TopicID,
		}
		return c, nil
	case groupKey:
		var key kmsg.GroupMetadataKey
		if err := key.ReadFrom(r.Key); err != nil {
			return nil, fmt.Errorf("key of a group: %w", err)
		}
		c := groupChange{id: key.Group}
		if r.Value == nil {
			return c, nil
		}
		c.value = &kmsg.GroupMetadataValue{CurrentStateTimestamp: noTimestamp}
		if err := c.value.ReadFrom(r.Value); err != nil {
			return nil, fmt.Errorf("metadata of group %q: %w", key.Group, err)
		}
		return c, nil
	}
	return nil, nil
}

// loaded is a group as its record has it: at rest, for a rebalance that was under way
// begins anew (GroupMetadataManager.replay).
func (s *Shard) loaded(id string, v *kmsg.GroupMetadataValue) *group {
	g := newGroup(id, v.CurrentStateTimestamp)
	g.generation, g.protocol = v.Generation, v.Protocol
	if v.ProtocolType != "" {
		g.protocolType = &v.ProtocolType
	}
	for i := range v.Members {
		in := &v.Members[i]
		m := &member{
			id: in.MemberID, instance: in.InstanceID, clientID: in.ClientID, clientHost: in.ClientHost,
			rebalanceTimeoutMs: in.RebalanceTimeoutMillis, sessionTimeoutMs: in.SessionTimeoutMillis,
			protocolType: v.ProtocolType, assignment: in.Assignment,
		}
		if m.rebalanceTimeoutMs == -1 {
			m.rebalanceTimeoutMs = m.sessionTimeoutMs
		}
		if v.Protocol != nil {
			p := kmsg.NewJoinGroupRequestProtocol()
			p.Name, p.Metadata = *v.Protocol, in.Subscription
			m.protocols = append(m.protocols, p)
		}
		m.session.Ring = func() { s.sessionExpired(g, m) }
		g.add(m)
	}
	if v.Leader != nil {
		g.leader = *v.Leader
	}
	if len(g.members) > 0 {
		g.state = Stable
		if g.protocol == nil {
			none := "" // no coordinator writes that; one that reads it must not fail
			g.protocol = &none
		}
	}
	g.readSubscriptions()
	return g
}

package group

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteOffsets is OffsetMetadataManager.deleteOffsets (KIP-496).
func (s *Shard) deleteOffsets(in Request, req *kmsg.OffsetDeleteRequest) {
	resp := req.ResponseKind().(*kmsg.OffsetDeleteResponse)
	resp.Topics = []kmsg.OffsetDeleteResponseTopic{}
	g := s.groups[req.Group]
	switch {
	case req.Group == "":
		resp.ErrorCode = int16(InvalidGroupID)
	case g == nil:
		resp.ErrorCode = int16(GroupIDNotFound)
	case g.state != Empty && (g.protocolType == nil || *g.protocolType != consumerProtocol):
		resp.ErrorCode = int16(NonEmptyGroup) // nobody knows what it subscribes to
	}
	if resp.ErrorCode != 0 {
		s.emit(Reply{in.Token, resp})
		return
	}
	var changes []change
	for i := range req.Topics {
		t := &req.Topics[i]
		out := kmsg.NewOffsetDeleteResponseTopic()
		out.Topic = t.Topic
		subscribed := g.subscribesTo(t.Topic)
		for j := range t.Partitions {
			p := kmsg.NewOffsetDeleteResponseTopicPartition()
			p.Partition = t.Partitions[j].Partition
			switch {
			case subscribed:
				p.ErrorCode = int16(GroupSubscribedToTopic)
			case s.written[g.id][place{t.Topic, p.Partition}] != nil:
				changes = append(changes, offsetChange{group: g.id, topic: t.Topic, partition: p.Partition})
			}
			out.Partitions = append(out.Partitions, p)
		}
		resp.Topics = append(resp.Topics, out)
	}
	s.write(changes, true, func(code Code) {
		if code != None {
			resp.ErrorCode, resp.Topics = int16(code), []kmsg.OffsetDeleteResponseTopic{}
		}
		s.emit(Reply{in.Token, resp})
	})
}

// deleteGroups is GroupCoordinatorShard.deleteGroups.
func (s *Shard) deleteGroups(in Delete) {
	codes := make([]Code, len(in.Groups))
	var changes []change
	gone := map[string]bool{}
	for i, id := range in.Groups {
		g := s.groups[id]
		switch {
		case g == nil:
			codes[i] = GroupIDNotFound
		case g.state != Empty:
			codes[i] = NonEmptyGroup
		case !gone[id]:
			gone[id] = true
			changes = append(changes, s.tombstones(id)...)
		}
	}
	s.write(changes, true, func(late Code) {
		for i := range codes {
			if late != None && codes[i] == None {
				codes[i] = late
			}
		}
		s.emit(Deleted{in.Token, codes})
	})
}

// tombstones end a group and its offsets.
func (s *Shard) tombstones(id string) []change {
	var all []change
	for _, p := range s.written.places(id) {
		all = append(all, offsetChange{group: id, topic: p.topic, partition: p.partition})
	}
	return append(all, groupChange{id: id})
}

// topicsDeleted removes the offsets of topics that are gone
// (OffsetMetadataManager.onPartitionsDeleted). Nobody waits for it.
func (s *Shard) topicsDeleted(topics []string) {
	var changes []change
	for _, id := range slices.Sorted(maps.Keys(s.written)) {
		for _, p := range s.written.places(id) {
			if slices.Contains(topics, p.topic) {
				changes = append(changes, offsetChange{group: id, topic: p.topic, partition: p.partition})
			}
		}
	}
	if len(changes) > 0 {
		s.write(changes, true, nil)
	}
}

// expireOffsets removes what nobody has used for offsets.retention.minutes, and
// groups that have nothing left (GroupCoordinatorShard.cleanupGroupMetadata).
func (s *Shard) expireOffsets() {
	var changes []change
	for _, id := range s.ids() {
		g := s.groups[id]
		places := s.written.places(id)
		expired := 0
		for _, p := range places {
			if !g.subscribesTo(p.topic) && s.isExpired(g, s.written[id][p]) {
				changes = append(changes, offsetChange{group: id, topic: p.topic, partition: p.partition})
				expired++
			}
		}
		if expired == len(places) && g.state == Empty {
			changes = append(changes, groupChange{id: id})
		}
	}
	if len(changes) > 0 {
		s.notef("%d offsets and groups have expired", len(changes))
		s.write(changes, true, nil)
	}
}

// isExpired is OffsetExpirationConditionImpl: an offset of a group without members
// counts from when the last one left, others from their commit (KIP-211).
func (s *Shard) isExpired(g *group, o *offset) bool {
	since := o.committedMs
	if g.protocolType != nil {
		switch {
		case g.state == Empty:
			if g.stateMs != noTimestamp {
				since = g.stateMs
			}
		case g.state != Stable || !g.topicsKnown:
			return false
		}
	}
	if o.expiresMs != noTimestamp {
		return s.now.WallMs >= o.expiresMs
	}
	return s.now.WallMs-since >= s.cfg.RetentionMs
}

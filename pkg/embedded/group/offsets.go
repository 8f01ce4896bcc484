package group

import (
	"cmp"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offset is a committed offset (OffsetAndMetadata).
type offset struct {
	at          int64
	leaderEpoch int32 // -1 for none
	metadata    string
	committedMs int64
	expiresMs   int64 // noTimestamp: by the broker's retention
	topicID     [16]byte
}

// place is a partition that an offset is for.
type place struct {
	topic     string
	partition int32
}

// offsets are those of all groups.
type offsets map[string]map[place]*offset

func (os offsets) set(c offsetChange) {
	at := place{c.topic, c.partition}
	if c.value == nil {
		delete(os[c.group], at)
		if len(os[c.group]) == 0 {
			delete(os, c.group)
		}
		return
	}
	if os[c.group] == nil {
		os[c.group] = map[place]*offset{}
	}
	os[c.group][at] = c.value
}

// places are a group's, in order.
func (os offsets) places(group string) []place {
	all := make([]place, 0, len(os[group]))
	for p := range os[group] {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(strings.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
	return all
}

// fetchOffsets is OffsetMetadataManager.fetchOffsets: of what is committed; or of what
// is written, once that is committed.
func (s *Shard) fetchOffsets(in FetchOffsets) {
	if !in.RequireStable {
		s.emit(Fetched{in.Token, fetched(s.committed, &in.Group)})
		return
	}
	out := fetched(s.written, &in.Group)
	s.whenCommitted(func(late Code) {
		if late != None {
			out = kmsg.NewOffsetFetchResponseGroup()
			out.Group, out.ErrorCode, out.Topics = in.Group.Group, int16(late), []kmsg.OffsetFetchResponseGroupTopic{}
		}
		s.emit(Fetched{in.Token, out})
	})
}

func fetched(from offsets, asked *kmsg.OffsetFetchRequestGroup) kmsg.OffsetFetchResponseGroup {
	out := kmsg.NewOffsetFetchResponseGroup()
	out.Group, out.Topics = asked.Group, []kmsg.OffsetFetchResponseGroupTopic{}
	if asked.Topics == nil {
		for _, p := range from.places(asked.Group) {
			if last := len(out.Topics) - 1; last < 0 || out.Topics[last].Topic != p.topic {
				t := kmsg.NewOffsetFetchResponseGroupTopic()
				t.Topic = p.topic
				out.Topics = append(out.Topics, t)
			}
			t := &out.Topics[len(out.Topics)-1]
			t.Partitions = append(t.Partitions, fetchedPartition(p.partition, from[asked.Group][p]))
		}
		return out
	}
	for i := range asked.Topics {
		in := &asked.Topics[i]
		t := kmsg.NewOffsetFetchResponseGroupTopic()
		t.Topic, t.TopicID = in.Topic, in.TopicID
		t.Partitions = []kmsg.OffsetFetchResponseGroupTopicPartition{}
		for _, index := range in.Partitions {
			o := from[asked.Group][place{in.Topic, index}]
			if o != nil && o.topicID != in.TopicID && o.topicID != ([16]byte{}) && in.TopicID != ([16]byte{}) {
				o = nil // of another topic that had that name
			}
			t.Partitions = append(t.Partitions, fetchedPartition(index, o))
		}
		out.Topics = append(out.Topics, t)
	}
	return out
}

func fetchedPartition(index int32, o *offset) kmsg.OffsetFetchResponseGroupTopicPartition {
	out := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	none := ""
	out.Partition, out.Offset, out.LeaderEpoch, out.Metadata = index, -1, -1, &none
	if o != nil {
		metadata := o.metadata
		out.Offset, out.LeaderEpoch, out.Metadata = o.at, o.leaderEpoch, &metadata
	}
	return out
}

package fakekafka

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxPartitionsPerPage is the default of max.request.partition.size.limit.
const maxPartitionsPerPage = 2000

// describeTopicPartitions answers a page: topics by name, from the cursor on,
// until the limit of partitions is reached (KIP-966).
func (v *view) describeTopicPartitions(req *kmsg.DescribeTopicPartitionsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeTopicPartitionsResponse)
	resp.Topics = []kmsg.DescribeTopicPartitionsResponseTopic{}
	names, denied, ok := v.pageTopics(req)
	if !ok {
		for _, rt := range req.Topics {
			resp.Topics = append(resp.Topics, missingTopic(rt.Topic, invalidRequest))
		}
		return resp
	}
	remaining := max(1, min(maxPartitionsPerPage, int(req.ResponsePartitionLimit)))
	for _, name := range names {
		from := 0
		if req.Cursor != nil && req.Cursor.Topic == name {
			from = int(req.Cursor.Partition)
		}
		if remaining == 0 {
			resp.NextCursor = nextCursor(name, 0)
			break
		}
		t := v.index.topics[name]
		if t == nil {
			code := unknownTopicOrPartition
			if !validTopicName(name) {
				code = invalidTopic
			}
			resp.Topics = append(resp.Topics, missingTopic(name, code))
			continue
		}
		from = min(from, len(t.Partitions))
		to := min(from+remaining, len(t.Partitions))
		resp.Topics = append(resp.Topics, v.describeTopic(t, from, to))
		remaining -= to - from
		if to < len(t.Partitions) {
			resp.NextCursor = nextCursor(name, to)
			break
		}
	}
	// Kafka adds what may not be described at the end of every page.
	for _, name := range denied {
		resp.Topics = append(resp.Topics, missingTopic(name, topicAuthorizationFailed))
	}
	return resp
}

// pageTopics names the topics from the cursor on, sorted, and those asked for by
// name that may not be described. A bad cursor is not ok.
func (v *view) pageTopics(req *kmsg.DescribeTopicPartitionsRequest) (names, denied []string, ok bool) {
	cursor := ""
	if req.Cursor != nil {
		cursor = req.Cursor.Topic
		if req.Cursor.Partition < 0 {
			return nil, nil, false
		}
	}
	if len(req.Topics) == 0 {
		for _, t := range v.index.sorted {
			if t.Name >= cursor && !v.hidden(kmsg.DescribeTopicPartitions, t) {
				names = append(names, t.Name)
			}
		}
		return names, nil, true
	}
	asked := make(map[string]bool, len(req.Topics))
	for _, rt := range req.Topics {
		if rt.Topic >= cursor {
			asked[rt.Topic] = true
		}
	}
	if req.Cursor != nil && !asked[cursor] {
		return nil, nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if v.hidden(kmsg.DescribeTopicPartitions, v.index.topics[name]) {
			denied = append(denied, name)
			continue
		}
		names = append(names, name)
	}
	return names, denied, true
}

// describeTopic describes the partitions [from, to) of a topic.
func (v *view) describeTopic(t *Topic, from, to int) kmsg.DescribeTopicPartitionsResponseTopic {
	rt := kmsg.NewDescribeTopicPartitionsResponseTopic()
	rt.Topic, rt.TopicID, rt.IsInternal = &t.Name, t.ID, t.Internal
	rt.Partitions = make([]kmsg.DescribeTopicPartitionsResponseTopicPartition, to-from)
	for i := range rt.Partitions {
		p, rp := t.Partitions[from+i], &rt.Partitions[i]
		rp.Default()
		rp.Partition = int32(from + i)
		rp.LeaderID, rp.LeaderEpoch = v.leader(p), p.LeaderEpoch
		rp.Replicas, rp.ISR, rp.OfflineReplicas = list(p.Replicas), list(p.ISR), v.offline(p)
		rp.EligibleLeaderReplicas, rp.LastKnownELR = list(p.ELR), list(p.LastKnownELR)
	}
	return rt
}

func missingTopic(name string, code int16) kmsg.DescribeTopicPartitionsResponseTopic {
	rt := kmsg.NewDescribeTopicPartitionsResponseTopic()
	rt.Topic, rt.ErrorCode = &name, code
	rt.Partitions = []kmsg.DescribeTopicPartitionsResponseTopicPartition{}
	return rt
}

func nextCursor(topic string, partition int) *kmsg.DescribeTopicPartitionsResponseNextCursor {
	c := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	c.Topic, c.Partition = topic, int32(partition)
	return &c
}

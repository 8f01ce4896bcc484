package fakekafka

import "github.com/twmb/franz-go/pkg/kmsg"

// coordinatorTopic names the internal topic whose leaders coordinate.
func coordinatorTopic(coordinatorType int8) string {
	switch coordinatorType {
	case 0:
		return offsetsTopic
	case 1:
		return "__transaction_state"
	case 2:
		return "__share_group_state"
	}
	return ""
}

// findCoordinator answers for one key, or for many from version 4 on. As long as
// the internal topic does not exist there is no coordinator, and asking for one
// creates the topic (see created).
func (v *view) findCoordinator(req *kmsg.FindCoordinatorRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
	resp.Coordinators = []kmsg.FindCoordinatorResponseCoordinator{}
	if req.Version < 4 {
		c := v.coordinator(req.CoordinatorKey, req.CoordinatorType)
		resp.ErrorCode, resp.NodeID, resp.Host, resp.Port = c.ErrorCode, c.NodeID, c.Host, c.Port
		return resp
	}
	for _, key := range req.CoordinatorKeys {
		resp.Coordinators = append(resp.Coordinators, v.coordinator(key, req.CoordinatorType))
	}
	return resp
}

func (v *view) coordinator(key string, coordinatorType int8) kmsg.FindCoordinatorResponseCoordinator {
	c := kmsg.NewFindCoordinatorResponseCoordinator()
	c.Key, c.NodeID, c.Port = key, -1, -1
	topic := coordinatorTopic(coordinatorType)
	if topic == "" {
		c.ErrorCode = invalidRequest
		return c
	}
	if v.denied(kmsg.FindCoordinator) {
		c.ErrorCode = groupAuthorizationFailed
		return c
	}
	c.ErrorCode = coordinatorNotAvailable
	t := v.index.topics[topic]
	if t == nil || len(t.Partitions) == 0 {
		return c
	}
	b := v.index.brokers[t.Partitions[javaHash(key)%len(t.Partitions)].Leader]
	if b == nil || b.Fenced {
		return c
	}
	c.ErrorCode, c.NodeID = none, b.ID
	c.Host, c.Port = b.address()
	return c
}

// javaHash is Java's String.hashCode without its sign, by which Kafka picks a
// group's partition. It is Java's for ASCII names only.
func javaHash(s string) int {
	var h int32
	for _, c := range []byte(s) {
		h = 31*h + int32(c)
	}
	return int(h & 0x7fffffff)
}

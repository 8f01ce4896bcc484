package fakekafka

import "github.com/twmb/franz-go/pkg/kmsg"

// NewControllers is a healthy quorum of controllers 101 to 100+n at their own
// listener, of the same cluster as [NewModel]'s brokers. The first is active. As
// Kafka's, they answer DescribeCluster for controllers only, DescribeQuorum by the
// active one only, and close the connection on what they do not offer.
func NewControllers(n int) *Model {
	m := NewModel(0)
	m.Controllers = true
	for id := range int32(n) {
		m.Brokers = append(m.Brokers, &Broker{ID: 101 + id})
	}
	m.Quorum = NewQuorum(n)
	m.APIs = map[Key]VersionRange{}
	for _, key := range []Key{kmsg.ApiVersions, kmsg.DescribeCluster, kmsg.DescribeQuorum} {
		m.APIs[key] = APIs()[key]
	}
	return m
}

// endpointType is what DescribeCluster at this listener tells of.
func (v *view) endpointType() int8 {
	if v.model.Controllers {
		return controllerEndpoints
	}
	return brokerEndpoints
}

// standsBy says whether it is a controller that is not the active one.
func (v *view) standsBy() bool {
	return v.model.Controllers && v.self.ID != v.quorum().Leader
}

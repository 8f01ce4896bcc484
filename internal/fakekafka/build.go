package fakekafka

import "fmt"

// NewModel is a healthy cluster of brokers 1 to n without topics.
func NewModel(brokers int) *Model {
	m := &Model{ClusterID: "ZmFrZWthZmthY2x1c3Rlcg"}
	for id := int32(1); id <= int32(brokers); id++ {
		m.Brokers = append(m.Brokers, &Broker{ID: id})
	}
	return m
}

// AddTopic adds a topic whose replicas are spread over the brokers, all of them
// in sync and led by their first. More replicas than brokers is a mistake in the
// test and panics.
func (m *Model) AddTopic(name string, partitions, replicationFactor int) *Topic {
	if replicationFactor > len(m.Brokers) {
		panic(fmt.Sprintf("topic %s: %d replicas on %d brokers", name, replicationFactor, len(m.Brokers)))
	}
	t := &Topic{Name: name, ID: topicID(name), Partitions: make([]*Partition, partitions)}
	// One backing array for each kind: a large model costs a handful of
	// allocations a topic. Capacities are cut, so that appending to one
	// partition's list never writes into its neighbour's.
	state := make([]Partition, partitions)
	ids := make([]int32, 2*partitions*replicationFactor)
	take := func() []int32 {
		taken := ids[:replicationFactor:replicationFactor]
		ids = ids[replicationFactor:]
		return taken
	}
	for i := range state {
		replicas, isr := take(), take()
		for r := range replicas {
			replicas[r] = m.Brokers[(i+r)%len(m.Brokers)].ID
		}
		copy(isr, replicas)
		state[i] = Partition{Leader: NoLeader, Replicas: replicas, ISR: isr}
		if replicationFactor > 0 {
			state[i].Leader = replicas[0]
		}
		t.Partitions[i] = &state[i]
	}
	m.Topics = append(m.Topics, t)
	return t
}

// AddTopics adds n topics, prefix-0000 and on, for models of any size: 500
// topics of 100 partitions take a few milliseconds.
func (m *Model) AddTopics(prefix string, n, partitions, replicationFactor int) {
	for i := range n {
		m.AddTopic(fmt.Sprintf("%s-%04d", prefix, i), partitions, replicationFactor)
	}
}

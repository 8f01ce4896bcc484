package fakekafka

import "github.com/twmb/franz-go/pkg/kmsg"

// Key is an API key; kmsg names them: kmsg.ListOffsets.
type Key = kmsg.Key

// VersionRange is the versions of an API that a broker advertises, both ends
// included.
type VersionRange struct {
	Min, Max int16
}

// APIs returns what Kafka 4.4 advertises of the APIs that are served here, minus
// some: APIs(kmsg.DescribeTopicPartitions) plays a broker from before 3.7. The
// map is the caller's to change; a key added to it needs [Cluster.Intercept].
func APIs(without ...Key) map[Key]VersionRange {
	apis := map[Key]VersionRange{
		kmsg.ListOffsets:                {1, 11},
		kmsg.Metadata:                   {0, 13},
		kmsg.OffsetFetch:                {1, 10},
		kmsg.FindCoordinator:            {0, 6},
		kmsg.DescribeGroups:             {0, 6},
		kmsg.ListGroups:                 {0, 5},
		kmsg.ApiVersions:                {0, 4},
		kmsg.DescribeConfigs:            {1, 4},
		kmsg.DescribeLogDirs:            {1, 5},
		kmsg.ListPartitionReassignments: {0, 0},
		kmsg.DescribeQuorum:             {0, 2},
		kmsg.DescribeCluster:            {0, 2},
		kmsg.ConsumerGroupDescribe:      {0, 1},
		kmsg.DescribeTopicPartitions:    {0, 0},
		kmsg.DescribeProducers:          {0, 0},
		kmsg.DescribeTransactions:       {0, 0},
		kmsg.ListTransactions:           {0, 2},
	}
	for _, key := range without {
		delete(apis, key)
	}
	return apis
}

// Features returns the finalized features of a new Kafka 4.4 cluster, as far as
// replication goes. The map is the caller's to change; level 0 is a feature that
// is off, and is left out of the answer.
func Features() map[string]int16 {
	return map[string]int16{
		"metadata.version":                 33,
		"eligible.leader.replicas.version": 1,
	}
}

// serves says which versions of an API the broker advertises.
func (v *view) serves() map[Key]VersionRange {
	if v.self.APIs != nil {
		return v.self.APIs
	}
	if v.model.APIs != nil {
		return v.model.APIs
	}
	return APIs()
}

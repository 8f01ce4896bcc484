// Package source gathers an [inspect.Snapshot] from a real cluster. Its door is
// [New] and [Source.Snapshot].
//
// One pass costs, whatever the number of partitions (ApiVersions, one per
// connection, not counted):
//
//	always          Metadata 1, DescribeConfigs 1, ListPartitionReassignments 1
//	                (with ZooKeeper at most 2: the controller alone can tell)
//	PartELR         DescribeCluster 1 and DescribeTopicPartitions 1 per 2,000
//	                partitions, in place of Metadata
//	PartReachable   no more than a connection to every broker
//	PartFencedReachable  the same to every broker that is fenced
//	PartFeatures    the same
//	PartFenced      DescribeCluster 1
//	PartQuorum      DescribeQuorum 1, see quorum.go; with WithControllers 1 to every
//	                controller and DescribeCluster 1, see controllers.go
//	PartLogDirs     DescribeLogDirs 1 per broker
//	PartReplicaLogs the same, with every replica in the answer
//	PartConfigs     DescribeConfigs 1 per broker, and 1 for all topics
//	PartTransactions ListTransactions and DescribeTransactions 1 per broker,
//	                DescribeProducers at most 2, see transactions.go
//	PartAccess      Metadata at most 2, DescribeConfigs at most 2, DescribeProducers,
//	                DescribeGroups, DescribeTransactions and DescribeAcls 1, see access.go
//	PartOffsets     ListOffsets at most 6 per broker, see rounds.go
//	PartGroups      per broker ListGroups 1, ConsumerGroupDescribe and
//	                DescribeGroups at most 1, OffsetFetch 1 per 100 groups (before
//	                Kafka 3.0, 1 per group); with Times, usually 10 to 20 more
//	                ListOffsets per broker and at most 60
//
// A pass for groups alone ([Query].ForGroups) leaves out ListPartitionReassignments,
// DescribeConfigs and one ListOffsets: with ApiVersions and Metadata no broker gets
// more than 10 requests beside OffsetFetch. Commits are read before offsets.
//
// Every request goes to one broker and asks about all its partitions at once;
// all brokers are asked at the same time. A request may take a third of the
// pass's timeout, and none outlasts the pass: a broker that is hung, refuses or
// goes silent half-way costs its own answers, a line among the Snapshot's
// Failures, and nothing else.
//
// [ExpectCluster] holds every pass to one cluster: its id is looked at in the first
// answer that has it, before anything more is asked. [Source.TopicNames] and
// [Source.GroupNames] are less than a pass.
//
// Nothing here writes, creates a topic by asking about it, or sends a replica id
// other than −1 (a consumer) and −2 (a debugging consumer, which reads a
// replica's own log end offset; replicas' ids, ≥ 0, would move the leader's
// state).
package source

package access

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// RequestID names a request by what it is sent for: one of Kafka's APIs may need
// another ACL for each.
type RequestID string

// The requests.
const (
	APIVersions           RequestID = "ApiVersions"
	Brokers               RequestID = "brokers by Metadata"
	DescribeCluster       RequestID = "DescribeCluster"
	Metadata              RequestID = "Metadata"
	TopicPartitions       RequestID = "DescribeTopicPartitions"
	ListOffsets           RequestID = "ListOffsets"
	TopicConfigs          RequestID = "DescribeConfigs of topics"
	BrokerConfigs         RequestID = "DescribeConfigs of brokers"
	Reassignments         RequestID = "ListPartitionReassignments"
	Quorum                RequestID = "DescribeQuorum"
	LogDirs               RequestID = "DescribeLogDirs"
	ListGroups            RequestID = "ListGroups"
	DescribeGroups        RequestID = "DescribeGroups"
	ConsumerGroupDescribe RequestID = "ConsumerGroupDescribe"
	OffsetFetch           RequestID = "OffsetFetch"
	ListTransactions      RequestID = "ListTransactions"
	DescribeTransactions  RequestID = "DescribeTransactions"
	DescribeProducers     RequestID = "DescribeProducers"
	DescribeACLs          RequestID = "DescribeAcls"
	MetadataLog           RequestID = "Fetch of the metadata log"
)

// Need is an ACL that a request needs.
type Need struct {
	inspect.ACL
	// Silent: Kafka does not refuse without it, but leaves out what may not be seen,
	// without a word.
	Silent bool
	// Or, where there is one, is an ACL that serves as well.
	Or inspect.ACL
}

// Request is one row of the table.
type Request struct {
	ID RequestID
	// API is Kafka's name of it.
	API string
	// Needs are all needed; none for what every client may ask.
	Needs []Need
	// Lost is what is unknown without it.
	Lost string
}

// The ACLs.
var (
	describeCluster = inspect.ACL{Operation: inspect.OpDescribe, Resource: inspect.ResourceCluster}
	clusterAction   = inspect.ACL{Operation: inspect.OpClusterAction, Resource: inspect.ResourceCluster}
	clusterConfigs  = inspect.ACL{Operation: inspect.OpDescribeConfigs, Resource: inspect.ResourceCluster}
	describeTopic   = inspect.ACL{Operation: inspect.OpDescribe, Resource: inspect.ResourceTopic}
	topicConfigs    = inspect.ACL{Operation: inspect.OpDescribeConfigs, Resource: inspect.ResourceTopic}
	readTopic       = inspect.ACL{Operation: inspect.OpRead, Resource: inspect.ResourceTopic}
	describeGroup   = inspect.ACL{Operation: inspect.OpDescribe, Resource: inspect.ResourceGroup}
	describeTxnID   = inspect.ACL{Operation: inspect.OpDescribe, Resource: inspect.ResourceTransactionalID}
)

// Requests are all that kafkaops sends. Source of each: the handler of that name
// in Kafka's KafkaApis, and for quorum, reassignments, configs and the metadata log
// ControllerApis and ConfigHelper; tried on Kafka 4.4.0 with its StandardAuthorizer.
func Requests() []Request {
	need := func(acls ...inspect.ACL) []Need {
		needs := make([]Need, len(acls))
		for i, acl := range acls {
			needs[i].ACL = acl
		}
		return needs
	}
	silent := func(acl inspect.ACL) Need { return Need{ACL: acl, Silent: true} }
	return []Request{
		{ID: APIVersions, API: "ApiVersions"},
		{ID: DescribeCluster, API: "DescribeCluster"},
		{ID: Brokers, API: "Metadata"},
		{ID: Metadata, API: "Metadata", Needs: []Need{silent(describeTopic)}, Lost: "topics"},
		{ID: TopicPartitions, API: "DescribeTopicPartitions", Needs: []Need{silent(describeTopic)}, Lost: "topics"},
		{ID: ListOffsets, API: "ListOffsets", Needs: need(describeTopic), Lost: "HW, LEO and lag"},
		{ID: TopicConfigs, API: "DescribeConfigs", Needs: need(topicConfigs), Lost: "the topics' settings, min.insync.replicas among them: MIN, HEADROOM, under-min-isr, and so the verdict"},
		{ID: BrokerConfigs, API: "DescribeConfigs", Needs: need(clusterConfigs), Lost: "the brokers' settings"},
		{ID: Reassignments, API: "ListPartitionReassignments", Needs: need(describeCluster), Lost: "which replicas are being added or removed"},
		{ID: Quorum, API: "DescribeQuorum", Needs: need(describeCluster), Lost: "the controllers, and so the verdict"},
		{ID: LogDirs, API: "DescribeLogDirs", Needs: need(describeCluster), Lost: "the log directories: which are offline, how full they are, what is copied"},
		{ID: ListGroups, API: "ListGroups", Needs: []Need{{ACL: describeGroup, Silent: true, Or: describeCluster}}, Lost: "groups"},
		{ID: DescribeGroups, API: "DescribeGroups", Needs: need(describeGroup), Lost: "states and members"},
		{ID: ConsumerGroupDescribe, API: "ConsumerGroupDescribe", Needs: need(describeGroup, describeTopic), Lost: "states and members"},
		{ID: OffsetFetch, API: "OffsetFetch", Needs: []Need{{ACL: describeGroup}, silent(describeTopic)}, Lost: "commits, and so lag"},
		{ID: ListTransactions, API: "ListTransactions", Needs: []Need{silent(describeTxnID)}, Lost: "transactions"},
		{ID: DescribeTransactions, API: "DescribeTransactions", Needs: []Need{{ACL: describeTxnID}, silent(describeTopic)}, Lost: "since when and where they are open"},
		{ID: DescribeProducers, API: "DescribeProducers", Needs: need(readTopic), Lost: "who holds the LSO, and so what hangs"},
		{ID: DescribeACLs, API: "DescribeAcls", Needs: need(describeCluster), Lost: "whether the cluster has an authorizer"},
		{ID: MetadataLog, API: "Fetch", Needs: need(clusterAction), Lost: "the ISR's history, and since when and why partitions are unhealthy; isr --follow and export compare looks then, which is a lower bound"},
	}
}

// RequestOf is the row of a request.
func RequestOf(id RequestID) Request {
	all := Requests()
	i := slices.IndexFunc(all, func(r Request) bool { return r.ID == id })
	if i < 0 {
		return Request{ID: id, API: string(id)}
	}
	return all[i]
}

// MissingFor is the ACL that is missing where the API is refused because of this
// resource, which Kafka's error codes tell: TOPIC_AUTHORIZATION_FAILED is of a
// topic. Where the table has none, it is DESCRIBE, which all reading needs.
func MissingFor(api string, resource inspect.ResourceType) inspect.ACL {
	for _, r := range Requests() {
		if r.API != api {
			continue
		}
		for _, n := range r.Needs {
			for _, acl := range []inspect.ACL{n.ACL, n.Or} {
				if acl.Resource == resource {
					return acl
				}
			}
		}
	}
	return inspect.ACL{Operation: inspect.OpDescribe, Resource: resource}
}

// Answers reports whether a failure says that Kafka let the request pass, though
// what was asked for is not there, or not yet: it looks at the ACLs first.
func Answers(f *inspect.Failure) bool {
	switch f.Request {
	case "Metadata":
		return f.Topic != "" && f.Missing == (inspect.ACL{})
	case "ListOffsets":
		return f.Phase == inspect.PhaseRequest && slices.Contains([]string{"OFFSET_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER", "LEADER_NOT_AVAILABLE"}, f.Error)
	}
	return false
}

// Hint is what an error line says of a missing ACL.
func Hint(acl inspect.ACL) string { return "grant " + acl.String() }

// ACLs are all that the table names, in its order.
func ACLs() []inspect.ACL {
	return []inspect.ACL{describeCluster, clusterConfigs, describeTopic, topicConfigs, readTopic, describeGroup, describeTxnID, clusterAction}
}

// Caution is what an ACL allows beside what kafkaops needs it for, where that is
// more than to look; else empty.
func Caution(acl inspect.ACL) string {
	switch acl {
	case readTopic:
		return "READ on a topic also lets its holder consume the records"
	case clusterAction:
		return "CLUSTER_ACTION on the cluster also lets its holder act as a broker: fetch every topic's records as a follower, change ISRs, read SCRAM secrets"
	}
	return ""
}

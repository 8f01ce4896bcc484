package inspect

// Operation is what an ACL allows, in Kafka's words.
type Operation string

// The operations that reading needs.
const (
	OpRead            Operation = "READ"
	OpDescribe        Operation = "DESCRIBE"
	OpDescribeConfigs Operation = "DESCRIBE_CONFIGS"
	// OpClusterAction is what brokers have; see package isrlog for what it permits.
	OpClusterAction Operation = "CLUSTER_ACTION"
)

// ImpliedBy are the operations that Kafka's authorizer takes for this one as well
// (AuthorizerData.IMPLIES_DESCRIBE and IMPLIES_DESCRIBE_CONFIGS), beside ALL.
func (o Operation) ImpliedBy() []string {
	switch o {
	case OpDescribe:
		return []string{"READ", "WRITE", "DELETE", "ALTER"}
	case OpDescribeConfigs:
		return []string{"ALTER_CONFIGS"}
	}
	return nil
}

// ResourceType is what an ACL is about, in Kafka's words.
type ResourceType string

// The resource types that reading is about. The cluster is one resource; of the
// others there are many, each with its name.
const (
	ResourceCluster         ResourceType = "CLUSTER"
	ResourceTopic           ResourceType = "TOPIC"
	ResourceGroup           ResourceType = "GROUP"
	ResourceTransactionalID ResourceType = "TRANSACTIONAL_ID"
)

// Noun is the resource type as a sentence has it.
func (r ResourceType) Noun() string {
	switch r {
	case ResourceCluster:
		return "cluster"
	case ResourceTopic:
		return "topic"
	case ResourceGroup:
		return "group"
	case ResourceTransactionalID:
		return "transactional id"
	}
	return string(r)
}

// ACL is an operation on a kind of resource: what a request needs. The zero value
// is none.
type ACL struct {
	Operation Operation
	Resource  ResourceType
}

// String is such as "DESCRIBE on the topic".
func (a ACL) String() string { return string(a.Operation) + " on the " + a.Resource.Noun() }

// PartAccess asks what the credentials may do, beside what refusals tell: see
// [Access].
const PartAccess Parts = 1 << 13

// Access is what a broker tells of the credentials, with [PartAccess].
type Access struct {
	// Authorizer is false where the cluster has none: then whoever may connect may
	// do everything. By DescribeAcls, which says SECURITY_DISABLED there.
	Authorizer Opt[bool]
	// Everywhere says for an ACL whether it is granted on a name that nothing has,
	// by the prefix of that name: "" where all were asked about, else each prefix in
	// Asked. If so, then by a rule for all such names. What no broker told is not in
	// it.
	Everywhere map[ACL]map[string]bool
	// Named says the same of the exact names in Asked, be they there or not.
	Named map[ACL]map[string]bool
	// Asked is what was asked about, by resource; all that there are where it is
	// empty.
	Asked map[ResourceType]Scope
	// HiddenTopics are topics that have logs and that the credentials may not
	// describe, sorted, of those that were asked for: DescribeLogDirs shows every
	// topic to who has DESCRIBE on the cluster. Unknown where not all brokers told.
	HiddenTopics Opt[[]string]
	// ClosedConfigs are those of them, and of topics that were named and refused,
	// whose configs are refused as well.
	ClosedConfigs []string
	// MetadataLog: the active controller has answered a Fetch of its log, which takes
	// CLUSTER_ACTION. False says nothing, for it may not have been asked.
	MetadataLog bool
	// NoController: it was asked for, and no controller could be reached.
	NoController bool
}

// Scope is a choice of names; the zero value is all.
type Scope struct {
	// Names are exact. Prefixes are what names begin with. Globs are patterns that
	// are neither.
	Names, Prefixes, Globs []string
}

// All reports whether nothing is left out.
func (s *Scope) All() bool { return len(s.Names)+len(s.Prefixes)+len(s.Globs) == 0 }

// Exact reports whether all are named.
func (s *Scope) Exact() bool { return len(s.Names) > 0 && len(s.Prefixes)+len(s.Globs) == 0 }

package access

// Part is a part of a command's answer that some requests bring.
type Part struct {
	Name string
	// Requests are sent for it, each of which may be refused.
	Requests []RequestID
	// Optional: without it the command still answers what it is for.
	Optional bool
	// Beside: it is optional, and the command works without it.
	Beside bool
	// Guarded: what it needs allows more than to look, so that to lack it is no fault.
	Guarded bool
	// Flag is the flag that asks for it; empty for a part that is always there.
	Flag string
}

// Command is a command that asks a cluster.
type Command struct {
	// Path is its words without the program's name.
	Path  string
	Parts []Part
}

// Commands are all that ask a cluster, in the order of the README.
func Commands() []Command {
	partitions := Part{Name: "partitions", Requests: []RequestID{APIVersions, DescribeCluster, TopicPartitions, Metadata}}
	topics := Part{Name: "partitions", Requests: []RequestID{APIVersions, Metadata}}
	brokers := Part{Name: "brokers", Requests: []RequestID{APIVersions, DescribeCluster, Brokers}}
	offsets := Part{Name: "offsets", Requests: []RequestID{ListOffsets}}
	minISR := Part{Name: "min ISR", Requests: []RequestID{TopicConfigs}, Optional: true}
	moves := Part{Name: "reassignments", Requests: []RequestID{Reassignments}, Optional: true}
	quorum := Part{Name: "quorum", Requests: []RequestID{Quorum}, Optional: true}
	// Where neither the quorum nor a verdict is shown, it names the document's controller.
	controller := Part{Name: "controller", Requests: []RequestID{Quorum}, Optional: true, Beside: true}
	logDirs := Part{Name: "log dirs", Requests: []RequestID{LogDirs}, Optional: true}
	fenced := Part{Name: "fenced brokers", Requests: []RequestID{DescribeCluster}, Optional: true}
	log := Part{Name: "ISR history", Requests: []RequestID{MetadataLog}, Guarded: true}
	since := Part{Name: "since when", Requests: []RequestID{MetadataLog}, Optional: true, Beside: true, Guarded: true}
	settings := Part{Name: "brokers' settings", Requests: []RequestID{BrokerConfigs}, Optional: true}
	groups := Part{Name: "groups", Requests: []RequestID{ListGroups, DescribeGroups, ConsumerGroupDescribe, OffsetFetch}, Optional: true}
	// They compare looks where the log may not be read.
	events := Part{Name: "ISR events", Requests: []RequestID{MetadataLog}, Optional: true, Beside: true, Guarded: true}
	needed := func(p Part) Part {
		p.Optional = false
		return p
	}
	limits := Part{Name: "limits", Requests: []RequestID{ListOffsets}, Optional: true, Flag: "--max-lag"}
	return []Command{
		{"describe", []Part{partitions, minISR, moves, quorum, since}},
		{"describe topics", []Part{partitions, minISR, moves, controller, since}},
		{"describe brokers", []Part{brokers, topics, offsets, logDirs, moves, quorum}},
		{"describe quorum", []Part{{Name: "brokers", Requests: []RequestID{APIVersions, Brokers}}, needed(quorum)}},
		{"describe configs", []Part{
			topics, fenced,
			{Name: "topics' settings", Requests: []RequestID{TopicConfigs}, Optional: true},
			{Name: "brokers' settings", Requests: []RequestID{BrokerConfigs}, Optional: true},
			controller,
		}},
		{"describe log-dirs", []Part{brokers, needed(logDirs), controller}},
		{"describe reassignments", []Part{topics, needed(moves), {Name: "progress", Requests: []RequestID{LogDirs}, Optional: true}, controller}},
		{"describe features", []Part{brokers, controller}},
		{"describe transactions", []Part{
			topics, fenced, offsets,
			{Name: "transactions", Requests: []RequestID{ListTransactions, DescribeTransactions}},
			{Name: "producers", Requests: []RequestID{DescribeProducers}, Optional: true, Beside: true},
			controller,
		}},
		{"lag", []Part{topics, offsets, minISR, moves, controller}},
		{"lag groups", []Part{
			{Name: "groups", Requests: []RequestID{APIVersions, ListGroups}},
			{Name: "members", Requests: []RequestID{DescribeGroups, ConsumerGroupDescribe}, Optional: true},
			{Name: "commits", Requests: []RequestID{OffsetFetch}},
			{Name: "ends", Requests: []RequestID{Metadata, ListOffsets}},
			controller,
		}},
		{"isr", []Part{{Name: "brokers", Requests: []RequestID{APIVersions, Brokers}}, quorum, log}},
		{"isr summary", []Part{{Name: "brokers", Requests: []RequestID{APIVersions, Brokers}}, quorum, log}},
		{"record", []Part{partitions, offsets, minISR, settings, moves, logDirs, groups, quorum, events}},
		{"tune", []Part{partitions, offsets, minISR, settings, moves, quorum, events}},
		{"diagnose", []Part{
			partitions, offsets, minISR, settings, moves, logDirs, quorum,
			{Name: "transactions", Requests: []RequestID{ListTransactions, DescribeTransactions}, Optional: true},
			{Name: "producers", Requests: []RequestID{DescribeProducers}, Optional: true, Beside: true},
			events,
		}},
		{"check health", []Part{partitions, minISR, moves, quorum, limits}},
		{"export", []Part{
			topics, fenced, offsets, minISR, moves, logDirs,
			groups,
			{Name: "ELR", Requests: []RequestID{TopicPartitions}, Optional: true},
			quorum,
			{Name: "ISR causes", Requests: []RequestID{MetadataLog}, Optional: true, Beside: true, Guarded: true},
		}},
	}
}

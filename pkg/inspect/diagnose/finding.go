package diagnose

import (
	"cmp"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// ID names a kind of finding.
type ID string

// Severity says how soon somebody should look.
type Severity string

// The severities.
const (
	// SeverityInfo: nothing has to be done now.
	SeverityInfo Severity = "info"
	// SeverityWarning: redundancy is lost or will be, or something is slower than it was
	// built to be.
	SeverityWarning Severity = "warning"
	// SeverityCritical: clients are refused, or the next loss refuses them or loses data.
	SeverityCritical Severity = "critical"
)

func (s Severity) rank() int {
	return slices.Index([]Severity{SeverityCritical, SeverityWarning, SeverityInfo}, s)
}

// Finding is something that is wrong, with what it rests on and what to do.
type Finding struct {
	ID       ID
	Severity Severity
	// Title is a sentence without a full stop.
	Title string
	// Broker is the one that it is about, or that follows where it is about a link;
	// unknown where it is about none, or several.
	Broker inspect.Opt[inspect.BrokerID]
	// Topics are those concerned, sorted; empty where it is not about topics.
	Topics []string
	// Evidence are the figures that it rests on.
	Evidence []Figure
	// Explanation says what it means and why it is taken for that, Remedy what to do, in
	// sentences.
	Explanation, Remedy string
	// Next are commands to type now, those that show more first.
	Next []string
	// Symptoms are findings that this one accounts for.
	Symptoms []Finding

	// class orders what accounts for what.
	class class
	// about are the replicas concerned, reach those whose trouble this accounts for.
	about, reach replicaSet
}

// Figure is a number with its name; the unit ends the name, as in lagMs. Without one it
// is a count.
type Figure struct {
	Name  string
	Value float64
}

// class is how near to a root a finding is: one accounts for those of a higher class only.
type class uint8

const (
	// classRoot: machines, disks, networks, settings that make brokers come and go.
	classRoot class = iota
	// classBroker: a broker is not there.
	classBroker
	// classLeaders: leaders are not where they were meant to be.
	classLeaders
	// classLoad: a broker has more to do than the others.
	classLoad
	// classPace: a broker or a link is slow, or held back.
	classPace
	// classReplica: replicas are out of the ISR or do not catch up.
	classReplica
	// classWrites: what clients see of that.
	classWrites
	// classLeft: what it leaves behind.
	classLeft
	// classBuiltIn: weaknesses by settings, whatever happens. They account for nothing and
	// nothing for them.
	classBuiltIn
)

// replica is a replica of a partition.
type replica struct {
	inspect.TopicPartition
	broker inspect.BrokerID
}

// replicaSet is a set of replicas.
type replicaSet map[replica]bool

func (s replicaSet) add(p *inspect.Partition, ids ...inspect.BrokerID) {
	for _, id := range ids {
		s[replica{inspect.TopicPartition{Topic: p.Topic, Partition: p.Index}, id}] = true
	}
}

// partitions counts them, each once.
func (s replicaSet) partitions() int {
	seen := map[inspect.TopicPartition]bool{}
	for r := range s {
		seen[r.TopicPartition] = true
	}
	return len(seen)
}

// topics are their names, sorted.
func (s replicaSet) topics() []string {
	seen := map[string]bool{}
	for r := range s {
		seen[r.Topic] = true
	}
	out := make([]string, 0, len(seen))
	for name := range seen {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// within are the partitions of which a replica is in other.
func (s replicaSet) within(other replicaSet) map[inspect.TopicPartition]bool {
	out := map[inspect.TopicPartition]bool{}
	for r := range s {
		if other[r] {
			out[r.TopicPartition] = true
		}
	}
	return out
}

// compare ranks findings: the worst first, what happens before what is built in, then
// what accounts for more.
func (f *Finding) compare(o *Finding) int {
	builtIn := func(f *Finding) int {
		if f.class == classBuiltIn {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(f.Severity.rank(), o.Severity.rank()),
		cmp.Compare(builtIn(f), builtIn(o)),
		cmp.Compare(o.weight(), f.weight()),
		cmp.Compare(f.class, o.class),
		cmp.Compare(f.ID, o.ID),
		cmp.Compare(f.Broker.Or(inspect.NoBroker), o.Broker.Or(inspect.NoBroker)),
		cmp.Compare(f.Title, o.Title),
		slices.Compare(f.Topics, o.Topics),
	)
}

// weight is how many replicas it is about, its symptoms' included.
func (f *Finding) weight() int {
	all := replicaSet{}
	for r := range f.about {
		all[r] = true
	}
	for i := range f.Symptoms {
		for r := range f.Symptoms[i].about {
			all[r] = true
		}
	}
	return len(all)
}

// BuiltIn is a finding that another package made of settings: it stands for itself.
func BuiltIn(f Finding) Finding {
	f.class = classBuiltIn
	return f
}

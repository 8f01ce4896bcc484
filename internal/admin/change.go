package admin

import (
	"fmt"
	"strconv"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ScopeKind says whose a setting is.
type ScopeKind string

// The scopes.
const (
	ScopeTopic ScopeKind = "topic"
	// ScopeCluster is the default of all brokers, ScopeBroker one broker's own.
	ScopeCluster ScopeKind = "cluster"
	ScopeBroker  ScopeKind = "broker"
)

// Scope is where a setting is set. Name is a topic or a broker's id, "" for the cluster.
type Scope struct {
	Kind ScopeKind `json:"kind"`
	Name string    `json:"name"`
}

// String is such as "topic orders".
func (s Scope) String() string {
	if s.Kind == ScopeCluster {
		return "all brokers"
	}
	return string(s.Kind) + " " + s.Name
}

// resource is the scope as Kafka has it.
func (s Scope) resource() (kmsg.ConfigResourceType, string) {
	if s.Kind == ScopeTopic {
		return kmsg.ConfigResourceTypeTopic, s.Name
	}
	return kmsg.ConfigResourceTypeBroker, s.Name
}

// source is that of a value which is set there.
func (s Scope) source() kmsg.ConfigSource {
	switch s.Kind {
	case ScopeTopic:
		return kmsg.ConfigSourceDynamicTopicConfig
	case ScopeBroker:
		return kmsg.ConfigSourceDynamicBrokerConfig
	default:
		return kmsg.ConfigSourceDynamicDefaultBrokerConfig
	}
}

// needs is the ACL that changes it, and acl the one that reads it, as a person is told.
func (s Scope) needs(operation string) string {
	if s.Kind == ScopeTopic {
		return operation + " on topic " + s.Name
	}
	return operation + " on the cluster"
}

// flags are those of kafka-configs.sh.
func (s Scope) flags() string {
	switch s.Kind {
	case ScopeTopic:
		return "--topic " + s.Name
	case ScopeBroker:
		return "--broker " + s.Name
	default:
		return "--broker-defaults"
	}
}

// brokerID is that of ScopeBroker.
func (s Scope) brokerID() (int32, error) {
	id, err := strconv.ParseInt(s.Name, 10, 32)
	if err != nil || id < 0 {
		return 0, fmt.Errorf("broker %q: want an id", s.Name)
	}
	return int32(id), nil
}

// Change is a setting and what it is to be. Unknown takes it away at this scope, so that
// what lies beneath is in force.
type Change struct {
	Scope   Scope
	Setting string
	To      inspect.Opt[string]
	// Note is what else it does, for the plan; "" for nothing.
	Note string
}

// Step is a change in a plan.
type Step struct {
	Change
	// From is what is set at this scope before, unknown for nothing.
	From inspect.Opt[string]
	// InForce is what is in force before: of the topic, of the broker, or of the brokers
	// where they agree.
	InForce inspect.Opt[string]
	// Notes are what there is to know of it.
	Notes []string
}

// String is such as "topic orders: min.insync.replicas 1 -> 2".
func (s *Step) String() string {
	to := s.To.Or("not set")
	from := s.From.Or("not set")
	if !s.From.IsKnown() && s.InForce.IsKnown() {
		from += " (" + s.InForce.Or("") + " in force)"
	}
	return fmt.Sprintf("%s: %s %s -> %s", s.Scope, s.Setting, from, to)
}

// Undo is the command of Kafka's own tools that leads back.
func (s *Step) Undo() string { return command(s.Scope, s.Setting, s.From) }

// command of kafka-configs.sh that sets a value, or takes it away.
func command(scope Scope, setting string, to inspect.Opt[string]) string {
	change := "--delete-config " + setting
	if v, ok := to.Get(); ok {
		change = "--add-config " + setting + "=" + v
	}
	return "kafka-configs.sh --bootstrap-server HOST:PORT --alter " + scope.flags() + " " + change
}

// Plan is what is to be changed of a cluster, and how that was before.
type Plan struct {
	// ClusterID is of the cluster that was asked.
	ClusterID inspect.Opt[string]
	Steps     []Step
	// Skipped are lines about changes that are so already, Left about those that were
	// asked for and are not to be made.
	Skipped, Left []string
}

// byScope are the steps, those of one scope together: Kafka does all of them or none.
func (p *Plan) byScope() [][]*Step {
	var out [][]*Step
	at := map[Scope]int{}
	for i := range p.Steps {
		s := &p.Steps[i]
		g, ok := at[s.Scope]
		if !ok {
			g = len(out)
			at[s.Scope] = g
			out = append(out, nil)
		}
		out[g] = append(out[g], s)
	}
	return out
}

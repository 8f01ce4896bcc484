package tuning

// Advice is what to do about one setting, and why.
type Advice struct {
	// Setting is Kafka's name of it, Scope where it is set.
	Setting string
	Scope   Scope
	// Current is the value in force, "" where it is unknown. Values are written as
	// Kafka's tools take them.
	Current string
	// Recommended is what the evidence supports; "" where there is not enough of it.
	// It may be the current one.
	Recommended string
	// StartingPoint is what to begin with where Recommended is "". It comes from the
	// goal, not from this cluster.
	StartingPoint string
	// Why is for a person: what decided, or what is missing and how to get it.
	Why      string
	Evidence Evidence
	Bound    Bound
	// Expected is what is to be seen with Recommended, by the replay.
	Expected []Figure
	// Cost lists what applying it takes, Apply the commands or steps in their order,
	// Undo those that lead back.
	Cost        []Cost
	Apply, Undo []string
}

// ScopeKind says what a setting is set for.
type ScopeKind string

// The scopes.
const (
	ScopeCluster ScopeKind = "cluster"
	ScopeTopic   ScopeKind = "topic"
	ScopeBroker  ScopeKind = "broker"
	ScopeClient  ScopeKind = "client"
)

// Scope is what a setting is set for. Name is a topic or a broker's id, and "" for
// the cluster.
type Scope struct {
	Kind ScopeKind
	Name string
}

// Cost is what applying an advice takes.
type Cost string

// The costs.
const (
	// CostDynamic: at once, without a restart.
	CostDynamic Cost = "dynamic"
	// CostRestart: each broker in turn has to be restarted.
	CostRestart Cost = "restart"
	// CostClearsELR: the eligible leader replicas are forgotten (KIP-966), of the
	// topic, or of all topics where the setting is the cluster's.
	CostClearsELR Cost = "clears-elr"
)

// Evidence is what an advice rests on.
type Evidence struct {
	// N is how many independent observations there are, episodes for a lag time.
	N int
	// WindowMs is for how long was observed.
	WindowMs int64
	Figures  []Figure
}

// Figure is a number with its name; the unit ends the name, as in outMs.
type Figure struct {
	Name  string
	Value float64
}

// Bound is how far the evidence reaches, at 95 % to either side.
type Bound struct {
	// Low and High enclose the values that the same reasoning might have come to. ""
	// is open: the evidence does not exclude values further out.
	Low, High string
	// Text says it for a person; "" where nothing is recommended.
	Text string
}

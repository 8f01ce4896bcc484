package tuning

// Goal is what a cluster is for.
type Goal string

// The goals.
const (
	GoalBalanced   Goal = "balanced"
	GoalDurable    Goal = "durable"
	GoalThroughput Goal = "throughput"
	GoalLatency    Goal = "latency"
)

// Goals lists them all.
func Goals() []Goal { return []Goal{GoalBalanced, GoalDurable, GoalThroughput, GoalLatency} }

// Budget is what a goal puts up with.
type Budget struct {
	// RemovalsPerWeek is in how many episodes a week replicas may be removed that
	// would have come back by themselves.
	RemovalsPerWeek float64
	// StallMs is for how long a write with acks=all may wait for a follower that has
	// stopped: 1.5 times the lag time.
	StallMs int64
	// RefusedMsPerWeek is for how long writes with acks=all may be refused, ms a week.
	RefusedMsPerWeek int64
}

const week = 7 * 24 * 3_600_000

// Producers give up a request after request.timeout.ms and send it again, and give up
// the record after delivery.timeout.ms: the defaults of Kafka's own.
const (
	requestTimeoutMs  = 30_000
	deliveryTimeoutMs = 120_000
)

// BudgetOf is what a goal puts up with where nobody says otherwise.
func BudgetOf(g Goal) Budget {
	switch g {
	case GoalDurable:
		// Removals make copies fewer, so they cost as much as with balanced; being
		// refused is what durability is bought with.
		return Budget{RemovalsPerWeek: 1, StallMs: requestTimeoutMs, RefusedMsPerWeek: week}
	case GoalThroughput:
		// Writers that do not wait are not stalled: only what a producer gives up counts.
		return Budget{RemovalsPerWeek: 0.25, StallMs: deliveryTimeoutMs * 3 / 4, RefusedMsPerWeek: 10 * 60_000}
	case GoalLatency:
		return Budget{RemovalsPerWeek: 7, StallMs: requestTimeoutMs * 3 / 4, RefusedMsPerWeek: 10 * 60_000}
	default:
		return Budget{RemovalsPerWeek: 1, StallMs: requestTimeoutMs * 3 / 2, RefusedMsPerWeek: 10 * 60_000}
	}
}

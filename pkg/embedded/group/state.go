package group

// State is a group's, by the name that Kafka shows (ClassicGroupState).
//
//	Empty               -> PreparingRebalance   the first member joins
//	PreparingRebalance  -> CompletingRebalance  all have joined, or their time is up
//	PreparingRebalance  -> Empty                nobody is left
//	CompletingRebalance -> Stable               the leader's assignment is committed
//	CompletingRebalance -> PreparingRebalance   a member joins, leaves or is lost
//	Stable              -> PreparingRebalance   the same, or the leader joins
//
// Dead is the state of a group that there is not.
type State string

// The states.
const (
	Empty               State = "Empty"
	PreparingRebalance  State = "PreparingRebalance"
	CompletingRebalance State = "CompletingRebalance"
	Stable              State = "Stable"
	Dead                State = "Dead"
)

package isrrule

// ShrinkCheckMs is how often a leader looks for members to drop
// (ReplicaManager.startup, task isr-expiration). A follower that stops therefore
// leaves between 1 and 1.5 times lagMaxMs after it was last caught up.
func ShrinkCheckMs(lagMaxMs int64) int64 { return lagMaxMs / 2 }

// Leader is what a leader compares its followers with, at one moment.
type Leader[ID comparable] struct {
	ID  ID
	LEO int64
}

// OutOfSync lists the members of the committed ISR that the leader asks the
// controller to drop, in the order of isr and all in one request
// (Partition.getOutOfSyncReplicas). progress returns the leader's record of a
// follower; a member it has none of is out of sync (Partition.isFollowerOutOfSync).
//
// Kafka asks only while no other change of the ISR is in flight; that is the
// caller's to know.
func OutOfSync[ID comparable](
	isr []ID, leader Leader[ID], progress func(ID) (Progress, bool), nowMs, lagMaxMs int64,
) []ID {
	var out []ID
	for _, id := range isr {
		if id == leader.ID {
			continue
		}
		p, ok := progress(id)
		if !ok || !p.CaughtUp(leader.LEO, nowMs, lagMaxMs) {
			out = append(out, id)
		}
	}
	return out
}

package inspect

import "slices"

// Status is one word about a partition. [Partition.Health] gives a list of
// them; StatusOK stands alone.
type Status string

// The status words, worst first: the order in which a partition lists them.
const (
	// StatusOffline: no leader; nothing can be written or read.
	StatusOffline Status = "offline"
	// StatusUnderMinISR: fewer in-sync replicas than the effective minimum;
	// acks=all writes are refused and the HW stands still.
	StatusUnderMinISR Status = "under-min-isr"
	// StatusAtMinISR: it has lost a replica and the next loss refuses acks=all.
	StatusAtMinISR Status = "at-min-isr"
	// StatusUnderReplicated: an assigned replica, not counting those that a
	// reassignment is adding, is not in the ISR.
	StatusUnderReplicated Status = "under-replicated"
	// StatusUnknown: an answer that the words above need is missing.
	StatusUnknown Status = "unknown"
	// StatusWrongLeader: it is led by another than its preferred leader.
	StatusWrongLeader Status = "wrong-leader"
	// StatusReassigning: replicas are being added or removed.
	StatusReassigning Status = "reassigning"
	// StatusOK: none of the above.
	StatusOK Status = "ok"
)

// FindingID names what is built into a partition rather than happening to it;
// it never changes a status or a verdict.
type FindingID string

// The findings of a single partition.
const (
	// FindingSingleReplica: the loss of one broker takes it offline.
	FindingSingleReplica FindingID = "single-replica"
	// FindingNoHeadroom: the effective minimum equals the number of replicas, so
	// that the loss of any one refuses acks=all.
	FindingNoHeadroom FindingID = "no-headroom"
	// FindingMinISRExceedsRF: min.insync.replicas is above the number of
	// replicas, where Kafka silently uses the latter (KAFKA-15583).
	FindingMinISRExceedsRF FindingID = "min-isr-exceeds-rf"
)

// Health is what [Partition.Health] says of one partition.
type Health struct {
	// Status is never empty.
	Status []Status
	// EffectiveMinISR is min(min.insync.replicas, number of replicas), as
	// Partition.effectiveMinIsr computes it since Kafka 3.7.
	EffectiveMinISR Opt[int32]
	// Headroom is |ISR| − EffectiveMinISR: how many more replicas may leave
	// before acks=all is refused. Negative when it is refused now.
	Headroom Opt[int32]
	// OutOfSync are the replicas that make it under-replicated, in assignment
	// order; those that a reassignment is adding are not among them.
	OutOfSync []BrokerID
	Findings  []FindingID
}

// Has reports whether the word is among the statuses.
func (h *Health) Has(s Status) bool { return slices.Contains(h.Status, s) }

// Unhealthy reports whether the partition belongs in the list of an operator who
// asks what is wrong: offline, under or at min ISR, under-replicated or unknown.
func (h *Health) Unhealthy() bool {
	return h.Has(StatusOffline) || h.Has(StatusUnderMinISR) || h.Has(StatusAtMinISR) ||
		h.Has(StatusUnderReplicated) || h.Has(StatusUnknown)
}

// Health judges the partition by the rules of the running broker, not by those
// of kafka-topics.sh: the minimum is the effective one, and replicas count by
// membership, so that one which is being added cannot stand in for a lost one.
// [Partition.RawHealth] has kafka-topics.sh's rules.
func (p *Partition) Health() Health {
	h := Health{OutOfSync: p.outOfSync()}
	isr := int32(len(p.ISR))
	if len(p.Replicas) == 1 {
		h.Findings = append(h.Findings, FindingSingleReplica)
	}
	if configured, ok := p.MinInsyncReplicas.Get(); ok {
		rf := int32(len(p.Replicas))
		effective := min(configured, rf)
		h.EffectiveMinISR = Known(effective)
		h.Headroom = Known(isr - effective)
		if effective >= rf {
			h.Findings = append(h.Findings, FindingNoHeadroom)
		}
		if configured > rf {
			h.Findings = append(h.Findings, FindingMinISRExceedsRF)
		}
	}
	h.Status = p.words(&h)
	return h
}

func (p *Partition) words(h *Health) []Status {
	var words []Status
	add := func(when bool, s Status) {
		if when {
			words = append(words, s)
		}
	}
	lost := len(h.OutOfSync) > 0
	headroom, minKnown := h.Headroom.Get()
	add(p.Leader == NoBroker, StatusOffline)
	// An empty ISR is below every possible minimum, so that needs no config.
	add(minKnown && headroom < 0 || len(p.ISR) == 0, StatusUnderMinISR)
	add(minKnown && headroom == 0 && lost, StatusAtMinISR)
	add(lost, StatusUnderReplicated)
	add(!minKnown || !p.Adding.IsKnown(), StatusUnknown)
	add(p.Leader != NoBroker && p.Leader != p.PreferredLeader(), StatusWrongLeader)
	add(p.Reassigning(), StatusReassigning)
	if len(words) == 0 {
		words = append(words, StatusOK)
	}
	return words
}

// PreferredLeader is the first replica of the assignment, or NoBroker where
// there are none.
func (p *Partition) PreferredLeader() BrokerID {
	if len(p.Replicas) == 0 {
		return NoBroker
	}
	return p.Replicas[0]
}

// OneCopyLeft reports whether one in-sync replica is all that is left of several.
func (p *Partition) OneCopyLeft() bool {
	return len(p.ISR) == 1 && len(p.Replicas) > 1 && len(p.outOfSync()) > 0
}

// Reassigning reports whether a reassignment is certainly under way: some
// replica is being added or removed, and all of those are still in the
// assignment. Where one is not, the reassignment ended between the two requests
// and its answer no longer describes this assignment.
func (p *Partition) Reassigning() bool {
	adding, removing := p.Adding.Or(nil), p.Removing.Or(nil)
	if len(adding)+len(removing) == 0 {
		return false
	}
	for _, changing := range [][]BrokerID{adding, removing} {
		for _, id := range changing {
			if !slices.Contains(p.Replicas, id) {
				return false
			}
		}
	}
	return true
}

// outOfSync lists replicas that are not in the ISR and are not being added.
// Where it is unknown which are being added, none is excused: a lost replica
// must not hide behind a refused ListPartitionReassignments.
func (p *Partition) outOfSync() []BrokerID {
	var adding []BrokerID
	if p.Reassigning() {
		adding = p.Adding.Or(nil)
	}
	var out []BrokerID
	for _, id := range p.Replicas {
		if !slices.Contains(p.ISR, id) && !slices.Contains(adding, id) {
			out = append(out, id)
		}
	}
	return out
}

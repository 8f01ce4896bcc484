package controller

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

// noBroker stands where no broker is meant.
const noBroker int32 = -1

// election says how far an election may go.
type election int8

const (
	electOnline    election = iota // keep the leader if it can lead, else any clean one
	electPreferred                 // the first replica, if it can lead
	electUnclean                   // rather a leader that lost records than none
)

// change is a change of one partition in the making: what its old state is, what
// its lists are to become, and who could lead. record works out the rest. It is
// Kafka's PartitionChangeBuilder of 4.4.0.
type change struct {
	old        *kraft.Partition
	minISR     int // effective
	elr        bool
	election   election
	acceptable func(broker int32) bool // alive, with the replica's directory online
	defaultDir func(broker int32) kraft.UUID

	// What the partition is to have. isr and eligible are this struct's own.
	isr, replicas, adding, removing []int32
	eligible                        []int32
	recovery                        kraft.RecoveryState
	// lost is a broker that came back without proof of a clean stop, so that its
	// unsynced records may be gone: not in the ELR either (KIP-966). Else noBroker.
	lost int32
}

// record returns the record that makes the change, or nil if there is none.
func (ch *change) record() *kraft.PartitionChange {
	rec := kraft.NewPartitionChange(ch.old.TopicID, ch.old.PartitionID)
	ch.completeReassignment()
	ch.keepEligible()
	ch.elect(rec)
	ch.bumpLeaderEpoch(rec)
	ch.setISR(rec)
	ch.setLastKnownLeader(rec)
	ch.setAssignment(rec)
	if ch.recovery != ch.old.LeaderRecoveryState {
		rec.LeaderRecoveryState = ch.recovery
	}
	if changesNothing(rec) {
		return nil
	}
	return rec
}

// keepEligible works out the ELR (KIP-966, maybePopulateTargetElr). An ISR of min
// ISR size advances the high watermark without the others, so they stop being
// eligible; below it the high watermark stands still, so whoever left the ISR has
// all committed records, unless its disk lost them. Kafka 4.4.0 keeps one in the
// ELR that a reassignment takes away, and with it its log; if it came back by
// another, it could lead without any.
func (ch *change) keepEligible() {
	switch {
	case !ch.elr:
	case len(ch.isr) >= ch.minISR:
		ch.eligible = nil
	default:
		candidates := append(slices.Clone(ch.eligible), ch.old.ISR...)
		candidates = without(candidates, append([]int32{ch.lost}, ch.isr...)...)
		candidates = slices.DeleteFunc(candidates, func(id int32) bool { return !slices.Contains(ch.replicas, id) })
		slices.Sort(candidates)
		ch.eligible = slices.Compact(candidates)
	}
}

// elect chooses the leader (tryElection). An unclean one starts with an ISR of
// itself and is recovering until it says otherwise (KIP-704).
func (ch *change) elect(rec *kraft.PartitionChange) {
	leader, unclean := ch.winner()
	if leader == ch.old.Leader {
		return
	}
	rec.Leader = leader
	if slices.Contains(ch.eligible, leader) {
		ch.isr, ch.eligible = []int32{leader}, without(ch.eligible, leader)
	}
	if unclean {
		rec.ISR, ch.recovery = []int32{leader}, kraft.Recovering
	}
}

// winner is electLeader: the leader that there is stays if it may; else the first
// in the order of assignment, not the one with the longest log.
func (ch *change) winner() (leader int32, unclean bool) {
	if ch.election == electPreferred && ch.valid(ch.replicas[0]) {
		return ch.replicas[0], false
	}
	if ch.valid(ch.old.Leader) {
		return ch.old.Leader, false
	}
	if i := slices.IndexFunc(ch.replicas, ch.valid); i >= 0 {
		return ch.replicas[i], false
	}
	if id, ok := ch.lastKnownLeader(); ok {
		return id, true
	}
	if ch.election == electUnclean {
		if i := slices.IndexFunc(ch.replicas, ch.acceptable); i >= 0 {
			return ch.replicas[i], true
		}
	}
	return kraft.NoLeader, false
}

// valid is isValidNewLeader: an ISR member, or with an empty ISR one of the ELR.
func (ch *change) valid(id int32) bool {
	eligible := slices.Contains(ch.isr, id) || len(ch.isr) == 0 && slices.Contains(ch.eligible, id)
	return eligible && ch.acceptable(id)
}

// lastKnownLeader is canElectLastKnownLeader: with ISR and ELR empty, the last one
// that led is the best there is (KIP-966), whatever the topic says of unclean
// elections.
func (ch *change) lastKnownLeader() (int32, bool) {
	if !ch.elr || len(ch.isr) > 0 || len(ch.eligible) > 0 || len(ch.old.LastKnownELR) != 1 {
		return noBroker, false
	}
	id := ch.old.LastKnownELR[0]
	return id, ch.acceptable(id)
}

// bumpLeaderEpoch names the leader again if a replica goes away, so that a
// replica that is no longer one is fenced (KIP-455,
// triggerLeaderEpochBumpForReplicaReassignmentIfNeeded). An ISR shrink alone
// bumps no leader epoch since metadata.version 3.6 (KAFKA-15021).
func (ch *change) bumpLeaderEpoch(rec *kraft.PartitionChange) {
	if rec.Leader == kraft.NoLeaderChange && len(without(ch.old.Replicas, ch.replicas...)) > 0 {
		rec.Leader = ch.old.Leader
	}
}

// setISR sets ISR and ELR where they changed (maybeUpdateRecordElr). Without ELRs
// the last member stays in the ISR, leaderless.
func (ch *change) setISR(rec *kraft.PartitionChange) {
	unclean := rec.ISR != nil
	if unclean || !ch.elr {
		ch.eligible = nil
	}
	if !unclean && (len(ch.isr) > 0 || ch.elr) {
		rec.ISR = changed(ch.old.ISR, ch.isr)
	}
	rec.EligibleLeaderReplicas = changed(ch.old.EligibleLeaderReplicas, ch.eligible)
}

// setLastKnownLeader remembers who led last while nobody does
// (maybeUpdateLastKnownLeader).
func (ch *change) setLastKnownLeader(rec *kraft.PartitionChange) {
	switch {
	case !ch.elr:
	case rec.Leader == kraft.NoLeader && ch.old.Leader != kraft.NoLeader && len(ch.old.LastKnownELR) == 0:
		rec.LastKnownELR = []int32{ch.old.Leader}
	case rec.Leader >= 0 && len(ch.old.LastKnownELR) > 0:
		rec.LastKnownELR = []int32{}
	}
}

// setAssignment sets what a reassignment changed, with a directory for each
// replica (KIP-858).
func (ch *change) setAssignment(rec *kraft.PartitionChange) {
	rec.Replicas = changed(ch.old.Replicas, ch.replicas)
	rec.RemovingReplicas = changed(ch.old.RemovingReplicas, ch.removing)
	rec.AddingReplicas = changed(ch.old.AddingReplicas, ch.adding)
	if rec.Replicas == nil {
		return
	}
	directories := make([]kraft.UUID, len(ch.replicas))
	for i, id := range ch.replicas {
		if j := slices.Index(ch.old.Replicas, id); j >= 0 {
			directories[i] = ch.old.Directories[j]
		} else {
			directories[i] = ch.defaultDir(id)
		}
	}
	if !slices.Equal(directories, ch.old.Directories) {
		rec.Directories = directories
	}
}

// changed is after as a record's list: nil if it is the same.
func changed(before, after []int32) []int32 {
	if slices.Equal(before, after) {
		return nil
	}
	return append([]int32{}, after...)
}

func changesNothing(rec *kraft.PartitionChange) bool {
	return rec.ISR == nil && rec.Leader == kraft.NoLeaderChange && rec.LeaderRecoveryState == kraft.RecoveryNoChange &&
		rec.Replicas == nil && rec.RemovingReplicas == nil && rec.AddingReplicas == nil &&
		rec.EligibleLeaderReplicas == nil && rec.LastKnownELR == nil && rec.Directories == nil
}

// without returns the list less those, in its order, as a list of its own.
func without(list []int32, those ...int32) []int32 {
	return slices.DeleteFunc(slices.Clone(list), func(id int32) bool { return slices.Contains(those, id) })
}

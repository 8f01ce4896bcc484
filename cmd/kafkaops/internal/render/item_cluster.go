package render

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Counts are the numbers of a cluster, part of ClusterItem and HealthItem. They
// are of what was described: where a topic was not, an error says so.
type Counts struct {
	// Brokers counts those that are registered and not fenced; BrokersAnswering
	// those of them that answered, null where not every one was asked.
	Brokers          int              `json:"brokers"`
	BrokersAnswering inspect.Opt[int] `json:"brokersAnswering"`
	Topics           int              `json:"topics"`
	Partitions       int              `json:"partitions"`
	// Partitions by status word; one counts under each word that it has.
	UnderReplicated int `json:"underReplicated"`
	UnderMinISR     int `json:"underMinIsr"`
	AtMinISR        int `json:"atMinIsr"`
	Offline         int `json:"offline"`
	Reassigning     int `json:"reassigning"`
	WrongLeader     int `json:"wrongLeader"`
	Unknown         int `json:"unknown"`
}

// ClusterItem is the one item of kind Cluster.
type ClusterItem struct {
	Counts
	// Verdict is unavailable, at-risk, degraded, unknown or ok.
	Verdict inspect.Level `json:"verdict"`
	// Reasons are sentences, the worst first; empty when ok.
	Reasons []string `json:"reasons"`
	// Unhealthy are the partitions with offline, under-min-isr, at-min-isr,
	// under-replicated or unknown in their status.
	Unhealthy []PartitionItem `json:"unhealthy"`
	// Findings are weaknesses that are built in; they never change the verdict.
	Findings []FindingItem `json:"findings"`
}

// FindingItem is a weakness by construction.
type FindingItem struct {
	ID    inspect.FindingID `json:"id"`
	Title string            `json:"title"`
	// Topics that have it, sorted.
	Topics []string `json:"topics"`
}

// HealthItem is the one item of kind Health.
type HealthItem struct {
	Verdict inspect.Level `json:"verdict"`
	Reasons []string      `json:"reasons"`
	Counts
	// MaxLag is the largest certain lag of any replica in records, and
	// MaxUncommitted the largest certain LEO − HW of any partition. Null where no
	// offset was asked or answered; where only some were, LagUnknown counts the
	// replicas, and UncommittedUnknown the partitions, that are not in it.
	MaxLag             inspect.Opt[int64] `json:"maxLag"`
	MaxUncommitted     inspect.Opt[int64] `json:"maxUncommitted"`
	LagUnknown         inspect.Opt[int]   `json:"lagUnknown"`
	UncommittedUnknown inspect.Opt[int]   `json:"uncommittedUnknown"`
}

func newCounts(s *inspect.Snapshot, v *inspect.Verdict) Counts {
	c := &v.Counts
	return Counts{
		Brokers: c.BrokersRegistered, BrokersAnswering: answering(s),
		Topics: c.Topics, Partitions: c.Partitions,
		UnderReplicated: c.UnderReplicated, UnderMinISR: c.UnderMinISR, AtMinISR: c.AtMinISR,
		Offline: c.Offline, Reassigning: c.Reassigning, WrongLeader: c.WrongLeader, Unknown: c.Unknown,
	}
}

// answering counts brokers that are up; unknown unless all that are not fenced
// were asked.
func answering(s *inspect.Snapshot) inspect.Opt[int] {
	n := 0
	for i := range s.Brokers {
		b := &s.Brokers[i]
		if b.Fenced.Or(false) {
			continue
		}
		up, asked := b.Reachable.Get()
		if !asked {
			return inspect.Unknown[int]()
		}
		if up {
			n++
		}
	}
	return inspect.Known(n)
}

// NewClusterItem is the item of describe.
func NewClusterItem(s *inspect.Snapshot, v *inspect.Verdict) ClusterItem {
	item := ClusterItem{
		Counts: newCounts(s, v), Verdict: v.Level, Reasons: list(v.Reasons),
		Unhealthy: PartitionItems(v.Unhealthy), Findings: []FindingItem{},
	}
	for _, f := range v.Findings {
		item.Findings = append(item.Findings, FindingItem{f.ID, f.Title, list(slices.Clone(f.Topics))})
	}
	return item
}

// NewHealthItem is the item of check health.
func NewHealthItem(s *inspect.Snapshot, v *inspect.Verdict) HealthItem {
	item := HealthItem{Counts: newCounts(s, v), Verdict: v.Level, Reasons: list(v.Reasons)}
	if !s.Asked.Has(inspect.PartOffsets) {
		return item
	}
	lagUnknown, uncommittedUnknown := 0, 0
	for p := range s.Partitions {
		l := p.Lag()
		item.MaxUncommitted = larger(item.MaxUncommitted, l.Uncommitted)
		item.MaxLag = larger(item.MaxLag, l.MaxLag())
		if !l.Uncommitted.IsKnown() {
			uncommittedUnknown++
		}
		for i := range l.Replicas {
			if !l.Replicas[i].Lag.IsKnown() {
				lagUnknown++
			}
		}
	}
	item.LagUnknown, item.UncommittedUnknown = inspect.Known(lagUnknown), inspect.Known(uncommittedUnknown)
	return item
}

func larger(a, b inspect.Opt[int64]) inspect.Opt[int64] {
	n, ok := b.Get()
	if most, known := a.Get(); !ok || known && most >= n {
		return a
	}
	return b
}

package render

import (
	"fmt"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Counts are the numbers of a cluster, part of ClusterItem and HealthItem. They
// are of what was described: where a topic was not, an error says so.
type Counts struct {
	// Brokers counts those that are registered and not fenced; BrokersAnswering
	// those of them that answered, null where not every one was asked;
	// BrokersFenced those that the controller does not hear from, null where the
	// cluster does not tell (before Kafka 4.0).
	Brokers          int              `json:"brokers"`
	BrokersAnswering inspect.Opt[int] `json:"brokersAnswering"`
	BrokersFenced    inspect.Opt[int] `json:"brokersFenced"`
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
	MaxLag         inspect.Opt[int64] `json:"maxLag"`
	MaxUncommitted inspect.Opt[int64] `json:"maxUncommitted"`
	// MaxLagAt and MaxUncommittedAt are where those were seen, the first by topic,
	// partition and replica where there are several; null where there is none.
	MaxLagAt           *PlaceItem       `json:"maxLagAt"`
	MaxUncommittedAt   *PlaceItem       `json:"maxUncommittedAt"`
	LagUnknown         inspect.Opt[int] `json:"lagUnknown"`
	UncommittedUnknown inspect.Opt[int] `json:"uncommittedUnknown"`
	// UncommittedAgeMs is how long, at least, a record has certainly waited for its
	// commit: the time between two looks; 0 where nothing that the first one saw was
	// left. Null without --max-uncommitted-age, and where none is known to have waited
	// and not all are known. UncommittedAged counts the partitions that have
	// one, UncommittedAgeAt is the first of them, and UncommittedAgeUnknown counts
	// those of which it is not known.
	UncommittedAgeMs      inspect.Opt[int64] `json:"uncommittedAgeMs"`
	UncommittedAgeAt      *PlaceItem         `json:"uncommittedAgeAt"`
	UncommittedAged       inspect.Opt[int]   `json:"uncommittedAged"`
	UncommittedAgeUnknown inspect.Opt[int]   `json:"uncommittedAgeUnknown"`
}

// Aged is what was seen of records that wait for their commit: by two looks, For
// apart. For is unknown where nobody looked twice.
type Aged struct {
	For     inspect.Opt[time.Duration]
	Waiting inspect.Waiting
}

// PlaceItem is a replica, or a partition where no broker is named.
type PlaceItem struct {
	Topic     string                        `json:"topic"`
	Partition int32                         `json:"partition"`
	Broker    inspect.Opt[inspect.BrokerID] `json:"broker"`
}

// String is payments-4, or payments-4 on broker 3.
func (p *PlaceItem) String() string {
	if p == nil {
		return Unknown
	}
	name := fmt.Sprintf("%s-%d", p.Topic, p.Partition)
	if id, ok := p.Broker.Get(); ok {
		name += fmt.Sprintf(" on broker %d", id)
	}
	return name
}

func newCounts(s *inspect.Snapshot, v *inspect.Verdict) Counts {
	c := &v.Counts
	return Counts{
		Brokers: c.BrokersRegistered, BrokersAnswering: answering(s), BrokersFenced: c.BrokersFenced,
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
func NewHealthItem(s *inspect.Snapshot, v *inspect.Verdict, aged *Aged) HealthItem {
	item := HealthItem{Counts: newCounts(s, v), Verdict: v.Level, Reasons: list(v.Reasons)}
	item.addAged(aged)
	if !s.Asked.Has(inspect.PartOffsets) {
		return item
	}
	lagUnknown, uncommittedUnknown := 0, 0
	for p := range s.Partitions {
		l := p.Lag()
		if n, ok := l.Uncommitted.Get(); !ok {
			uncommittedUnknown++
		} else if larger(n, item.MaxUncommitted) {
			item.MaxUncommitted, item.MaxUncommittedAt = l.Uncommitted, &PlaceItem{Topic: p.Topic, Partition: p.Index}
		}
		for i := range l.Replicas {
			r := &l.Replicas[i]
			if n, ok := r.Lag.Get(); !ok {
				lagUnknown++
			} else if larger(n, item.MaxLag) {
				item.MaxLag, item.MaxLagAt = r.Lag, &PlaceItem{p.Topic, p.Index, inspect.Known(r.Broker)}
			}
		}
	}
	item.LagUnknown, item.UncommittedUnknown = inspect.Known(lagUnknown), inspect.Known(uncommittedUnknown)
	return item
}

func (h *HealthItem) addAged(a *Aged) {
	apart, ok := a.For.Get()
	if !ok {
		return
	}
	found := a.Waiting.Partitions
	h.UncommittedAged, h.UncommittedAgeUnknown = inspect.Known(len(found)), inspect.Known(a.Waiting.Unknown)
	switch {
	case len(found) > 0:
		h.UncommittedAgeMs = inspect.Known(apart.Milliseconds())
		h.UncommittedAgeAt = &PlaceItem{Topic: found[0].Topic, Partition: found[0].Partition}
	case a.Waiting.Unknown == 0:
		h.UncommittedAgeMs = inspect.Known[int64](0)
	}
}

func larger(n int64, than inspect.Opt[int64]) bool {
	most, known := than.Get()
	return !known || n > most
}

package render

import (
	"cmp"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
)

// LagRow is one partition as lag shows it.
type LagRow struct {
	Partition *inspect.Partition
	Lag       inspect.PartitionLag
	Health    inspect.Health
	// Timing is nil where no samples were taken.
	Timing *PartitionTiming
	// Notes are sentences about the partition, such as that its HW is frozen and
	// what that proves.
	Notes []string
}

// NewLagRow is the row of a partition by the rules of the running broker,
// without samples.
func NewLagRow(p *inspect.Partition) LagRow {
	return LagRow{Partition: p, Lag: p.Lag(), Health: p.Health()}
}

// PartitionTiming is what samples over time tell of a partition.
type PartitionTiming struct {
	// AppendPerSecond and CommitPerSecond are the growth of LEO and HW in records.
	AppendPerSecond, CommitPerSecond inspect.Opt[float64]
	// HWFrozenMs is how long the HW has not moved with records above it; 0 where
	// it moves.
	HWFrozenMs inspect.Opt[int64]
	// Replicas in any order; one that is missing is unknown.
	Replicas []ReplicaTiming
}

// ReplicaTiming is what samples over time tell of a replica.
type ReplicaTiming struct {
	Broker inspect.BrokerID
	// LagMs is its time lag. Where it was behind in every sample, that is unknown
	// and LagMsAtLeast is the lower bound.
	LagMs, LagMsAtLeast inspect.Opt[int64]
	// FetchPerSecond is the growth of its LEO, LagPerSecond that of its lag
	// (negative while it catches up), in records.
	FetchPerSecond, LagPerSecond inspect.Opt[float64]
	// CatchUpMs is how long it will take at this rate.
	CatchUpMs inspect.Opt[int64]
	// Trend is where its lag is going; empty without samples.
	Trend history.Trend
}

func (t *PartitionTiming) replica(id inspect.BrokerID) ReplicaTiming {
	if t != nil {
		for i := range t.Replicas {
			if t.Replicas[i].Broker == id {
				return t.Replicas[i]
			}
		}
	}
	return ReplicaTiming{Broker: id}
}

// LagItem is one partition of kind ReplicaLag. Offsets are null where they were
// not answered, and all but the replicas' own where there is no leader.
type LagItem struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Leader is null where the partition has none.
	Leader      inspect.Opt[inspect.BrokerID] `json:"leader"`
	LeaderEpoch inspect.Opt[inspect.Epoch]    `json:"leaderEpoch"`
	// LogStartOffset ≤ LastStableOffset ≤ HighWatermark ≤ LogEndOffset.
	LogStartOffset   inspect.Opt[inspect.Offset] `json:"logStartOffset"`
	LastStableOffset inspect.Opt[inspect.Offset] `json:"lastStableOffset"`
	HighWatermark    inspect.Opt[inspect.Offset] `json:"highWatermark"`
	LogEndOffset     inspect.Opt[inspect.Offset] `json:"logEndOffset"`
	// Uncommitted is LEO − HW in records, the least that it can have been;
	// UncommittedMax the most.
	Uncommitted    inspect.Opt[int64] `json:"uncommitted"`
	UncommittedMax inspect.Opt[int64] `json:"uncommittedMax"`
	// ISR is sorted. The minimums are null where the configuration could not be
	// read.
	ISR                        []inspect.BrokerID `json:"isr"`
	MinInsyncReplicas          inspect.Opt[int32] `json:"minInsyncReplicas"`
	EffectiveMinInsyncReplicas inspect.Opt[int32] `json:"effectiveMinInsyncReplicas"`
	Status                     []inspect.Status   `json:"status"`
	// Replicas is in assignment order.
	Replicas []ReplicaLagItem `json:"replicas"`
	// Rates and HWFrozenMs are null without samples. HWFrozenMs is how long the
	// HW has stood with records above it, in milliseconds; 0 where it moves.
	Rates      *RatesItem         `json:"rates"`
	HWFrozenMs inspect.Opt[int64] `json:"hwFrozenMs"`
	// Notes are sentences for people; their words may change.
	Notes    []string `json:"notes"`
	Internal bool     `json:"internal"`
}

// RatesItem are records a second; null where two samples did not know them.
type RatesItem struct {
	AppendPerSecond inspect.Opt[float64] `json:"appendPerSecond"`
	CommitPerSecond inspect.Opt[float64] `json:"commitPerSecond"`
}

// ReplicaLagItem is one replica.
type ReplicaLagItem struct {
	Broker inspect.BrokerID `json:"broker"`
	// LogEndOffset is the replica's own.
	LogEndOffset inspect.Opt[inspect.Offset] `json:"logEndOffset"`
	// Lag is how many records it was certainly behind its leader, LagMax how many
	// it can have been; null without a leader.
	Lag    inspect.Opt[int64] `json:"lag"`
	LagMax inspect.Opt[int64] `json:"lagMax"`
	// LagMs is how old its end of the log is in milliseconds, null without
	// samples. Where it was behind since before the first sample, that is null
	// and LagMsAtLeast is the lower bound.
	LagMs        inspect.Opt[int64] `json:"lagMs"`
	LagMsAtLeast inspect.Opt[int64] `json:"lagMsAtLeast"`
	// InSync: it is in the ISR. CaughtUp: its LEO had reached the leader's.
	InSync   bool              `json:"inSync"`
	CaughtUp inspect.Opt[bool] `json:"caughtUp"`
	// State is leader, in-sync, out-of-sync, offline or unknown.
	State inspect.ReplicaState `json:"state"`
	// Error says why logEndOffset is null; else it is null itself.
	Error inspect.Opt[string] `json:"error"`
	// Records a second by which its LEO and its lag grow, and for how long it
	// will be catching up at that rate; null without samples.
	FetchPerSecond inspect.Opt[float64] `json:"fetchPerSecond"`
	LagPerSecond   inspect.Opt[float64] `json:"lagPerSecond"`
	CatchUpMs      inspect.Opt[int64]   `json:"catchUpMs"`
}

// LagItems are the items of lag, sorted by topic and partition.
func LagItems(rows []LagRow) []LagItem {
	items := make([]LagItem, 0, len(rows))
	for i := range rows {
		items = append(items, lagItem(&rows[i]))
	}
	slices.SortFunc(items, func(a, b LagItem) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return items
}

func lagItem(r *LagRow) LagItem {
	p, l := r.Partition, &r.Lag
	item := LagItem{
		Topic: p.Topic, Partition: p.Index, Internal: p.Internal,
		Leader: broker(p.Leader), LeaderEpoch: p.LeaderEpoch,
		LogStartOffset: l.LogStart, LastStableOffset: l.LSO, HighWatermark: l.HW, LogEndOffset: l.LEO,
		Uncommitted: l.Uncommitted, UncommittedMax: l.UncommittedMax,
		ISR: idSet(p.ISR), MinInsyncReplicas: p.MinInsyncReplicas,
		EffectiveMinInsyncReplicas: r.Health.EffectiveMinISR,
		Status:                     list(r.Health.Status), Notes: list(r.Notes),
		Replicas: make([]ReplicaLagItem, 0, len(l.Replicas)),
	}
	if t := r.Timing; t != nil {
		item.Rates = &RatesItem{t.AppendPerSecond, t.CommitPerSecond}
		item.HWFrozenMs = t.HWFrozenMs
	}
	for i := range l.Replicas {
		rep := &l.Replicas[i]
		t := r.Timing.replica(rep.Broker)
		ri := ReplicaLagItem{
			Broker: rep.Broker, LogEndOffset: rep.LEO, Lag: rep.Lag, LagMax: rep.LagMax,
			LagMs: t.LagMs, LagMsAtLeast: t.LagMsAtLeast, InSync: rep.InSync, CaughtUp: rep.CaughtUp,
			State: rep.State, FetchPerSecond: t.FetchPerSecond, LagPerSecond: t.LagPerSecond, CatchUpMs: t.CatchUpMs,
		}
		if rep.Error != "" {
			ri.Error = inspect.Known(rep.Error)
		}
		item.Replicas = append(item.Replicas, ri)
	}
	return item
}

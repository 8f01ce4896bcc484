package render

import (
	"cmp"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// PartitionItem is one partition: the items of kind Partition, and of a Cluster
// item's unhealthy. Sorted by topic and partition.
type PartitionItem struct {
	Topic string `json:"topic"`
	// TopicID is Kafka's base64 form; null before Kafka 2.8.
	TopicID   inspect.Opt[string] `json:"topicId"`
	Partition int32               `json:"partition"`
	// Leader is null where the partition has none.
	Leader inspect.Opt[inspect.BrokerID] `json:"leader"`
	// LeaderEpoch is null where the cluster did not tell it.
	LeaderEpoch inspect.Opt[inspect.Epoch] `json:"leaderEpoch"`
	// Replicas is in assignment order; the other lists of ids are sorted.
	Replicas []inspect.BrokerID `json:"replicas"`
	ISR      []inspect.BrokerID `json:"isr"`
	// ELR and LastKnownELR are null where the cluster keeps none (before Kafka
	// 4.0, or with the feature off), or they were not asked.
	ELR          inspect.Opt[[]inspect.BrokerID] `json:"elr"`
	LastKnownELR inspect.Opt[[]inspect.BrokerID] `json:"lastKnownElr"`
	// OfflineReplicas are on a broker that is down or fenced, or in a failed log
	// directory.
	OfflineReplicas []inspect.BrokerID `json:"offlineReplicas"`
	// OutOfSyncReplicas are those that make it under-replicated: replicas minus
	// adding ones minus the ISR.
	OutOfSyncReplicas []inspect.BrokerID `json:"outOfSyncReplicas"`
	// AddingReplicas and RemovingReplicas are null where reassignments could not
	// be listed.
	AddingReplicas   inspect.Opt[[]inspect.BrokerID] `json:"addingReplicas"`
	RemovingReplicas inspect.Opt[[]inspect.BrokerID] `json:"removingReplicas"`
	// PreferredLeader is the first of replicas; null where there are none.
	PreferredLeader inspect.Opt[inspect.BrokerID] `json:"preferredLeader"`
	// MinInsyncReplicas is the topic's configuration, and the effective one is
	// what the broker enforces: min(min.insync.replicas, replicas). Headroom is
	// |isr| − effective: how many more may leave before acks=all is refused,
	// negative when it is. All three are null where the configuration could not
	// be read.
	MinInsyncReplicas          inspect.Opt[int32] `json:"minInsyncReplicas"`
	EffectiveMinInsyncReplicas inspect.Opt[int32] `json:"effectiveMinInsyncReplicas"`
	Headroom                   inspect.Opt[int32] `json:"headroom"`
	// Status is a list of words, worst first, never empty; "ok" stands alone.
	Status []inspect.Status `json:"status"`
	// Findings are weaknesses that are built in: no-headroom, min-isr-exceeds-rf.
	Findings []inspect.FindingID `json:"findings"`
	// Since is when the metadata log has it lose its leader or the first of the
	// replicas that it is without, RFC 3339, and Cause why, as in kind IsrEvent. Null
	// where that is not known; SinceBefore is then the earliest time at which it is
	// known to have been so already. describe and describe topics ask, of those that are
	// unhealthy.
	Since       inspect.Opt[string]           `json:"since"`
	SinceBefore inspect.Opt[string]           `json:"sinceBefore"`
	Cause       inspect.Opt[inspect.IsrCause] `json:"cause"`
	Internal    bool                          `json:"internal"`
}

// PartitionItems are the items for partitions with the health that the caller
// judged them by.
func PartitionItems(judged []inspect.Judged) []PartitionItem {
	items := make([]PartitionItem, 0, len(judged))
	for i := range judged {
		items = append(items, partitionItem(&judged[i]))
	}
	slices.SortFunc(items, func(a, b PartitionItem) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return items
}

func partitionItem(j *inspect.Judged) PartitionItem {
	p, h := j.Partition, &j.Health
	onset := inspect.Onset{}
	if p.Onset != nil {
		onset = *p.Onset
	}
	return PartitionItem{
		Since: rfc3339(onset.Since), SinceBefore: rfc3339(onset.Before), Cause: onset.Cause,
		Topic: p.Topic, TopicID: p.TopicID, Partition: p.Index, Internal: p.Internal,
		Leader: broker(p.Leader), LeaderEpoch: p.LeaderEpoch,
		Replicas: list(p.Replicas), ISR: idSet(p.ISR),
		ELR: optIDSet(p.ELR), LastKnownELR: optIDSet(p.LastKnownELR),
		OfflineReplicas: idSet(p.Offline), OutOfSyncReplicas: idSet(h.OutOfSync),
		AddingReplicas: optIDSet(p.Adding), RemovingReplicas: optIDSet(p.Removing),
		PreferredLeader:            broker(p.PreferredLeader()),
		MinInsyncReplicas:          p.MinInsyncReplicas,
		EffectiveMinInsyncReplicas: h.EffectiveMinISR,
		Headroom:                   h.Headroom,
		Status:                     list(h.Status), Findings: list(h.Findings),
	}
}

func rfc3339(at inspect.Opt[time.Time]) inspect.Opt[string] {
	if t, ok := at.Get(); ok {
		return inspect.Known(t.UTC().Format(rfc3339Millis))
	}
	return inspect.Unknown[string]()
}

// broker is the id, or unknown, that is null, for NoBroker.
func broker(id inspect.BrokerID) inspect.Opt[inspect.BrokerID] {
	if id == inspect.NoBroker {
		return inspect.Unknown[inspect.BrokerID]()
	}
	return inspect.Known(id)
}

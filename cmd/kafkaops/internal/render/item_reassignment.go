package render

import (
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// KindReassignment is describe reassignments: ReassignmentItem, by topic and
// partition.
const KindReassignment Kind = "Reassignment"

// ReassignmentItem is a partition whose replicas are being changed.
type ReassignmentItem struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Internal  bool   `json:"internal"`
	// Leader is null where there is none.
	Leader inspect.Opt[inspect.BrokerID] `json:"leader"`
	// Replicas are as they are now, in assignment order; TargetReplicas as they will
	// be. The others are sets.
	Replicas         []inspect.BrokerID `json:"replicas"`
	TargetReplicas   []inspect.BrokerID `json:"targetReplicas"`
	ISR              []inspect.BrokerID `json:"isr"`
	AddingReplicas   []inspect.BrokerID `json:"addingReplicas"`
	RemovingReplicas []inspect.BrokerID `json:"removingReplicas"`
	// TotalBytes and DoneBytes add up the copies; null where one is unknown.
	TotalBytes inspect.Opt[int64] `json:"totalBytes"`
	DoneBytes  inspect.Opt[int64] `json:"doneBytes"`
	// Copies is one for each adding replica, in assignment order.
	Copies []CopyItem `json:"copies"`
}

// CopyItem is a replica that is being filled from the leader.
type CopyItem struct {
	Broker inspect.BrokerID `json:"broker"`
	InSync bool             `json:"inSync"`
	// TotalBytes is the leader's log and DoneBytes what the copy has of it, by the
	// sizes on their disks; null where a broker did not tell. Percent is of them.
	TotalBytes inspect.Opt[int64]   `json:"totalBytes"`
	DoneBytes  inspect.Opt[int64]   `json:"doneBytes"`
	RestBytes  inspect.Opt[int64]   `json:"restBytes"`
	Percent    inspect.Opt[float64] `json:"percent"`
	// BytesPerSecond is how fast the copy grew between the first sample and the
	// last, and EtaMs when it is done if the rest shrinks as it did; null without
	// samples, and EtaMs where the rest did not shrink.
	BytesPerSecond inspect.Opt[float64] `json:"bytesPerSecond"`
	EtaMs          inspect.Opt[int64]   `json:"etaMs"`
}

// ReassignmentItems are the items of describe reassignments.
func ReassignmentItems(rs []inspect.Reassignment) []ReassignmentItem {
	items := make([]ReassignmentItem, 0, len(rs))
	for i := range rs {
		r := &rs[i]
		item := ReassignmentItem{
			Topic: r.Topic, Partition: r.Index, Internal: r.Internal,
			Replicas: list(r.Replicas), TargetReplicas: list(r.Target), ISR: idSet(r.ISR),
			AddingReplicas: idSet(r.Adding.Or(nil)), RemovingReplicas: idSet(r.Removing.Or(nil)),
			TotalBytes: inspect.Known[int64](0), DoneBytes: inspect.Known[int64](0), Copies: []CopyItem{},
		}
		if r.Leader != inspect.NoBroker {
			item.Leader = inspect.Known(r.Leader)
		}
		for j := range r.Copies {
			c := newCopyItem(&r.Copies[j])
			item.TotalBytes, item.DoneBytes = sum(item.TotalBytes, c.TotalBytes), sum(item.DoneBytes, c.DoneBytes)
			item.Copies = append(item.Copies, c)
		}
		items = append(items, item)
	}
	return items
}

func newCopyItem(c *inspect.ReplicaCopy) CopyItem {
	return CopyItem{
		Broker: c.Broker, InSync: c.InSync, TotalBytes: c.TotalBytes, DoneBytes: c.DoneBytes,
		RestBytes: c.RestBytes(), Percent: percent(c.DoneBytes, c.TotalBytes, c.InSync),
		BytesPerSecond: c.BytesPerSecond, EtaMs: millis(c.Remaining),
	}
}

// percent is done of total. Nothing of nothing is all only where it is done.
func percent(done, total inspect.Opt[int64], complete bool) inspect.Opt[float64] {
	d, ok := done.Get()
	t, known := total.Get()
	switch {
	case complete:
		return inspect.Known(100.0)
	case !ok || !known || t <= 0:
		return inspect.Unknown[float64]()
	}
	return inspect.Known(float64(d) * 100 / float64(t))
}

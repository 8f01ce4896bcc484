package inspect

import (
	"slices"
	"time"
)

// Reassignment is a partition whose replicas are being changed, with how far that
// is. Sizes are of logs on disks, so they are near and not exact: a copy need not
// roll or clean its segments where the leader does.
type Reassignment struct {
	*Partition
	// Target are the replicas that there will be.
	Target []BrokerID
	// Copies is one for each replica being added, in assignment order; empty where
	// replicas are only removed or reordered.
	Copies []ReplicaCopy
}

// ReplicaCopy is a replica that is being filled from the leader.
type ReplicaCopy struct {
	Broker BrokerID
	InSync bool
	// TotalBytes is the leader's log, DoneBytes what the copy has of it: all, once
	// it is in sync.
	TotalBytes, DoneBytes Opt[int64]
	// BytesPerSecond is how fast the copy grew between two Snapshots, and
	// Remaining how long it takes at the pace at which the rest shrank, unknown
	// where it did not. Both need two Snapshots.
	BytesPerSecond Opt[float64]
	Remaining      Opt[time.Duration]
}

// RestBytes is what is still to be copied.
func (c *ReplicaCopy) RestBytes() Opt[int64] {
	total, ok := c.TotalBytes.Get()
	done, known := c.DoneBytes.Get()
	if !ok || !known {
		return Unknown[int64]()
	}
	return Known(total - done)
}

// Reassignments lists the partitions that are being reassigned. Sizes need
// [PartReplicaLogs]; rates an earlier Snapshot of the same cluster, else nil.
func (s *Snapshot) Reassignments(earlier *Snapshot) []Reassignment {
	moving := map[replicaKey]bool{}
	for p := range s.Partitions {
		if p.Reassigning() {
			moving[replicaKey{topic: p.Topic, partition: p.Index}] = true
		}
	}
	wanted := func(topic string, partition int32) bool {
		return moving[replicaKey{topic: topic, partition: partition}]
	}
	sizes := s.replicaSizes(wanted)
	var before map[replicaKey]ReplicaCopy
	if earlier != nil {
		before = earlier.copies(wanted)
	}
	var out []Reassignment
	for p := range s.Partitions {
		if !p.Reassigning() {
			continue
		}
		r := Reassignment{Partition: p, Copies: p.copies(sizes)}
		for _, id := range p.Replicas {
			if !slices.Contains(p.Removing.Or(nil), id) {
				r.Target = append(r.Target, id)
			}
		}
		for i := range r.Copies {
			c := &r.Copies[i]
			if was, ok := before[replicaKey{c.Broker, p.Topic, p.Index}]; ok {
				c.pace(&was, s.TakenAt.Sub(earlier.TakenAt))
			}
		}
		out = append(out, r)
	}
	return out
}

func (s *Snapshot) copies(wanted func(string, int32) bool) map[replicaKey]ReplicaCopy {
	out := map[replicaKey]ReplicaCopy{}
	sizes := s.replicaSizes(wanted)
	for p := range s.Partitions {
		if p.Reassigning() && wanted(p.Topic, p.Index) {
			for _, c := range p.copies(sizes) {
				out[replicaKey{c.Broker, p.Topic, p.Index}] = c
			}
		}
	}
	return out
}

func (p *Partition) copies(sizes replicaSizes) []ReplicaCopy {
	var out []ReplicaCopy
	for _, id := range p.Replicas {
		if !slices.Contains(p.Adding.Or(nil), id) {
			continue
		}
		c := ReplicaCopy{Broker: id, InSync: slices.Contains(p.ISR, id)}
		if total, ok := sizes[replicaKey{p.Leader, p.Topic, p.Index}]; ok {
			c.TotalBytes = Known(total)
		}
		done, ok := sizes[replicaKey{id, p.Topic, p.Index}]
		switch total, known := c.TotalBytes.Get(); {
		case c.InSync:
			c.DoneBytes = c.TotalBytes
		case ok && known:
			c.DoneBytes = Known(min(done, total))
		case ok:
			c.DoneBytes = Known(done)
		}
		out = append(out, c)
	}
	return out
}

// pace compares with the copy as it was.
func (c *ReplicaCopy) pace(was *ReplicaCopy, after time.Duration) {
	now, ok := c.DoneBytes.Get()
	then, known := was.DoneBytes.Get()
	if !ok || !known || after <= 0 {
		return
	}
	c.BytesPerSecond = Known(float64(now-then) / after.Seconds())
	rest, restKnown := c.RestBytes().Get()
	restBefore, beforeKnown := was.RestBytes().Get()
	switch shrank := restBefore - rest; {
	case !restKnown || !beforeKnown:
	case rest == 0:
		c.Remaining = Known[time.Duration](0)
	case shrank > 0:
		c.Remaining = Known(time.Duration(float64(rest) / float64(shrank) * float64(after)))
	}
}

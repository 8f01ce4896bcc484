package replica

import "cmp"

// PreferredReadReplica is which replica a consumer in a rack had better read
// from, NoBroker to read here (KIP-392; ReplicaManager.findPreferredReadReplica,
// RackAwareReplicaSelector). The node asks it for consumers' fetches of v11 on,
// if replica.selector.class is set, with nowMs of its clock.
func (r *Replica) PreferredReadReplica(nowMs int64, rack string, o Offset) BrokerID {
	if r.leader == nil || rack == "" || o < r.log.start || o > r.log.end {
		return NoBroker
	}
	if b, ok := r.cfg.Brokers.Broker(r.cfg.Self); ok && b.Rack == rack {
		return NoBroker
	}
	var best *remote
	for i := range r.leader.remotes {
		f := &r.leader.remotes[i]
		if b, ok := r.cfg.Brokers.Broker(f.id); !ok || b.Rack != rack {
			continue
		}
		// It must have the offset, and be trusted to have what is committed.
		if !r.leader.isr.contains(f.id) || f.end() < o || f.logStart > o {
			continue
		}
		if best == nil || mostCaughtUp(f, best, nowMs, r.log.end) > 0 {
			best = f
		}
	}
	if best == nil {
		return NoBroker
	}
	return best.id
}

// mostCaughtUp is ReplicaView.comparator.
func mostCaughtUp(a, b *remote, nowMs int64, end Offset) int {
	return cmp.Or(
		cmp.Compare(a.LEO, b.LEO),
		cmp.Compare(b.silentMs(nowMs, end), a.silentMs(nowMs, end)),
		cmp.Compare(a.id, b.id),
	)
}

// silentMs is how long ago it was last caught up.
func (f *remote) silentMs(nowMs int64, end Offset) int64 {
	if f.end() == end {
		return 0
	}
	return nowMs - f.LastCaughtUpMs
}

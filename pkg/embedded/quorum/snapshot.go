package quorum

import (
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// snapshotDue reports whether there is anything that the newest snapshot has not,
// and one is written at all.
func (n *Node) snapshotDue() bool {
	if n.lossy || n.snapshotting {
		return false
	}
	return n.durable > n.newestSnapshot().offset
}

// newestSnapshot is the zero value if there is none.
func (n *Node) newestSnapshot() snapshot {
	if i := len(n.snapshots); i > 0 {
		return n.snapshots[i-1]
	}
	return snapshot{}
}

// startSnapshot writes one if there is much that the last has not, or that is old
// (SnapshotGenerator).
func (n *Node) startSnapshot(now machine.Time, out []machine.Effect) []machine.Effect {
	much := n.opts.SnapshotBytes > 0 && n.sinceBytes >= n.opts.SnapshotBytes
	if n.closing || !n.snapshotDue() || !much && now.Mono < n.nextSnapshotMs {
		return out
	}
	n.snapshotting = true
	n.sinceBytes, n.nextSnapshotMs = 0, after(now.Mono, n.opts.SnapshotMs)
	o := &snapshotOrder{
		fs: n.opts.FS, dir: n.log.Path(""), voters: n.voters, recs: n.image.Records, level: n.image.MetadataVersion(), lastMs: n.lastMs,
		id: snapshot{offset: n.durable, epoch: n.epochBefore(n.durable)},
	}
	return n.run(laneSnapshot, o, out)
}

// epochBefore is the epoch of the last record before an offset.
func (n *Node) epochBefore(offset int64) int32 {
	epoch := int32(0)
	for _, e := range n.epochs.Entries() {
		if int64(e.Start) < offset {
			epoch = int32(e.Epoch)
		}
	}
	return epoch
}

// done takes the snapshot into use. One that failed is no harm: the log is there,
// and the next is due as if it had not.
func (o *snapshotOrder) done(n *Node, _ machine.Time, out []machine.Effect) []machine.Effect {
	n.snapshotting = false
	if o.err != nil {
		return append(out, machine.Note{Text: fmt.Sprintf("no snapshot at offset %d: %v; the log is kept", o.id.offset, o.err)})
	}
	n.snapshots = append(n.snapshots, o.id)
	return out
}

// after is a time later, never if the time is not above 0.
func after(nowMs, laterMs int64) int64 {
	if laterMs <= 0 {
		return machine.Never
	}
	return nowMs + laterMs
}

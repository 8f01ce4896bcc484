package replica

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// check holds a node to the invariants, after each of its steps.
func (w *world) check(n *node) {
	s := n.r.Status()
	if s.LogStart > s.HW || s.HW > s.LEO || s.LSO > s.HW {
		w.fail("%d: start %d, LSO %d, HW %d, LEO %d", n.id, s.LogStart, s.LSO, s.HW, s.LEO)
	}
	// The LEO moves with the disk, never before it (a cut and its answer are one).
	if s.Role != Offline && s.LEO != n.end() && n.order == nil {
		w.fail("%d: LEO %d, the log ends at %d", n.id, s.LEO, n.end())
	}
	if s.Role == Leader {
		if n.seenEpoch == s.LeaderEpoch && s.HW < n.seenHW {
			w.fail("%d: HW fell from %d to %d in epoch %d", n.id, n.seenHW, s.HW, s.LeaderEpoch)
		}
		n.seenEpoch, n.seenHW = s.LeaderEpoch, s.HW
		if want := w.quorum.history[s.PartitionEpoch]; !slices.Equal(s.ISR, want) {
			w.fail("%d: ISR %v of partition epoch %d, the controller said %v", n.id, s.ISR, s.PartitionEpoch, want)
		}
	}
	w.checkEpochs(n)
	w.checkAgreement(n, s)
}

// checkEpochs: the cache is what the log shows (I8).
func (w *world) checkEpochs(n *node) {
	if n.r.role == Offline || n.order != nil || n.hole[0] < n.hole[1] {
		return // the cache may know an epoch of which all went with the batch
	}
	var scanned logstate.Epochs
	got := n.r.Epochs().Entries()
	if len(got) > 0 && got[0].Start == n.start && len(n.log) > 0 {
		// Compaction may leave a hole where the log starts.
		scanned.Assign(n.log[0].batch.LeaderEpoch, n.start)
	}
	for _, rec := range n.log {
		scanned.Assign(rec.batch.LeaderEpoch, max(rec.batch.BaseOffset, n.start))
	}
	if k := len(got); k > 0 && got[k-1].Start == n.end() {
		got = got[:k-1]
	}
	if !slices.Equal(got, scanned.Entries()) {
		w.fail("%d: epochs %v, the log shows %v", n.id, got, scanned.Entries())
	}
}

// checkAgreement: below both HWs two logs are the same (I1), and everything
// below a leader's HW is on every member of the controller's ISR (I2).
func (w *world) checkAgreement(n *node, s Status) {
	if w.unclean {
		return
	}
	for _, id := range w.ids {
		other := w.nodes[id]
		upTo := min(s.HW, other.r.Status().HW)
		if s.Role == Leader && slices.Contains(w.quorum.ISR, id) && s.LeaderEpoch == w.quorum.LeaderEpoch {
			upTo = s.HW
		}
		for o := max(n.start, other.start); o < upTo; o++ {
			a, ok := n.at(o)
			if !ok {
				continue // a hole
			}
			if o >= other.hole[0] && o < other.hole[1] {
				continue
			}
			b, ok := other.at(o)
			if !ok || a.value != b.value || a.batch.LeaderEpoch != b.batch.LeaderEpoch {
				w.fail("offset %d below HW: %d has %q of epoch %d, %d has %q of epoch %d",
					o, n.id, a.value, a.batch.LeaderEpoch, id, b.value, b.batch.LeaderEpoch)
				return
			}
		}
	}
}

// checkAcked: what was acknowledged is on the leader (I5).
func (w *world) checkAcked(n *node) {
	for o, want := range w.acked {
		if o < n.start || w.unclean {
			continue
		}
		if got, ok := n.at(o); !ok || got.value != want.value {
			w.fail("%d: acknowledged %q at %d is gone: %q", n.id, want.value, o, got.value)
		}
	}
}

// show tells an effect.
func (w *world) show(e Effect) string {
	switch e := e.(type) {
	case Append:
		if e.LeaderEpoch == NoEpoch {
			return fmt.Sprintf("disk: append %d batches at %d", e.Batches, e.Base)
		}
		return fmt.Sprintf("disk: append %q at %d, epoch %d", w.names[e.Token], e.Base, e.LeaderEpoch)
	case Sync:
		return fmt.Sprintf("disk: sync up to %d", e.UpTo)
	case Truncate:
		return fmt.Sprintf("disk: truncate to %d%s%s", e.To, when(e.Restart, ", drop all"), when(e.BelowHW, ", below the HW"))
	case StoreEpoch:
		return fmt.Sprintf("disk: store epoch %d from %d", e.Entry.Epoch, e.Entry.Start)
	case ProduceReply:
		return fmt.Sprintf("answers %q: %s%s", w.names[e.Token], codeName(e.Err), when(e.Base != NoOffset, fmt.Sprintf(", base %d", e.Base)))
	case FetchReply:
		return fmt.Sprintf("answers %s: %s", w.names[e.Token], bounds(e.Bounds))
	case DeleteRecordsReply:
		return fmt.Sprintf("answers %s: %s, low watermark %d", w.names[e.Token], codeName(e.Err), e.LowWatermark)
	case AlterPartition:
		var parts []string
		for _, m := range e.ISR {
			parts = append(parts, fmt.Sprintf("%d@%d", m.ID, m.BrokerEpoch))
		}
		return fmt.Sprintf("proposes ISR %s, leader epoch %d, partition epoch %d", strings.Join(parts, ","), e.LeaderEpoch, e.PartitionEpoch)
	case FetchFrom:
		return fmt.Sprintf("will fetch from %d at %s%s", e.Leader, position(e.Position),
			when(e.NotBeforeMs > 0, fmt.Sprintf(", in %d ms", e.NotBeforeMs-w.nowMs)))
	case FetchFailed:
		return "gives up fetching: " + codeName(e.Err)
	case FetchStop:
		return "stops fetching"
	case AskOffset:
		return fmt.Sprintf("asks %d for offset %s", e.Leader, map[int64]string{Latest: "LATEST", Earliest: "EARLIEST"}[e.Timestamp])
	case HWMoved:
		return fmt.Sprintf("HW %d", e.HW)
	case LogGrew:
		return fmt.Sprintf("LEO %d", e.End)
	case LogStartMoved:
		return fmt.Sprintf("log start %d", e.Start)
	case RoleChanged:
		return "is " + string(e.Role)
	case ISRChanged:
		return "ISR " + string(e.What)
	}
	return fmt.Sprintf("%T", e)
}

func bounds(b FetchBounds) string {
	switch {
	case b.Err != None:
		return codeName(b.Err)
	case b.Diverging.Defined():
		return fmt.Sprintf("diverges: epoch %d ends at %d", b.Diverging.Epoch, b.Diverging.End)
	}
	return fmt.Sprintf("[%d, %d), HW %d%s%s", b.From, b.UpTo, b.HW,
		when(b.LSO != b.HW, fmt.Sprintf(", LSO %d", b.LSO)), when(b.LogStart != 0, fmt.Sprintf(", start %d", b.LogStart)))
}

func when(cond bool, s string) string {
	if cond {
		return s
	}
	return ""
}

package render

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// overviewRows leaves room on 24 lines for the verdict and its reasons.
const overviewRows = 10

// WorstFirst sorts partitions by their worst word, then those with one in-sync
// copy left of several, then by headroom, then by how many replicas are out,
// then by name.
func WorstFirst(judged []inspect.Judged) []inspect.Judged {
	return slices.SortedFunc(slices.Values(judged), func(a, b inspect.Judged) int {
		return cmp.Or(
			cmp.Compare(rank(&a.Health), rank(&b.Health)),
			cmp.Compare(lastCopy(a.Partition), lastCopy(b.Partition)),
			cmp.Compare(a.Health.Headroom.Or(0), b.Health.Headroom.Or(0)),
			-cmp.Compare(len(a.Health.OutOfSync), len(b.Health.OutOfSync)),
			cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Index, b.Index),
		)
	})
}

// lastCopy is 0 for a partition with one copy left, and 1 for others.
func lastCopy(p *inspect.Partition) int {
	if p.OneCopyLeft() {
		return 0
	}
	return 1
}

// rank is the place of the worst word; 0 is the worst of all.
func rank(h *inspect.Health) int {
	for i, s := range []inspect.Status{
		inspect.StatusOffline, inspect.StatusUnderMinISR, inspect.StatusAtMinISR, inspect.StatusUnderReplicated,
		inspect.StatusUnknown, inspect.StatusWrongLeader, inspect.StatusReassigning,
	} {
		if h.Has(s) {
			return i
		}
	}
	return len(h.Status) + 7
}

// UnhealthyTable lists partitions worst first, as of takenAt and cut as the View says.
func UnhealthyTable(v View, takenAt time.Time, judged []inspect.Judged) *Table {
	sorted := WorstFirst(judged)
	shown := v.cut(len(sorted), overviewRows)
	t := partitionTable(v.wide(), sorted[:shown], overviewColumns(takenAt, sorted[:shown]))
	if hidden := sorted[shown:]; len(hidden) > 0 {
		t.Tail = []string{fmt.Sprintf("… %s more (%s)", v.number(int64(len(hidden))), commandFor(hidden))}
	}
	return t
}

// commandFor is the narrowest command that lists all of them.
func commandFor(judged []inspect.Judged) string {
	for i := range judged {
		if !judged[i].Health.Has(inspect.StatusUnderReplicated) {
			return "kafkaops describe topics"
		}
	}
	return "kafkaops describe topics --under-replicated"
}

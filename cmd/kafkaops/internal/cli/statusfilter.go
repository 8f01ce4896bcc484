package cli

import (
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/spf13/pflag"
)

// statusFilter picks partitions by status words. Several words are joined by or.
type statusFilter struct {
	underReplicated, underMinISR, atMinISR, unavailable bool
}

// register adds each filter under our name and, hidden, under kafka-topics.sh's.
func (f *statusFilter) register(flags *pflag.FlagSet) {
	add := func(p *bool, name, usage string) {
		flags.BoolVar(p, name, false, usage)
		flags.BoolVar(p, name+"-partitions", false, "the same, as kafka-topics.sh names it")
		_ = flags.MarkHidden(name + "-partitions") // it was just defined
	}
	add(&f.underReplicated, "under-replicated", "only partitions that have lost a replica")
	add(&f.underMinISR, "under-min-isr", "only partitions that refuse acks=all writes")
	add(&f.atMinISR, "at-min-isr", "only partitions that have lost a replica and refuse acks=all after the next loss")
	add(&f.unavailable, "unavailable", "only partitions without a leader")
}

// match reports whether a partition is wanted, and whether that could be decided
// at all. Where the minimum or the reassignments are unknown, a word that is
// there is certain, but one that is missing may be missing for want of an answer.
func (f *statusFilter) match(h *inspect.Health) (matched, decided bool) {
	wanted := []struct {
		on   bool
		word inspect.Status
	}{
		{f.unavailable, inspect.StatusOffline},
		{f.underMinISR, inspect.StatusUnderMinISR},
		{f.atMinISR, inspect.StatusAtMinISR},
		{f.underReplicated, inspect.StatusUnderReplicated},
	}
	filtering, decided := false, true
	for _, w := range wanted {
		if !w.on {
			continue
		}
		filtering = true
		if h.Has(w.word) {
			return true, true
		}
		needsMin := w.word == inspect.StatusUnderMinISR || w.word == inspect.StatusAtMinISR
		if needsMin && !h.Headroom.IsKnown() {
			decided = false
		}
	}
	return !filtering, decided
}

package recording

import (
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Coverage is a stretch of the metadata log, or of time, of which nothing is missing.
type Coverage struct {
	Source inspect.IsrSource
	// Where says who was read.
	Where string
	// From and To are offsets of the metadata log, To excluded, and Epoch the quorum's of
	// what lies before To; all three are unknown where looks were compared.
	From, To inspect.Opt[inspect.Offset]
	Epoch    inspect.Opt[inspect.Epoch]
	// Since is the time of From, Until that of the last record before To; or the times of
	// the first and the last look.
	Since, Until time.Time
	// Every is the time between two looks: what healed in between was not seen.
	Every inspect.Opt[time.Duration]
	// Unreadable counts records in versions that the writer did not know.
	Unreadable int
	// Anew: it is of another log than what came before, whose offsets do not go on.
	Anew bool
}

func (c *Coverage) ofLog() bool { return c.From.IsKnown() && c.To.IsKnown() }

// goesOn reports whether nothing lies between it and the one before, nil for none.
func (c *Coverage) goesOn(before *Coverage) bool {
	switch {
	case before == nil, c.Anew, c.Source != before.Source, c.ofLog() != before.ofLog():
		return false
	case c.ofLog():
		return c.From.Or(0) <= before.To.Or(0)
	}
	return !c.Since.After(before.Until)
}

// add takes in one that goes on from here.
func (c *Coverage) add(next *Coverage) {
	c.Where, c.Every = next.Where, next.Every
	c.Unreadable += next.Unreadable
	if next.ofLog() && next.To.Or(0) >= c.To.Or(0) {
		c.To, c.Epoch = next.To, next.Epoch
	}
	if next.Until.After(c.Until) {
		c.Until = next.Until
	}
}

// Gap is what lies between two coverages.
type Gap struct {
	// From and To are the offsets that are missing, To excluded, where both sides are
	// of one log.
	From, To     inspect.Opt[inspect.Offset]
	Since, Until time.Time
	// Anew: another log begins behind it.
	Anew bool
}

// coverages are those of a file, of the log and of looks, each in the file's order and
// with those joined that go on from each other.
type coverages struct{ logs, looks []Coverage }

func (cs *coverages) add(c *Coverage) {
	list := &cs.looks
	if c.ofLog() {
		list = &cs.logs
	}
	if n := len(*list); n > 0 && c.goesOn(&(*list)[n-1]) {
		(*list)[n-1].add(c)
		return
	}
	*list = append(*list, *c)
}

// settled are all of them by their beginning: those of looks without what the log tells.
func (cs *coverages) settled() []Coverage {
	all := slices.Clone(cs.logs)
	for _, c := range cs.looks {
		all = append(all, cs.outsideLogs(c)...)
	}
	slices.SortStableFunc(all, func(a, b Coverage) int { return a.Since.Compare(b.Since) })
	return all
}

// outsideLogs is what is left of a coverage of looks.
func (cs *coverages) outsideLogs(c Coverage) []Coverage {
	rest := []Coverage{c}
	for i := range cs.logs {
		log := &cs.logs[i]
		var left []Coverage
		for _, r := range rest {
			if !log.Until.After(r.Since) || !log.Since.Before(r.Until) {
				left = append(left, r)
				continue
			}
			if before := r; log.Since.After(r.Since) {
				before.Until = log.Since
				left = append(left, before)
			}
			if after := r; log.Until.Before(r.Until) {
				after.Since = log.Until
				left = append(left, after)
			}
		}
		rest = left
	}
	return rest
}

// superseded reports an event of looks at a time at which the log was read.
func (cs *coverages) superseded(e *inspect.IsrEvent) bool {
	if e.Offset.IsKnown() {
		return false
	}
	return slices.ContainsFunc(cs.logs, func(log Coverage) bool { return !e.Time.Before(log.Since) && !e.Time.After(log.Until) })
}

// gapsOf are the gaps between settled coverages. Offsets tell better than times, by which
// a quiet log has a gap between any two records.
func gapsOf(all []Coverage) []Gap {
	var gaps []Gap
	var log *Coverage // the last one of the log
	var until time.Time
	looked := false // until is the time of a look
	for i := range all {
		c := &all[i]
		g := Gap{Since: until, Until: c.Since, Anew: c.Anew}
		switch {
		case i == 0:
		case c.ofLog() && log != nil && !c.Anew:
			if c.From.Or(0) > log.To.Or(0) && (!looked || c.Since.After(until)) {
				g.From, g.To = log.To, c.From
				gaps = append(gaps, g)
			}
		case c.Since.After(until) || c.Anew:
			gaps = append(gaps, g)
		}
		if c.ofLog() {
			log = c
		}
		if c.Until.After(until) {
			until, looked = c.Until, !c.ofLog()
		}
	}
	return gaps
}

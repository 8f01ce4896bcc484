package exporter

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
)

// isrChanges counts how ISRs change, by the better of two sources at any time: the
// metadata log tells every change, and where it cannot be had looks are compared, which
// tell a lower bound. Each change is counted once, for a source begins where the other
// one has ended: with the state up to which that has told.
//
//	looks → log   the log's state is one more look, and what comes behind it is the log's
//	log → looks   the log's last state is what the next look is compared with
//
// A log that is silent for a moment goes on being the source: what it has not told yet it
// will.
type isrChanges struct {
	*isrCounts
	// diff compares all looks, whoever is the source: it knows which are older.
	diff   *isrlog.Diff
	source inspect.IsrSource
	// from is the offset from which on the log's events count.
	from inspect.Offset
	// where is who the log is read from.
	where string
	// last is the time of the last look, by its own account, and looked the moment when
	// it had been taken: what it tells lies before.
	last, looked time.Time
	restarts     int // of diff
}

func newISRChanges() *isrChanges {
	return &isrChanges{isrCounts: newISRCounts(), diff: isrlog.NewDiff(), source: inspect.SourceMetadataDiff}
}

// look takes in a look that had been taken by now. Looks that are further apart than gap
// are counted as gaps, where they are what counts.
func (c *isrChanges) look(s *inspect.Snapshot, gap time.Duration, now time.Time) {
	byLooks := c.source == inspect.SourceMetadataDiff
	passed := c.diff.IsOlder(s)
	events := c.diff.Look(s, false)
	c.looked = now
	if passed {
		return
	}
	if byLooks && c.diff.Restarts() > c.restarts {
		c.gaps[gapOlder]++
	}
	c.restarts = c.diff.Restarts()
	if byLooks && !c.last.IsZero() && s.TakenAt.Sub(c.last) > gap {
		c.gaps[gapLooks]++
	}
	c.last = s.TakenAt
	if byLooks {
		c.countAll(events)
	}
	c.isrCounts.look(s)
}

func (c *isrChanges) countAll(events []inspect.IsrEvent) {
	for i := range events {
		c.count(&events[i])
	}
}

// begin makes the log the source, from the state on that it had at an offset; not where a
// look was taken since that was asked for: what it told may lie behind the offset, and
// would be told again.
func (c *isrChanges) begin(state *inspect.Snapshot, at inspect.Offset, asked time.Time, where string) {
	if c.source == inspect.SourceMetadataLog || !c.looked.Before(asked) {
		return
	}
	c.countAll(c.diff.Look(state, false))
	c.source, c.from, c.where = inspect.SourceMetadataLog, at, where
}

// event takes an event of the log.
func (c *isrChanges) event(e *inspect.IsrEvent) {
	if c.source == inspect.SourceMetadataLog && e.Offset.Or(0) >= c.from {
		c.count(e)
	}
}

// trimmed notes that some of the log was gone before it could be read.
func (c *isrChanges) trimmed() {
	if c.source == inspect.SourceMetadataLog {
		c.gaps[gapTrimmed]++
	}
}

// end makes looks the source again, from the state on up to which the log has told.
func (c *isrChanges) end(state *inspect.Snapshot) {
	if c.source != inspect.SourceMetadataLog {
		return
	}
	c.diff.Rebase(state)
	c.source = inspect.SourceMetadataDiff
	c.gaps[gapLog]++
}

package tui

import (
	"context"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/advise"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Source gives looks at a cluster, one after the other. Two are there: a live cluster,
// and a recording.
type Source interface {
	// Next waits until the next look is due, and takes it. An error is one that the next
	// try may not have: the screen says so, and goes on asking. One call at a time.
	Next(ctx context.Context, want Want) (Seen, error)
}

// Player is a Source that can be wound, as a recording can.
type Player interface {
	Source
	// Seek makes the first look at or after that time the next one.
	Seek(to time.Time)
	// Span is what there is.
	Span() (since, until time.Time)
}

// Want is what the screen needs of the next look.
type Want struct {
	// Groups: consumers' groups are on the screen. Otherwise they are asked for seldom.
	Groups bool
	// Speed is how fast a recording plays; 0 is as it was.
	Speed float64
}

// Seen is what a Source tells with one look.
type Seen struct {
	// Snap is the look, with what is not asked for each time carried over. It is not
	// changed any more. Nil where Ended.
	Snap *inspect.Snapshot
	// Events are the changes of ISRs that have become known since the last look, in their
	// order, those of topics that were created and deleted included, and Evidence says in a
	// sentence what they rest on.
	Events   []inspect.IsrEvent
	Evidence string
	// Known are the stretches of time, by their beginning, of which all changes have been
	// told; none where they are known from look to look.
	Known []advise.Span
	// Anew: this look does not follow the one before, so that nothing can be said of
	// the time between.
	Anew bool
	// Ended: a recording has no more.
	Ended bool
}

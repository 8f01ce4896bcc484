package metadata

import (
	"errors"
	"fmt"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

// Replay follows a log. Outside of a metadata transaction every record takes
// effect at once; inside none does before the transaction ends.
type Replay struct {
	image Image
	open  *Image // what the image will be if the transaction ends
}

// NewReplay starts from an image, which is that of a snapshot or [Empty].
func NewReplay(from Image) *Replay { return &Replay{image: from} }

// Image returns what has taken effect.
func (r *Replay) Image() Image { return r.image }

// InTransaction reports whether one is open. A new active controller aborts what
// its predecessor left open.
func (r *Replay) InTransaction() bool { return r.open != nil }

// Apply takes the next record of the log. Its errors are those of [Image.Apply].
func (r *Replay) Apply(rec kraft.Record) error {
	switch rec.(type) {
	case *kraft.BeginTransaction:
		if r.open != nil {
			return fmt.Errorf("metadata: replay %s: one is open already", rec.Type())
		}
		inside := r.image
		r.open = &inside
		return nil
	case *kraft.EndTransaction:
		if r.open == nil {
			return fmt.Errorf("metadata: replay %s: %w", rec.Type(), errNoTransaction)
		}
		r.image, r.open = *r.open, nil
		return nil
	case *kraft.AbortTransaction:
		if r.open == nil {
			return fmt.Errorf("metadata: replay %s: %w", rec.Type(), errNoTransaction)
		}
		r.open = nil
		return nil
	}
	target := &r.image
	if r.open != nil {
		target = r.open
	}
	after, err := target.Apply(rec)
	*target = after
	return err
}

var errNoTransaction = errors.New("none is open")

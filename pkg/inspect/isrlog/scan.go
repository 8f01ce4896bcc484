package isrlog

import (
	"context"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// idleBytes are those of a batch that holds a no-op record alone.
	idleBytes = 72
	// leastScan is what an answer may have at least, so that a busy log does not cost an
	// answer for each of its last batches.
	leastScan = 4 << 10
	// mostAhead bounds what is kept of a scan to be read again.
	mostAhead = 8 << 20
)

// ahead is what was read already of what comes next: the batches from an offset on.
type ahead struct {
	from inspect.Offset
	data []byte
	full bool
}

// keep appends a batch, in the order of the log; behind one that is too much, none.
func (a *ahead) keep(raw []byte) {
	if a.full = a.full || len(a.data)+len(raw) > mostAhead; !a.full {
		a.data = append(a.data, raw...)
	}
}

// scan reads batches from one offset up to another, and takes the records that events
// come from, as far as they were committed; false: they cannot be had, or a transaction
// lies across one of the ends. keep, where it is not nil, takes every batch too.
func (r *logReading) scan(ctx context.Context, from, to inspect.Offset, keep func(raw []byte), take func(Position, kraft.Record)) (bool, error) {
	seen := transactions{take: take}
	for from < to {
		epoch := r.at.epoch
		if from > 0 && from == r.earliest.offset { // where no other is valid
			epoch = r.earliest.epoch
		}
		got, err := r.at.fetch(ctx, fetchQuery{
			// At 0 there is the snapshot alone; the batch that holds 1 comes whole.
			offset: max(from, 1), lastEpoch: epoch, maxBytes: int32(min(fetchBytes, max(leastScan, int64(to-from)*idleBytes))),
		})
		if err != nil {
			return false, err
		}
		if got.code != 0 || got.snapshot.offset >= 0 || got.diverged || len(got.data) == 0 {
			return false, nil
		}
		for data := got.data; len(data) > 0 && from < to; {
			b, size, err := cutBatch(data)
			if err != nil {
				break
			}
			if err := b.tell(from, to, seen.record); err != nil {
				return false, err
			}
			if keep != nil {
				keep(data[:size])
			}
			from, data = b.next(), data[size:]
		}
	}
	return seen.settled(), nil
}

// tell decodes the records that events come from.
func (b *batch) tell(from, to inspect.Offset, take func(Position, kraft.Record)) error {
	if b.isControl() {
		return nil
	}
	return b.each(func(at Position, rec *kmsg.Record) error {
		if at.Offset < from || at.Offset >= to {
			return nil
		}
		key, err := typeOf(rec.Value)
		switch {
		case err != nil:
			return err
		case key > kraft.TypeUnregisterController:
			take(at, &kraft.Unknown{Of: key})
		case matters(key):
			one, err := kraft.Decode(rec.Value)
			if err != nil {
				return err
			}
			take(at, one)
		}
		return nil
	})
}

// transactions hands on what metadata transactions commit (KIP-868), once they do.
type transactions struct {
	take func(Position, kraft.Record)
	open bool
	held []positioned
	// cut: one ended that had begun before.
	cut bool
}

// settled reports whether all that was seen began and ended there.
func (t *transactions) settled() bool { return !t.open && !t.cut }

func (t *transactions) record(at Position, rec kraft.Record) {
	switch rec.(type) {
	case *kraft.BeginTransaction:
		t.open, t.held = true, nil
	case *kraft.EndTransaction, *kraft.AbortTransaction:
		t.cut = t.cut || !t.open
		if _, committed := rec.(*kraft.EndTransaction); committed {
			for _, p := range t.held {
				t.take(p.at, p.rec)
			}
		}
		t.open, t.held = false, nil
	default:
		if t.open && len(t.held) < maxBuffered {
			t.held = append(t.held, positioned{at, rec})
			return
		}
		t.take(at, rec)
	}
}

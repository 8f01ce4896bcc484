package logstate

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// batch of producer 9 with n records.
func batch(base Offset, epoch int16, seq int32, n int) Batch {
	return Batch{
		BaseOffset: base, LastOffset: base + Offset(n) - 1, ProducerID: 9, ProducerEpoch: epoch, BaseSequence: seq,
		MaxTimestampMs: int64(base) * 1000,
	}
}

// of is b in another producer epoch.
func (b Batch) of(epoch int16) Batch {
	b.ProducerEpoch = epoch
	return b
}

func TestCheck(t *testing.T) {
	t.Parallel()
	var six []Batch
	for i := range 6 {
		six = append(six, batch(Offset(i*2), 0, int32(i*2), 2))
	}
	// A marker bumps the epoch and keeps no batch.
	marker := Batch{BaseOffset: 12, LastOffset: 12, ProducerID: 9, ProducerEpoch: 1, BaseSequence: NoSequence, Control: true, Transactional: true}
	noEpoch := Batch{BaseOffset: 0, LastOffset: 0, ProducerID: 9, ProducerEpoch: NoProducerEpoch, BaseSequence: NoSequence, Control: true}
	for _, tt := range []struct {
		name    string
		log     []Batch
		b       Batch
		wantDup Offset // NoOffset: not a duplicate
		wantErr error
	}{
		{"no producer", six, Batch{ProducerID: NoProducerID, BaseSequence: NoSequence}, NoOffset, nil},
		{"unknown producer, first sequence", nil, batch(0, 0, 0, 1), NoOffset, nil},
		// KIP-360: its earlier records may have been deleted.
		{"unknown producer, later sequence", nil, batch(0, 3, 77, 1), NoOffset, nil},
		{"next", six, batch(12, 0, 12, 3), NoOffset, nil},
		{"gap", six, batch(12, 0, 13, 1), NoOffset, ErrOutOfOrderSequence},
		{"last again", six, batch(12, 0, 10, 2), 10, nil},
		{"fifth last again", six, batch(12, 0, 2, 2), 2, nil},
		{"sixth last again: forgotten", six, batch(12, 0, 0, 2), NoOffset, ErrOutOfOrderSequence},
		{"last again but longer", six, batch(12, 0, 10, 3), NoOffset, ErrOutOfOrderSequence},
		{"last again but later", six, batch(12, 0, 11, 1), NoOffset, ErrOutOfOrderSequence},
		{"older epoch", []Batch{batch(0, 4, 0, 1)}, batch(1, 3, 1, 1), NoOffset, ErrInvalidProducerEpoch},
		{"older epoch, same sequences", []Batch{batch(0, 4, 0, 1)}, batch(1, 3, 0, 1), NoOffset, ErrInvalidProducerEpoch},
		{"newer epoch, from 0", six, batch(12, 1, 0, 1), NoOffset, nil},
		{"newer epoch, same sequences", six, batch(12, 1, 10, 2), NoOffset, ErrOutOfOrderSequence},
		{"newer epoch, not from 0", six, batch(12, 1, 12, 1), NoOffset, ErrOutOfOrderSequence},
		{"after a marker, from 0", append(six[:6:6], marker), batch(13, 1, 0, 1), NoOffset, nil},
		{"after a marker, not from 0", append(six[:6:6], marker), batch(13, 1, 12, 1), NoOffset, ErrOutOfOrderSequence},
		{"entry without an epoch, anywhere", []Batch{noEpoch}, batch(13, 1, 12, 1), NoOffset, nil},
		{"marker of the same epoch", six, marker.of(0), NoOffset, nil},
		{"marker of a newer epoch", six, marker, NoOffset, nil},
		{"marker of an older epoch", []Batch{batch(0, 4, 0, 1)}, marker, NoOffset, ErrInvalidProducerEpoch},
		{"wraps", []Batch{batch(0, 0, math.MaxInt32-1, 2)}, batch(2, 0, 0, 1), NoOffset, nil},
		{"wraps within the batch", []Batch{batch(0, 0, math.MaxInt32-1, 4)}, batch(4, 0, 2, 1), NoOffset, nil},
		{"wrapped, again", []Batch{batch(0, 0, math.MaxInt32-1, 4)}, batch(4, 0, math.MaxInt32-1, 4), 0, nil},
		{"0 without wrapping", []Batch{batch(0, 0, 7, 1)}, batch(1, 0, 0, 1), NoOffset, ErrOutOfOrderSequence},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var ps Producers
			for _, b := range tt.log {
				ps.Apply(b)
			}
			dup, isDup, err := ps.Check(tt.b)
			if !isDup {
				dup.BaseOffset = NoOffset
			}
			if dup.BaseOffset != tt.wantDup || !errors.Is(err, tt.wantErr) || (err == nil) != (tt.wantErr == nil) {
				t.Errorf("Check = %v, %v, want %v, %v", dup.BaseOffset, err, tt.wantDup, tt.wantErr)
			}
		})
	}
}

func TestFirstUnstable(t *testing.T) {
	t.Parallel()
	begin := func(o Offset, id int64) Batch {
		return Batch{BaseOffset: o, LastOffset: o, ProducerID: id, BaseSequence: 0, Transactional: true}
	}
	end := func(o Offset, id int64) Batch {
		return Batch{BaseOffset: o, LastOffset: o, ProducerID: id, BaseSequence: NoSequence, Transactional: true, Control: true}
	}
	ps := &Producers{}
	for i, step := range []struct {
		b    Batch
		want Offset
	}{
		{begin(0, 1), 0}, {begin(1, 2), 0}, {begin(2, 1), 0}, {end(3, 1), 1}, {begin(4, 1), 1}, {end(5, 2), 4}, {end(6, 1), NoOffset},
	} {
		ps.Apply(step.b)
		// It survives a snapshot at any point.
		again := NewProducers(ps.Snapshot())
		for _, ps := range []*Producers{ps, &again} {
			got, ok := ps.FirstUnstable()
			if !ok {
				got = NoOffset
			}
			if got != step.want {
				t.Errorf("after step %d: FirstUnstable = %d, want %d", i, got, step.want)
			}
		}
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	ps := &Producers{}
	old := Batch{ProducerID: 1, MaxTimestampMs: 10}
	open := Batch{ProducerID: 2, MaxTimestampMs: 10, Transactional: true}
	fresh := Batch{ProducerID: 3, MaxTimestampMs: 20}
	for _, b := range []Batch{old, open, fresh} {
		ps.Apply(b)
	}
	ps.Forget(20)
	var ids []int64
	for _, p := range ps.Snapshot() {
		ids = append(ids, p.ID)
	}
	if diff := cmp.Diff([]int64{2, 3}, ids); diff != "" || ps.Len() != 2 {
		t.Errorf("kept, -want +got:\n%s", diff)
	}
}

// TestProducersFollowTheLog: a leader that asks Check and appends takes each
// batch of each producer once and in order, whatever is sent again; and a
// snapshot anywhere plus the rest of the log is the same state as the log (I11).
func TestProducersFollowTheLog(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ps, later := &Producers{}, &Producers{}
		var log []Batch
		sent := map[int64][]Batch{}
		snapshotAt := rapid.IntRange(0, 20).Draw(rt, "snapshot at")
		for i := range 30 {
			id := rapid.Int64Range(1, 2).Draw(rt, fmt.Sprint("producer", i))
			history := sent[id]
			next := int32(math.MaxInt32 - 4)
			if n := len(history); n > 0 {
				next = addSequence(history[n-1].LastSequence(), 1)
			}
			b := Batch{ProducerID: id, BaseSequence: next, LastOffset: Offset(rapid.IntRange(0, 2).Draw(rt, "records"))}
			again := rapid.IntRange(0, len(history)).Draw(rt, "again")
			if again > 0 {
				b = history[len(history)-again]
				b.LastOffset -= b.BaseOffset
				b.BaseOffset = 0
			}
			b = b.At(end(log), 0)
			dup, isDup, err := ps.Check(b)
			switch {
			case again == 0:
				if err != nil || isDup {
					rt.Fatalf("new batch: %v, %v", dup, err)
				}
				ps.Apply(b)
				log = append(log, b)
				sent[id] = append(history, b)
			case again <= keptBatches:
				if want := history[len(history)-again].BaseOffset; !isDup || dup.BaseOffset != want {
					rt.Fatalf("sent %d batches ago: %v, %v, %v, want offset %d", again, dup, isDup, err, want)
				}
			case !errors.Is(err, ErrOutOfOrderSequence):
				rt.Fatalf("sent %d batches ago: %v, %v", again, isDup, err)
			}
		}
		for i, b := range log {
			if i == snapshotAt {
				*later = NewProducers(later.Snapshot())
			}
			later.Apply(b)
		}
		if diff := cmp.Diff(ps.Snapshot(), later.Snapshot(), cmp.AllowUnexported(Producer{})); diff != "" {
			rt.Fatalf("-live +read back:\n%s", diff)
		}
	})
}

// The coordinator's epoch of the last marker stays known, in the next transaction
// and in a new producer epoch too.
func TestCoordinatorEpoch(t *testing.T) {
	t.Parallel()
	ps := &Producers{}
	marker := Batch{BaseOffset: 1, LastOffset: 1, ProducerID: 9, BaseSequence: NoSequence, Control: true, CoordinatorEpoch: 6}
	for i, tt := range []struct {
		b    Batch
		want int32
	}{
		{batch(0, 0, 0, 1), NoCoordinatorEpoch},
		{marker, 6},
		{batch(2, 0, 1, 1), 6},
		{batch(3, 1, 0, 1), 6},
	} {
		ps.Apply(tt.b)
		*ps = NewProducers(ps.Snapshot())
		if got := ps.Snapshot()[0].CoordinatorEpoch; got != tt.want {
			t.Errorf("after batch %d: %d, want %d", i, got, tt.want)
		}
	}
}

func end(log []Batch) Offset {
	if len(log) == 0 {
		return 0
	}
	return log[len(log)-1].NextOffset()
}

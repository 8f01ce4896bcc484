package logstate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAssign(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		before []EpochStart
		e      Epoch
		start  Offset
		want   []EpochStart
	}{
		{"first", nil, 3, 0, []EpochStart{{3, 0}}},
		{"same epoch later", []EpochStart{{3, 0}}, 3, 10, []EpochStart{{3, 0}}},
		{"next epoch", []EpochStart{{3, 0}}, 5, 10, []EpochStart{{3, 0}, {5, 10}}},
		{"an epoch without records is forgotten", []EpochStart{{3, 0}, {4, 10}}, 5, 10, []EpochStart{{3, 0}, {5, 10}}},
		{"same epoch earlier", []EpochStart{{3, 0}, {4, 10}}, 4, 8, []EpochStart{{3, 0}, {4, 8}}},
		{"earlier epoch cuts", []EpochStart{{3, 0}, {4, 10}, {6, 20}}, 4, 15, []EpochStart{{3, 0}, {4, 15}}},
		{"earlier offset cuts", []EpochStart{{3, 5}, {4, 10}}, 7, 3, []EpochStart{{7, 3}}},
		{"no epoch", []EpochStart{{3, 5}}, NoEpoch, 9, []EpochStart{{3, 5}}},
		{"no offset", []EpochStart{{3, 5}}, 4, NoOffset, []EpochStart{{3, 5}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := NewEpochs(tt.before)
			changed := c.Assign(tt.e, tt.start)
			if diff := cmp.Diff(tt.want, c.Entries()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if want := !slices.Equal(tt.before, tt.want); changed != want {
				t.Errorf("changed = %v, want %v", changed, want)
			}
		})
	}
}

func TestTruncateEpochs(t *testing.T) {
	t.Parallel()
	three := []EpochStart{{0, 0}, {2, 477}, {3, 480}}
	for _, tt := range []struct {
		name       string
		fromStart  bool
		o          Offset
		want       []EpochStart
		previously []EpochStart
	}{
		{"end beyond all", false, 500, three, three},
		// KAFKA-10706: the log ends at 480, the cache knows an epoch that begins there.
		{"end at a start", false, 480, three[:2], three},
		{"end within", false, 478, three[:2], three},
		{"end before all", false, 0, []EpochStart{}, three},
		{"end of none", false, 7, nil, nil},
		{"start before all", true, 0, three, three},
		{"start within the first", true, 100, []EpochStart{{0, 100}, {2, 477}, {3, 480}}, three},
		{"start at a start", true, 477, three[1:], three},
		{"start within the second", true, 479, []EpochStart{{2, 479}, {3, 480}}, three},
		{"start beyond all", true, 500, []EpochStart{{3, 500}}, three},
		{"start before the first entry", true, 5, []EpochStart{{2, 10}}, []EpochStart{{2, 10}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := NewEpochs(tt.previously)
			truncate := c.TruncateFromEnd
			if tt.fromStart {
				truncate = c.TruncateFromStart
			}
			changed := truncate(tt.o)
			if diff := cmp.Diff(tt.want, c.Entries()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if want := !slices.Equal(tt.previously, tt.want); changed != want {
				t.Errorf("changed = %v, want %v", changed, want)
			}
		})
	}
}

func TestEndOffsetFor(t *testing.T) {
	t.Parallel()
	c := NewEpochs([]EpochStart{{2, 10}, {4, 20}, {7, 30}})
	const leo = 42
	for _, tt := range []struct {
		e    Epoch
		want EpochEnd
	}{
		{NoEpoch, UndefinedEnd}, // KAFKA-6857
		{0, EpochEnd{0, 10}},    // before all: ends where the log begins
		{1, EpochEnd{1, 10}},
		{2, EpochEnd{2, 20}},
		{3, EpochEnd{2, 20}}, // KIP-279: the one below, by name
		{4, EpochEnd{4, 30}},
		{6, EpochEnd{4, 30}},
		{7, EpochEnd{7, leo}},
		{8, UndefinedEnd},
	} {
		if got := c.EndOffsetFor(tt.e, leo); got != tt.want {
			t.Errorf("EndOffsetFor(%d) = %v, want %v", tt.e, got, tt.want)
		}
	}
	var empty Epochs
	if got := empty.EndOffsetFor(3, 0); got.Defined() {
		t.Errorf("of an empty log: %v, want undefined", got)
	}
}

func TestNeighbours(t *testing.T) {
	t.Parallel()
	c := NewEpochs([]EpochStart{{2, 10}, {4, 20}})
	var empty Epochs
	for _, tt := range []struct {
		name   string
		get    func() (EpochStart, bool)
		want   EpochStart
		wantOK bool
	}{
		{"latest", c.Latest, EpochStart{4, 20}, true},
		{"earliest", c.Earliest, EpochStart{2, 10}, true},
		{"latest of none", empty.Latest, EpochStart{NoEpoch, NoOffset}, false},
		{"earliest of none", empty.Earliest, EpochStart{NoEpoch, NoOffset}, false},
		{"below 4", func() (EpochStart, bool) { return c.Previous(4) }, EpochStart{2, 10}, true},
		{"below 5", func() (EpochStart, bool) { return c.Previous(5) }, EpochStart{4, 20}, true},
		{"below 2", func() (EpochStart, bool) { return c.Previous(2) }, EpochStart{NoEpoch, NoOffset}, false},
	} {
		got, ok := tt.get()
		if got != tt.want || ok != tt.wantOK {
			t.Errorf("%s: %v, %v, want %v, %v", tt.name, got, ok, tt.want, tt.wantOK)
		}
	}
}

// TestEpochsFollowTheLog: after any appends and cuts the cache is what a scan of
// the log would make of it (I8), save an epoch that has no records yet.
func TestEpochsFollowTheLog(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var c Epochs
		var log []Epoch // of the record at each offset
		var start Offset
		var epoch Epoch
		for i := range rapid.IntRange(1, 40).Draw(rt, "steps") {
			end := Offset(len(log))
			switch rapid.SampledFrom([]string{"append", "append", "elect", "cut", "delete"}).Draw(rt, fmt.Sprint("step", i)) {
			case "append":
				c.Assign(epoch, end)
				for range rapid.IntRange(1, 3).Draw(rt, "records") {
					log = append(log, epoch)
				}
			case "elect":
				epoch += Epoch(rapid.IntRange(1, 3).Draw(rt, "later"))
				c.Assign(epoch, end)
			case "cut":
				to := Offset(rapid.Int64Range(int64(start), int64(end)).Draw(rt, "to"))
				log = log[:to]
				c.TruncateFromEnd(to)
			case "delete":
				start = Offset(rapid.Int64Range(int64(start), int64(end)).Draw(rt, "start"))
				c.TruncateFromStart(start)
			}
			compareWithScan(rt, &c, log, start)
		}
	})
}

func compareWithScan(rt *rapid.T, c *Epochs, log []Epoch, start Offset) {
	var scanned Epochs
	for o := start; o < Offset(len(log)); o++ {
		scanned.Assign(log[o], o)
	}
	got := c.Entries()
	end := Offset(len(log))
	if n := len(got); n > 0 && got[n-1].Start == end {
		got = got[:n-1]
	}
	if diff := cmp.Diff(scanned.Entries(), got); diff != "" && len(got)+len(scanned.entries) > 0 {
		rt.Fatalf("log %v from %d: -scan +cache:\n%s", log, start, diff)
	}
	for e := range Epoch(10) {
		checkEnd(rt, c, log, start, e)
	}
}

// checkEnd compares EndOffsetFor with its definition.
func checkEnd(rt *rapid.T, c *Epochs, log []Epoch, start Offset, e Epoch) {
	got := c.EndOffsetFor(e, Offset(len(log)))
	if !got.Defined() || e >= c.LatestEpoch() {
		return
	}
	for o := start; o < Offset(len(log)); o++ {
		if below := o < got.End; below != (log[o] <= e) {
			rt.Fatalf("log %v from %d: epoch %d ends at %v", log, start, e, got)
		}
	}
}

func TestEpochAt(t *testing.T) {
	t.Parallel()
	c := NewEpochs([]EpochStart{{2, 10}, {5, 20}})
	for o, want := range map[Offset]Epoch{0: NoEpoch, 9: NoEpoch, 10: 2, 19: 2, 20: 5, 1000: 5} {
		if got := c.At(o); got != want {
			t.Errorf("at %d: %d, want %d", o, got, want)
		}
	}
}

package vfs

import (
	"bytes"
	"errors"
	"io"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func faulty(seed uint64) (*Faults, *Mem, *Noted) {
	m, w := NewMem(MemOptions{}), new(Noted)
	return NewFaults(m, seeded(seed), w), m, w
}

// Every call can fail, and leaves the disk as it was unless Done.
func TestFaultsFail(t *testing.T) {
	t.Parallel()
	p := make([]byte, 3)
	for op, call := range map[Op]func(fsys FS, f File) error{
		OpOpen:     func(fsys FS, _ File) error { return second(fsys.Open("f", Read)) },
		OpCreate:   func(fsys FS, _ File) error { return second(fsys.Open("new", Create)) },
		OpRead:     func(_ FS, f File) error { return second(f.ReadAt(p, 0)) },
		OpWrite:    func(_ FS, f File) error { return errors.Join(second(f.WriteAt(p, 0)), second(f.Append(p))) },
		OpTruncate: func(_ FS, f File) error { return f.Truncate(1) },
		OpSync:     func(_ FS, f File) error { return f.Sync() },
		OpRename:   func(fsys FS, _ File) error { return fsys.Rename("f", "g") },
		OpRemove:   func(fsys FS, _ File) error { return fsys.Remove("f") },
		OpMkdir:    func(fsys FS, _ File) error { return fsys.MkdirAll("d") },
		OpReadDir:  func(fsys FS, _ File) error { return second(fsys.ReadDir(".")) },
		OpStat:     func(fsys FS, _ File) error { return second(fsys.Stat("f")) },
		OpSyncDir:  func(fsys FS, _ File) error { return fsys.SyncDir(".") },
		OpLock:     func(fsys FS, _ File) error { return second(fsys.Lock(".lock")) },
		OpClose:    func(_ FS, f File) error { return f.Close() },
	} {
		t.Run(op.String(), func(t *testing.T) {
			t.Parallel()
			for _, done := range []bool{false, true} {
				fsys, m, _ := faulty(1)
				f := write(t, fsys, "f", "abc")
				before := tree(t, m, ".")
				rule := fsys.Add(Rule{Ops: op, Err: ErrIO, Done: done})
				if err := call(fsys, f); !errors.Is(err, ErrIO) {
					t.Errorf("done %v: got %v, want ErrIO", done, err)
				}
				if rule.Hits() == 0 {
					t.Error("the rule was not hit")
				}
				changes := op&(OpCreate|OpWrite|OpTruncate|OpRename|OpRemove|OpMkdir|OpLock) != 0
				if got := !slices.Equal(before, tree(t, m, ".")); got != (changes && done) {
					t.Errorf("done %v: the disk changed: %v", done, got)
				}
				fsys.Clear()
				if op != OpClose {
					if again := call(fsys, f); again != nil && !done {
						t.Errorf("after Clear: %v", again)
					}
				}
			}
		})
	}
}

func TestRuleMatches(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "a/b", true},
		{"*.log", "t-0/0.log", true},
		{"*.log", "t-0/0.index", false},
		{"t-0/*", "t-0/0.log", true},
		{"t-*/*.log", "t-1/0.log", true},
		{"t-0/*", "t-1/0.log", false},
		{"[", "a", false},
	} {
		if got := matches(tc.pattern, tc.name); got != tc.want {
			t.Errorf("%q on %q: %v, want %v", tc.pattern, tc.name, got, tc.want)
		}
	}
}

func TestRuleCounts(t *testing.T) {
	t.Parallel()
	hits := func(r Rule) string {
		fsys, _, _ := faulty(5)
		f := write(t, fsys, "f", "abc")
		r.Ops, r.Err = OpSync, ErrIO
		fsys.Add(r)
		var out string
		for range 12 {
			if f.Sync() != nil {
				out += "x"
			} else {
				out += "."
			}
		}
		return out
	}
	for _, tc := range []struct {
		rule Rule
		want string
	}{
		{Rule{}, "xxxxxxxxxxxx"},
		{Rule{Times: 2}, "xx.........."},
		{Rule{Skip: 3}, "...xxxxxxxxx"},
		{Rule{Skip: 3, Times: 1}, "...x........"},
		{Rule{Name: "g"}, "............"},
	} {
		if got := hits(tc.rule); got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.rule, got, tc.want)
		}
	}
	first := hits(Rule{Probability: 0.5})
	if n := strings.Count(first, "x"); n < 2 || n > 10 || hits(Rule{Probability: 0.5}) != first {
		t.Errorf("probability 0.5: %s, then %s", first, hits(Rule{Probability: 0.5}))
	}
}

func TestFaultsShortWrite(t *testing.T) {
	t.Parallel()
	p := bytes.Repeat([]byte("x"), 100)
	lengths := map[int]bool{}
	for seed := range uint64(30) {
		fsys, m, _ := faulty(seed)
		f := write(t, fsys, "f", "")
		fsys.Add(Rule{Ops: OpWrite, Short: true, Times: 1})
		fsys.Add(Rule{Ops: OpWrite, Short: true, Err: ErrNoSpace, Skip: 1})
		n, err := f.Append(p)
		if !errors.Is(err, io.ErrShortWrite) || n >= len(p) {
			t.Fatalf("got %d, %v", n, err)
		}
		lengths[n] = true
		if got := must[[]byte](t)(ReadFile(m, "f")); !bytes.Equal(got, p[:n]) {
			t.Errorf("the disk has %d bytes, the answer was %d", len(got), n)
		}
		if _, err := f.WriteAt(p, 0); !errors.Is(err, ErrNoSpace) {
			t.Errorf("got %v, want ErrNoSpace", err)
		}
	}
	if len(lengths) < 10 {
		t.Errorf("lengths %v: not random", lengths)
	}
}

func TestFaultsFlipBits(t *testing.T) {
	t.Parallel()
	flipped := func(p []byte) (n int) {
		for _, b := range p {
			n += bits.OnesCount8(b)
		}
		return n
	}
	fsys, m, _ := faulty(1)
	f := write(t, fsys, "f", string(make([]byte, 1000)))
	rule := fsys.Add(Rule{Ops: OpRead, FlipBits: 1})
	p := make([]byte, 1000)
	must[int](t)(f.ReadAt(p, 0))
	if flipped(p) != 1 || flipped(must[[]byte](t)(ReadFile(m, "f"))) != 0 {
		t.Errorf("read: %d bits flipped, on the disk %d", flipped(p), flipped(must[[]byte](t)(ReadFile(m, "f"))))
	}
	rule.Remove()
	fsys.Add(Rule{Ops: OpWrite, FlipBits: 1})
	clear(p)
	must[int](t)(f.WriteAt(p, 0))
	if flipped(p) != 0 || flipped(must[[]byte](t)(ReadFile(m, "f"))) != 1 {
		t.Errorf("write: %d bits flipped of the caller's, on the disk %d", flipped(p), flipped(must[[]byte](t)(ReadFile(m, "f"))))
	}
}

// fsyncgate: after a Sync that failed the next one says nil, and a crash shows
// that it did not write what the first one lost.
func TestFaultsLoseUnsynced(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("x"), 8*sectorSize)
	lost, kept, evicted := 0, 0, 0
	for seed := range uint64(60) {
		below, m, _ := faulty(seed)
		fsys := NewFaults(below, seeded(seed), new(Noted)) // one upon the other
		f := write(t, fsys, "f", "")
		ok(t, f.Sync())
		ok(t, fsys.SyncDir("."))
		fsys.Add(Rule{Ops: OpSync, Err: ErrIO, LoseUnsynced: true, Times: 1})
		must[int](t)(f.Append(data))
		if err := f.Sync(); !errors.Is(err, ErrIO) {
			t.Fatalf("got %v, want ErrIO", err)
		}
		if !fsys.Lost() {
			t.Fatal("nothing is said to be lost")
		}
		seen := must[[]byte](t)(ReadFile(m, "f"))
		if !bytes.Equal(seen, data) {
			evicted++
		}
		must[int](t)(f.Append([]byte("y")))
		ok(t, f.Sync())
		after := must[[]byte](t)(ReadFile(m.CrashClone(seeded(seed)), "f"))
		switch {
		case len(after) != len(data)+1 || after[len(data)] != 'y':
			t.Fatalf("seed %d: %d bytes: what was written after the failure is synced", seed, len(after))
		case bytes.Equal(after[:len(data)], data):
			kept++
		default:
			lost++
		}
		// Written again it can be synced.
		must[int](t)(f.WriteAt(data, 0))
		ok(t, f.Sync())
		if after := must[[]byte](t)(ReadFile(m.CrashClone(seeded(seed)), "f")); !bytes.Equal(after[:len(data)], data) {
			t.Fatalf("seed %d: written again and synced, and not there", seed)
		}
	}
	if lost < 40 || evicted < 10 || evicted > 50 {
		t.Errorf("of 60: lost %d, kept %d, evicted %d", lost, kept, evicted)
	}
	// A real disk has no data to lose this way; the rule only fails.
	fsys := NewFaults(NewReal(t.TempDir()), seeded(1), new(Noted))
	f := write(t, NewFaults(fsys, seeded(1), new(Noted)), "f", "x")
	defer shut(t, f)
	fsys.Add(Rule{Ops: OpSync, Err: ErrIO, LoseUnsynced: true})
	if err := f.Sync(); !errors.Is(err, ErrIO) {
		t.Errorf("got %v, want ErrIO", err)
	}
	if fsys.Lost() {
		t.Error("data is said to be lost")
	}
}

// What a failed Sync has lost is lost before the next Sync too, in every version
// that was not durable.
func TestFaultsLoseUnsyncedVersions(t *testing.T) {
	t.Parallel()
	const sectors = 8
	for seed := range uint64(20) {
		fsys, m, _ := faulty(seed)
		f := write(t, fsys, "f", strings.Repeat("a", sectors*sectorSize))
		ok(t, f.Sync())
		ok(t, fsys.SyncDir("."))
		for _, v := range []string{"b", "c"} {
			must[int](t)(f.WriteAt([]byte(strings.Repeat(v, sectors*sectorSize)), 0))
		}
		fsys.Add(Rule{Ops: OpSync, Err: ErrIO, LoseUnsynced: true})
		if err := f.Sync(); !errors.Is(err, ErrIO) {
			t.Fatal(err)
		}
		lost := 0
		for s, versions := range versionsOf(t, m, sectors) {
			switch len(versions) {
			case 1:
				lost++
			case 2:
				t.Errorf("seed %d: sector %d is lost in one version: %s", seed, s, versions)
			}
		}
		if lost == 0 {
			t.Errorf("seed %d: none of %d sectors is lost", seed, sectors)
		}
		// Written again, a sector is as it was, or as it is now.
		must[int](t)(f.WriteAt([]byte(strings.Repeat("d", sectors*sectorSize)), 0))
		again := 0
		for _, versions := range versionsOf(t, m, sectors) {
			if versions == "ad" {
				again++
			}
		}
		if again != lost {
			t.Errorf("seed %d: %d sectors are old or new, want the %d that were lost", seed, again, lost)
		}
	}
}

// versionsOf returns what each sector of f may be after a crash: the first
// letters, sorted.
func versionsOf(t *testing.T, m *Mem, sectors int) []string {
	t.Helper()
	seen := make([]string, sectors)
	for crash := range uint64(150) {
		data := must[[]byte](t)(ReadFile(m.CrashClone(seeded(crash)), "f"))
		for s := range seen {
			if v := string(data[s*sectorSize]); !strings.Contains(seen[s], v) {
				letters := strings.Split(seen[s]+v, "")
				slices.Sort(letters)
				seen[s] = strings.Join(letters, "")
			}
		}
	}
	return seen
}

// In a simulation nothing waits: the delays are the caller's to let pass.
func TestNoted(t *testing.T) {
	t.Parallel()
	fsys, _, w := faulty(1)
	fsys.Add(Rule{Ops: OpSync, Delay: time.Second})
	fsys.Add(Rule{Ops: OpSync | OpWrite, Delay: time.Minute})
	stall := fsys.Add(Rule{Ops: OpTruncate, Stall: true})
	f := write(t, fsys, "f", "abc")
	ok(t, f.Sync())
	got := w.Take()
	if len(got) != 3 || got[0].Released == nil {
		t.Fatalf("got %+v, want a stall and two delays", got)
	}
	want := []Wait{
		{Call: Call{OpWrite, "f"}, Delay: time.Minute}, {Call: Call{OpSync, "f"}, Delay: time.Minute + time.Second},
	}
	if diff := cmp.Diff(want, got[1:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	select {
	case <-got[0].Released:
		t.Error("released before Release")
	default:
	}
	stall.Release()
	<-got[0].Released
	if len(w.Take()) != 0 {
		t.Error("taken twice")
	}
}

// With real time a stalled call stands still until its rule goes.
func TestRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := NewFaults(NewMem(MemOptions{}), seeded(1), RealTime{})
		f := write(t, fsys, "f", "abc")
		fsys.Add(Rule{Ops: OpSync, Delay: time.Hour, Times: 1})
		start := time.Now()
		ok(t, f.Sync())
		if got := time.Since(start); got != time.Hour {
			t.Errorf("a Sync of %v, want 1h", got)
		}
		stall := fsys.Add(Rule{Ops: OpSync, Stall: true})
		for _, free := range []func(){stall.Release, stall.Remove} {
			done := make(chan error, 1)
			go func() { done <- f.Sync() }()
			synctest.Wait()
			select {
			case err := <-done:
				t.Fatalf("the stalled Sync returned: %v", err)
			default:
			}
			free()
			ok(t, <-done)
		}
		ok(t, f.Sync())
		stall.Remove() // twice is fine
	})
}

func TestOpString(t *testing.T) {
	t.Parallel()
	if got := (OpOpen | OpSync | OpClose | 1<<20).String(); got != "open|sync|close" {
		t.Errorf("got %q", got)
	}
}

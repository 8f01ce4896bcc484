package vfs

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// outcomes returns what m may be after a crash, as trees, over many seeds.
func outcomes(tb testing.TB, m *Mem) []string {
	tb.Helper()
	seen := map[string]bool{}
	for seed := range uint64(600) {
		names := strings.Join(tree(tb, m.CrashClone(seeded(seed)), "."), " ")
		seen[strings.ReplaceAll(names, "\x00", "0")] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Each story is what was done, and everything that may be left of it.
func TestCrashStories(t *testing.T) {
	t.Parallel()
	// durable is a file whose data and name are.
	durable := func(t *testing.T, m *Mem, name, content string) File {
		f := write(t, m, name, content)
		ok(t, f.Sync())
		ok(t, m.SyncDir("."))
		return f
	}
	add := func(t *testing.T, f File, s string) { must[int](t)(f.Append([]byte(s))) }
	for _, tc := range []struct {
		name string
		do   func(t *testing.T, m *Mem)
		want []string
	}{
		{"data and name are synced", func(t *testing.T, m *Mem) { durable(t, m, "f", "abc") }, []string{"f=abc"}},
		{"the name is not synced", func(t *testing.T, m *Mem) {
			ok(t, write(t, m, "f", "abc").Sync())
		}, []string{"", "f=abc"}},
		{"the data is not synced: length and data come apart", func(t *testing.T, m *Mem) {
			write(t, m, "f", "abc")
			ok(t, m.SyncDir("."))
		}, []string{"f=", "f=000", "f=abc"}},
		{"appended twice in one sector", func(t *testing.T, m *Mem) {
			f := durable(t, m, "f", "")
			add(t, f, "ab")
			add(t, f, "cd")
		}, []string{"f=", "f=00", "f=0000", "f=ab", "f=ab00", "f=abcd"}},
		{"overwritten twice", func(t *testing.T, m *Mem) {
			f := durable(t, m, "f", "abc")
			must[int](t)(f.WriteAt([]byte("xyz"), 0))
			must[int](t)(f.WriteAt([]byte("123"), 0))
		}, []string{"f=123", "f=abc", "f=xyz"}},
		{"overwritten twice, synced and overwritten: nothing from before the Sync", func(t *testing.T, m *Mem) {
			f := durable(t, m, "f", "abc")
			must[int](t)(f.WriteAt([]byte("123"), 0))
			must[int](t)(f.WriteAt([]byte("456"), 0))
			ok(t, f.Sync())
			must[int](t)(f.WriteAt([]byte("xyz"), 0))
		}, []string{"f=456", "f=xyz"}},
		{"truncated", func(t *testing.T, m *Mem) {
			ok(t, durable(t, m, "f", "abcdef").Truncate(3))
		}, []string{"f=abc", "f=abcdef"}},
		{"truncated and written on: what was cut off never comes back in part", func(t *testing.T, m *Mem) {
			f := durable(t, m, "f", "abcdef")
			ok(t, f.Truncate(3))
			add(t, f, "X")
		}, []string{"f=abc", "f=abc0", "f=abcX", "f=abcdef"}},
		{"truncated twice", func(t *testing.T, m *Mem) {
			f := durable(t, m, "f", "abcdef")
			ok(t, f.Truncate(4))
			ok(t, f.Truncate(2))
		}, []string{"f=ab", "f=abcd", "f=abcdef"}},
		{"truncated and synced", func(t *testing.T, m *Mem) {
			f := durable(t, m, "f", "abcdef")
			ok(t, f.Truncate(3))
			ok(t, f.Sync())
		}, []string{"f=abc"}},
		{"made longer", func(t *testing.T, m *Mem) { ok(t, durable(t, m, "f", "abc").Truncate(5)) }, []string{"f=abc", "f=abc00"}},
		{"removed", func(t *testing.T, m *Mem) {
			durable(t, m, "f", "abc")
			ok(t, m.Remove("f"))
		}, []string{"", "f=abc"}},
		{"removed and synced", func(t *testing.T, m *Mem) {
			durable(t, m, "f", "abc")
			ok(t, m.Remove("f"))
			ok(t, m.SyncDir("."))
		}, []string{""}},
		{"removed and made anew", func(t *testing.T, m *Mem) {
			durable(t, m, "f", "old")
			ok(t, m.Remove("f"))
			ok(t, write(t, m, "f", "new").Sync())
		}, []string{"", "f=new", "f=old"}},
		{"renamed onto another: the old one or the new one", func(t *testing.T, m *Mem) {
			durable(t, m, "f", "old")
			ok(t, write(t, m, "f.tmp", "new").Sync())
			ok(t, m.Rename("f.tmp", "f"))
		}, []string{"f=new", "f=old", "f=old f.tmp=new"}},
		{"renamed again and again: always one name", func(t *testing.T, m *Mem) {
			durable(t, m, "a", "x")
			ok(t, m.Rename("a", "b"))
			ok(t, m.Rename("b", "c"))
			ok(t, m.Rename("c", "d"))
		}, []string{"a=x", "b=x", "c=x", "d=x"}},
		{"renamed, the name taken by another, and renamed again", func(t *testing.T, m *Mem) {
			durable(t, m, "a", "1")
			ok(t, m.Rename("a", "x"))
			ok(t, write(t, m, "a", "2").Sync())
			ok(t, m.Rename("x", "y"))
		}, []string{"a=1", "a=2 x=1", "a=2 y=1", "x=1", "y=1"}},
		{"moved away, and the name taken by another that is durable", func(t *testing.T, m *Mem) {
			ok(t, m.MkdirAll("d"))
			durable(t, m, "f", "1")
			ok(t, m.Rename("f", "d/f"))
			durable(t, m, "f", "2")
		}, []string{"d/ d/f=1 f=2"}},
		{"moved to another directory, which alone is synced", func(t *testing.T, m *Mem) {
			ok(t, m.MkdirAll("d"))
			durable(t, m, "f", "x")
			ok(t, m.Rename("f", "d/f"))
			ok(t, m.SyncDir("d"))
		}, []string{"d/ d/f=x", "d/ f=x"}},
		{"moved to another directory, both synced", func(t *testing.T, m *Mem) {
			ok(t, m.MkdirAll("d"))
			durable(t, m, "f", "x")
			ok(t, m.Rename("f", "d/f"))
			ok(t, m.SyncDir("d"))
			ok(t, m.SyncDir("."))
		}, []string{"d/ d/f=x"}},
		{"in a directory that is not synced", func(t *testing.T, m *Mem) {
			ok(t, m.MkdirAll("d/e"))
			ok(t, write(t, m, "d/e/f", "x").Sync())
			ok(t, m.SyncDir("d/e"))
			ok(t, m.SyncDir("d"))
		}, []string{"", "d/ d/e/ d/e/f=x"}},
		{"a directory renamed", func(t *testing.T, m *Mem) {
			ok(t, m.MkdirAll("d"))
			ok(t, write(t, m, "d/f", "x").Sync())
			ok(t, m.SyncDir("d"))
			ok(t, m.SyncDir("."))
			ok(t, m.Rename("d", "d-delete"))
		}, []string{"d-delete/ d-delete/f=x", "d/ d/f=x"}},
		{"a directory moved into another", func(t *testing.T, m *Mem) {
			ok(t, m.MkdirAll("d"))
			ok(t, m.SyncDir("."))
			ok(t, m.MkdirAll("e"))
			ok(t, m.Rename("d", "e/d"))
		}, []string{"e/ e/d/"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := NewMem(MemOptions{})
			tc.do(t, m)
			if diff := cmp.Diff(tc.want, outcomes(t, m)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// A process that dies loses nothing, and what is not durable is not by
			// its death.
			if diff := cmp.Diff(tree(t, m, "."), tree(t, m.Clone(), ".")); diff != "" {
				t.Errorf("clone (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, outcomes(t, m.Clone())); diff != "" {
				t.Errorf("crash of a clone (-want +got):\n%s", diff)
			}
			// After a crash everything is durable.
			after := m.CrashClone(seeded(7))
			if got := outcomes(t, after); len(got) != 1 {
				t.Errorf("a second crash changes something: %q", got)
			}
		})
	}
}

// A write over several sectors may survive in any of them, and its beginning
// and all of it often enough to be met.
func TestCrashTearsWrites(t *testing.T) {
	t.Parallel()
	m := NewMem(MemOptions{})
	f := write(t, m, "f", "")
	ok(t, m.SyncDir("."))
	must[int](t)(f.Append(bytes.Repeat([]byte{'x'}, 12*sectorSize)))
	all, beginnings, others := 0, 0, 0
	for seed := range uint64(1000) {
		data := must[[]byte](t)(ReadFile(m.CrashClone(seeded(seed)), "f"))
		if len(data) == 0 {
			continue
		}
		var sectors string
		for s := range 12 {
			sector := data[s*sectorSize : (s+1)*sectorSize]
			if got := bytes.Count(sector, []byte{'x'}); got != 0 && got != sectorSize {
				t.Fatalf("sector %d holds %d bytes of what was written", s, got)
			}
			sectors += string(sector[:1])
		}
		switch trimmed := strings.TrimRight(sectors, "\x00"); {
		case len(trimmed) == 12:
			all++
		case !strings.Contains(trimmed, "\x00"):
			beginnings++
		default:
			others++
		}
	}
	if min(all, beginnings, others) < 50 {
		t.Errorf("of 1000: all %d, a beginning %d, others %d", all, beginnings, others)
	}
}

// history is what a file was, for TestCrashKeepsItsPromise.
type history struct {
	states [][]byte // the contents since the last Sync, which is the first
	exists bool     // its name is durable
}

// Whatever was done: after a crash each file has a length that it had since its
// last Sync, and each of its sectors is as it was at some time since then, or
// zeros. What was synced last and not touched since is there, byte for byte.
func TestCrashKeepsItsPromise(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		rng := seeded(seed)
		m := NewMem(MemOptions{})
		files := map[string]*history{}
		for range 60 {
			promiseStep(t, m, rng, files)
			for range 2 {
				checkPromise(t, seed, m.CrashClone(rng), files)
			}
			if rng.IntN(20) == 0 { // go on after a crash
				m = m.CrashClone(rng)
				for name, h := range files {
					data, err := ReadFile(m, name)
					if err != nil {
						delete(files, name)
						continue
					}
					*h = history{states: [][]byte{data}, exists: true}
				}
			}
		}
	}
}

func promiseStep(t *testing.T, m *Mem, rng *rand.Rand, files map[string]*history) {
	t.Helper()
	name := fmt.Sprintf("f%d", rng.IntN(3))
	f := must[File](t)(m.Open(name, Create))
	defer shut(t, f)
	h := files[name]
	if h == nil {
		h = &history{states: [][]byte{nil}}
		files[name] = h
	}
	now := bytes.Clone(h.states[len(h.states)-1])
	switch rng.IntN(6) {
	case 0, 1:
		p := bytes.Repeat([]byte{byte('a' + rng.IntN(26))}, 1+rng.IntN(3000))
		must[int](t)(f.Append(p))
		now = append(now, p...)
	case 2:
		p, off := bytes.Repeat([]byte{byte('A' + rng.IntN(26))}, 1+rng.IntN(2000)), rng.IntN(9000)
		must[int](t)(f.WriteAt(p, int64(off)))
		now = append(now, make([]byte, max(0, off+len(p)-len(now)))...)
		copy(now[off:], p)
	case 3:
		n := rng.IntN(9000)
		ok(t, f.Truncate(int64(n)))
		now = append(now, make([]byte, max(0, n-len(now)))...)[:n]
	case 4:
		ok(t, f.Sync())
		h.states = nil
	default:
		ok(t, m.SyncDir("."))
		for _, h := range files {
			h.exists = true
		}
	}
	h.states = append(h.states, now)
}

func checkPromise(t *testing.T, seed uint64, m *Mem, files map[string]*history) {
	t.Helper()
	for name, h := range files {
		data, err := ReadFile(m, name)
		if err != nil {
			if h.exists {
				t.Fatalf("seed %d: %s is gone, and its name was durable: %v", seed, name, err)
			}
			continue
		}
		if !slices.ContainsFunc(h.states, func(s []byte) bool { return len(s) == len(data) }) {
			t.Fatalf("seed %d: %s has %d bytes, which it never had", seed, name, len(data))
		}
		for start := 0; start < len(data); start += sectorSize {
			end := min(start+sectorSize, len(data))
			if !slices.ContainsFunc(h.states, func(s []byte) bool { return couldBe(data[start:end], s, start) }) {
				t.Fatalf("seed %d: %s, sector at %d of %d is what it never was", seed, name, start, len(data))
			}
		}
	}
}

// couldBe reports whether a sector is what a state has there, zeros beyond its
// end, or where a shorter length has cut it.
func couldBe(sector, state []byte, start int) bool {
	was := make([]byte, len(sector))
	if start < len(state) {
		copy(was, state[start:])
	}
	// A truncation may have cut it, anywhere in what agrees, and zeros followed.
	agrees := 0
	for agrees < len(sector) && sector[agrees] == was[agrees] {
		agrees++
	}
	return len(bytes.TrimRight(sector, "\x00")) <= agrees
}

// The pattern that the engine's checkpoints are written by, broken at every
// step and again while it is repeated after the crash.
func TestWriteFileSurvivesEveryCrash(t *testing.T) {
	t.Parallel()
	old, young := strings.Repeat("old", 1000), strings.Repeat("young", 1000)
	m := NewMem(MemOptions{})
	ok(t, WriteFile(m, "f", []byte(old)))
	check := func(m *Mem, when any) {
		if got := string(must[[]byte](t)(ReadFile(m, "f"))); got != old && got != young {
			t.Fatalf("after a crash at %v: %.20q, %d bytes", when, got, len(got))
		}
	}
	var ops []string
	m.OnStep(func(s Step) {
		ops = append(ops, s.Op.String())
		for seed := range uint64(50) {
			after := m.CrashClone(seeded(seed))
			check(after, s)
			after.OnStep(func(again Step) { check(after.CrashClone(seeded(seed)), []Step{s, again}) })
			ok(t, WriteFile(after, "f", []byte(young)))
		}
	})
	ok(t, WriteFile(m, "f", []byte(young)))
	m.OnStep(nil)
	if want := "create write truncate sync rename syncdir"; strings.Join(ops, " ") != want {
		t.Errorf("steps %v, want %s", ops, want)
	}
	if got := m.Steps(); got != 12 {
		t.Errorf("%d steps, want 12", got)
	}
	check(m.CrashClone(seeded(1)), "the end")
}

// The same seed gives the same disk, and a clone is a disk of its own.
func TestClones(t *testing.T) {
	t.Parallel()
	m := NewMem(MemOptions{})
	for i := range 20 {
		f := write(t, m, fmt.Sprintf("f%02d", i), strings.Repeat("x", 5000))
		if i%2 == 0 {
			ok(t, f.Sync())
		}
		must[int](t)(f.WriteAt([]byte("yyy"), 600))
	}
	for seed := range uint64(20) {
		a, b := tree(t, m.CrashClone(seeded(seed)), "."), tree(t, m.CrashClone(seeded(seed)), ".")
		if !slices.Equal(a, b) {
			t.Fatalf("seed %d gives two disks", seed)
		}
	}
	// A page that was its owner's before the clone, and is written again.
	f := must[File](t)(m.Open("f01", ReadWrite))
	for seed := range uint64(20) {
		must[int](t)(f.WriteAt([]byte("yyy"), 600))
		c := m.CrashClone(seeded(seed))
		was := tree(t, c, ".")
		must[int](t)(f.WriteAt([]byte("zzz"), 600))
		if !slices.Equal(tree(t, c, "."), was) {
			t.Fatal("the disk's write changed a crash clone")
		}
	}
	must[int](t)(f.WriteAt([]byte("yyy"), 600))
	before := tree(t, m, ".")
	for _, c := range []*Mem{m.Clone(), m.CrashClone(seeded(3))} {
		was := tree(t, c, ".")
		for i := range 20 {
			write(t, c, fmt.Sprintf("f%02d", i), "changed")
		}
		if !slices.Equal(tree(t, m, "."), before) {
			t.Fatal("a clone's write changed the disk")
		}
		c2 := c.Clone()
		for i := range 20 {
			f := must[File](t)(m.Open(fmt.Sprintf("f%02d", i), ReadWrite))
			must[int](t)(f.WriteAt([]byte("changed"), 600))
			must[int](t)(f.WriteAt([]byte("yyyxxxx"), 600))
		}
		if slices.Equal(tree(t, c2, "."), was) || !slices.Equal(tree(t, c2, "."), tree(t, c, ".")) {
			t.Fatal("the disk's write changed a clone")
		}
	}
}

// Truncations, whose past clones share, under several goroutines.
func TestMemRace(t *testing.T) {
	t.Parallel()
	m := NewMem(MemOptions{CapacityBytes: 1 << 20})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rng := seeded(uint64(g))
			disk := m
			for i := range 200 {
				f := must[File](t)(disk.Open(fmt.Sprint("f", rng.IntN(3)), Create))
				_, _ = f.WriteAt(make([]byte, rng.IntN(5000)), rng.Int64N(9000))
				_ = f.Truncate(rng.Int64N(9000))
				if i%7 == 0 {
					_ = f.Sync()
				}
				_ = f.Close()
				_ = disk.Rename("f0", fmt.Sprint("f", g+3))
				_ = disk.SyncDir(".")
				switch i % 20 {
				case 5:
					disk = m.Clone()
				case 10:
					disk = disk.CrashClone(rng)
				case 15:
					disk = m
				}
			}
		})
	}
	wg.Wait()
}

func TestCapacity(t *testing.T) {
	t.Parallel()
	m := NewMem(MemOptions{CapacityBytes: 4 * pageSize})
	f := write(t, m, "f", "x")
	n, err := f.Append(make([]byte, 5*pageSize))
	if n != 4*pageSize-1 || class(err) != "an error" || !strings.Contains(err.Error(), "no space") {
		t.Errorf("got %d, %v, want %d and ErrNoSpace", n, err, 4*pageSize-1)
	}
	if s := must[Space](t)(m.Space()); s.UsableBytes != 0 || s.TotalBytes != 4*pageSize {
		t.Errorf("got %+v", s)
	}
	if s := must[Space](t)(m.Clone().Space()); s.UsableBytes != 0 {
		t.Errorf("a clone: %+v", s)
	}
	must[int](t)(f.WriteAt([]byte("again"), 0)) // no page more
	ok(t, f.Truncate(pageSize+1))
	if s := must[Space](t)(m.Space()); s.UsableBytes != 2*pageSize {
		t.Errorf("after truncation: %+v", s)
	}
	ok(t, m.Remove("f"))
	if s := must[Space](t)(m.Space()); s.UsableBytes != 2*pageSize {
		t.Errorf("removed and open: %+v", s)
	}
	ok(t, f.Close())
	if s := must[Space](t)(m.Space()); s.UsableBytes != 4*pageSize {
		t.Errorf("removed and closed: %+v", s)
	}
	ok(t, write(t, m, "a", "x").Close())
	ok(t, write(t, m, "b", "x").Close())
	ok(t, m.Rename("a", "b"))
	if s := must[Space](t)(m.Space()); s.UsableBytes != 3*pageSize {
		t.Errorf("replaced: %+v", s)
	}
	m.SetCapacity(pageSize / 2)
	if _, err := write(t, m, "b", "").Append(make([]byte, 10)); err == nil {
		t.Error("a write to a disk that shrank: no error")
	}
}

// E29: systems that do not rename what is open.
func TestRefuseOpen(t *testing.T) {
	t.Parallel()
	m := NewMem(MemOptions{RefuseOpen: true})
	ok(t, m.MkdirAll("d"))
	f := write(t, m, "d/f", "x")
	ok(t, write(t, m, "g", "x").Close())
	for what, err := range map[string]error{
		"remove it": m.Remove("d/f"), "rename it": m.Rename("d/f", "h"),
		"rename its directory": m.Rename("d", "e"), "replace it": m.Rename("g", "d/f"),
	} {
		if err == nil || !strings.Contains(err.Error(), "busy") {
			t.Errorf("%s: %v, want ErrBusy", what, err)
		}
	}
	ok(t, f.Close())
	ok(t, m.Rename("d", "e"))
	ok(t, RemoveAll(m, "e"))
}

// What a kernel would have written back by now is not remembered for ever.
func TestPendingIsBounded(t *testing.T) {
	t.Parallel()
	m := NewMem(MemOptions{})
	for i := range maxPending + 100 {
		ok(t, write(t, m, fmt.Sprint(i), "").Close())
	}
	if len(m.pending) > maxPending {
		t.Errorf("%d changes remembered, want at most %d", len(m.pending), maxPending)
	}
	after := m.CrashClone(seeded(0))
	for i := range 100 {
		must[Info](t)(after.Stat(fmt.Sprint(i)))
	}
	f := write(t, m, "f", "")
	for i := range 100 {
		must[int](t)(f.WriteAt([]byte("x"), 0))
		must[int](t)(f.Append([]byte("x")))
		ok(t, f.Truncate(int64(1+i%2)))
	}
	c := f.(*memFile).n.file
	depth := 0
	for b := c; b.before != nil; b = b.before {
		depth++
	}
	if depth > maxCuts || len(c.sizes) > maxSizes || len(c.old[0]) > maxVersions {
		t.Errorf("remembered: %d truncations, %d sizes, %d versions", depth, len(c.sizes), len(c.old[0]))
	}
}

// BenchmarkCrashClone is a clone of a disk of 10 MiB in 40 files, half unsynced.
func BenchmarkCrashClone(b *testing.B) {
	m := NewMem(MemOptions{})
	for i := range 40 {
		f := write(b, m, fmt.Sprint(i), strings.Repeat("x", 256<<10))
		if i%2 == 0 {
			ok(b, f.Sync())
		}
	}
	ok(b, m.SyncDir("."))
	rng := seeded(1)
	b.ReportAllocs()
	for b.Loop() {
		m.CrashClone(rng)
	}
}

// BenchmarkAppend is a batch of 1 KiB to a file in memory.
func BenchmarkAppend(b *testing.B) {
	m := NewMem(MemOptions{})
	f := write(b, m, "f", "")
	p := make([]byte, 1024)
	b.ReportAllocs()
	for b.Loop() {
		must[int](b)(f.Append(p))
		if must[int64](b)(f.Size()) > 16<<20 {
			ok(b, f.Sync())
			ok(b, f.Truncate(0))
		}
	}
}

package broker

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// journal is a disk that writes down what reaches it.
type journal struct {
	vfs.FS
	mu    sync.Mutex
	lines []string
	fail  string // the call that fails
	files int    // open ones
}

var errBroken = errors.New("broken")

func (j *journal) add(op, name string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, op+" "+name)
	if j.lines[len(j.lines)-1] == j.fail {
		return errBroken
	}
	return nil
}

func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := strings.Join(j.lines, ", ")
	j.lines = nil
	return all
}

func (j *journal) Open(name string, mode vfs.Mode) (vfs.File, error) {
	_, err := j.Stat(name)
	file, oerr := j.FS.Open(name, mode)
	if oerr != nil {
		return nil, oerr
	}
	if errors.Is(err, fs.ErrNotExist) {
		_ = j.add("create", name)
	}
	j.mu.Lock()
	j.files++
	j.mu.Unlock()
	return &journalFile{File: file, j: j, name: name}, nil
}

func (j *journal) Rename(from, to string) error {
	return errors.Join(j.add("rename", from), j.FS.Rename(from, to))
}

func (j *journal) SyncDir(name string) error { return j.add("syncdir", name) }

type journalFile struct {
	vfs.File
	j    *journal
	name string
}

func (f *journalFile) Close() error {
	f.j.mu.Lock()
	f.j.files--
	f.j.mu.Unlock()
	return f.File.Close()
}

func (f *journalFile) Sync() error { return f.j.add("sync", f.name) }

func (f *journalFile) Truncate(size int64) error {
	return errors.Join(f.j.add("truncate", f.name), f.File.Truncate(size))
}

func newJournal() (*journal, *syncs, vfs.FS) {
	j := &journal{FS: vfs.NewMem(vfs.MemOptions{})}
	s := newSyncs()
	return j, s, &syncFS{FS: j, s: s}
}

func open(t *testing.T, fsys vfs.FS, name string) vfs.File {
	t.Helper()
	f, err := fsys.Open(name, vfs.Create)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func check(t *testing.T, j *journal, when, want string) {
	t.Helper()
	if got := j.take(); got != want {
		t.Errorf("%s: got %q, want %q", when, got, want)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestSyncsAreLeftInOrder(t *testing.T) {
	t.Parallel()
	j, s, fsys := newJournal()
	log, index, other := open(t, fsys, "0.log"), open(t, fsys, "0.index"), open(t, fsys, "0.snapshot")
	must(t, log.Sync())
	check(t, j, "between orders a sync is done", "create 0.log, create 0.index, create 0.snapshot, sync 0.log")

	s.begin()
	must(t, log.Sync(), index.Sync(), fsys.SyncDir("."))
	left, wrote := s.end()
	check(t, j, "in an order it is left", "")
	if wrote {
		t.Error("a sync counts as a write")
	}
	must(t, s.carryOut(left))
	check(t, j, "and done later", "sync 0.log, sync 0.index, syncdir .")

	s.begin()
	must(t, other.Sync(), fsys.SyncDir("."))
	left, _ = s.end()
	check(t, j, "of other files it is done at once", "sync 0.snapshot, syncdir .")
	if len(left) > 0 {
		t.Errorf("%d syncs are left", len(left))
	}
}

// TestSyncsComeFirst: what follows a sync and may become durable by itself comes after it.
func TestSyncsComeFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, fsys vfs.FS, log, other vfs.File) error
		want string
	}{
		{"a new file", func(t *testing.T, fsys vfs.FS, _, _ vfs.File) error { open(t, fsys, "1.log"); return nil }, "sync 0.log, create 1.log"},
		{"a new name", func(_ *testing.T, fsys vfs.FS, _, _ vfs.File) error { return fsys.Rename("0.snapshot", "x") }, "sync 0.log, rename 0.snapshot"},
		{"another file's sync", func(_ *testing.T, _ vfs.FS, _, other vfs.File) error { return other.Sync() }, "sync 0.log, sync 0.snapshot"},
		{"a cut", func(_ *testing.T, _ vfs.FS, log, _ vfs.File) error { return log.Truncate(0) }, "sync 0.log, truncate 0.log"},
		{"its own end", func(_ *testing.T, _ vfs.FS, log, _ vfs.File) error { return log.Close() }, "sync 0.log"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j, s, fsys := newJournal()
			log, other := open(t, fsys, "0.log"), open(t, fsys, "0.snapshot")
			j.take()
			s.begin()
			must(t, log.Sync(), tt.do(t, fsys, log, other))
			left, _ := s.end()
			check(t, j, "in the order", tt.want)
			if len(left) > 0 {
				t.Errorf("%d syncs are left", len(left))
			}
		})
	}
}

// TestRecoveryPointsWait: what says which data is durable is not written before it is,
// whoever writes it.
func TestRecoveryPointsWait(t *testing.T) {
	t.Parallel()
	j, s, fsys := newJournal()
	log := open(t, fsys, "0.log")
	s.begin()
	must(t, log.Sync())
	left, _ := s.end()
	j.take()
	written := make(chan error)
	go func() { written <- vfs.WriteFile(fsys, recoveryPoints, []byte("0\n0\n")) }()
	time.Sleep(50 * time.Millisecond) // more than it would take
	check(t, j, "while the sync is under way", "")
	must(t, s.carryOut(left), <-written)
	if got := j.take(); !strings.HasPrefix(got, "sync 0.log, create "+recoveryPoints) {
		t.Errorf("got %q, want the log's sync first", got)
	}
}

func TestFailedSyncs(t *testing.T) {
	t.Parallel()
	j, s, fsys := newJournal()
	log, index := open(t, fsys, "0.log"), open(t, fsys, "0.index")
	j.fail = "sync 0.log"
	j.take()
	s.begin()
	must(t, log.Sync(), index.Sync())
	left, _ := s.end()
	if err := s.carryOut(left); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want the disk's error", err)
	}
	check(t, j, "what follows is given up", "sync 0.log")
	must(t, log.Close(), index.Close()) // and waits for nothing
	j.fail = ""
	s.begin()
	f := open(t, fsys, "1.log")
	must(t, f.Sync())
	left, _ = s.end()
	if err := s.carryOut(left); !errors.Is(err, errBroken) {
		t.Errorf("a later sync: got %v, want the first error", err)
	}
	if err := vfs.WriteFile(fsys, recoveryPoints, nil); !errors.Is(err, errBroken) {
		t.Errorf("recovery points after a failed sync: got %v, want its error", err)
	}
}

// slowFile's syncs take until they are let go.
type slowFile struct {
	vfs.File
	began, let chan struct{}
}

func (f *slowFile) Sync() error {
	f.began <- struct{}{}
	<-f.let
	return nil
}

// TestGroupCommit: while a sync of a file is under way, those that are asked for become
// one.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	s := newSyncs()
	slow := &slowFile{began: make(chan struct{}), let: make(chan struct{})}
	f := &syncFile{File: slow, s: s, deferred: true}
	ask := func() []leftSync {
		s.begin()
		must(t, f.Sync())
		left, _ := s.end()
		return left
	}
	var wg sync.WaitGroup
	first := ask()
	wg.Go(func() { _ = s.carryOut(first) })
	<-slow.began
	for range 5 {
		left := ask()
		wg.Go(func() { _ = s.carryOut(left) })
	}
	slow.let <- struct{}{}
	<-slow.began // one for the five
	slow.let <- struct{}{}
	wg.Wait()
	select {
	case <-slow.began:
		t.Error("a third sync")
	default:
	}
}

// TestTails: a power failure leaves what was synced, and of what was appended since some
// beginning.
func TestTails(t *testing.T) {
	t.Parallel()
	seen, cut := map[int]bool{}, false
	for seed := range uint64(200) {
		tracked := newTailFS(vfs.NewMem(vfs.MemOptions{}))
		must(t, tracked.MkdirAll("a"))
		f := open(t, tracked, "a/0.log")
		_, err := f.Append([]byte("durable"))
		must(t, err, f.Sync())
		_, err = f.Append([]byte("?!"))
		must(t, err, f.Close(), tracked.Rename("a", "b"))
		g := open(t, tracked, "1.log")
		_, err = g.Append([]byte("all of it"))
		must(t, err, g.Sync(), g.Truncate(3))
		_, err = g.Append([]byte("!"))
		must(t, err, g.Close())
		must(t, tracked.cut(newRand(seed)))
		b, err := vfs.ReadFile(tracked, "b/0.log")
		must(t, err)
		if got := string(b); !slices.Contains([]string{"durable", "durable?", "durable?!"}, got) {
			t.Fatalf("seed %d: got %q", seed, b)
		}
		seen[len(b)-len("durable")] = true
		b, err = vfs.ReadFile(tracked, "1.log")
		must(t, err)
		cut = cut || string(b) == "all"
		if string(b) != "all" && string(b) != "all!" {
			t.Fatalf("seed %d: got %q", seed, b)
		}
	}
	if len(seen) != 3 || !cut {
		t.Errorf("so many bytes survive: %v, want 0, 1 and 2; what came behind a cut is lost: %v", slices.Sorted(maps.Keys(seen)), cut)
	}
}

// TestReplacedFilesAreLeft: a log's small files are written, synced and named later, in
// that order; a batch is not written before they are.
func TestReplacedFilesAreLeft(t *testing.T) {
	t.Parallel()
	const name = "t-0/leader-epoch-checkpoint"
	const all = "sync " + name + ".tmp, rename " + name + ".tmp, syncdir t-0"
	write := func(t *testing.T) (*journal, *syncs, vfs.FS, vfs.File) {
		t.Helper()
		j, s, fsys := newJournal()
		must(t, fsys.MkdirAll("t-0"))
		log := open(t, fsys, "t-0/0.log")
		j.take()
		s.begin()
		must(t, vfs.WriteFile(fsys, name, []byte("0\n0\n")))
		check(t, j, "in the order", "create "+name+".tmp, truncate "+name+".tmp")
		if j.files != 1 {
			t.Errorf("%d files are open, want the log alone", j.files)
		}
		return j, s, fsys, log
	}
	j, s, fsys, _ := write(t)
	left, wrote := s.end()
	if !wrote {
		t.Error("the order has written nothing")
	}
	must(t, s.carryOut(left))
	check(t, j, "later", all)
	if j.files != 1 {
		t.Errorf("%d files are open then, want the log alone", j.files)
	}
	if b, err := vfs.ReadFile(fsys, name); err != nil || string(b) != "0\n0\n" {
		t.Errorf("got %q, %v", b, err)
	}

	j, s, _, log := write(t)
	_, err := log.WriteAt([]byte("batch"), 0)
	must(t, err)
	check(t, j, "before a batch is written", all)
	if left, _ := s.end(); len(left) > 0 {
		t.Errorf("%d are left then", len(left))
	}

	j, s, fsys, _ = write(t)
	left, _ = s.end()
	s.over.Store(true)
	must(t, s.carryOut(left))
	check(t, j, "of a process that was killed meanwhile", "")
	if _, err := fsys.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no such file", err)
	}

	j, _, fsys = newJournal() // between orders
	must(t, fsys.MkdirAll("t-0"))
	must(t, vfs.WriteFile(fsys, name, nil))
	check(t, j, "at once", "create "+name+".tmp, truncate "+name+".tmp, "+all)
}

package broker

import (
	"errors"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// syncs are those that orders leave to be done later. begin, end and what files ask
// for are the owner's; carryOut is for any goroutine.
type syncs struct {
	running bool // an order
	left    []leftSync
	// named: a name is part of what is left.
	named bool
	wrote bool

	slots chan struct{} // bounds how many threads wait for the disk
	over  atomic.Bool   // the process is dead, and asks for nothing more

	mu     sync.Mutex
	free   sync.Cond // under has become 0
	under  int       // batches under way
	failed error
}

// leftSync is a sync that is left for later; with do false it is given up.
type leftSync func(do bool) error

// syncThreads is how many syncs a node has under way at once. Each is a thread.
const syncThreads = 16

func newSyncs() *syncs {
	s := &syncs{slots: make(chan struct{}, syncThreads)}
	s.free.L = &s.mu
	return s
}

func (s *syncs) begin() { s.running, s.left, s.named, s.wrote = true, nil, false, false }

// end returns what the order has left, and whether it has written anything.
func (s *syncs) end() (left []leftSync, wrote bool) {
	left, s.left, s.running = s.left, nil, false
	if len(left) > 0 {
		s.mu.Lock()
		s.under++
		s.mu.Unlock()
	}
	return left, s.wrote
}

// carryOut does what an order has left. After a failure all others fail too: nobody
// knows what of their data is there.
func (s *syncs) carryOut(left []leftSync) error {
	s.slots <- struct{}{}
	defer func() { <-s.slots }()
	err := s.inOrder(left)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
	if s.under--; s.under == 0 {
		s.free.Broadcast()
	}
	return s.failed
}

func (s *syncs) inOrder(left []leftSync) (err error) {
	for _, sync := range left {
		if e := sync(err == nil && !s.over.Load()); err == nil {
			err = e
		}
	}
	return err
}

// barrier does what the running order has left so far: what it does next may become
// durable by itself, and must not do so before.
func (s *syncs) barrier() error {
	left := s.left
	s.left, s.named = nil, false
	return s.inOrder(left)
}

// settle waits until nothing is under way.
func (s *syncs) settle() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.under > 0 {
		s.free.Wait()
	}
	return s.failed
}

// syncFS leaves the syncs of logs and their indexes that an order asks for to be done
// later, in order, and those of a directory that follow them.
type syncFS struct {
	vfs.FS
	s *syncs
}

// recoveryPoints is the checkpoint that says which data is durable. It is written as
// a whole under a name that begins like this.
const recoveryPoints = "recovery-point-offset-checkpoint"

// deferred are the ends of the names of files whose syncs can come later: that their
// data is durable is said nowhere but in the recovery points.
func deferred(name string) bool {
	switch path.Ext(name) {
	case ".log", ".index", ".timeindex":
		return true
	}
	return false
}

// replaced are small files of a log that are written under another name, synced and
// renamed. All of that can come later, as nobody reads them but who opens the log.
func replaced(name string) bool {
	dir, base := path.Split(name)
	return dir != "" && (base == "partition.metadata.tmp" || base == "leader-epoch-checkpoint.tmp")
}

// Open implements vfs.FS.
func (f *syncFS) Open(name string, mode vfs.Mode) (vfs.File, error) {
	if mode >= vfs.Create {
		f.s.wrote = true
		if err := f.s.barrier(); err != nil {
			return nil, err
		}
		if strings.HasPrefix(path.Base(name), recoveryPoints) {
			if err := f.s.settle(); err != nil {
				return nil, err
			}
		}
	}
	file, err := f.FS.Open(name, mode)
	if err != nil {
		return nil, err
	}
	if replaced(name) {
		return &replacedFile{syncFile: syncFile{File: file, s: f.s}, fs: f.FS, name: name}, nil
	}
	return &syncFile{File: file, s: f.s, deferred: deferred(name)}, nil
}

// Rename implements vfs.FS.
func (f *syncFS) Rename(from, to string) error {
	f.s.wrote = true
	if f.s.running && len(f.s.left) > 0 && replaced(from) {
		f.s.named = true
		f.s.left = append(f.s.left, func(do bool) error {
			if !do {
				return nil
			}
			return f.FS.Rename(from, to)
		})
		return nil
	}
	return errors.Join(f.s.barrier(), f.FS.Rename(from, to))
}

// Remove implements vfs.FS.
func (f *syncFS) Remove(name string) error {
	f.s.wrote = true
	return errors.Join(f.s.barrier(), f.FS.Remove(name))
}

// MkdirAll implements vfs.FS.
func (f *syncFS) MkdirAll(name string) error {
	f.s.wrote = true
	return errors.Join(f.s.barrier(), f.FS.MkdirAll(name))
}

// SyncDir implements vfs.FS.
func (f *syncFS) SyncDir(name string) error {
	if f.s.running && len(f.s.left) > 0 {
		f.s.left = append(f.s.left, func(do bool) error {
			if !do {
				return nil
			}
			return f.FS.SyncDir(name)
		})
		return nil
	}
	return f.FS.SyncDir(name)
}

// syncFile is a file whose syncs may be left for later.
type syncFile struct {
	vfs.File
	s        *syncs
	deferred bool
	later    sync.WaitGroup // syncs that are left
	asked    atomic.Uint64  // counts them

	mu      sync.Mutex // held by who syncs
	covered uint64     // those up to this one are done
}

// WriteAt implements vfs.File.
func (f *syncFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.writes(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

// Append implements vfs.File.
func (f *syncFile) Append(p []byte) (int, error) {
	if err := f.writes(); err != nil {
		return 0, err
	}
	return f.File.Append(p)
}

// writes does what is left first if what is written relies on it: an epoch is on the
// disk before the batches of it are.
func (f *syncFile) writes() error {
	f.s.wrote = true
	if f.s.named {
		return f.s.barrier()
	}
	return nil
}

// Truncate implements vfs.File.
func (f *syncFile) Truncate(size int64) error {
	f.s.wrote = true
	return errors.Join(f.s.barrier(), f.File.Truncate(size))
}

// Sync implements vfs.File.
func (f *syncFile) Sync() error {
	if !f.s.running || !f.deferred {
		return errors.Join(f.s.barrier(), f.File.Sync())
	}
	number := f.asked.Add(1)
	f.later.Add(1)
	f.s.left = append(f.s.left, func(do bool) error {
		defer f.later.Done()
		if !do {
			return nil
		}
		return f.sync(number)
	})
	return nil
}

// sync syncs, unless another one that began after it was asked for has done so: syncs
// of a file that wait for each other become one.
func (f *syncFile) sync(number uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.covered >= number {
		return nil
	}
	covers := f.asked.Load()
	if err := f.File.Sync(); err != nil {
		return err
	}
	f.covered = covers
	return nil
}

// Close implements vfs.File. It waits for the syncs that are under way.
func (f *syncFile) Close() error {
	err := f.s.barrier()
	f.later.Wait()
	return errors.Join(err, f.File.Close())
}

// replacedFile is one of which not only the sync may be left. It is closed at once all
// the same, and opened for its sync again: of the logs that are made together there may
// be more than a process may have open.
type replacedFile struct {
	syncFile
	fs   vfs.FS
	name string
}

// Sync implements vfs.File.
func (f *replacedFile) Sync() error {
	if !f.s.running {
		return f.syncFile.Sync()
	}
	f.s.left = append(f.s.left, func(do bool) error {
		if !do {
			return nil
		}
		again, err := f.fs.Open(f.name, vfs.ReadWrite)
		if err != nil {
			return err
		}
		return errors.Join(again.Sync(), again.Close())
	})
	return nil
}

// Close implements vfs.File.
func (f *replacedFile) Close() error { return f.File.Close() }

package vfs

import (
	"io"
	"io/fs"
	"math"
	"path"
	"strings"
	"sync"
	"syscall"
)

// Mem is a disk in memory. It is for several goroutines.
type Mem struct {
	mu      sync.Mutex
	opts    MemOptions
	root    *node
	pending []nameChange
	pages   int64 // in use
	locked  map[string]bool
	steps   uint64
	onStep  func(Step)
}

// MemOptions say what disk it is. The zero value has no bound.
type MemOptions struct {
	// CapacityBytes bounds the data, in whole pages of 4 KiB; 0 is no bound.
	CapacityBytes int64
	// RefuseOpen makes Rename and Remove of open files, and of directories that
	// hold one, fail with ErrBusy, as Windows does.
	RefuseOpen bool
}

// Step is one change of a Mem: a point at which the power may fail.
type Step struct {
	// N counts from 1.
	N    uint64
	Op   Op
	Name string
}

// NewMem returns an empty disk.
func NewMem(opts MemOptions) *Mem {
	return &Mem{opts: opts, root: newDir(), locked: map[string]bool{}}
}

// OnStep makes f be called after each change, by the goroutine that made it and
// without a lock: f may take a clone. f is nil to stop. A change that failed
// calls f too, since part of it may be done.
func (m *Mem) OnStep(f func(Step)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.onStep = f
}

// Steps is how many changes there were.
func (m *Mem) Steps() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.steps
}

// change does f as a step, under the lock, and tells the hook.
func (m *Mem) change(op Op, name string, f func() error) error {
	m.mu.Lock()
	err := f()
	m.steps++
	step, hook := Step{N: m.steps, Op: op, Name: name}, m.onStep
	m.mu.Unlock()
	if hook != nil {
		hook(step)
	}
	if err != nil {
		return pathError(op.String(), name, err)
	}
	return nil
}

// find returns the node that has a name. It is called with the lock held, as
// all of the methods below without a name of their own.
func (m *Mem) find(name string) (*node, error) {
	if name == "." {
		return m.root, nil
	}
	n := m.root
	for part := range strings.SplitSeq(name, "/") {
		if !n.isDir() {
			return nil, syscall.ENOTDIR
		}
		if n = n.entries[part]; n == nil {
			return nil, fs.ErrNotExist
		}
	}
	return n, nil
}

func (m *Mem) findDir(name string) (*node, error) {
	n, err := m.find(name)
	if err == nil && !n.isDir() {
		err = syscall.ENOTDIR
	}
	return n, err
}

// placeOf splits a name into its directory, which must exist, and the rest.
func (m *Mem) placeOf(name string) (place, error) {
	dir, err := m.findDir(path.Dir(name))
	return place{dir: dir, name: path.Base(name)}, err
}

// Open implements FS.
func (m *Mem) Open(name string, mode Mode) (File, error) {
	if err := checkName("open", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	n, err := m.find(name)
	if err == nil || mode < Create {
		defer m.mu.Unlock()
		switch {
		case err != nil:
		case n.isDir():
			err = syscall.EISDIR
			if mode == CreateNew {
				err = fs.ErrExist
			}
		case mode == CreateNew:
			err = fs.ErrExist
		}
		if err != nil {
			return nil, pathError("open", name, err)
		}
		return m.handle(n, name, mode), nil
	}
	m.mu.Unlock()

	// It changes the disk if nobody was faster.
	var f File
	err = m.change(OpCreate, name, func() error {
		at, err := m.placeOf(name)
		if err != nil {
			return err
		}
		n := at.dir.entries[at.name]
		if n == nil {
			n = m.create(at)
		}
		f = m.handle(n, name, mode)
		return nil
	})
	return f, err
}

func (m *Mem) create(at place) *node {
	n := &node{file: newContent(), linked: true}
	at.dir.entries[at.name] = n
	m.changed(nameChange{n: n, to: at})
	return n
}

func (m *Mem) handle(n *node, name string, mode Mode) *memFile {
	n.open++
	return &memFile{m: m, n: n, name: name, readOnly: mode == Read}
}

// Rename implements FS.
func (m *Mem) Rename(from, to string) error {
	for _, name := range []string{from, to} {
		if err := checkName("rename", name); err != nil {
			return err
		}
		if name == "." {
			return pathError("rename", name, fs.ErrInvalid)
		}
	}
	return m.change(OpRename, from, func() error { return m.rename(from, to) })
}

func (m *Mem) rename(from, to string) error {
	src, err := m.placeOf(from)
	if err != nil {
		return err
	}
	dst, err := m.placeOf(to)
	if err != nil {
		return err
	}
	n, old := src.dir.entries[src.name], dst.dir.entries[dst.name]
	switch {
	case n == nil:
		return fs.ErrNotExist
	case old != nil && old.isDir():
		return fs.ErrExist
	case old == n:
		return nil
	case old != nil && n.isDir():
		return syscall.ENOTDIR
	case n.isDir() && strings.HasPrefix(to, from+"/"):
		return syscall.EINVAL
	case m.opts.RefuseOpen && (n.busy() || old != nil && old.busy()):
		return ErrBusy
	}
	if old != nil {
		m.unlink(old)
	}
	delete(src.dir.entries, src.name)
	dst.dir.entries[dst.name] = n
	m.changed(nameChange{n: n, from: src, to: dst})
	return nil
}

// Remove implements FS.
func (m *Mem) Remove(name string) error {
	if err := checkName("remove", name); err != nil {
		return err
	}
	if name == "." {
		return pathError("remove", name, fs.ErrInvalid)
	}
	return m.change(OpRemove, name, func() error {
		n, err := m.find(name)
		switch {
		case err != nil:
			return err
		case len(n.entries) > 0:
			return syscall.ENOTEMPTY
		case m.opts.RefuseOpen && n.busy():
			return ErrBusy
		}
		at, err := m.placeOf(name)
		if err != nil {
			return err
		}
		delete(at.dir.entries, at.name)
		m.unlink(n)
		m.changed(nameChange{n: n, from: at})
		return nil
	})
}

// unlink takes a node's name away; its space is free once nobody has it open.
func (m *Mem) unlink(n *node) {
	n.linked = false
	m.release(n)
}

func (m *Mem) release(n *node) {
	if !n.isDir() && !n.linked && n.open == 0 {
		m.pages -= int64(n.file.used())
	}
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(name string) error {
	if err := checkName("mkdir", name); err != nil {
		return err
	}
	return m.change(OpMkdir, name, func() error {
		if name == "." {
			return nil
		}
		dir := m.root
		for part := range strings.SplitSeq(name, "/") {
			n := dir.entries[part]
			if n == nil {
				n = newDir()
				dir.entries[part] = n
				m.changed(nameChange{n: n, to: place{dir, part}})
			}
			if !n.isDir() {
				return syscall.ENOTDIR
			}
			dir = n
		}
		return nil
	})
}

// ReadDir implements FS.
func (m *Mem) ReadDir(name string) ([]Info, error) {
	if err := checkName("readdir", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, err := m.findDir(name)
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	infos := make([]Info, 0, len(dir.entries))
	for _, name := range sortedKeys(dir.entries) {
		infos = append(infos, dir.entries[name].info(name))
	}
	return infos, nil
}

func (n *node) info(name string) Info {
	if n.isDir() {
		return Info{Name: name, Dir: true}
	}
	return Info{Name: name, Size: n.file.size}
}

// Stat implements FS.
func (m *Mem) Stat(name string) (Info, error) {
	if err := checkName("stat", name); err != nil {
		return Info{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(name)
	if err != nil {
		return Info{}, pathError("stat", name, err)
	}
	return n.info(path.Base(name)), nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir(name string) error {
	if err := checkName("syncdir", name); err != nil {
		return err
	}
	return m.change(OpSyncDir, name, func() error {
		dir, err := m.findDir(name)
		if err == nil {
			m.synced(dir)
		}
		return err
	})
}

// Lock implements FS.
func (m *Mem) Lock(name string) (io.Closer, error) {
	f, err := m.Open(name, Create)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	if m.locked[name] {
		m.mu.Unlock()
		_ = f.Close()
		return nil, pathError("lock", name, ErrLocked)
	}
	m.locked[name] = true
	m.mu.Unlock()
	return &memLock{File: f, m: m, name: name}, nil
}

type memLock struct {
	File

	m    *Mem
	name string
}

// Close gives the lock back; the second time it is fs.ErrClosed.
func (l *memLock) Close() error {
	if err := l.File.Close(); err != nil {
		return err
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	delete(l.m.locked, l.name)
	return nil
}

// Space implements FS. Without a bound the disk is as large as a number.
func (m *Mem) Space() (Space, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	total := m.opts.CapacityBytes
	if total == 0 {
		total = math.MaxInt64
	}
	return Space{TotalBytes: total, UsableBytes: max(0, total-m.pages*pageSize)}, nil
}

// mayGrow takes a page of the disk if there is one.
func (m *Mem) mayGrow() bool {
	if m.opts.CapacityBytes > 0 && (m.pages+1)*pageSize > m.opts.CapacityBytes {
		return false
	}
	m.pages++
	return true
}

// SetCapacity changes the bound, as another process's files do; 0 is no bound.
func (m *Mem) SetCapacity(capacityBytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opts.CapacityBytes = capacityBytes
}

package broker

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// tailFS remembers how much of each file was synced, so that a failure of the power
// can be played on a disk of this machine: what was appended to a file since its last
// sync is cut off, in part or all. It does not play what else a power failure may
// lose: names, truncations, what was written over.
type tailFS struct {
	vfs.FS

	mu    sync.Mutex
	tails map[string]*tail // of files with an end that is not synced
}

// tail is what is known of an open file.
type tail struct {
	name   string
	synced int64 // bytes
	dirty  bool
}

func newTailFS(fsys vfs.FS) *tailFS { return &tailFS{FS: fsys, tails: map[string]*tail{}} }

// Open implements vfs.FS.
func (f *tailFS) Open(name string, mode vfs.Mode) (vfs.File, error) {
	file, err := f.FS.Open(name, mode)
	if err != nil || mode == vfs.Read {
		return file, err
	}
	size, err := file.Size()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tails[name]
	if t == nil {
		t = &tail{name: name, synced: size}
		f.tails[name] = t
	}
	return &tailFile{File: file, f: f, t: t}, nil
}

// Rename implements vfs.FS.
func (f *tailFS) Rename(from, to string) error {
	err := f.FS.Rename(from, to)
	if err == nil {
		f.move(from, func(name string) string { return to + strings.TrimPrefix(name, from) })
	}
	return err
}

// Remove implements vfs.FS.
func (f *tailFS) Remove(name string) error {
	err := f.FS.Remove(name)
	if err == nil {
		f.move(name, nil)
	}
	return err
}

// move gives the files at and below a name new names, or forgets them.
func (f *tailFS) move(from string, rename func(string) string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.tails[from]; t != nil {
		f.moveOne(t, rename)
		return
	}
	var below []*tail
	for name, t := range f.tails {
		if strings.HasPrefix(name, from+"/") {
			below = append(below, t)
		}
	}
	for _, t := range below {
		f.moveOne(t, rename)
	}
}

func (f *tailFS) moveOne(t *tail, rename func(string) string) {
	delete(f.tails, t.name)
	if rename != nil {
		t.name = rename(t.name)
		f.tails[t.name] = t
	}
}

// cut cuts off what was not synced. No file may be open.
func (f *tailFS) cut(rng *rand.Rand) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*tail
	for _, t := range f.tails {
		if t.dirty {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *tail) int { return strings.Compare(a.name, b.name) })
	f.tails = map[string]*tail{}
	for _, t := range all {
		if err := f.cutOne(t, rng); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (f *tailFS) cutOne(t *tail, rng *rand.Rand) error {
	file, err := f.FS.Open(t.name, vfs.ReadWrite)
	if err != nil {
		return err
	}
	size, err := file.Size()
	if err == nil && size > t.synced {
		err = errors.Join(file.Truncate(t.synced+rng.Int64N(size-t.synced+1)), file.Sync())
	}
	return errors.Join(err, file.Close())
}

// tailFile is an open file that can be written.
type tailFile struct {
	vfs.File
	f *tailFS
	t *tail
}

func (f *tailFile) wrote() {
	f.f.mu.Lock()
	defer f.f.mu.Unlock()
	f.t.dirty = true
}

// WriteAt implements vfs.File.
func (f *tailFile) WriteAt(p []byte, off int64) (int, error) {
	f.wrote()
	return f.File.WriteAt(p, off)
}

// Append implements vfs.File.
func (f *tailFile) Append(p []byte) (int, error) {
	f.wrote()
	return f.File.Append(p)
}

// Truncate implements vfs.File.
func (f *tailFile) Truncate(size int64) error {
	if err := f.File.Truncate(size); err != nil {
		return err
	}
	f.f.mu.Lock()
	defer f.f.mu.Unlock()
	f.t.synced, f.t.dirty = min(f.t.synced, size), true
	return nil
}

// Sync implements vfs.File.
func (f *tailFile) Sync() error {
	// What is written while it syncs is not covered.
	size, err := f.Size()
	if err != nil {
		return err
	}
	f.f.mu.Lock()
	f.t.dirty = false
	f.f.mu.Unlock()
	err = f.File.Sync()
	f.f.mu.Lock()
	defer f.f.mu.Unlock()
	if err == nil {
		f.t.synced = size
	} else {
		f.t.dirty = true
	}
	return err
}

package vfs

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
)

// Open implements FS.
func (f *Faults) Open(name string, mode Mode) (File, error) {
	op := OpOpen
	if mode >= Create {
		op = OpCreate
	}
	var file File
	err := f.do(op, name, func() (err error) {
		file, err = f.fs.Open(name, mode)
		return err
	})
	if err != nil {
		if file != nil { // done, and failed all the same
			err = errors.Join(err, file.Close())
		}
		return nil, err
	}
	return &faultyFile{File: file, f: f, name: name}, nil
}

// Rename implements FS.
func (f *Faults) Rename(from, to string) error {
	return f.do(OpRename, from, func() error { return f.fs.Rename(from, to) })
}

// Remove implements FS.
func (f *Faults) Remove(name string) error {
	return f.do(OpRemove, name, func() error { return f.fs.Remove(name) })
}

// MkdirAll implements FS.
func (f *Faults) MkdirAll(name string) error {
	return f.do(OpMkdir, name, func() error { return f.fs.MkdirAll(name) })
}

// ReadDir implements FS.
func (f *Faults) ReadDir(name string) (infos []Info, err error) {
	err = f.do(OpReadDir, name, func() (err error) {
		infos, err = f.fs.ReadDir(name)
		return err
	})
	return infos, err
}

// Stat implements FS.
func (f *Faults) Stat(name string) (info Info, err error) {
	err = f.do(OpStat, name, func() (err error) {
		info, err = f.fs.Stat(name)
		return err
	})
	return info, err
}

// SyncDir implements FS.
func (f *Faults) SyncDir(name string) error {
	return f.do(OpSyncDir, name, func() error { return f.fs.SyncDir(name) })
}

// Lock implements FS.
func (f *Faults) Lock(name string) (lock io.Closer, err error) {
	err = f.do(OpLock, name, func() (err error) {
		lock, err = f.fs.Lock(name)
		return err
	})
	if err != nil && lock != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, err
}

// Space implements FS. No rule concerns it.
func (f *Faults) Space() (Space, error) { return f.fs.Space() }

// faultyFile is a file whose calls may go wrong; those that it does not have
// here do not.
type faultyFile struct {
	File

	f    *Faults
	name string
}

func (f *faultyFile) ReadAt(p []byte, off int64) (n int, err error) {
	ft := f.f.on(OpRead, f.name)
	if ft.err == nil || ft.done {
		n, err = f.File.ReadAt(p, off)
		ft.flip(p[:n])
	}
	f.f.wait(ft)
	if ft.err != nil {
		return 0, ft.err
	}
	return n, err
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	return f.write(p, func(p []byte) (int, error) { return f.File.WriteAt(p, off) })
}

func (f *faultyFile) Append(p []byte) (int, error) { return f.write(p, f.File.Append) }

func (f *faultyFile) write(p []byte, call func([]byte) (int, error)) (n int, err error) {
	ft := f.f.on(OpWrite, f.name)
	if ft.flips > 0 {
		p = slices.Clone(p) // the caller's bytes are its own
		ft.flip(p)
	}
	if ft.short && len(p) > 0 {
		p = p[:ft.rng.IntN(len(p))]
	}
	if ft.err == nil || ft.done || ft.short {
		n, err = call(p)
	}
	f.f.wait(ft)
	if ft.err != nil {
		if !ft.short {
			n = 0 // what was done is not told
		}
		return n, ft.err
	}
	return n, err
}

func (f *faultyFile) Truncate(size int64) error {
	return f.f.do(OpTruncate, f.name, func() error { return f.File.Truncate(size) })
}

// syncFailer is a file that can lose what was not durable.
type syncFailer interface{ failSync(rng *rand.Rand) }

func (f *faultyFile) Sync() (err error) {
	ft := f.f.on(OpSync, f.name)
	if ft.err == nil || ft.done {
		err = f.File.Sync()
	} else if lossy, ok := f.File.(syncFailer); ok && ft.lose {
		lossy.failSync(ft.rng)
		f.f.hasLost()
	}
	f.f.wait(ft)
	if ft.err != nil {
		return ft.err
	}
	return err
}

// failSync passes on what a Faults above this one wants.
func (f *faultyFile) failSync(rng *rand.Rand) {
	if lossy, ok := f.File.(syncFailer); ok {
		lossy.failSync(rng)
	}
}

// Close always closes; what a rule may do is to fail it, or make it late.
func (f *faultyFile) Close() error {
	ft := f.f.on(OpClose, f.name)
	err := f.File.Close()
	f.f.wait(ft)
	if ft.err != nil {
		return ft.err
	}
	return err
}

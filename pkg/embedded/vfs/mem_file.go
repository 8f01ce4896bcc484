package vfs

import (
	"io"
	"io/fs"
	"math/rand/v2"
	"syscall"
)

// memFile is an open file of a Mem.
type memFile struct {
	m        *Mem
	n        *node
	name     string
	readOnly bool
	closed   bool // under m.mu
}

// check returns why the file cannot be read, or written.
func (f *memFile) check(write bool) error {
	switch {
	case f.closed:
		return fs.ErrClosed
	case write && f.readOnly:
		return syscall.EBADF
	default:
		return nil
	}
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	err := f.check(false)
	if err == nil && off < 0 {
		err = fs.ErrInvalid
	}
	if err != nil {
		return 0, pathError("read", f.name, err)
	}
	n := f.n.file.readAt(p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.m.change(OpWrite, f.name, func() error {
		if err := f.check(true); err != nil {
			return err
		}
		if off < 0 {
			return fs.ErrInvalid
		}
		n, err = f.write(p, off)
		return err
	})
	return n, err
}

func (f *memFile) Append(p []byte) (n int, err error) {
	err = f.m.change(OpWrite, f.name, func() error {
		if err := f.check(true); err != nil {
			return err
		}
		n, err = f.write(p, f.n.file.size)
		return err
	})
	return n, err
}

func (f *memFile) write(p []byte, off int64) (int, error) {
	n := f.n.file.writeAt(p, off, f.m.mayGrow)
	if n < len(p) {
		return n, ErrNoSpace
	}
	return n, nil
}

func (f *memFile) Truncate(size int64) error {
	return f.m.change(OpTruncate, f.name, func() error {
		if err := f.check(true); err != nil {
			return err
		}
		if size < 0 {
			return fs.ErrInvalid
		}
		f.m.pages -= int64(f.n.file.truncate(size))
		return nil
	})
}

func (f *memFile) Sync() error {
	return f.m.change(OpSync, f.name, func() error {
		err := f.check(false)
		if err == nil {
			f.n.file.sync()
		}
		return err
	})
}

// failSync makes the disk lose what a Sync would have made durable; see
// Rule.LoseUnsynced.
func (f *memFile) failSync(rng *rand.Rand) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.n.file.failSync(rng)
}

func (f *memFile) Size() (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check(false); err != nil {
		return 0, pathError("stat", f.name, err)
	}
	return f.n.file.size, nil
}

func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return pathError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	f.n.open--
	f.m.release(f.n)
	return nil
}

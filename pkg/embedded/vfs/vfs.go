package vfs

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"syscall"
)

// Errors that a caller branches on. Those of io/fs (ErrNotExist, ErrExist,
// ErrClosed, ErrInvalid) are not repeated here.
var (
	// ErrNoSpace: the disk is full. Part of a write may have been done.
	ErrNoSpace error = syscall.ENOSPC
	// ErrIO: the disk does not do it, and what it did of it is not known.
	ErrIO error = syscall.EIO
	// ErrLocked: another one holds the lock.
	ErrLocked = errors.New("locked by another process")
	// ErrBusy: the file is open, on a system that then does not rename or remove it.
	ErrBusy error = syscall.EBUSY
)

// Mode says how Open opens.
type Mode int

// The modes of Open. All but Read allow reading and writing; none truncates.
const (
	// Read opens an existing file for reading.
	Read Mode = iota
	// ReadWrite opens an existing file.
	ReadWrite
	// Create opens a file, a new one if there is none.
	Create
	// CreateNew makes a file that must not exist yet.
	CreateNew
)

// FS is a disk. All methods may be called by several goroutines at once; what
// is durable when, is in the package comment.
type FS interface {
	// Open opens a file, not a directory. With Create and CreateNew its
	// directory must exist.
	Open(name string, mode Mode) (File, error)
	// Rename moves a file or a directory. A file that has the new name is
	// replaced, a directory is not (ErrExist).
	Rename(from, to string) error
	// Remove removes a file or an empty directory, not the root. A file that is
	// open stays readable and writable, unless the system refuses (ErrBusy).
	Remove(name string) error
	// MkdirAll makes a directory and those above it; nil if it is there.
	MkdirAll(name string) error
	// ReadDir lists a directory, by name.
	ReadDir(name string) ([]Info, error)
	Stat(name string) (Info, error)
	// SyncDir makes the names in a directory durable. The root's own name is
	// taken to be.
	SyncDir(name string) error
	// Lock takes the lock that the file stands for, and makes the file if need
	// be. It does not wait: ErrLocked if another has it, in this process too.
	// Closing it, or the process's death, gives it back; the file stays.
	Lock(name string) (io.Closer, error)
	// Space says how large the disk is.
	Space() (Space, error)
}

// File is an open file. ReadAt and WriteAt may be called by several goroutines
// at once, Append by one: two could take the same end.
//
// After Close every method returns fs.ErrClosed.
type File interface {
	io.ReaderAt
	// WriteAt writes anywhere, also beyond the end; a hole reads as zeros.
	io.WriterAt
	io.Closer
	// Append writes at the end. On error some of p may have been written: the
	// first n bytes for sure.
	Append(p []byte) (n int, err error)
	// Truncate makes the file shorter, or longer with zeros.
	Truncate(size int64) error
	// Sync makes data and length durable. After an error nothing is known about
	// what was written since the last Sync that returned nil, and another Sync
	// that returns nil says nothing about it either (fsyncgate): the file must
	// be read again from a durable point, or given up.
	Sync() error
	Size() (int64, error)
}

// Info is what a directory knows of a name.
type Info struct {
	Name string // without directories
	Dir  bool
	Size int64 // in bytes; 0 for a directory
}

// Space is a disk's size in bytes. UsableBytes is what this process may yet
// write.
type Space struct {
	TotalBytes, UsableBytes int64
}

// RemoveAll removes name and, if it is a directory, everything in it; nil if it
// does not exist. It is not atomic: rename the directory first where that
// matters.
func RemoveAll(fsys FS, name string) error {
	info, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Dir {
		infos, err := fsys.ReadDir(name)
		if err != nil {
			return err
		}
		for _, in := range infos {
			if err := RemoveAll(fsys, path.Join(name, in.Name)); err != nil {
				return err
			}
		}
	}
	return fsys.Remove(name)
}

// WriteFile replaces the file name by data, durably: whatever happens there is
// the old file or the new one (write to name.tmp, Sync, Rename, SyncDir), as
// Kafka writes its checkpoints.
func WriteFile(fsys FS, name string, data []byte) error {
	tmp := name + ".tmp"
	f, err := fsys.Open(tmp, Create)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := fsys.Rename(tmp, name); err != nil {
		return err
	}
	return fsys.SyncDir(path.Dir(name))
}

// ReadFile returns all of a file.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.Open(name, Read)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	data := make([]byte, size)
	n := 0
	if err == nil {
		n, err = f.ReadAt(data, 0)
	}
	if errors.Is(err, io.EOF) { // it was cut meanwhile
		err = nil
	}
	return data[:n], errors.Join(err, f.Close())
}

// pathError is an error of op on name.
func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// checkName refuses names that are not names.
func checkName(op, name string) error {
	if !fs.ValidPath(name) {
		return pathError(op, name, fs.ErrInvalid)
	}
	return nil
}

package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Real is a directory of this machine.
type Real struct{ root string }

// NewReal returns the FS whose root is the directory root, which must exist
// when it is used.
func NewReal(root string) *Real { return &Real{root: root} }

// The permissions of new files and directories, less the umask.
const (
	filePerm = 0o644
	dirPerm  = 0o755
)

func (r *Real) path(name string) string { return filepath.Join(r.root, filepath.FromSlash(name)) }

// renamed gives an error the name that the caller knows, not this machine's path.
func renamed(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	return pathError(op, name, normal(err))
}

// Open implements FS.
func (r *Real) Open(name string, mode Mode) (File, error) {
	if err := checkName("open", name); err != nil {
		return nil, err
	}
	flag := map[Mode]int{
		Read: os.O_RDONLY, ReadWrite: os.O_RDWR, Create: os.O_RDWR | os.O_CREATE, CreateNew: os.O_RDWR | os.O_CREATE | os.O_EXCL,
	}[mode]
	f, err := os.OpenFile(r.path(name), flag, filePerm)
	if err != nil {
		return nil, renamed("open", name, err)
	}
	// Some systems open a directory for reading.
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = syscall.EISDIR
	}
	if err != nil {
		return nil, renamed("open", name, errors.Join(err, f.Close()))
	}
	return &realFile{f: f, name: name}, nil
}

// Rename implements FS.
func (r *Real) Rename(from, to string) error {
	for _, name := range []string{from, to} {
		if err := checkName("rename", name); err != nil {
			return err
		}
		if name == "." {
			return pathError("rename", name, fs.ErrInvalid)
		}
	}
	return renamed("rename", from, os.Rename(r.path(from), r.path(to)))
}

// Remove implements FS.
func (r *Real) Remove(name string) error {
	if err := checkName("remove", name); err != nil {
		return err
	}
	if name == "." {
		return pathError("remove", name, fs.ErrInvalid)
	}
	return renamed("remove", name, os.Remove(r.path(name)))
}

// MkdirAll implements FS.
func (r *Real) MkdirAll(name string) error {
	if err := checkName("mkdir", name); err != nil {
		return err
	}
	return renamed("mkdir", name, os.MkdirAll(r.path(name), dirPerm))
}

// ReadDir implements FS. A name that is removed meanwhile is left out.
func (r *Real) ReadDir(name string) ([]Info, error) {
	if err := checkName("readdir", name); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(r.path(name))
	if err != nil {
		return nil, renamed("readdir", name, err)
	}
	infos := make([]Info, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, renamed("readdir", name, err)
		}
		infos = append(infos, infoOf(info))
	}
	return infos, nil
}

// Stat implements FS.
func (r *Real) Stat(name string) (Info, error) {
	if err := checkName("stat", name); err != nil {
		return Info{}, err
	}
	info, err := os.Stat(r.path(name))
	if err != nil {
		return Info{}, renamed("stat", name, err)
	}
	out := infoOf(info)
	out.Name = filepath.Base(filepath.FromSlash(name)) // "." for the root
	return out, nil
}

func infoOf(info fs.FileInfo) Info {
	if info.IsDir() {
		return Info{Name: info.Name(), Dir: true}
	}
	return Info{Name: info.Name(), Size: info.Size()}
}

// SyncDir implements FS.
func (r *Real) SyncDir(name string) error {
	if err := checkName("syncdir", name); err != nil {
		return err
	}
	return renamed("syncdir", name, syncDir(r.path(name)))
}

// Lock implements FS.
func (r *Real) Lock(name string) (io.Closer, error) {
	if err := checkName("lock", name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(r.path(name), os.O_RDWR|os.O_CREATE, filePerm)
	if err != nil {
		return nil, renamed("lock", name, err)
	}
	if err := lock(f); err != nil {
		return nil, renamed("lock", name, errors.Join(err, f.Close()))
	}
	return f, nil // the system gives the lock back with the descriptor
}

// Space implements FS.
func (r *Real) Space() (Space, error) {
	s, err := space(r.root)
	return s, renamed("space", ".", err)
}

// realFile is a file of this machine.
type realFile struct {
	f    *os.File
	name string
}

func (f *realFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.f.ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		return n, err // as it is: io.ReaderAt's callers compare
	}
	return n, renamed("read", f.name, err)
}

func (f *realFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.f.WriteAt(p, off)
	return n, renamed("write", f.name, err)
}

// Append implements File. The end is the system's to know: the file may have
// been truncated by another handle.
func (f *realFile) Append(p []byte) (int, error) {
	end, err := f.f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, renamed("append", f.name, err)
	}
	n, err := f.f.WriteAt(p, end)
	return n, renamed("append", f.name, err)
}

func (f *realFile) Truncate(size int64) error {
	return renamed("truncate", f.name, f.f.Truncate(size))
}

// Sync implements File; on macOS os.File.Sync asks for F_FULLFSYNC, which fsync
// alone does not mean there.
func (f *realFile) Sync() error { return renamed("sync", f.name, f.f.Sync()) }

func (f *realFile) Size() (int64, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, renamed("stat", f.name, err)
	}
	return info.Size(), nil
}

func (f *realFile) Close() error { return renamed("close", f.name, f.f.Close()) }

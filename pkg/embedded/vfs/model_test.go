package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// world is a disk and the files that are open on it, for TestMemIsLikeReal.
type world struct {
	fs   FS
	open []File
}

// class is what a caller can tell errors apart by.
func class(err error) string {
	for _, known := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrClosed} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, io.EOF):
		return "EOF"
	default:
		return "an error"
	}
}

// step is one drawn call. Writes are of a byte at least: the system does not
// even look at a file to write nothing to it.
type step struct {
	what     string
	name, to string
	mode     Mode
	handle   int
	off      int64
	data     []byte
}

func (w *world) do(s step) string {
	var f File
	if len(w.open) > 0 {
		f = w.open[s.handle%len(w.open)]
	}
	switch s.what {
	case "open":
		got, err := w.fs.Open(s.name, s.mode)
		if err == nil {
			w.open = append(w.open, got)
		}
		return class(err)
	case "rename":
		return class(w.fs.Rename(s.name, s.to))
	case "remove":
		return class(w.fs.Remove(s.name))
	case "mkdir":
		return class(w.fs.MkdirAll(s.name))
	case "syncdir":
		return class(w.fs.SyncDir(s.name))
	case "stat":
		info, err := w.fs.Stat(s.name)
		return fmt.Sprint(info, class(err))
	case "readdir":
		infos, err := w.fs.ReadDir(s.name)
		return fmt.Sprint(infos, class(err))
	}
	if f == nil {
		return "no file"
	}
	switch s.what {
	case "append":
		n, err := f.Append(s.data)
		return fmt.Sprint(n, class(err))
	case "write":
		n, err := f.WriteAt(s.data, s.off)
		return fmt.Sprint(n, class(err))
	case "read":
		p := make([]byte, len(s.data))
		n, err := f.ReadAt(p, s.off)
		return fmt.Sprintf("%x %s", p[:n], class(err))
	case "truncate":
		return class(f.Truncate(s.off))
	case "size":
		n, err := f.Size()
		return fmt.Sprint(n, class(err))
	case "sync":
		return class(f.Sync())
	default: // close; the handle stays, for calls after it
		return class(f.Close())
	}
}

// Whatever is done to both, the memory answers as the machine's own disk does;
// so does a clone of it that is taken in between and used on.
func TestMemIsLikeReal(t *testing.T) {
	t.Parallel()
	names := []string{".", "a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "a/x", "../a"}
	whats := []string{
		"open", "open", "open", "rename", "rename", "remove", "mkdir", "syncdir", "stat", "readdir",
		"append", "append", "append", "write", "write", "read", "read", "truncate", "truncate", "size", "sync", "close",
	}
	dir := t.TempDir()
	base := NewReal(dir)
	var roots atomic.Int32 // a directory for each check
	rapid.Check(t, func(t *rapid.T) {
		root := fmt.Sprint(roots.Add(1))
		if err := base.MkdirAll(root); err != nil {
			t.Fatal(err)
		}
		disk, mem := &world{fs: NewReal(filepath.Join(dir, root))}, &world{fs: NewMem(MemOptions{})}
		defer disk.close()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s := step{
				what: rapid.SampledFrom(whats).Draw(t, "what"),
				name: rapid.SampledFrom(names).Draw(t, "name"), to: rapid.SampledFrom(names).Draw(t, "to"),
				mode:   Mode(rapid.IntRange(0, 3).Draw(t, "mode")),
				handle: rapid.IntRange(0, 9).Draw(t, "handle"),
				off:    rapid.Int64Range(0, 3*pageSize).Draw(t, "offset"),
				data:   bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(1, 2*pageSize).Draw(t, "length")),
			}
			want, got := disk.do(s), mem.do(s)
			if got != want {
				t.Fatalf("%s %s %s mode %d handle %d at %d, %d bytes:\nreal %.200s\nmem  %.200s",
					s.what, s.name, s.to, s.mode, s.handle, s.off, len(s.data), want, got)
			}
		}
		want, got := tree(t, disk.fs, "."), tree(t, mem.fs.(*Mem).Clone(), ".")
		if !slices.Equal(want, got) {
			t.Fatalf("real %q\nmem  %q", want, got)
		}
	})
}

func (w *world) close() {
	for _, f := range w.open {
		_ = f.Close()
	}
}

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// tree returns all names below dir, files with their content.
func tree(t fataler, fsys FS, dir string) []string {
	t.Helper()
	infos, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, in := range infos {
		name := in.Name
		if dir != "." {
			name = dir + "/" + in.Name
		}
		if in.Dir {
			out = append(out, name+"/")
			out = append(out, tree(t, fsys, name)...)
			continue
		}
		data, err := ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, name+"="+string(data))
	}
	return out
}

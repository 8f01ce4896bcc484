package vfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// both runs a test on each kind of disk: a Faults without rules is one too.
func both(t *testing.T, f func(t *testing.T, fsys FS)) {
	t.Helper()
	t.Run("real", func(t *testing.T) { t.Parallel(); f(t, NewReal(t.TempDir())) })
	t.Run("mem", func(t *testing.T) { t.Parallel(); f(t, NewMem(MemOptions{})) })
	t.Run("faults", func(t *testing.T) { t.Parallel(); f(t, NewFaults(NewMem(MemOptions{}), nil, RealTime{})) })
}

func must[T any](tb testing.TB) func(T, error) T {
	return func(v T, err error) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

func shut(tb testing.TB, f File) {
	tb.Helper()
	ok(tb, f.Close())
}

func ok(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// write makes a file with this content, nothing of it durable.
func write(tb testing.TB, fsys FS, name, content string) File {
	tb.Helper()
	f := must[File](tb)(fsys.Open(name, Create))
	ok(tb, f.Truncate(0))
	must[int](tb)(f.Append([]byte(content)))
	return f
}

func TestFile(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, fsys FS) {
		ok(t, fsys.MkdirAll("a/b"))
		f := must[File](t)(fsys.Open("a/b/f", CreateNew))
		must[int](t)(f.Append([]byte("hello")))
		must[int](t)(f.WriteAt([]byte("J"), 0))
		must[int](t)(f.WriteAt([]byte("!"), 7))
		must[int](t)(f.Append([]byte("?")))
		if got := must[[]byte](t)(ReadFile(fsys, "a/b/f")); string(got) != "Jello\x00\x00!?" {
			t.Errorf("got %q", got)
		}
		ok(t, f.Truncate(3))
		ok(t, f.Truncate(5))
		ok(t, f.Sync())
		if got := must[[]byte](t)(ReadFile(fsys, "a/b/f")); string(got) != "Jel\x00\x00" {
			t.Errorf("got %q", got)
		}
		p := make([]byte, 4)
		if n, err := f.ReadAt(p, 3); n != 2 || err != io.EOF { //nolint:errorlint // io.ReaderAt's contract is the value
			t.Errorf("a read beyond the end: %d, %v, want 2, io.EOF", n, err)
		}
		if n, err := f.ReadAt(p, 9); n != 0 || err != io.EOF { //nolint:errorlint // the same
			t.Errorf("a read after the end: %d, %v, want 0, io.EOF", n, err)
		}
		if n, err := f.ReadAt(nil, 9); n != 0 || err != nil {
			t.Errorf("a read of nothing: %d, %v", n, err)
		}
		if size := must[int64](t)(f.Size()); size != 5 {
			t.Errorf("size %d, want 5", size)
		}
		for what, err := range map[string]error{
			"read": second(f.ReadAt(p, -1)), "write": second(f.WriteAt(p, -1)), "truncate": f.Truncate(-1),
		} {
			if err == nil {
				t.Errorf("%s at -1: no error", what)
			}
		}
		ok(t, f.Close())
		for what, err := range map[string]error{
			"read": second(f.ReadAt(p, 0)), "write": second(f.WriteAt(p, 0)), "append": second(f.Append(p)),
			"truncate": f.Truncate(0), "sync": f.Sync(), "size": second(f.Size()), "close": f.Close(),
		} {
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s after Close: %v, want fs.ErrClosed", what, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestOpen(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, fsys FS) {
		ok(t, fsys.MkdirAll("d"))
		ok(t, write(t, fsys, "f", "x").Close())
		for _, tc := range []struct {
			name string
			mode Mode
			want error
		}{
			{"f", Read, nil},
			{"f", ReadWrite, nil},
			{"f", Create, nil},
			{"f", CreateNew, fs.ErrExist},
			{"g", Read, fs.ErrNotExist},
			{"g", ReadWrite, fs.ErrNotExist},
			{"d", Read, syscall.EISDIR},
			{"d", Create, syscall.EISDIR},
			{"d", CreateNew, fs.ErrExist},
			{"none/f", Create, fs.ErrNotExist},
			{"f/g", Create, syscall.ENOTDIR},
			{"f/g", Read, syscall.ENOTDIR},
			{"../f", Read, fs.ErrInvalid},
			{"/f", Create, fs.ErrInvalid},
			{"", Create, fs.ErrInvalid},
		} {
			f, err := fsys.Open(tc.name, tc.mode)
			if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
				t.Errorf("open %q, mode %d: %v, want %v", tc.name, tc.mode, err, tc.want)
			}
			var pe *fs.PathError
			if err != nil && (!errors.As(err, &pe) || pe.Path != tc.name) {
				t.Errorf("open %q: %#v, want a PathError of that name", tc.name, err)
			}
			if f != nil {
				ok(t, f.Close())
			}
		}
		f := must[File](t)(fsys.Open("f", Read))
		defer shut(t, f)
		if _, err := f.Append([]byte("x")); err == nil {
			t.Error("a write to a file opened for reading: no error")
		}
		if err := f.Truncate(0); err == nil {
			t.Error("a truncation of a file opened for reading: no error")
		}
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, fsys FS) {
		ok(t, fsys.MkdirAll("d/e"))
		ok(t, fsys.MkdirAll("d/e"))
		ok(t, fsys.MkdirAll("."))
		ok(t, write(t, fsys, "d/f", "old").Close())
		ok(t, write(t, fsys, "d/g", "newer").Close())
		for what, tc := range map[string]struct{ err, want error }{
			"rename nothing":                     {fsys.Rename("d/x", "d/y"), fs.ErrNotExist},
			"rename to nowhere":                  {fsys.Rename("d/f", "x/y"), fs.ErrNotExist},
			"rename onto a directory":            {fsys.Rename("d/f", "d/e"), fs.ErrExist},
			"rename a directory onto a file":     {fsys.Rename("d/e", "d/f"), syscall.ENOTDIR},
			"rename a directory into itself":     {fsys.Rename("d", "d/e/d"), syscall.EINVAL},
			"rename the root":                    {fsys.Rename(".", "d"), fs.ErrInvalid},
			"rename out of the root":             {fsys.Rename("d/f", "../f"), fs.ErrInvalid},
			"remove the root":                    {fsys.Remove("."), fs.ErrInvalid},
			"remove nothing":                     {fsys.Remove("x"), fs.ErrNotExist},
			"remove a full directory":            {fsys.Remove("d"), syscall.ENOTEMPTY},
			"remove out of the root":             {fsys.Remove("../d"), fs.ErrInvalid},
			"make a directory of a file":         {fsys.MkdirAll("d/f"), syscall.ENOTDIR},
			"make a directory in a file":         {fsys.MkdirAll("d/f/x"), syscall.ENOTDIR},
			"make a directory out of the root":   {fsys.MkdirAll("../x"), fs.ErrInvalid},
			"list a file":                        {second(fsys.ReadDir("d/f")), syscall.ENOTDIR},
			"list nothing":                       {second(fsys.ReadDir("x")), fs.ErrNotExist},
			"list out of the root":               {second(fsys.ReadDir("..")), fs.ErrInvalid},
			"sync the names of a file":           {fsys.SyncDir("d/f"), syscall.ENOTDIR},
			"sync the names of nothing":          {fsys.SyncDir("x"), fs.ErrNotExist},
			"sync the names of what is no name":  {fsys.SyncDir("/"), fs.ErrInvalid},
			"ask for nothing":                    {second(fsys.Stat("x")), fs.ErrNotExist},
			"ask for what is no name":            {second(fsys.Stat("a//b")), fs.ErrInvalid},
			"lock what is no name":               {second(fsys.Lock("")), fs.ErrInvalid},
			"lock in a directory that is none":   {second(fsys.Lock("x/lock")), fs.ErrNotExist},
			"sync the root's names":              {fsys.SyncDir("."), nil},
			"rename a file to its own name":      {fsys.Rename("d/f", "d/f"), nil},
			"remove all of nothing":              {RemoveAll(fsys, "x"), nil},
			"read all of nothing":                {second(ReadFile(fsys, "x")), fs.ErrNotExist},
			"write a file where no directory is": {WriteFile(fsys, "x/y", nil), fs.ErrNotExist},
		} {
			if !errors.Is(tc.err, tc.want) {
				t.Errorf("%s: %v, want %v", what, tc.err, tc.want)
			}
		}
		ok(t, fsys.Rename("d/g", "d/f")) // replaces
		ok(t, fsys.Rename("d", "D"))
		want := []Info{{Name: "e", Dir: true}, {Name: "f", Size: 5}}
		if diff := cmp.Diff(want, must[[]Info](t)(fsys.ReadDir("D"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(Info{Name: ".", Dir: true}, must[Info](t)(fsys.Stat("."))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want[1], must[Info](t)(fsys.Stat("D/f"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		ok(t, RemoveAll(fsys, "D"))
		if got := must[[]Info](t)(fsys.ReadDir(".")); len(got) != 0 {
			t.Errorf("left: %v", got)
		}
	})
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, fsys FS) {
		for _, content := range []string{"a longer one", "short", ""} {
			ok(t, WriteFile(fsys, "f", []byte(content)))
			if got := must[[]byte](t)(ReadFile(fsys, "f")); string(got) != content {
				t.Errorf("got %q, want %q", got, content)
			}
		}
		if got := must[[]Info](t)(fsys.ReadDir(".")); len(got) != 1 {
			t.Errorf("left: %v", got)
		}
	})
}

// A file whose name is gone or another's stays what it was for who has it open.
func TestOpenFileOutlivesItsName(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, fsys FS) {
		gone, replaced := write(t, fsys, "gone", "g"), write(t, fsys, "replaced", "r")
		ok(t, write(t, fsys, "new", "n").Close())
		if err := fsys.Remove("gone"); errors.Is(err, ErrBusy) {
			t.Skip("this system does not remove open files")
		}
		ok(t, fsys.Rename("new", "replaced"))
		for f, want := range map[File]string{gone: "g!", replaced: "r!"} {
			must[int](t)(f.Append([]byte("!")))
			got := make([]byte, 2)
			must[int](t)(f.ReadAt(got, 0))
			if string(got) != want {
				t.Errorf("got %q, want %q", got, want)
			}
			ok(t, f.Close())
		}
		if got := must[[]byte](t)(ReadFile(fsys, "replaced")); string(got) != "n" {
			t.Errorf("got %q, want n", got)
		}
	})
}

func TestLock(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, fsys FS) {
		first := must[io.Closer](t)(fsys.Lock(".lock"))
		if _, err := fsys.Lock(".lock"); !errors.Is(err, ErrLocked) {
			t.Errorf("locked twice: %v, want ErrLocked", err)
		}
		other := must[io.Closer](t)(fsys.Lock("other"))
		ok(t, first.Close())
		if err := first.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("closed twice: %v, want fs.ErrClosed", err)
		}
		again := must[io.Closer](t)(fsys.Lock(".lock"))
		ok(t, again.Close())
		ok(t, other.Close())
		must[Info](t)(fsys.Stat(".lock"))
	})
}

func TestSpace(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, fsys FS) {
		s := must[Space](t)(fsys.Space())
		if s.TotalBytes <= 0 || s.UsableBytes < 0 || s.UsableBytes > s.TotalBytes {
			t.Errorf("got %+v", s)
		}
	})
	if _, err := NewReal("/nowhere/at/all").Space(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nowhere: %v, want fs.ErrNotExist", err)
	}
}

// A file larger than a page, with a hole.
func TestPages(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, fsys FS) {
		want := make([]byte, 5*pageSize+77)
		f := must[File](t)(fsys.Open("f", Create))
		defer shut(t, f)
		for _, off := range []int{pageSize - 5, 3*pageSize + 10, len(want) - 50} {
			p := bytes.Repeat([]byte{byte(off)}, 50)
			must[int](t)(f.WriteAt(p, int64(off)))
			copy(want[off:], p)
		}
		if got := must[[]byte](t)(ReadFile(fsys, "f")); !bytes.Equal(got, want) {
			t.Error("the file is not what was written")
		}
	})
}

package local_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
)

// env is an environment with directories of the test's own.
func env(t *testing.T) func(string) string {
	t.Helper()
	run, err := os.MkdirTemp("", "k") //nolint:usetesting // t.TempDir has the name of the test in it, and a socket\'s path has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	vars := map[string]string{"XDG_RUNTIME_DIR": run, "XDG_STATE_HOME": t.TempDir(), "HOME": t.TempDir()}
	return func(key string) string { return vars[key] }
}

func find(t *testing.T, getenv func(string) string, name, data string) local.Place {
	t.Helper()
	p, err := local.Find(getenv, name, data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFind: a name has its directory, two ways to one directory are one place, and
// what differs has another socket.
func TestFind(t *testing.T) {
	t.Parallel()
	getenv := env(t)
	state := getenv("XDG_STATE_HOME")
	p := find(t, getenv, "default", "")
	if want := filepath.Join(state, "kafkaops", "clusters", "default"); p.Data != want || len(p.Flags()) != 0 {
		t.Errorf("got %+v with flags %q, want %s and none", p, p.Flags(), want)
	}
	other := find(t, getenv, "other", "")
	if other.Socket == p.Socket || strings.Join(other.Flags(), " ") != "--name other" {
		t.Errorf("got %+v with flags %q, want another socket and its name", other, other.Flags())
	}
	dir := t.TempDir()
	data := find(t, getenv, "default", dir)
	if data.Socket == p.Socket || strings.Join(data.Flags(), " ") != "--data "+data.Data {
		t.Errorf("got %+v with flags %q, want another socket and its directory", data, data.Flags())
	}
	if runtime.GOOS != "windows" {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		if linked := find(t, getenv, "default", link); linked.Socket != data.Socket {
			t.Errorf("got %s by a link and %s without, want one", linked.Socket, data.Socket)
		}
		// Also while the last part of it is not there yet.
		if a, b := find(t, getenv, "default", filepath.Join(link, "new")), find(t, getenv, "default", filepath.Join(dir, "new")); a.Socket != b.Socket {
			t.Errorf("got %s by a link and %s without, want one", a.Socket, b.Socket)
		}
	}
}

// TestFindWithoutDirectories: ~/.local/state, then no place for data, and what to do.
func TestFindWithoutDirectories(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	vars := map[string]string{"HOME": home, "XDG_STATE_HOME": "relative", "XDG_RUNTIME_DIR": "relative"}
	getenv := func(key string) string { return vars[key] }
	p := find(t, getenv, "default", "")
	if want := filepath.Join(home, ".local", "state", "kafkaops", "clusters", "default"); p.Data != want {
		t.Errorf("got %s, want %s", p.Data, want)
	}
	if strings.Contains(p.Socket, "relative") {
		t.Errorf("got %s: a relative directory is passed over", p.Socket)
	}
	delete(vars, "HOME")
	p = find(t, getenv, "default", "")
	if p.Homeless == nil || !strings.Contains(p.Homeless.Error(), "--data") || p.Data != "" {
		t.Errorf("got %+v, want to be told of --data", p)
	}
	if other := find(t, getenv, "other", ""); other.Socket == p.Socket {
		t.Errorf("two clusters in memory are one: %s", p.Socket)
	}
}

// TestBadNames would leave the directory of clusters, or need quotes in a shell.
func TestBadNames(t *testing.T) {
	t.Parallel()
	getenv := env(t)
	for _, name := range []string{"", ".", "..", "../x", "a/b", "-x", "a b", strings.Repeat("x", 65)} {
		if p, err := local.Find(getenv, name, ""); err == nil {
			t.Errorf("%q: got %+v, want it refused", name, p)
		}
	}
	long := func(key string) string {
		if key == "XDG_RUNTIME_DIR" {
			return "/" + strings.Repeat("x", 100)
		}
		return getenv(key)
	}
	if _, err := local.Find(long, "default", ""); err == nil || !strings.Contains(err.Error(), "XDG_RUNTIME_DIR") {
		t.Errorf("got %v, want a path that is too long to be refused", err)
	}
}

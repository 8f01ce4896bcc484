//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// home is a place for clusters of one test.
type home struct {
	t   *testing.T
	dir string
}

func newHome(t *testing.T) home {
	t.Helper()
	dir, err := os.MkdirTemp("", "k") //nolint:usetesting // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return home{t, dir}
}

func (h home) kafkaops(line string) *exec.Cmd {
	h.t.Helper()
	return kafkaops(h.t, line, "XDG_RUNTIME_DIR="+h.dir, "XDG_STATE_HOME="+h.dir)
}

// sockets are the names where control sockets are.
func (h home) sockets() (names []string) {
	h.t.Helper()
	entries, err := os.ReadDir(filepath.Join(h.dir, "kafkaops"))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "clusters" { // which lie in the same directory here
			names = append(names, e.Name())
		}
	}
	return names
}

// await waits until holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatalf("it is not so after %s: %s", patience, what)
		}
	}
}

// TestNobodyWaitsForTheBackground: where who starts a cluster in the background is told to
// end, or dies, before it has said that the cluster is up, none is left, nor a file of it.
func TestNobodyWaitsForTheBackground(t *testing.T) {
	t.Parallel()
	for name, signals := range map[string][]syscall.Signal{
		"SIGINT":       {syscall.SIGINT},
		"SIGTERM":      {syscall.SIGTERM},
		"SIGHUP":       {syscall.SIGHUP},
		"SIGINT twice": {syscall.SIGINT, syscall.SIGINT},
		"SIGKILL":      {syscall.SIGKILL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			missed := 0
			for range 10 {
				cmd := h.kafkaops("cluster up --detach --brokers 1 --port 0")
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				await(t, "the process in the background has the place", func() bool {
					return slices.ContainsFunc(h.sockets(), func(name string) bool { return strings.HasSuffix(name, ".sock") })
				})
				for _, s := range signals {
					_ = cmd.Process.Signal(s) // it may have ended by the first, or before
				}
				end := ended(t, cmd.Wait(), cmd)
				if strings.Contains(stdout.String(), "is up") { // it was too late
					missed++
					if down := run(t, h.kafkaops("cluster down --purge --yes")); down.code != 0 && end.code == 0 {
						t.Fatalf("%+v", down)
					}
				} else if want := 130; len(signals) == 1 && end.signal == 0 && end.code != want {
					t.Errorf("got exit code %d, want %d; it said %s", end.code, want, stderr.String())
				}
				await(t, "nobody has the place", func() bool { return len(h.sockets()) == 0 })
				if got := run(t, h.kafkaops("cluster status")); !strings.Contains(got.stderr, "is not up") {
					t.Fatalf("got %+v, want that it is not up", got)
				}
			}
			if missed == 10 {
				t.Skip("the cluster was up each time before the signal came")
			}
		})
	}
}

// TestSignalTwice: a second signal ends a cluster in the middle of its stop. Its data opens
// again, and down takes away what is left of a process that was killed.
func TestSignalTwice(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, signals := range [][]syscall.Signal{{syscall.SIGINT, syscall.SIGTERM}, {syscall.SIGKILL}} {
		cmd := h.kafkaops("cluster up --brokers 1 --port 0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, "it is up", func() bool { return run(t, h.kafkaops("cluster status")).code == 0 })
		for _, s := range signals {
			_ = cmd.Process.Signal(s)
		}
		_ = cmd.Wait() // by either signal
		if got := run(t, h.kafkaops("cluster list")); strings.Contains(got.stdout, "\tup\t") {
			t.Errorf("%v: it is listed as up: %s", signals, got.stdout)
		}
		if got := run(t, h.kafkaops("cluster down")); got.code != 0 || !strings.Contains(got.stderr, "nothing to stop") {
			t.Errorf("%v: got %+v, want 0 and that there is nothing to stop", signals, got)
		}
		if left := h.sockets(); len(left) > 0 {
			t.Errorf("%v: %v is left where the sockets are", signals, left)
		}
	}
	for _, line := range []string{"cluster up --detach --port 0", "cluster down"} {
		if got := run(t, h.kafkaops(line)); got.code != 0 {
			t.Errorf("%s: got %+v", line, got)
		}
	}
}

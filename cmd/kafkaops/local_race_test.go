//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestDetachAtOnce: of several that start a cluster in one place in the background one
// does. The others say who has it, and its log is its own.
func TestDetachAtOnce(t *testing.T) {
	t.Parallel()
	run, err := os.MkdirTemp("", "k") //nolint:usetesting // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(run)
	data := filepath.Join(t.TempDir(), "data")
	vars := append(os.Environ(), "XDG_RUNTIME_DIR="+run, asKafkaops+"=1", raceOptions+"="+soonGone)
	defer func() { _, _ = bounded(vars, "cluster", "down", "--data", data) }()
	const n = 8
	said := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "cluster", "up", "--detach", "--brokers=1", "--port=0", "--data="+data)
			cmd.Env = vars
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Run(); err != nil {
				said[i] = stderr.String()
			}
		})
	}
	wg.Wait()
	pid, err := os.ReadFile(filepath.Join(data, "cluster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("is up already: process %s has it", strings.TrimSpace(string(pid)))
	up := 0
	for _, s := range said {
		if s == "" {
			up++
		} else if !strings.Contains(s, want) {
			t.Errorf("got %q, want %q in it", s, want)
		}
	}
	if up != 1 {
		t.Errorf("%d say that they have started it, want one", up)
	}
	// It answers that it is up before it writes so.
	await(t, "the log is that of the one that runs", func() bool {
		log, err := os.ReadFile(filepath.Join(data, "kafkaops.log"))
		if err != nil || len(log) > 0 && !strings.HasPrefix(string(log), "cluster data is up: 1 broker,") {
			t.Fatalf("got %q, %v; want the log of the one that runs", log, err)
		}
		return len(log) > 0
	})
}

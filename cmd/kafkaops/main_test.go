//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// asKafkaops makes the test binary be kafkaops itself, so that a test sees the
// whole process: signals, pipes, the exit code.
const asKafkaops = "TEST_AS_KAFKAOPS"

// A process with the race detector sleeps for a second before it ends, so that other
// threads may report; there are hundreds of processes here.
const (
	raceOptions = "GORACE"
	soonGone    = "atexit_sleep_ms=20"
)

func TestMain(m *testing.M) {
	if os.Getenv(asKafkaops) != "" {
		main()
		// It does not return. If it did, the tests must not run in here, each of
		// which would start more processes.
		os.Exit(70)
	}
	testscript.Main(m, map[string]func(){"kafkaops": main})
}

// patience is how long a process may take that has nothing to wait for.
const patience = 2 * time.Minute

// kafkaops is a process of it, with nothing in its environment but env.
func kafkaops(t *testing.T, line string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, strings.Fields(line)...)
	cmd.Env = append([]string{asKafkaops + "=1", raceOptions + "=" + soonGone}, env...)
	return cmd
}

// result is what a process left behind; the signal is that which ended it.
type result struct {
	code           int
	signal         syscall.Signal
	stdout, stderr string
}

func run(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	end := ended(t, cmd.Run(), cmd)
	end.stdout, end.stderr = stdout.String(), stderr.String()
	return end
}

func ended(t *testing.T, err error, cmd *exec.Cmd) result {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return result{code: -1, signal: status.Signal()}
	}
	return result{code: status.ExitStatus()}
}

// at is a cluster as a command line has it: one address, and more time than any
// machine needs.
func at(c *fakekafka.Cluster) string { return " --timeout 3m -b " + c.Addr(1) }

// cluster has more partitions than a pipe holds JSON of, and one is ill.
func cluster(t *testing.T) *fakekafka.Cluster {
	t.Helper()
	m := fakekafka.NewModel(3)
	m.AddTopic("orders", 400, 3)
	m.AddTopic("ill", 1, 3).Partitions[0].Shrink(2)
	c := fakekafka.Start(t, m)
	// Another process asks, so that nothing but this lock tells the race detector
	// that the brokers' addresses were there before the first question.
	c.Change(func(*fakekafka.Model) {})
	return c
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	at := at(cluster(t))
	closed := fakekafka.ClosedPort(t)
	for line, want := range map[string]result{
		"version":                             {code: 0, stdout: "kafkaops "},
		"describe" + at:                       {code: 0, stdout: "verdict\tdegraded\n"},
		"describe --exit-code" + at:           {code: 3, stdout: "verdict\tdegraded\n"},
		"check health" + at:                   {code: 3, stdout: "DEGRADED cluster "},
		"check health --nagios" + at:          {code: 1, stdout: "KAFKA DEGRADED - "},
		"lag --min 1 --exit-code" + at:        {code: 3, stdout: "PARTITION\t"},
		"describe topics nosuch -o json" + at: {code: 1, stdout: "{\n", stderr: "kafkaops: topic nosuch: "},
		"describe -o json -b " + closed:       {code: 1, stderr: "kafkaops: " + closed + ": dial: connection refused\n"},
		"check health --nagios --no" + at:     {code: 3, stdout: "KAFKA UNKNOWN - unknown flag: --no\n", stderr: "kafkaops: unknown flag: --no\n"},
		"nosuch":                              {code: 2, stderr: "kafkaops: \"nosuch\" is not a command of kafkaops\n"},
		"describe":                            {code: 2, stderr: "kafkaops: no cluster named: "},
	} {
		got := run(t, kafkaops(t, line))
		if got.code != want.code || !strings.HasPrefix(got.stdout, want.stdout) || (got.stdout == "") != (want.stdout == "") ||
			!strings.HasPrefix(got.stderr, want.stderr) || (got.stderr == "") != (want.stderr == "") {
			t.Errorf("kafkaops %s: got exit code %d, stdout %.80q, stderr %q; want %+v", line, got.code, got.stdout, got.stderr, want)
		}
		if strings.Contains(got.stdout+got.stderr, "\x1b") {
			t.Errorf("kafkaops %s: escapes in a pipe", line)
		}
	}
}

// TestEnvironment of the process is what commands see.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	got := run(t, kafkaops(t, "check health", "KAFKAOPS_BOOTSTRAP_SERVER="+cluster(t).Addr(1)))
	if got.code != 3 || !strings.HasPrefix(got.stdout, "DEGRADED ") {
		t.Errorf("got %+v, want exit code 3 and the cluster of the environment", got)
	}
}

// TestSignals end a command that waits, with 130 and nothing on either stream.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		c := cluster(t)
		c.Break(1, fakekafka.Faults{Mute: true})
		cmd := kafkaops(t, "lag -o json --timeout 1h -b "+c.Addr(1))
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if err := c.Await(ctx, kmsg.ApiVersions, 1); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		got := ended(t, cmd.Wait(), cmd)
		got.stdout, got.stderr = stdout.String(), stderr.String()
		if want := (result{code: 130}); got != want {
			t.Errorf("%s: got %+v, want %+v", signal, got, want)
		}
	}
}

// TestClosedPipe: kafkaops | head -1 ends without a word, by the signal that ends
// every filter.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	at := at(cluster(t))
	for _, line := range []string{
		"describe topics" + at, "describe topics -o json" + at, "lag --all" + at, "describe topics --watch --interval 100ms" + at,
		"check health --watch --interval 100ms" + at,
	} {
		cmd := kafkaops(t, line)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReaderSize(out, 16).ReadString('\n'); err != nil {
			t.Errorf("kafkaops %s: %v", line, err)
		}
		_ = out.Close()
		got := ended(t, cmd.Wait(), cmd)
		if got.stderr = stderr.String(); got.stderr != "" || got.code != 0 && got.signal != syscall.SIGPIPE {
			t.Errorf("kafkaops %s: got %+v, want it to end by SIGPIPE in silence", line, got)
		}
	}
}

// TestBlockedWrite: a signal ends a write that nobody reads, and a second one does
// so at once.
func TestBlockedWrite(t *testing.T) {
	t.Parallel()
	at := at(cluster(t))
	for _, often := range []bool{false, true} {
		cmd := kafkaops(t, "describe topics -o json"+at)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		_ = cmd.Process.Signal(syscall.SIGINT) // it cannot have ended
		// When the first one is dealt with cannot be seen from here: go on knocking.
		again := time.NewTicker(20 * time.Millisecond)
		for waiting := true; waiting; {
			select {
			case err = <-done:
				waiting = false
			case <-again.C:
				if often {
					_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended just now
				}
			}
		}
		again.Stop()
		got := ended(t, err, cmd)
		if got.code != 130 && (!often || got.signal != syscall.SIGINT) {
			t.Errorf("signalled more than once %v: got %+v, want 130, or its end by the second SIGINT", often, got)
		}
	}
}

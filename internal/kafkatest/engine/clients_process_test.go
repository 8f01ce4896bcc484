package engine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

// java is Kafka's own client.
var java = client{
	name: "java",
	produce: func(t *testing.T, c *kafkatest.Cluster, stop <-chan struct{}, topic string) (map[string]at, error) {
		cmd := kafkatest.Program(t, kafkatest.DefaultVersion, "testdata/Workload.java",
			"produce", c.BootstrapServer(), topic, fmt.Sprint(pace.Microseconds()))
		acked := map[string]at{}
		err := talk(cmd, stop, nil, func(line string) error {
			a, value, err := parseAt(strings.TrimPrefix(line, "ack "))
			acked[value] = a
			return err
		})
		return acked, err
	},
	consume: func(t *testing.T, c *kafkatest.Cluster, stop <-chan struct{}, topic, group string, got func(at, string)) error {
		cmd := kafkatest.Program(t, kafkatest.DefaultVersion, "testdata/Workload.java",
			"consume", c.BootstrapServer(), topic, group)
		return talk(cmd, stop, nil, func(line string) error {
			a, value, err := parseAt(strings.TrimPrefix(line, "read "))
			if err == nil {
				got(a, value)
			}
			return err
		})
	},
}

// kcat is librdkafka's.
var kcat = client{
	name: "kcat",
	produce: func(t *testing.T, c *kafkatest.Cluster, stop <-chan struct{}, topic string) (map[string]at, error) {
		cmd := exec.CommandContext(t.Context(), "kcat", "-P", "-b", c.BootstrapServer(), "-t", topic, "-z", "snappy",
			"-X", "enable.idempotence=true", "-X", "acks=all", "-X", "linger.ms=0")
		acked := map[string]at{}
		// It says no more than by its exit code: all is acknowledged, or not.
		err := talk(cmd, stop, func(i int) string {
			value := fmt.Sprintf("kcat-%d", i)
			acked[value] = at{-1, -1}
			return value
		}, nil)
		return acked, err
	},
	consume: func(t *testing.T, c *kafkatest.Cluster, stop <-chan struct{}, topic, group string, got func(at, string)) error {
		cmd := exec.CommandContext(t.Context(), "kcat", "-G", group, "-b", c.BootstrapServer(), "-u", "-q", "-E", "-f", "%p %o %s\n",
			"-X", "auto.offset.reset=earliest", "-X", "auto.commit.interval.ms=200",
			"-X", "session.timeout.ms=6000", "-X", "heartbeat.interval.ms=500", topic)
		err := talk(cmd, stop, nil, func(line string) error {
			a, value, err := parseAt(line)
			if err == nil {
				got(a, value)
			}
			return err
		})
		return err
	},
}

// kcatAlone is a kcat that ends by itself, and is killed where it does not.
func kcatAlone(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, "kcat", args...)
}

// needKcat skips the test where there is no kcat; make deps brings it.
func needKcat(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("kcat"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// talk runs a command until stop is closed: then its input ends, and a member of kcat's
// is interrupted; a minute after that it is killed. say is what it gets to read, hear what
// it prints.
func talk(cmd *exec.Cmd, stop <-chan struct{}, say func(i int) string, hear func(line string) error) error {
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	member := say == nil && cmd.Args[0] == "kcat"
	var overdue atomic.Bool
	go func() {
		switch {
		case say != nil:
			every(pace, stop, func(i int) { _, _ = fmt.Fprintln(in, say(i)) }) // its exit code tells
		default:
			select {
			case <-stop:
			case <-ended:
			}
		}
		_ = in.Close()
		if member {
			_ = cmd.Process.Signal(os.Interrupt)
		}
		select {
		case <-ended:
		case <-time.After(grace):
			overdue.Store(true)
			_ = cmd.Process.Kill()
		}
	}()
	var wrong error
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if hear != nil && wrong == nil {
			wrong = hear(lines.Text())
		}
	}
	err = cmd.Wait()
	close(ended)
	// librdkafka 2.0 has members that commit, leave their group and then wait for ever
	// for a thread of their own to end; what they have committed is looked at later.
	if member && overdue.Load() {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", cmd.Args[0], err, complaints.String())
	}
	return errors.Join(err, wrong, lines.Err())
}

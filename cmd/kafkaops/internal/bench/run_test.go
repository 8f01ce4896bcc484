package bench

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// runs is how often a command is run for a median, after one run that warms up.
const runs = 9

// binary builds kafkaops as a release is built.
func binary(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "kafkaops")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "github.com/kafkaops/kafkaops/cmd/kafkaops")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// figures are of the runs of one command.
type figures struct {
	wall []time.Duration
	// peakMiB is the largest resident set of any run.
	peakMiB float64
}

func (f *figures) median() time.Duration {
	sorted := slices.Sorted(slices.Values(f.wall))
	return sorted[len(sorted)/2]
}

func (f *figures) String() string {
	return fmt.Sprintf("median %s, min %s, max %s, peak %.0f MiB",
		round(f.median()), round(slices.Min(f.wall)), round(slices.Max(f.wall)), f.peakMiB)
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// measure runs the commands in turn, A B A B …, so that a machine that slows down
// slows down all of them. The first round is not counted.
func measure(b *testing.B, commands ...func() *exec.Cmd) []figures {
	b.Helper()
	return measureRuns(b, runs, commands...)
}

// measureRuns is measure with another number of runs.
func measureRuns(b *testing.B, runs int, commands ...func() *exec.Cmd) []figures {
	b.Helper()
	out := make([]figures, len(commands))
	for round := range runs + 1 {
		for i, command := range commands {
			cmd := command()
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			began := time.Now()
			err := cmd.Run()
			took := time.Since(began)
			if err != nil || stdout.Len() == 0 {
				b.Fatalf("%s: %v, %d bytes of output\n%s", cmd.Args, err, stdout.Len(), stderr.String())
			}
			if round == 0 {
				continue
			}
			out[i].wall = append(out[i].wall, took)
			if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
				out[i].peakMiB = max(out[i].peakMiB, float64(usage.Maxrss)/1024)
			}
		}
	}
	return out
}

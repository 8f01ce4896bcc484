package bench

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sameDisk returns what makes directories on the disk where Kafka's clusters are.
func sameDisk(b *testing.B) func() string {
	b.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		b.Fatal(err)
	}
	return func() string {
		dir, err := os.MkdirTemp(cache, "kafkaops-bench-") //nolint:usetesting // the other disk may be memory
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = os.RemoveAll(dir) })
		return dir
	}
}

// startEngine starts kafkaops cluster up as its user would.
func startEngine(b *testing.B, dir string, f *figuresOf) *side {
	b.Helper()
	return startEngineAs(b, dir, f, func(args ...string) *exec.Cmd { return exec.Command(engineBinary(b), args...) })
}

func startEngineAs(b *testing.B, dir string, f *figuresOf, command func(args ...string) *exec.Cmd) *side {
	b.Helper()
	port := freePort(b)
	cmd := command("cluster", "up", "--data", filepath.Join(dir, "data"), "--port", strconv.Itoa(port))
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), strconv.Itoa(port)) {
	}
	f.add("start-ms", ms(time.Since(began)))
	go func() {
		for lines.Scan() { // it must not wait for a reader
		}
	}()
	s := &side{pids: []int{cmd.Process.Pid}, kill: func() { _ = cmd.Process.Kill() }, stop: func(b *testing.B) {
		_ = cmd.Process.Signal(syscall.SIGINT)
		const interrupted = 130
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != interrupted {
			b.Errorf("kafkaops cluster up: %v", err)
		}
	}}
	for i := range 3 {
		s.bootstrap = append(s.bootstrap, fmt.Sprintf("127.0.0.1:%d", port+i))
	}
	time.Sleep(2 * time.Second)
	f.add("resident-MiB", residentMiB(b, s.pids))
	return s
}

var built string

func engineBinary(b *testing.B) string {
	b.Helper()
	if built == "" {
		built = binary(b)
	}
	return built
}

// freePort is one with three free ones behind it.
func freePort(b *testing.B) int {
	b.Helper()
search:
	for port := 21000; port < 29000; port += 7 {
		for i := range 4 {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+i))
			if err != nil {
				continue search
			}
			_ = l.Close()
		}
		return port
	}
	b.Fatal("no four free ports in a row from 21000 to 29000")
	return 0
}

// residentMiB is what the processes have in memory.
func residentMiB(b *testing.B, pids []int) (sum float64) {
	b.Helper()
	for _, pid := range pids {
		sum += status(b, pid, "VmRSS:") / 1024
	}
	return sum
}

// cpuMs is the time that the processes have computed.
func cpuMs(b *testing.B, pids []int) (sum float64) {
	b.Helper()
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			b.Skip(err)
		}
		// After the name, which may hold anything, user and system time are the 12th
		// and 13th, in ticks of 10 ms (proc(5)).
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		for _, i := range []int{11, 12} {
			ticks, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				b.Fatal(err)
			}
			sum += ticks * 10
		}
	}
	return sum
}

// figuresOf are one side's, by their units.
type figuresOf struct {
	name string
	of   map[string][]float64
}

func newFigures(name string) *figuresOf { return &figuresOf{name, map[string][]float64{}} }

func (f *figuresOf) add(unit string, v float64) { f.of[unit] = append(f.of[unit], v) }

// median is 0 where nothing was measured.
func (f *figuresOf) median(unit string) float64 {
	all := slices.Sorted(slices.Values(f.of[unit]))
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2]
}

func report(b *testing.B, kafka, engine *figuresOf, units ...string) {
	b.Helper()
	for _, unit := range units {
		k, e := kafka.median(unit), engine.median(unit)
		if k == 0 { // Kafka is not asked for all of them
			b.Logf("%-14s engine %8.2f", unit, e)
		} else {
			b.Logf("%-14s Kafka %10.2f   engine %8.2f   engine/Kafka %.4f", unit, k, e, e/k)
			b.ReportMetric(e/k, "engine/Kafka-"+unit)
		}
		b.ReportMetric(e, unit)
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

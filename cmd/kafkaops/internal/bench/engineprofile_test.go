package bench

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/cli"
	"github.com/kafkaops/kafkaops/internal/load"
)

// BenchmarkEngineProfile writes profiles of the engine while it starts, is loaded as in
// BenchmarkEngine and idles with 5,000 partitions, into the directory that
// KAFKAOPS_PROFILE names: name.cpu, its first lines in name.top, and name.allocs. The engine is this test's
// own binary then, that runs kafkaops cluster up, as the product has no door for a
// profile.
func BenchmarkEngineProfile(b *testing.B) {
	into := os.Getenv("KAFKAOPS_PROFILE")
	if into == "" {
		b.Skip("KAFKAOPS_PROFILE names no directory to write profiles to")
	}
	for _, tt := range []struct {
		name string
		run  func(b *testing.B, s *profiled, f *figuresOf)
	}{
		{"writes", profileWrites},
		{"many", profileMany},
	} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				f := newFigures("engine")
				s := startProfiled(b, sameDisk(b)(), into, f)
				b.Cleanup(func() { s.kill() })
				tt.run(b, s, f)
				s.close(b)
				f.add("close-ms", s.closed)
				for _, unit := range slices.Sorted(maps.Keys(f.of)) {
					b.Logf("%-14s %10.2f", unit, f.median(unit))
				}
			}
		})
	}
}

func profileWrites(b *testing.B, s *profiled, f *figuresOf) {
	b.Helper()
	createTopics(b, s.side, "bench", 1, 6)
	createTopics(b, s.side, "bench-sync", 1, 1)
	all := load.Options{Topic: "bench-0", Partition: load.AnyPartition, Acks: load.AcksAll, RecordBytes: 1024, Linger: 5 * time.Millisecond}
	produce(b, s.side, all, 200_000)
	s.profile(b, "throughput", func() {
		for range 3 {
			cpu := cpuMs(b, s.pids)
			stats := produce(b, s.side, all, 200_000)
			f.add("MiB/s", stats.BytesPerSecond()/(1<<20))
			f.add("cpu-ms/MiB", (cpuMs(b, s.pids)-cpu)/(200_000*1024.0/(1<<20)))
		}
	})
	s.profile(b, "sync", func() {
		for range 3 {
			took := oneAtATime(b, s.side, "bench-sync-0", 2000)
			f.add("sync-p50-us", float64(took[len(took)/2].Microseconds()))
			f.add("sync-p99-us", float64(took[len(took)*99/100].Microseconds()))
		}
	})
	s.profile(b, "fsync", func() { fsyncs(b, s.side, b.TempDir(), f) })
}

func profileMany(b *testing.B, s *profiled, f *figuresOf) {
	b.Helper()
	s.profile(b, "many-create", func() {
		began := time.Now()
		createTopics(b, s.side, "many", 50, 100)
		f.add("create-ms", ms(time.Since(began)))
	})
	time.Sleep(5 * time.Second)
	s.profile(b, "many-idle", func() {
		cpu := cpuMs(b, s.pids)
		time.Sleep(20 * time.Second)
		f.add("idle-core-%", 100*(cpuMs(b, s.pids)-cpu)/20_000)
		f.add("idle-MiB", residentMiB(b, s.pids))
	})
}

// profiled is an engine that writes profiles of itself when it is told to.
type profiled struct {
	*side
	dir  string
	tell *os.File
	told *bufio.Reader
}

// engineProfiles is set for a process that is to be such an engine.
const engineProfiles = "KAFKAOPS_BENCH_ENGINE"

func startProfiled(b *testing.B, data, into string, f *figuresOf) *profiled {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	theirs, tell, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	told, theirs2, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	p := &profiled{dir: into, tell: tell, told: bufio.NewReader(told)}
	p.side = startEngineAs(b, data, f, func(args ...string) *exec.Cmd {
		cmd := exec.Command(self, args...)
		cmd.Env = append(os.Environ(), engineProfiles+"="+into)
		cmd.ExtraFiles = []*os.File{theirs, theirs2}
		return cmd
	})
	_, _ = theirs.Close(), theirs2.Close()
	return p
}

func (p *profiled) say(b *testing.B, word string) string {
	b.Helper()
	if _, err := fmt.Fprintln(p.tell, word); err != nil {
		b.Fatal(err)
	}
	line, err := p.told.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// profile writes name.cpu and name.allocs of what the engine does meanwhile.
func (p *profiled) profile(b *testing.B, name string, do func()) {
	b.Helper()
	p.say(b, "begin "+name)
	do()
	b.Logf("%s: %s", name, p.say(b, "end "+name))
	top, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=25", filepath.Join(p.dir, name+".cpu")).Output()
	if err == nil {
		err = os.WriteFile(filepath.Join(p.dir, name+".top"), top, 0o600)
	}
	if err != nil {
		b.Errorf("%s: %v", name, err)
	}
}

// profiledChild runs the engine in this process.
func profiledChild(dir string) {
	words, say := bufio.NewScanner(os.NewFile(3, "words")), os.NewFile(4, "say")
	go func() {
		var before runtime.MemStats
		for words.Scan() {
			word, name, _ := strings.Cut(words.Text(), " ")
			switch word {
			case "begin":
				f, err := os.Create(filepath.Join(dir, name+".cpu"))
				if err == nil {
					err = pprof.StartCPUProfile(f)
				}
				runtime.ReadMemStats(&before)
				fmt.Fprintln(say, err)
			case "end":
				pprof.StopCPUProfile()
				var after runtime.MemStats
				runtime.ReadMemStats(&after)
				f, err := os.Create(filepath.Join(dir, name+".allocs"))
				if err == nil {
					err = pprof.Lookup("allocs").WriteTo(f, 0)
				}
				fmt.Fprintf(say, "%d MiB in %d allocations, %d collections, error %v\n",
					(after.TotalAlloc-before.TotalAlloc)>>20, after.Mallocs-before.Mallocs, after.NumGC-before.NumGC, err)
			}
		}
	}()
	os.Exit(cli.Main(os.Args[1:], cli.OS()))
}

package storage

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// TestScenarios runs the stories of testdata; -rewrite makes them. A story that
// changes is a diff to read.
func TestScenarios(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, filepath.Join("testdata", "scenarios"), func(t *testing.T, path string) {
		t.Parallel()
		s := &scenario{tb: t, disk: vfs.NewMem(vfs.MemOptions{}), tp: testTP}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			if err := s.run(command{d}); err != nil {
				fmt.Fprintf(&s.out, "error: %v\n", err)
			}
			if s.out.Len() == 0 {
				return "ok\n"
			}
			return s.out.String()
		})
	})
}

// TestScenariosCover lists the stories that must exist: the cases of public bug
// reports that a log alone can show, and what a failed sync does.
func TestScenariosCover(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"e17_max_timestamp", "e22_topic_made_anew", "e24_single_node", "e25_torn_tail", "failed_sync"} {
		if m, _ := filepath.Glob(filepath.Join("testdata", "scenarios", name)); len(m) != 1 {
			t.Errorf("no scenario %s", name)
		}
	}
}

// scenario is a disk and the directory that is open on it, if one is.
type scenario struct {
	tb   testing.TB
	disk *vfs.Mem
	// faults are of the disk as the open directory sees it.
	faults *vfs.Faults
	seed   uint64
	cfg    Config
	d      *Dir
	tp     TopicPartition
	out    bytes.Buffer
}

func (s *scenario) log() *Log { return s.d.Log(s.tp) }

func (s *scenario) say(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

// run carries out one command; each case tells what it takes.
func (s *scenario) run(c command) error {
	switch c.d.Cmd {
	case "config": // config [segment=4000] [index=300] [flush=always|never]
		s.cfg = small()
		s.cfg.SegmentBytes, s.cfg.IndexIntervalBytes = int32(c.num("segment", 4000)), int32(c.num("index", 300))
		if c.str("flush", "never") == "always" {
			s.cfg.Flush = FlushAlways()
		}
	case "open": // open [seed=1], by which its disk fails
		s.seed = uint64(c.num("seed", 1))
		return s.open()
	case "create": // create t-0 id=AAAAAAAAAAAAAAAAAAAAAQ
		s.tp, _ = parseDirName(c.word(0))
		_, err := s.d.Create(s.tp, c.str("id", testID), s.cfg, testNowMs)
		return err
	case "append": // append [n=1] [ts=(5,9,7)] [codec=lz4] [epoch=0] [pid=9 seq=0] [log-append-time=7]: n batches
		return s.append(c)
	case "fail-sync": // the next sync of a log fails, and some of what it was for is never written
		s.faults.Add(vfs.Rule{Name: "*.log", Ops: vfs.OpSync, Err: vfs.ErrIO, LoseUnsynced: true, Times: 1})
	case "flush":
		return s.log().Flush(s.log().End(), testNowMs)
	case "checkpoint":
		return s.d.Checkpoint()
	case "truncate": // truncate 5
		return s.log().TruncateTo(Offset(c.int(0)), testNowMs)
	case "close":
		return s.d.Close(1, testNowMs)
	case "kill": // the process is gone, the disk stays
		return s.d.Abandon()
	case "power-loss": // power-loss seed=3: what is not synced may be gone
		must(s.tb, s.d.Abandon())
		s.disk = s.disk.CrashClone(seeded(uint64(c.num("seed", 1))))
	case "set-aside": // set-aside unique=0123
		return s.d.SetAside(s.tp, c.str("unique", ""))
	case "remove": // remove *.timeindex
		return s.remove(c.word(0))
	case "cut": // cut orders-0/00000000000000000000.log 20: so many bytes from its end
		return s.cut(c.word(0), c.int(1))
	case "max-timestamp": // ListOffsets -3
		r, ok, err := s.log().MaxTimestamp(nil)
		if err != nil || !ok {
			return errors.Join(err, fmt.Errorf("none"))
		}
		s.say("timestamp %d at offset %d", r.TimestampMs, r.Offset)
	case "log":
		s.showLog()
	case "files":
		return s.showFiles()
	case "power-loss-during": // power-loss-during append|roll|truncate|close|recovery ... seeds=20: after each step of the disk
		return s.during(c)
	case "single-node": // single-node flush=always fault=power-loss|kill seeds=100 appends=2
		return s.singleNode(c)
	default:
		c.d.Fatalf(s.tb.(*testing.T), "no command %s", c.d.Cmd)
	}
	return nil
}

func (s *scenario) open() error {
	s.faults = vfs.NewFaults(s.disk, seeded(s.seed), vfs.RealTime{})
	d, err := Open(s.faults, options(s.cfg), testNowMs)
	if err != nil {
		return err
	}
	s.d = d
	for _, r := range d.Repairs() {
		s.say("%v", r)
	}
	return nil
}

func (s *scenario) append(c command) error {
	for range c.numOr("n", 1) {
		l := s.log()
		opts := record.Options{BaseOffset: int64(l.End()), LeaderEpoch: int32(c.num("epoch", 0))}
		for k, name := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
			if name == c.str("codec", "none") {
				opts.Codec = record.Codec(k)
			}
		}
		if pid := c.num("pid", -1); pid >= 0 {
			opts.Producer = &record.Producer{ID: pid, BaseSequence: int32(c.num("seq", 0))}
		}
		if ms := c.num("log-append-time", -1); ms >= 0 {
			opts.LogAppendTimeMs = &ms
		}
		var es []record.Entry
		for _, v := range c.vals("ts", "1") {
			ms, _ := strconv.ParseInt(v, 10, 64)
			es = append(es, record.Entry{TimestampMs: ms, Value: bytes.Repeat([]byte{'v'}, int(c.num("size", 50)))})
		}
		if err := l.Append(build(s.tb, opts, es...), testNowMs); err != nil {
			return err
		}
	}
	return nil
}

func (s *scenario) remove(pattern string) error {
	infos, err := s.disk.ReadDir(s.tp.String())
	for _, in := range infos {
		if ok, _ := path.Match(pattern, in.Name); ok {
			s.say("removed %s", in.Name)
			err = errors.Join(err, s.disk.Remove(path.Join(s.tp.String(), in.Name)))
		}
	}
	return err
}

func (s *scenario) cut(name string, n int) error {
	b, err := vfs.ReadFile(s.disk, name)
	if err != nil {
		return err
	}
	return vfs.WriteFile(s.disk, name, b[:len(b)-n])
}

func (s *scenario) showLog() {
	for _, l := range s.d.Logs() {
		s.say("%s id=%s [%d, %d) HW %d flushed %d epochs %v", l.TopicPartition(), l.TopicID(), l.Start(), l.End(), l.HW(), l.Flushed(), l.epochs.Entries())
		for _, p := range l.producers.Snapshot() {
			s.say("  producer %d: last sequence %d", p.ID, p.LastSequence())
		}
		for _, g := range l.segs {
			s.say("  segment %d: %d bytes", g.base, g.size)
		}
	}
}

func (s *scenario) showFiles() error {
	infos, err := s.disk.ReadDir(".")
	for _, in := range infos {
		if in.Dir {
			s.say("%s/", in.Name)
			continue
		}
		s.say("%s", in.Name)
	}
	return err
}

// during runs a command and after each step of the disk lets the power fail, for so
// many seeds; and again after each step of the recovery, which must not matter. It
// tells which ends the log had, and compares indexes and state with a scan.
func (s *scenario) during(c command) error {
	seeds := uint64(c.num("seeds", 20))
	written := readWhole(s.tb, s.log())
	history := func() []record.Batch { return batches(written) }
	var lines []string
	ends := map[string]map[Offset]bool{}
	s.disk.OnStep(func(st vfs.Step) {
		what := strings.TrimPrefix(after("", st), ": ")
		if ends[what] == nil {
			ends[what] = map[Offset]bool{}
			lines = append(lines, what)
		}
		for seed := range seeds {
			ends[what][s.recovered(s.disk.CrashClone(seeded(seed)), seed, history)] = true
		}
	})
	// What is appended may be there after it: batches are compared with all of it.
	c.d.Cmd = c.word(0)
	c.d.CmdArgs = c.d.CmdArgs[1:]
	if c.d.Cmd == "append" {
		planned := s.disk.Clone()
		twin := &scenario{tb: s.tb, disk: planned, cfg: s.cfg, tp: s.tp}
		must(s.tb, twin.open())
		must(s.tb, twin.run(c))
		written = readWhole(s.tb, twin.log())
		must(s.tb, twin.d.Abandon())
	}
	err := s.run(c)
	s.disk.OnStep(nil)
	for _, what := range lines {
		s.say("%s: ends at %v", what, slices.Sorted(maps.Keys(ends[what])))
	}
	return err
}

// recovered opens what a power loss left and says where the log ends.
func (s *scenario) recovered(disk *vfs.Mem, seed uint64, history func() []record.Batch) Offset {
	var again []*vfs.Mem
	disk.OnStep(func(vfs.Step) { again = append(again, disk.CrashClone(seeded(seed))) })
	look := func(disk *vfs.Mem) ([]byte, Offset) {
		d, err := Open(disk, options(s.cfg), testNowMs)
		must(s.tb, err)
		defer func() { must(s.tb, d.Abandon()) }()
		l := d.Log(s.tp)
		got := readWhole(s.tb, l)
		if l.End() > l.Start() {
			checkIndexes(s.tb, l)
			checkState(s.tb, l, history())
		}
		return got, l.End()
	}
	want, end := look(disk)
	disk.OnStep(nil)
	for _, m := range again {
		if got, _ := look(m); !bytes.Equal(got, want) {
			s.tb.Fatalf("seed %d: %d bytes after one crash, %d after a second one during recovery", seed, len(want), len(got))
		}
	}
	return end
}

// singleNode appends, and acknowledges once the policy is satisfied; right after
// each acknowledgement the fault strikes, and the next append is on what it left.
func (s *scenario) singleNode(c command) error {
	acked, lost := 0, 0
	for seed := range uint64(c.num("seeds", 100)) {
		disk := vfs.NewMem(vfs.MemOptions{})
		rng := seeded(seed)
		d, err := Open(disk, options(s.cfg), testNowMs)
		must(s.tb, err)
		_, err = d.Create(testTP, testID, s.cfg, testNowMs)
		must(s.tb, err)
		var want []byte
		for range c.numOr("appends", 2) {
			l := d.Log(testTP)
			b := batchOf(s.tb, l.End(), 1+rng.IntN(3), rng.IntN(300))
			must(s.tb, l.Append(b, testNowMs))
			if upTo, due, ok := l.SyncDue(); ok && due <= testNowMs {
				must(s.tb, l.Flush(upTo, testNowMs))
			}
			want = append(want, b...)
			acked++
			must(s.tb, d.Abandon())
			if disk = disk.Clone(); c.str("fault", "") == "power-loss" {
				disk = disk.CrashClone(rng)
			}
			d, err = Open(disk, options(s.cfg), testNowMs)
			must(s.tb, err)
			got := readWhole(s.tb, d.Log(testTP))
			if !bytes.HasPrefix(want, got) {
				s.tb.Fatalf("seed %d: %d bytes that are no beginning of what was written", seed, len(got))
			}
			if len(got) < len(want) {
				lost++
				want = got
			}
		}
		must(s.tb, d.Abandon())
	}
	s.say("%d acknowledged, %d of them lost", acked, lost)
	return nil
}

// command reads the arguments of a line.
type command struct{ d *datadriven.TestData }

func (c command) word(i int) string {
	for _, a := range c.d.CmdArgs {
		if len(a.Vals) == 0 {
			if i == 0 {
				return a.Key
			}
			i--
		}
	}
	return ""
}

func (c command) int(i int) int {
	n, err := strconv.Atoi(c.word(i))
	if err != nil {
		panic(fmt.Sprintf("%s: %q is no number", c.d.Pos, c.word(i)))
	}
	return n
}

func (c command) vals(key, otherwise string) []string {
	for _, a := range c.d.CmdArgs {
		if a.Key == key {
			return a.Vals
		}
	}
	return []string{otherwise}
}

func (c command) str(key, otherwise string) string { return c.vals(key, otherwise)[0] }

func (c command) num(key string, otherwise int64) int64 {
	n, err := strconv.ParseInt(c.str(key, strconv.FormatInt(otherwise, 10)), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%s: %s: %v", c.d.Pos, key, err))
	}
	return n
}

func (c command) numOr(key string, otherwise int) int { return int(c.num(key, int64(otherwise))) }

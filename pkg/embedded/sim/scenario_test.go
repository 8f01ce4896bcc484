package sim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

var flagScenarioTrace = flag.Bool("scenario.trace", false, "tell every event of a scenario on stderr")

// TestScenarios runs the stories of testdata/scenarios: what fails when, what clients
// ask, and what comes of it in a whole cluster, with the checkers looking on. At a
// story's end everything heals, and the cluster must come to rest. Rewrite with
// -rewrite, and read the diff.
func TestScenarios(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, filepath.Join("testdata", "scenarios"), func(t *testing.T, path string) {
		t.Parallel()
		s := &scenario{calls: map[string]*Call{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t, s.d = t, d
			out := s.command(d)
			if s.w != nil {
				if err := s.w.Check(); err != nil {
					d.Fatalf(t, "%v", err)
				}
			}
			return out
		})
		s.rest(t, path)
	})
}

// rest ends a story.
func (s *scenario) rest(t *testing.T, path string) {
	if s.w == nil {
		return
	}
	if err := s.w.Rest(); err != nil {
		t.Errorf("%s: with all healed: %v", path, err)
	}
}

// TestScenariosAreInTheDesign holds the table of DESIGN.md to the stories: each is
// there, and what is there is one.
func TestScenariosAreInTheDesign(t *testing.T) {
	t.Parallel()
	design, err := os.ReadFile(filepath.Join("..", "DESIGN.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(design), "| case | report |")
	table, _, _ = strings.Cut(table, "\n\n")
	told := map[string]bool{}
	for _, line := range strings.Split(table, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 4 {
			for i, name := range strings.Split(cells[4], "`") {
				if i%2 == 1 {
					told[name] = true
				}
			}
		}
	}
	files, err := os.ReadDir(filepath.Join("testdata", "scenarios"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !told[f.Name()] {
			t.Errorf("the story %s is not in the table of DESIGN.md", f.Name())
		}
		delete(told, f.Name())
	}
	for name := range told {
		t.Errorf("DESIGN.md names a story %q that there is not", name)
	}
}

// scenario is a story that is being told.
type scenario struct {
	t       *testing.T
	d       *datadriven.TestData
	w       *World
	out     *strings.Builder
	watched watched
	calls   map[string]*Call
	ids     map[string]record.Producer
	acked   []ackedWords
	conns   []string
}

func (s *scenario) printf(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// command carries out one command and returns what is to be seen of it: what
// happened in the meantime, then its answer.
func (s *scenario) command(d *datadriven.TestData) string {
	s.d, s.out = d, &strings.Builder{}
	s.run()
	if s.w != nil && s.w.Err() != nil {
		d.Fatalf(s.t, "%v\n%s%s", s.w.Err(), s.watched.take(), s.out)
	}
	out := s.watched.take() + s.out.String()
	if out == "" {
		return "ok\n"
	}
	return out
}

// run has a line for each command, with an example.
func (s *scenario) run() {
	switch s.d.Cmd {
	case "cluster": // cluster brokers=3 elr=off session=9000 racks refuse-open; lines: the brokers' configs
		s.cluster()
	case "wait": // wait 200ms
		s.w.RunFor(s.duration(0))
	case "settle": // settle 2,3: until all replicas that live, or those, are in sync and have the same HW and LEO
		s.until(s.unsettled)
	case "until": // until t-0 leader=2 epoch=1 isr=(1,2) elr=(3): what the controller says; or: until t-0 at 2 hw=5 leo=6 role=leader
		s.until(s.unlike)

	case "kill": // kill 1 2 in-flight: the processes die; in-flight: what they have sent still arrives
		s.each(s.w.Kill)
	case "power-loss": // power-loss 3 torn=7: of what was not synced nothing is left, or what the dice leave
		s.each(func(id End) { s.w.PowerLossLeaving(id, s.power()) })
	case "crash-within": // crash-within 3 change=2 power torn=7: at the 2nd change of its disk from now on; change=0: not after all
		var rng *rand.Rand
		if s.has("power") {
			rng = s.power()
		}
		s.w.CrashWithin(s.broker(0), int(s.num("change", 1)), rng)
	case "stop": // stop 1: a controlled shutdown
		s.each(func(id End) {
			s.w.CleanStop(id)
			if !s.w.RunUntil(func() bool { return !s.w.Up(id) }, 30_000) {
				s.printf("%d does not stop\n", id)
			}
		})
	case "start": // start 1 empty: with a new disk
		s.each(func(id End) {
			if s.has("empty") {
				s.w.EmptyDisk(id)
			}
			s.w.Start(id)
		})
	case "pause": // pause 2 3: as by SIGSTOP
		s.each(s.w.Pause)
	case "resume":
		s.each(s.w.Resume)

	case "cut": // cut 1 from 2,3,controller: both ways. cut 1 to 2: one way
		s.links(s.w.Cut)
	case "heal": // heal 1 from 2,3; or all: heal
		s.links(func(from, to End) {
			s.w.Heal(from, to)
			s.w.DelayLink(from, to, 0)
		})
	case "slow-link": // slow-link 3 to 1 by=400ms
		s.links(func(from, to End) { s.w.DelayLink(from, to, s.ms(s.str("by", "0"))) })
	case "hold-metadata": // hold-metadata 3: it hears nothing new from the controller
		s.each(func(id End) { s.w.HoldMetadata(id, true) })
	case "release-metadata":
		s.each(func(id End) { s.w.HoldMetadata(id, false) })
	case "slow-disk": // slow-disk 1 by=300ms
		s.w.SlowDisk(s.broker(0), s.ms(s.str("by", "0")))
	case "fail-disk": // fail-disk 1 ops=sync times=1
		s.failDisk()

	case "repeat": // repeat i=10: the commands of the lines, in which $i is the round
		s.repeat()

	case "status": // status t-0
		s.status()
	case "logs": // logs t-0
		s.logs()
	case "same": // same t-0: are the logs of all live replicas the same bytes?
		s.same()
	case "acked": // acked t-0: is all there that was acknowledged with acks=all, where it was said to be?
		s.checkAcked()
	case "configs": // configs t: what the controller says
		s.configs()
	case "elections": // how many there were, and how many of them lost records
		s.printf("unclean elections: %d\n", s.w.stats.Unclean)
	case "spoil": // spoil 1 index timeindex: of a broker that is down, all such files point elsewhere
		s.spoil()
	case "remove-all": // remove-all 3: what a person does with a directory that is not needed any more
		s.removeAll()
	case "files": // files 1 segments: the directories of its logs
		s.files()
	default:
		s.request()
	}
}

func (s *scenario) cluster() {
	s.rest(s.t, s.d.Pos)
	s.acked, s.ids, s.conns, s.calls = nil, nil, nil, map[string]*Call{}
	s.watched.take()
	plan := QuietPlan()
	plan.Brokers = int(s.num("brokers", 3))
	plan.ELR = s.str("elr", "on") == "on"
	plan.SessionMs = s.num("session", 9000)
	plan.Racks, plan.RefuseOpen = s.has("racks"), s.has("refuse-open")
	for key, value := range s.lines() {
		plan.Static[key] = value
	}
	opts := Options{Seed: 1, Plan: &plan}
	if *flagScenarioTrace {
		opts.Trace = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	s.w = New(opts)
	s.w.Watch(s.watched.watch())
	s.watched.w = s.w
	s.until(func() string {
		for id := End(1); int(id) <= plan.Brokers; id++ {
			if b, ok := s.w.Image().Broker(int32(id)); !ok || b.Fenced || !s.w.HasAllMetadata(id) {
				return fmt.Sprintf("broker %d is fenced", id)
			}
		}
		return ""
	})
	s.watched.take()
}

// until lets time pass until why is "", a minute at most.
func (s *scenario) until(why func() string) {
	var last string
	if s.w.RunUntil(func() bool { last = why(); return last == "" }, 60_000) || s.w.Err() != nil {
		return
	}
	s.printf("not within a minute: %s\n", last)
}

// unsettled says what is not yet as it will be once nothing is under way.
func (s *scenario) unsettled() string {
	among := s.brokers()
	if words := s.words(); len(words) > 0 {
		among = s.ends(words[0])
	}
	among = slices.DeleteFunc(among, func(id End) bool { return s.w.proc(id).state != running })
	for _, id := range among {
		if b, ok := s.w.Image().Broker(int32(id)); !ok || b.Fenced || !s.w.HasAllMetadata(id) {
			return fmt.Sprintf("broker %d is fenced, or its metadata is old", id)
		}
	}
	for _, x := range s.w.model.parts {
		if !x.exists || x.reg.Leader == kraft.NoLeader {
			continue
		}
		if why := s.unsettledPartition(x, among); why != "" {
			return why
		}
	}
	return ""
}

func (s *scenario) unsettledPartition(x *part, among []End) string {
	leader, _, ok := s.w.Replica(End(x.reg.Leader), x.topic, x.index)
	if !ok || leader.Role != replica.Leader {
		return fmt.Sprintf("%d does not lead %s-%d yet", x.reg.Leader, x.topic, x.index)
	}
	if leader.HW != leader.LEO && !leader.UnderMinISR {
		return fmt.Sprintf("%s-%d: HW %d, LEO %d", x.topic, x.index, leader.HW, leader.LEO)
	}
	for _, id := range x.reg.Replicas {
		if !slices.Contains(among, End(id)) {
			continue
		}
		st, _, ok := s.w.Replica(End(id), x.topic, x.index)
		switch {
		case !ok:
			return fmt.Sprintf("%d has no %s-%d", id, x.topic, x.index)
		case !slices.Contains(x.reg.ISR, id):
			return fmt.Sprintf("%d is not in the ISR of %s-%d", id, x.topic, x.index)
		case st.HW != leader.HW || st.LEO != leader.LEO || st.Busy:
			return fmt.Sprintf("%d has HW %d, LEO %d of %s-%d", id, st.HW, st.LEO, x.topic, x.index)
		}
	}
	return ""
}

// unlike says how a partition differs from what the command wants.
func (s *scenario) unlike() string {
	topic, index := s.partition(0)
	if i := slices.Index(s.words(), "at"); i > 0 {
		st, _, ok := s.w.Replica(s.broker(i+1), topic, index)
		if !ok {
			return "no replica"
		}
		got := fmt.Sprintf("%s, epoch %d, HW %d, LEO %d", st.Role, st.LeaderEpoch, st.HW, st.LEO)
		if s.has("hw") && int64(st.HW) != s.num("hw", 0) || s.has("leo") && int64(st.LEO) != s.num("leo", 0) || s.has("epoch") && int64(st.LeaderEpoch) != s.num("epoch", 0) ||
			s.has("role") && string(st.Role) != s.str("role", "") || st.Busy && s.has("idle") {
			return got
		}
		return ""
	}
	p := s.w.Partition(topic, index)
	if p == nil {
		return "no such partition"
	}
	got := tellPartition(p)
	sorted := func(ids []int32) string {
		ids = slices.Clone(ids)
		slices.Sort(ids)
		return list(ids)
	}
	if s.has("leader") && s.str("leader", "") != leaderName(p.Leader) || s.has("epoch") && int64(p.LeaderEpoch) != s.num("epoch", 0) ||
		s.has("isr") && s.str("isr", "") != sorted(p.ISR) || s.has("elr") && s.str("elr", "") != sorted(p.EligibleLeaderReplicas) {
		return got
	}
	return ""
}

func leaderName(id int32) string {
	if id == kraft.NoLeader {
		return "none"
	}
	return strconv.Itoa(int(id))
}

func (s *scenario) brokers() []End {
	var ids []End
	for _, p := range s.w.brokers() {
		ids = append(ids, End(p.id))
	}
	return ids
}

// each does something with the brokers that the command names.
func (s *scenario) each(do func(id End)) {
	all := func() {
		for i, word := range s.words() {
			if word != "in-flight" && word != "empty" {
				do(s.broker(i))
			}
		}
	}
	if s.has("in-flight") {
		s.w.LettingArrive(all)
		return
	}
	all()
}

// power is the rng of a power loss.
func (s *scenario) power() *rand.Rand {
	if s.has("torn") {
		return rand.New(rand.NewPCG(uint64(s.num("torn", 0)), 0))
	}
	return NothingUnsynced()
}

// links does something with the links from the first word to the others.
func (s *scenario) links(do func(from, to End)) {
	words := s.words()
	if len(words) == 0 {
		all := append(s.brokers(), Controller, Clients)
		for _, from := range all {
			for _, to := range all {
				do(from, to)
			}
		}
		return
	}
	for _, from := range s.ends(words[0]) {
		for _, to := range s.ends(words[2]) {
			do(from, to)
			if words[1] == "from" {
				do(to, from)
			}
		}
	}
}

func (s *scenario) ends(word string) []End {
	var ids []End
	for _, name := range strings.Split(word, ",") {
		switch name {
		case "controller":
			ids = append(ids, Controller)
		case "clients":
			ids = append(ids, Clients)
		default:
			ids = append(ids, s.parseBroker(name))
		}
	}
	return ids
}

func (s *scenario) failDisk() {
	r := vfs.Rule{Err: vfs.ErrIO, LoseUnsynced: true, Times: int(s.num("times", 0)), Name: s.str("file", "")}
	switch s.str("ops", "write") {
	case "write":
		r.Ops = vfs.OpWrite
	case "sync":
		r.Ops = vfs.OpSync
	}
	if s.has("full") {
		r.Err = vfs.ErrNoSpace
	}
	s.w.DiskFault(s.broker(0), r)
}

var digits = regexp.MustCompile(`[0-9]+`)

// spoil changes what each entry of an index points to a little.
func (s *scenario) spoil() {
	disk := s.w.Disk(s.broker(0))
	infos, err := disk.ReadDir(".")
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	for _, dir := range infos {
		files, err := disk.ReadDir(dir.Name)
		if err != nil {
			continue // a file
		}
		for _, f := range files {
			if !slices.Contains(s.words()[1:], strings.TrimPrefix(filepath.Ext(f.Name), ".")) {
				continue
			}
			name := dir.Name + "/" + f.Name
			data, err := vfs.ReadFile(disk, name)
			if err != nil {
				s.d.Fatalf(s.t, "%v", err)
			}
			entry := map[string]int{"index": 8, "timeindex": 12}[strings.TrimPrefix(filepath.Ext(f.Name), ".")]
			for i := entry - 1; i < len(data); i += entry {
				data[i] ^= 0x0c
			}
			if err := vfs.WriteFile(disk, name, data); err != nil {
				s.d.Fatalf(s.t, "%v", err)
			}
			s.printf("%s: %d bytes\n", name, len(data))
		}
	}
}

func (s *scenario) removeAll() {
	disk := s.w.Disk(s.broker(0))
	infos, err := disk.ReadDir(".")
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	for _, in := range infos {
		if err := vfs.RemoveAll(disk, in.Name); err != nil {
			s.printf("%v\n", err)
		}
	}
	infos, err = disk.ReadDir(".")
	s.printf("%d names are left %v\n", len(infos), map[bool]any{true: err}[err != nil])
}

// repeat carries out the lines of the command for each i and j: repeat i=3 j=2 makes six
// rounds, and $n counts them from 0. It tells how often each line answered what, with #
// for a number, and not what happened in between.
func (s *scenario) repeat() {
	outer, out := s.d, s.out
	rounds := 1
	for _, a := range outer.CmdArgs {
		rounds *= int(s.num(a.Key, 1))
	}
	var told []string
	times := map[string]int{}
	for n := range rounds {
		values := []string{"$n", strconv.Itoa(n)}
		rest := n
		for _, a := range outer.CmdArgs {
			count := int(s.num(a.Key, 1))
			values = append(values, "$"+a.Key, strconv.Itoa(1+rest%count))
			rest /= count
		}
		for line := range strings.Lines(strings.NewReplacer(values...).Replace(outer.Input)) {
			answer := s.repeated(outer, strings.TrimSpace(line))
			if answer == "" {
				continue
			}
			if times[answer]++; times[answer] == 1 {
				told = append(told, answer)
			}
		}
		s.d, s.out = outer, out
	}
	for _, answer := range told {
		s.printf("%d times %s", times[answer], answer)
	}
}

// repeated carries out one line, and returns what it answered.
func (s *scenario) repeated(outer *datadriven.TestData, line string) string {
	cmd, args, err := datadriven.ParseLine(line)
	if err != nil {
		outer.Fatalf(s.t, "%q: %v", line, err)
	}
	s.d, s.out = &datadriven.TestData{Pos: outer.Pos, Cmd: cmd, CmdArgs: args}, &strings.Builder{}
	s.run()
	if err := s.w.Check(); err != nil {
		outer.Fatalf(s.t, "%s: %v\n%s", line, err, s.watched.take())
	}
	s.watched.take()
	if s.out.Len() == 0 {
		return ""
	}
	return digits.ReplaceAllString(cmd+": "+s.out.String(), "#")
}

// The words and arguments of a command.

func (s *scenario) has(key string) bool {
	return slices.ContainsFunc(s.d.CmdArgs, func(a datadriven.CmdArg) bool { return a.Key == key })
}

// str is an argument's value; of "", the first word.
func (s *scenario) str(key, otherwise string) string {
	if key == "" {
		return s.words()[0]
	}
	for _, a := range s.d.CmdArgs {
		if a.Key == key && len(a.Vals) > 0 {
			return strings.Join(a.Vals, ",")
		}
	}
	return otherwise
}

func (s *scenario) num(key string, otherwise int64) int64 {
	n, err := strconv.ParseInt(s.str(key, strconv.FormatInt(otherwise, 10)), 10, 64)
	if err != nil {
		s.d.Fatalf(s.t, "%s: %v", key, err)
	}
	return n
}

// words are the arguments without a value.
func (s *scenario) words() []string {
	var words []string
	for _, a := range s.d.CmdArgs {
		if len(a.Vals) == 0 {
			words = append(words, a.Key)
		}
	}
	return words
}

// after is the word behind another one.
func (s *scenario) after(word string) (string, bool) {
	words := s.words()
	if i := slices.Index(words, word); i >= 0 && i+1 < len(words) {
		return words[i+1], true
	}
	return "", false
}

func (s *scenario) broker(word int) End { return s.parseBroker(s.words()[word]) }

func (s *scenario) parseBroker(word string) End {
	if word == "controller" {
		return Controller
	}
	id, err := strconv.Atoi(word)
	if err != nil || id < 1 || id > s.w.plan.Brokers {
		s.d.Fatalf(s.t, "%q is no broker", word)
	}
	return End(id)
}

func (s *scenario) partition(word int) (topic string, index int32) {
	name := s.words()[word]
	cut := strings.LastIndex(name, "-")
	n, err := strconv.Atoi(name[cut+1:])
	if err != nil || cut < 0 {
		s.d.Fatalf(s.t, "%q is no partition", name)
	}
	return name[:cut], int32(n)
}

func (s *scenario) duration(word int) int64 { return s.ms(s.words()[word]) }

func (s *scenario) ms(text string) int64 {
	unit := int64(1)
	digits, seconds := strings.CutSuffix(text, "s")
	if d, ok := strings.CutSuffix(text, "ms"); ok {
		digits = d
	} else if seconds {
		unit = 1000
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		s.d.Fatalf(s.t, "%q is no time", text)
	}
	return n * unit
}

// lines are the configs below a command.
func (s *scenario) lines() map[string]string {
	configs := map[string]string{}
	for line := range strings.Lines(s.d.Input) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key != "" {
			configs[key] = value
		}
	}
	return configs
}

package cli

import (
	"context"
	"errors"
	"math"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// machine is a place whose local clusters are the test's own.
func machine(t *testing.T) place {
	t.Helper()
	run, err := os.MkdirTemp("", "k") //nolint:usetesting // t.TempDir has the name of the test in it, and a socket\'s path has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	return place{env: map[string]string{"XDG_RUNTIME_DIR": run, "XDG_STATE_HOME": t.TempDir()}}
}

// upLocal runs cluster up beside the test and returns when its status says ready.
func (p place) upLocal(t *testing.T, line string) render.LocalClusterItem {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	up := newTape()
	d, env := p.double()
	d.Out, d.Err = up, up
	var wg sync.WaitGroup
	wg.Go(func() { run(ctx, append([]string{"cluster", "up"}, strings.Fields(line)...), env) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	up.await(t, func(text string) bool {
		return strings.Contains(text, "\nend:") || strings.HasPrefix(text, "kafkaops: ")
	})
	r := p.run(t.Context(), "cluster", "status", "-o", "json")
	if r.code != exitOK {
		t.Fatalf("got %+v and %s, want a cluster", r, up)
	}
	return items[render.LocalClusterItem](t, r)[0]
}

// TestLocalExamples runs the examples of all commands about a cluster of this machine,
// but those of up and demo, which the process's own tests run.
func TestLocalExamples(t *testing.T) {
	t.Parallel()
	p := machine(t)
	p.upLocal(t, "--ephemeral --port 0 --set broker.session.timeout.ms=1000 --set broker.heartbeat.interval.ms=200")
	here := strings.NewReplacer(" --name demo", "", "--for 200ms", "--for 10ms --timeout 30m", "--for 100ms", "--for 10ms --timeout 30m")
	var last []string
	for _, cmd := range commands(t) {
		path := pathOf(cmd)
		for _, example := range examplesOf(cmd.Example) {
			if !localCommand(cmd) {
				break
			}
			args := wordsOf(t, here.Replace(example))
			switch family, sub, _ := strings.Cut(path, " "); {
			case !strings.HasPrefix(strings.Join(args, " "), path):
				t.Errorf("%s is no example of kafkaops %s", example, path)
			case family == "demo" || sub == "up" || args[1] == "up":
				found, rest, err := cmd.Root().Find(args)
				if err == nil {
					err = found.ParseFlags(rest)
				}
				if err != nil {
					t.Errorf("%s: %v", example, err)
				}
			case sub == "down":
				last = args
			default:
				if r := p.run(t.Context(), args...); r.code != exitOK || r.stdout == "" || r.stderr != "" {
					t.Errorf("%s: got %+v, want 0 and an answer", example, r)
				}
				if args[1] == "fault" {
					if r := p.run(t.Context(), "cluster", "heal"); r.code != exitOK {
						t.Fatalf("heal after %s: got %+v", example, r)
					}
				}
			}
		}
	}
	if r := p.run(t.Context(), last...); r.code != exitOK || !strings.Contains(r.stdout, "it was in memory, and nothing is left") {
		t.Errorf("%q: got %+v, want it down", last, r)
	}
}

// TestLocalStatus on a terminal: where it is, and what is broken on whom.
func TestLocalStatus(t *testing.T) {
	t.Parallel()
	p := machine(t)
	item := p.upLocal(t, "--brokers 2 --port 0")
	if !item.Ready || item.PID != os.Getpid() || len(item.Nodes) != 3 || len(item.Bootstrap) != 2 || item.DataBytes.Or(0) <= 0 {
		t.Errorf("got %+v, want two brokers and the controller, with data", item)
	}
	if r := p.run(t.Context(), "cluster", "fault", "slow-link", "--from", "1", "--to", "controller", "--one-way", "2ms"); r.code != exitOK {
		t.Fatalf("got %+v", r)
	}
	p.width, p.height = 200, 24
	r := p.run(t.Context(), "cluster", "status", "--color", "never")
	for _, part := range []string{
		"cluster default is up", "process " + strconv.Itoa(os.Getpid()), item.Data.Or("?"), "slow-link to controller 2ms (", strings.Join(item.Bootstrap, ","),
	} {
		if r.code != exitOK || !strings.Contains(r.stdout, part) {
			t.Errorf("got %+v, want %q in it", r, part)
		}
	}
}

// TestLocalFailed: a node that has failed by itself is shown with the reason, and heal in
// vain tells it too.
func TestLocalFailed(t *testing.T) {
	t.Parallel()
	p := machine(t)
	item := p.upLocal(t, "--brokers 1 --port 0 --set broker.session.timeout.ms=1000 --set broker.heartbeat.interval.ms=200")
	if r := p.run(t.Context(), "cluster", "topics", "create", "orders", "--partitions", "1"); r.code != exitOK {
		t.Fatalf("got %+v", r)
	}
	dir := filepath.Join(item.Data.Or("?"), "broker-1", "orders-0")
	for within := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "partition.metadata")); err == nil {
			break
		} else if time.Now().After(within) {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"fault", "fill-disk", "--broker", "1"}, {"topics", "create", "more", "--timeout", "1s"}} {
		p.run(t.Context(), append([]string{"cluster"}, args...)...) // the second may fail
	}
	const full = "no space left on device"
	failed := ran{}
	for within := time.Now().Add(time.Minute); !strings.Contains(failed.stdout, "failed"); {
		if time.Now().After(within) {
			t.Fatalf("it never fails: %+v", failed)
		}
		failed = p.run(t.Context(), "cluster", "status")
	}
	if head, rows, _ := strings.Cut(failed.stdout, "\n"); !strings.HasSuffix(head, "\tERROR") || !strings.Contains(rows, full) {
		t.Errorf("got %q, want why it has failed", failed.stdout)
	}
	if r := p.run(t.Context(), "cluster", "status", "-o", "json"); !strings.Contains(r.stdout, full+`"`) || strings.Count(r.stdout, `"error": null`) != 1 {
		t.Errorf("got %q, want an error of the broker and none of the controller", r.stdout)
	}
	if err := errors.Join(os.Rename(dir, dir+".away"), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(failed.stdout, "broker 1") {
		t.Errorf("got %q, want the broker named by its row alone", failed.stdout)
	}
	if r := p.run(t.Context(), "cluster", "heal"); r.code != exitFailed || strings.Count(strings.ReplaceAll(r.stderr, dir, ""), "broker 1") != 1 || !strings.Contains(r.stderr, "orders-0") {
		t.Errorf("got %+v, want who fails again and why", r)
	}
	if r := p.run(t.Context(), "cluster", "status"); !strings.Contains(r.stdout, "orders-0") {
		t.Errorf("got %+v, want the reason of the second failure", r)
	}
}

// TestNamesOfUp: what the engine does not know is wrong usage, in the words of the flag.
func TestNamesOfUp(t *testing.T) {
	t.Parallel()
	p := machine(t)
	for args, want := range map[string]string{
		"up --ephemeral --port 0 --max-versions x":      "--max-versions: no release of Kafka is x",
		"up --detach --port 0 --max-versions 2.0":       "--max-versions: release 2.0 of Kafka is too old",
		"up --ephemeral --port 0 --set nonsense=4":      "--set: config nonsense is not known",
		"up --detach --port 0 --set num.partitions=abc": "--set: config num.partitions=abc: want a whole number",
		"bench --set num.partitions=abc":                "--set: config num.partitions=abc: want a whole number",
	} {
		if r := p.run(t.Context(), append([]string{"cluster"}, strings.Fields(args)...)...); r.code != exitUsage || !strings.Contains(r.stderr, want) || r.stdout != "" {
			t.Errorf("%s: got %+v, want %q", args, r, want)
		}
	}
}

// TestPurge: nothing goes without --yes, and then what a cluster has written and no more,
// whether it is up or not.
func TestPurge(t *testing.T) {
	t.Parallel()
	p := machine(t)
	data := p.upLocal(t, "--brokers 1 --port 0").Data.Or("")
	if r := p.run(t.Context(), "cluster", "down", "--purge"); r.code != exitUsage || !strings.Contains(r.stderr, "--purge would stop cluster default and remove the data of 1 broker in "+data+" for good: add --yes") {
		t.Errorf("got %+v, want what would be removed", r)
	}
	if r := p.run(t.Context(), "cluster", "down", "--yes"); r.code != exitUsage {
		t.Errorf("got %+v, want that --yes alone is for nothing", r)
	}
	if r := p.run(t.Context(), "cluster", "status"); r.code != exitOK {
		t.Errorf("got %+v, want it up still", r)
	}
	if r := p.run(t.Context(), "cluster", "down", "--purge", "--yes"); r.code != exitOK || !strings.Contains(r.stdout, "removed from "+data+"\n") {
		t.Errorf("got %+v, want it removed", r)
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", data, err)
	}
	if r := p.run(t.Context(), "cluster", "down", "--purge", "--yes"); r.code != exitOK || !strings.Contains(r.stderr, "there is nothing to remove") {
		t.Errorf("got %+v, want that there is nothing", r)
	}
	// Of one that is down, with a file of somebody's in it.
	if again := p.upLocal(t, "--brokers 1 --port 0").Data.Or(""); again != data {
		t.Errorf("it came up in %s, want %s", again, data)
	}
	mine := filepath.Join(data, "mine")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := p.run(t.Context(), "cluster", "down"); r.code != exitOK {
		t.Errorf("got %+v, want it down", r)
	}
	if r := p.run(t.Context(), "cluster", "down", "--purge"); r.code != exitUsage || !strings.Contains(r.stderr, "cluster default is not up, and --purge would remove the data of 1 broker") {
		t.Errorf("got %+v, want what would be removed, and that there is nothing to stop", r)
	}
	if r := p.run(t.Context(), "cluster", "down", "--purge", "--yes"); r.code != exitOK || !strings.Contains(r.stdout, "the directory stays, with what no cluster has written (1 other name)") {
		t.Errorf("got %+v, want all removed but a file", r)
	}
	if left, err := filepath.Glob(filepath.Join(data, "*")); err != nil || len(left) != 1 || left[0] != mine {
		t.Errorf("got %q, %v left, want %s alone", left, err, mine)
	}
	// What is no cluster's.
	if r := p.run(t.Context(), "cluster", "down", "--purge", "--yes"); r.code != exitFailed || !strings.Contains(r.stderr, "what lies there is no cluster's") {
		t.Errorf("got %+v, want a refusal", r)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	// A directory that was named may be somebody's: it stays.
	dir := t.TempDir()
	c, err := embedded.Start(t.Context(), embedded.Options{Brokers: 1, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if r := p.run(t.Context(), "cluster", "down", "--data", dir, "--purge", "--yes"); r.code != exitFailed || !strings.Contains(r.stderr, "stop that cluster first") {
		t.Errorf("got %+v, want a refusal while it is open", r)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if r := p.run(t.Context(), "cluster", "down", "--data", dir, "--purge", "--yes"); r.code != exitOK || !strings.Contains(r.stdout, "the directory stays, empty") {
		t.Errorf("got %+v, want it emptied", r)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v left, want an empty directory", left, err)
	}
}

// TestRestartWithoutController: no --timeout is long enough, which is said; and the broker
// that waits is not called dead.
func TestRestartWithoutController(t *testing.T) {
	t.Parallel()
	p := machine(t)
	p.upLocal(t, "--brokers 1 --port 0 --ephemeral")
	for _, node := range []string{"1", "controller"} {
		if r := p.run(t.Context(), "cluster", "fault", "kill", "--broker", node); r.code != exitOK {
			t.Fatalf("got %+v", r)
		}
	}
	r := p.run(t.Context(), "cluster", "restart", "--broker", "1", "--timeout", "500ms")
	if r.code != exitFailed || !strings.Contains(r.stderr, "broker 1 was started, and is not up within 500ms: the controller, which alone unfences it, is killed; kafkaops cluster heal brings it back") {
		t.Errorf("got %+v, want who is missing", r)
	}
	for range 100 { // the request is given up before its end is known here
		r = p.run(t.Context(), "cluster", "status")
		if strings.Contains(r.stdout, "\trunning\t-\t") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("got %+v, want broker 1 to run, without a fault", r)
}

// TestPorts: the controller gets the next one that is free.
func TestPorts(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	got := portsFrom("127.0.0.1", taken-3, 3)
	if len(got) < 3 || got[0] != taken-3 || got[2] != taken-1 {
		t.Errorf("got %v, want the brokers at %d to %d", got, taken-3, taken-1)
	}
	if len(got) == 4 && got[3] <= taken {
		t.Errorf("got %v, want the controller above %d, which is taken", got, taken)
	}
	if got := portsFrom("127.0.0.1", maxPort-2, 3); len(got) != 3 {
		t.Errorf("got %v, want none for the controller where there is no higher one", got)
	}
}

// TestSettings are read as server.properties has them.
func TestSettings(t *testing.T) {
	t.Parallel()
	got, err := parseSettings("set", []string{"a=1", "b=x=y", "c=", "a=1"})
	if err != nil || len(got) != 3 || got["a"] != "1" || got["b"] != "x=y" || got["c"] != "" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range [][]string{{"a"}, {"=1"}, {"a=1", "a=2"}} {
		var usage usageError
		if got, err := parseSettings("set", bad); !errors.As(err, &usage) {
			t.Errorf("%q: got %v, %v; want wrong usage", bad, got, err)
		}
	}
}

// TestShellWord quotes what a shell would take apart.
func TestAssignment(t *testing.T) {
	got, err := parseAssignment("3:1,3:2,12:1")
	if want := [][]inspect.BrokerID{{3, 1}, {3, 2}, {12, 1}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	for bad, why := range map[string]string{
		",": "partition 0", "1:2,": "partition 1", "1:": `""`, "1;2": `"1;2"`, "1:-2": `"-2"`, "1:2147483648": "no broker's id",
		"1:2,1:1": "has broker 1 twice", "1:2:3,1:2": "partition 1 has 2 replicas, partition 0 has 3",
	} {
		var usage usageError
		if got, err := parseAssignment(bad); !errors.As(err, &usage) || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: got %v, %v; want wrong usage with %q", bad, got, err, why)
		}
	}
}

// TestBenchRows: each level of safety, link and codec once, and numbers in each.
func TestBenchRows(t *testing.T) {
	t.Parallel()
	r := place{}.run(t.Context(), "cluster", "bench", "--for", "20ms", "--record-bytes", "100", "--link-delay", "1ms", "-o", "json")
	rows := items[render.BenchItem](t, r)
	if len(rows) != 9+1+4 {
		t.Errorf("got %d rows, want acks × replicas, a link and four codecs", len(rows))
	}
	seen := map[[4]string]bool{}
	for _, row := range rows {
		key := [4]string{row.Acks, strconv.Itoa(row.Replicas), strconv.FormatFloat(row.LinkDelayMs, 'f', -1, 64), row.Compression}
		if seen[key] || row.BytesPerSecond <= 0 || math.Abs(row.RecordsPerSecond*100-row.BytesPerSecond) > 1 {
			t.Errorf("got %+v: there already, or its numbers contradict each other", row)
		}
		seen[key] = true
	}
	var usage usageError
	if _, err := (&benchOptions{each: 1}).check(); !errors.As(err, &usage) {
		t.Errorf("got %v, want wrong usage", err)
	}
}

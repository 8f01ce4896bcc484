package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// eventful is a cluster in which broker 3 was killed, fenced, and brought back, with
// the topics orders and payments-eu.
func eventful(t *testing.T, o embedded.Options) *embedded.Cluster {
	t.Helper()
	o.Brokers = 3
	c := embeddedtest.New(t, o)
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(c.Bootstrap(), ",")...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, name := range []string{"orders", "payments-eu"} {
		req := kmsg.NewPtrCreateTopicsRequest()
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1
		replicas := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		replicas.Replicas = []int32{1, 2, 3}
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, replicas)
		req.Topics = append(req.Topics, topic)
		resp, err := req.RequestWith(t.Context(), client)
		if err != nil || resp.Topics[0].ErrorCode != 0 {
			t.Fatalf("create topic: %v, %+v", err, resp)
		}
	}
	c.Broker(3).Kill()
	awaitISR(t, c, "orders", 2)
	heal(t, c)
	return c
}

// isr runs a command of the family against a cluster.
func isr(t *testing.T, p place, c *embedded.Cluster, line string) ran {
	t.Helper()
	return p.run(t.Context(), argsOf(line, c.Bootstrap())...)
}

// isrEvents are the items of isr.
func isrEvents(t *testing.T, r ran) render.IsrDocument[render.IsrEventItem] {
	t.Helper()
	return documentOf[render.IsrEventItem](t, r)
}

// documentOf is that of a command of the family.
func documentOf[T any](t *testing.T, r ran) render.IsrDocument[T] {
	t.Helper()
	var d render.IsrDocument[T]
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		t.Fatalf("stdout is no document: %v\n%s\nstderr: %s", err, r.stdout, r.stderr)
	}
	return d
}

// heal brings everybody back, into the ISRs.
func heal(t *testing.T, c *embedded.Cluster) {
	t.Helper()
	if err := c.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitISR(t, c, "orders", 3)
	awaitISR(t, c, "payments-eu", 3)
}

// awaitISR waits until the last event of a topic leaves so many in the ISR.
func awaitISR(t *testing.T, c *embedded.Cluster, topic string, members int) {
	t.Helper()
	for {
		r := isr(t, place{}, c, "isr -o json --topic "+topic)
		if r.code != exitOK {
			t.Fatalf("exit code %d: %s", r.code, r.stderr)
		}
		if all := isrEvents(t, r).Items; len(all) > 0 && len(all[len(all)-1].ISR) == members {
			return
		}
		if err := sleep(t.Context(), 100*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

func brief(d render.IsrDocument[render.IsrEventItem]) (out []string) {
	for _, e := range d.Items {
		out = append(out, fmt.Sprintf("%s-%d %s %s %v %v", e.Topic, e.Partition, e.Type, e.Cause, e.Brokers, e.ISR))
	}
	return out
}

func TestIsr(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	created, fenced, back := "orders-0 create topic-created [1 2 3] [1 2 3]", "orders-0 shrink broker-fenced [3] [1 2]", "orders-0 expand caught-up [3] [1 2 3]"
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"isr orders", []string{created, fenced, back}},
		{"isr ord*", []string{created, fenced, back}},
		{"isr orders --cause broker-fenced", []string{fenced}},
		{"isr orders --cause broker-fenced,caught-up --broker 3", []string{fenced, back}},
		{"isr orders --cause broker-fenced --broker 2", nil},
		{"isr orders --until 2020-01-01T00:00:00Z --since 2019-01-01T00:00:00Z", nil},
		{"isr orders --controller " + c.ControllerAddress(), []string{created, fenced, back}},
	} {
		r := isr(t, place{}, c, tt.line+" -o json")
		d := isrEvents(t, r)
		if diff := cmp.Diff(tt.want, brief(d)); diff != "" || r.code != exitOK || !d.Complete {
			t.Errorf("%s: exit code %d, stderr %q, complete %v, events (-want +got):\n%s", tt.line, r.code, r.stderr, d.Complete, diff)
		}
		if e := d.Evidence; e.Source != inspect.Known(inspect.SourceMetadataLog) || e.FromOffset != inspect.Known[inspect.Offset](0) || d.Cluster.ID != inspect.Known(c.ID()) {
			t.Errorf("%s: evidence %+v of cluster %s", tt.line, e, d.Cluster.ID)
		}
	}

	r := isr(t, place{}, c, "isr orders")
	rows := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if len(rows) != 4 || !strings.HasPrefix(rows[0], "TIME\tPARTITION\tEVENT\tCAUSE") || !strings.Contains(rows[2], "\torders-0\tshrink\tbroker-fenced\t3\t1,2,3\t1,2\t1\t-") {
		t.Errorf("in a pipe:\n%s", r.stdout)
	}
	if !strings.HasPrefix(r.stderr, "kafkaops: complete since offset 0 (") {
		t.Errorf("stderr %q, want how far back it reaches", r.stderr)
	}
	r = isr(t, screen(), c, "isr orders --since 100d --color never")
	if !strings.Contains(r.stdout, "complete since offset 0") || !strings.Contains(r.stdout, "orders-0   shrink  broker-fenced  3        1,2") {
		t.Errorf("on a terminal:\n%s", r.stdout)
	}
	if r.stderr != "" {
		t.Errorf("stderr %q of a log that begins with its cluster: nothing was before", r.stderr)
	}

	r = isr(t, place{}, c, "isr summary")
	if lines := strings.Split(strings.TrimSpace(r.stdout), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[1], "3\t") || !strings.Contains(lines[1], "\t2\tbroker-fenced\t") {
		t.Errorf("summary:\n%s", r.stdout)
	}
	for flags, want := range map[string]int{"--broker 3": 1, "--broker 2": 0, "--cause broker-fenced": 1, "--cause replica-lag": 0} {
		r := isr(t, place{}, c, "isr summary "+flags)
		if n := strings.Count(r.stdout, "\n") - 1; n != want || r.code != exitOK {
			t.Errorf("summary %s: exit code %d, %d rows, want %d", flags, r.code, n, want)
		}
	}
}

// TestIsrDir reads the same from the controller's directory, while it is in use and
// when the cluster is gone.
func TestIsrDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := eventful(t, embedded.Options{Dir: dir})
	want := brief(isrEvents(t, isr(t, place{}, c, "isr -o json")))
	read := func() {
		t.Helper()
		r := place{}.run(t.Context(), "isr", "-o", "json", "--metadata-dir", filepath.Join(dir, "controller"))
		d := isrEvents(t, r)
		if diff := cmp.Diff(want, brief(d)); diff != "" || r.code != exitOK {
			t.Errorf("exit code %d, stderr %q, events (-want +got):\n%s", r.code, r.stderr, diff)
		}
		if d.Evidence.Source != inspect.Known(inspect.SourceMetadataDir) {
			t.Errorf("evidence %+v", d.Evidence)
		}
	}
	read()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	read()
	// Torn off: what is readable is told, and that it is not all.
	files, err := filepath.Glob(filepath.Join(dir, "controller", "*", "*.log"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q: %v", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(files[0], info.Size()-3); err != nil {
		t.Fatal(err)
	}
	r := place{}.run(t.Context(), "isr", "-o", "json", "--metadata-dir", filepath.Join(dir, "controller"))
	if r.code != exitFailed || !strings.Contains(r.stderr, "ends within a batch") || len(isrEvents(t, r).Items) == 0 {
		t.Errorf("torn off: exit code %d, stderr %q", r.code, r.stderr)
	}
}

// TestIsrFollow follows the log, and stops where nobody reads.
func TestIsrFollow(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	for _, tt := range []struct {
		flags, source string
	}{
		{"", "metadata-log"},
		{" --interval 100ms --controller 127.0.0.1:1", "metadata-diff"}, // where nobody listens
	} {
		reading, writing := io.Pipe()
		errs := newLines()
		env := Env{Terminal: &term.Terminal{Out: writing, Err: errs}, Getenv: func(string) string { return "" }}
		code := make(chan int)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { code <- run(ctx, argsOf("isr orders --follow -o json"+tt.flags, c.Bootstrap()), env) }()
		errs.await(t, "since")
		c.Broker(2).Kill()
		out := bufio.NewReader(reading)
		text, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		d := isrEvents(t, ran{stdout: text})
		cause := inspect.CauseBrokerFenced
		if tt.source == "metadata-diff" {
			// A look asks twice, who is fenced and then for the ISRs: a fencing in
			// between is not known yet.
			cause = d.Items[0].Cause
			if cause != inspect.CauseBrokerFenced && cause != inspect.CauseUnknown {
				t.Errorf("cause %s was invented", cause)
			}
		}
		if diff := cmp.Diff([]string{"orders-0 shrink " + string(cause) + " [2] [1 3]"}, brief(d)); diff != "" || string(d.Items[0].Source) != tt.source {
			t.Errorf("%s, source %s: (-want +got):\n%s", tt.flags, d.Items[0].Source, diff)
		}
		go func() { _, _ = io.Copy(io.Discard, out) }()
		cancel()
		if got := <-code; got != exitInterrupted {
			t.Errorf("%s: exit code %d, want %d", tt.flags, got, exitInterrupted)
		}
		reading.Close()
		heal(t, c)
	}
}

// lines is a writer of which a test waits for text.
type lines struct{ text chan string }

func newLines() *lines { return &lines{make(chan string, 1000)} }

func (l *lines) Write(p []byte) (int, error) {
	l.text <- string(p)
	return len(p), nil
}

func (l *lines) await(t *testing.T, text string) {
	t.Helper()
	for {
		select {
		case got := <-l.text:
			if strings.Contains(got, text) {
				return
			}
		case <-t.Context().Done():
			t.Fatalf("%q was never written", text)
		}
	}
}

// TestIsrWithoutLog: brokers that do not tell of controllers, and controllers that
// cannot be reached, leave no history.
func TestIsrWithoutLog(t *testing.T) {
	t.Parallel()
	m := healthyModel()
	c := fakekafka.Start(t, m)
	for flags, want := range map[string]string{
		"--controller 127.0.0.1:1": "127.0.0.1:1: dial: connection refused",
		"":                         "kafkaops: ",
	} {
		r := ask(t, c, "isr -o json "+flags)
		d := isrEvents(t, r)
		if r.code != exitFailed || d.Complete || len(d.Items) != 0 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "there is no history: --follow") {
			t.Errorf("isr%s: exit code %d, complete %v, stderr %q", flags, r.code, d.Complete, r.stderr)
		}
		if r := screen().ask(t, c, "isr "+flags); strings.Contains(r.stdout, "no change") || r.code != exitFailed {
			t.Errorf("isr%s claims that nothing happened: %s", flags, r.stdout)
		}
	}
	checkRequests(t, c, "isr")
}

func TestIsrUsage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"isr --since yesterday":                            `--since "yesterday" is neither a duration`,
		"isr --since -1h":                                  `--since "-1h" is neither`,
		"isr --since 1h --until 2h":                        "--until 2h is not after --since 1h",
		"isr --follow --until 1s -b k:1":                   "--until 1s is over, and --follow begins now",
		"isr --cause bad-luck":                             `--cause "bad-luck" is none`,
		"isr --broker -2":                                  "--broker -2",
		"isr --follow --metadata-dir /tmp":                 "--follow needs a cluster",
		"isr --store a --metadata-dir /tmp":                "--store and --metadata-dir: a directory is read alone",
		"isr --follow --store a":                           "no cluster named",
		"isr --follow --jmx http://a -b k:1":               "--jmx is read once: not with --follow",
		"isr --follow --interval 1ms -b kafka-1:9092":      "--interval 1ms is too short",
		"isr summary orders":                               "takes no argument",
		"isr":                                              "no cluster named",
		"isr --timeout 1ms -b kafka-1:9092":                "--timeout 1ms is too short",
		"isr -o xml -b kafka-1:9092":                       "unknown output format",
		"isr summary --since 2026-13-01T00:00:00Z -b k:1":  "--since",
		"isr summary --metadata-dir /tmp --follow":         "unknown flag: --follow",
		"isr a[ -b kafka-1:9092":                           "is not a glob",
		"isr --until tomorrow --since 1h -b kafka-1:9092":  `--until "tomorrow"`,
		"isr --broker three -b kafka-1:9092":               "use a whole number",
		"isr --metadata-dir /tmp --cause replica-lag,none": `--cause "none" is none`,
	} {
		r := place{}.run(t.Context(), strings.Fields(line)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, want) || r.stdout != "" {
			t.Errorf("%s: exit code %d, stderr %q, want %q", line, r.code, r.stderr, want)
		}
	}
	r := place{}.run(t.Context(), "isr", "--metadata-dir", t.TempDir())
	if r.code != exitFailed || !strings.Contains(r.stderr, "holds no metadata log") {
		t.Errorf("an empty directory: exit code %d, stderr %q", r.code, r.stderr)
	}
}

// TestIsrExamples runs the examples of the help, but that they end.
func TestIsrExamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := eventful(t, embedded.Options{Dir: dir})
	stored := filepath.Join(dir, "stored.isr")
	f := followIsr(t, c, "isr --follow --store "+stored)
	f.errs.await(t, "complete since")
	f.stop(t)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "kafka_server_ReplicaManager_Count{name=\"IsrShrinksPerSec\"} 4\n")
	}))
	t.Cleanup(agent.Close)
	here := strings.NewReplacer("prod.rec", filepath.Join(dir, "day.rec"), "orders.rec", filepath.Join(dir, "orders.rec"), "day.rec", filepath.Join(dir, "day.rec"),
		"--for 24h", "--for 300ms", "--for 8h", "--for 300ms", "--for 5m", "--for 1s", "--for 30s", "--for 300ms", "--for 2m", "--for 1s", " --until 2026-11-29T03:14:00Z", "", "diagnose -b", "diagnose --for 300ms -b", "--interval 1s", "--interval 100ms", "http://kafka-1:8778", agent.URL, "http://kafka-2:9404", agent.URL, "kafka-1:9092", c.Bootstrap(), "/var/lib/kafkaops/prod.isr", stored, "/var/lib/kafka", filepath.Join(dir, "controller"), " --follow", "")
	if r := isr(t, place{}, c, "record "+filepath.Join(dir, "day.rec")+" --for 300ms --interval 100ms"); r.code != exitOK {
		t.Fatalf("record: exit code %d: %s", r.code, r.stderr)
	}
	ran := 0
	for _, cmd := range commands(t) {
		if !readsLog(cmd) {
			continue
		}
		for _, example := range examplesOf(cmd.Example) {
			r := place{}.run(t.Context(), wordsOf(t, here.Replace(example))...)
			want := exitOK
			if pathOf(cmd) == "diagnose" {
				want = exitUnhealthy // min.insync.replicas is 1
			}
			if r.code != want || r.stdout == "" {
				t.Errorf("%s: exit code %d, stderr %q", example, r.code, r.stderr)
			}
			ran++
		}
	}
	if ran < 7 {
		t.Errorf("%d examples ran", ran)
	}
}

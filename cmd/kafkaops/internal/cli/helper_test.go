package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ran is what a command left behind.
type ran struct {
	code           int
	stdout, stderr string
}

// place is where a command runs: a terminal, or a pipe where width is 0.
type place struct {
	width, height int
	env           map[string]string
	// typed is what a person types, who is there unless it is empty.
	typed string
}

// screen is a usual terminal.
func screen() place { return place{width: 80, height: 24} }

// double is a terminal in the place, and the Env around it.
func (p place) double() (*term.Double, Env) {
	d := term.NewDouble(p.width, p.height)
	getenv := func(key string) string { return p.env[key] }
	if p.env != nil {
		d.Env = p.env
	}
	d.In, d.CanAsk = strings.NewReader(p.typed), p.typed != ""
	return d, Env{Terminal: d.Terminal, Getenv: getenv}
}

// run runs one command line to its end.
func (p place) run(ctx context.Context, args ...string) ran {
	d, env := p.double()
	code := run(ctx, args, env)
	return ran{code, d.Stdout.String(), d.Stderr.String()}
}

// ask runs a command line, its words split at blanks, against a cluster's first
// broker into a pipe.
func ask(t *testing.T, c *fakekafka.Cluster, line string) ran {
	t.Helper()
	return place{}.ask(t, c, line)
}

func (p place) ask(t *testing.T, c *fakekafka.Cluster, line string) ran {
	t.Helper()
	return p.run(t.Context(), argsOf(line, c.Addrs()[0])...).unhurried()
}

// argsOf are the words of a command line with a bootstrap address and, unless the
// line has one, a timeout that no machine is too slow for.
func argsOf(line, bootstrap string) []string {
	args := append(strings.Fields(line), "-b", bootstrap)
	if !strings.Contains(line, "--timeout") {
		args = append(args, "--timeout", "3m")
	}
	return args
}

// unhurried leaves out that a broker took so long to answer that another one was
// asked: on a busy machine that is no fault.
func (r ran) unhurried() ran {
	return ran{r.code, r.stdout, slow.ReplaceAllString(r.stderr, "")}
}

var slow = regexp.MustCompile(`kafkaops: \S+: ApiVersions: no answer within [0-9.]+s; went on with \S+\n`)

// want compares all that a command left behind.
func (r ran) want(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	got := ran{r.code, r.stdout, r.stderr}
	if diff := cmp.Diff(got, ran{code, stdout, stderr}, cmp.AllowUnexported(ran{})); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

// names replaces a cluster's addresses by broker-1 and so on, times by TIME, and
// ages by AGE.
func (r ran) names(c *fakekafka.Cluster) ran {
	var pairs []string
	for i, addr := range c.Addrs() {
		pairs = append(pairs, addr, fmt.Sprintf("broker-%d", i+1))
	}
	addresses := strings.NewReplacer(pairs...)
	replace := func(s string) string {
		s = ages.ReplaceAllString(times.ReplaceAllString(addresses.Replace(s), "TIME"), "${1}\"AGE\"")
		return told.ReplaceAllString(s, "${1}AGE")
	}
	return ran{r.code, replace(r.stdout), replace(r.stderr)}
}

// ages are takenAt less something that stands, told are those in words.
var (
	ages = regexp.MustCompile(`("?openMs"?: )\d+`)
	told = regexp.MustCompile(`((?:open for|wrote last) )(?:\d+[hms])+`)
)

var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)

// documents decodes a stream of JSON documents, and fails on anything else.
func documents[T any](t *testing.T, stdout string) []render.Document[T] {
	t.Helper()
	var docs []render.Document[T]
	for dec := json.NewDecoder(strings.NewReader(stdout)); dec.More(); {
		dec.DisallowUnknownFields()
		var d render.Document[T]
		if err := dec.Decode(&d); err != nil {
			t.Fatalf("stdout is no JSON document: %v\n%s", err, stdout)
		}
		docs = append(docs, d)
	}
	return docs
}

// items are those of the only document on stdout.
func items[T any](t *testing.T, r ran) []T {
	t.Helper()
	docs := documents[T](t, r.stdout)
	if len(docs) != 1 {
		t.Fatalf("%d documents on stdout, want 1; stderr: %s", len(docs), r.stderr)
	}
	if docs[0].Complete != (r.code != exitFailed) || docs[0].Complete != (len(docs[0].Errors) == 0) {
		t.Errorf("complete = %v with %d errors and exit code %d", docs[0].Complete, len(docs[0].Errors), r.code)
	}
	return docs[0].Items
}

// commands are all commands of the tree, by their path without the program's
// name, parents first.
func commands(t *testing.T) []*cobra.Command {
	t.Helper()
	_, env := place{}.double()
	var all []*cobra.Command
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		all = append(all, c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCmd(env))
	return all
}

// pathOf is the command's words without the program's name.
func pathOf(c *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), c.Root().Name()), " ")
}

// serves reports whether the command asks a cluster until it is stopped, and prints
// no answer of its own; see export_test.go.
func serves(c *cobra.Command) bool {
	return c.Flags().Lookup("bootstrap-server") != nil && c.Flags().Lookup("output") == nil
}

// localCommand reports whether the command is about a cluster of this machine, which
// it starts or for which it needs one.
func localCommand(c *cobra.Command) bool {
	family, _, _ := strings.Cut(pathOf(c), " ")
	return family == "cluster" || family == "demo"
}

// readsLog reports whether the command reads the metadata log, which the scripted
// brokers of most tests here do not have. It has tests of its own.
func readsLog(c *cobra.Command) bool {
	family, _, _ := strings.Cut(pathOf(c), " ")
	return family == "isr" || family == "record" || family == "tune" || family == "diagnose" || family == "top"
}

// asking are the paths of all commands that ask brokers and print the answer.
func asking(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, c := range commands(t) {
		if c.Flags().Lookup("bootstrap-server") != nil && !serves(c) && !readsLog(c) {
			paths = append(paths, pathOf(c))
		}
	}
	if len(paths) < 5 {
		t.Fatalf("only %q ask a cluster: the tree is not walked", paths)
	}
	return paths
}

// serving are the paths of all commands that ask a cluster until they are stopped.
func serving(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, c := range commands(t) {
		if serves(c) {
			paths = append(paths, pathOf(c))
		}
	}
	if len(paths) == 0 {
		t.Fatal("no command serves: the tree is not walked")
	}
	return paths
}

// healthy is a cluster of three brokers with two topics, an internal one and a
// group, and nothing wrong with it.
func healthy(t *testing.T) *fakekafka.Cluster {
	t.Helper()
	return fakekafka.Start(t, healthyModel())
}

func healthyModel() *fakekafka.Model {
	m := fakekafka.NewModel(3)
	for _, name := range []string{"orders", "payments-eu"} {
		topic := m.AddTopic(name, 2, 3)
		topic.MinInsyncReplicas = 2
		for _, p := range topic.Partitions {
			p.HW = 1000
		}
	}
	internal := m.AddTopic("__consumer_offsets", 1, 3)
	internal.Internal, internal.MinInsyncReplicas = true, 2
	group := m.AddGroup("billing", fakekafka.ClassicGroup)
	group.Coordinator = 1
	group.Join("billing-1", "orders", 0, 1)
	group.Commit("orders", 0, 1000)
	group.Commit("orders", 1, 960)
	return m
}

// transact opens a transaction, which holds the LSO of orders-1.
func transact(m *fakekafka.Model) {
	now := time.Now().UnixMilli()
	p := m.Topic("orders").Partitions[1]
	p.LSO, p.Producers = new(int64(990)), []fakekafka.Producer{{ID: 77, Epoch: 1, LastTimestampMs: now, TxnStart: 990}}
	m.Transactions = []fakekafka.Transaction{{
		ID: "checkout", ProducerID: 77, Epoch: 1, State: "Ongoing", TimeoutMs: 60_000, StartMs: now - 1000, Coordinator: 1,
		Partitions: map[string][]int32{"orders": {1}},
	}}
}

// reassign moves payments-eu-1 to a broker that has a part of its log.
func reassign(m *fakekafka.Model) {
	p := m.Topic("payments-eu").Partitions[1]
	p.Adding, p.ISR = []int32{3}, []int32{1, 2}
	p.SetLEO(3, 300)
}

// unhealthy has lost two of the three replicas of orders-0: under min ISR.
func unhealthy(t *testing.T) *fakekafka.Cluster {
	t.Helper()
	m := healthyModel()
	makeUnhealthy(m)
	return fakekafka.Start(t, m)
}

func makeUnhealthy(m *fakekafka.Model) {
	p := m.Topic("orders").Partitions[0]
	p.Shrink(2, 3)
	p.SetLEO(1, 1041)
}

// onPass calls step before each pass's first look at the topics, counted from 1.
func onPass(c *fakekafka.Cluster, step func(n int, m *fakekafka.Model)) {
	n := 0
	c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		if _, first := req.(*kmsg.MetadataRequest); first {
			c.Change(func(m *fakekafka.Model) {
				n++
				step(n, m)
			})
		}
		return nil, false
	})
}

// patience is how long a test waits for what has to come.
const patience = 2 * time.Minute

// await returns when the brokers have got n requests of a kind.
func await(t *testing.T, c *fakekafka.Cluster, key kmsg.Key, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.Await(ctx, key, n); err != nil {
		t.Fatal(err)
	}
}

// tape keeps what is written and lets a test wait for it.
type tape struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	grown chan struct{}
}

func newTape() *tape { return &tape{grown: make(chan struct{})} }

func (tp *tape) Write(p []byte) (int, error) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	close(tp.grown)
	tp.grown = make(chan struct{})
	return tp.buf.Write(p)
}

func (tp *tape) String() string {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return tp.buf.String()
}

// await returns what is written once it is enough.
func (tp *tape) await(t *testing.T, enough func(string) bool) string {
	t.Helper()
	limit := time.After(patience)
	for {
		tp.mu.Lock()
		text, grown := tp.buf.String(), tp.grown
		tp.mu.Unlock()
		if enough(text) {
			return text
		}
		select {
		case <-grown:
		case <-limit:
			t.Fatalf("still not enough after %s, at the end:\n%s", patience, text[max(0, len(text)-2000):])
		}
	}
}

// started is a command that runs beside the test.
type started struct {
	t              *testing.T
	stdout, stderr *tape
	stop           context.CancelFunc
	code           chan int
}

// start runs a command line until it ends or the test stops it.
func (p place) start(t *testing.T, bootstrap, line string) *started {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	d, env := p.double()
	s := &started{t, newTape(), newTape(), cancel, make(chan int, 1)}
	d.Out, d.Err = s.stdout, s.stderr
	args := argsOf(line, bootstrap)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.code <- run(ctx, args, env)
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Errorf("kafkaops %s goes on after its test", line)
		}
	})
	return s
}

// interrupt stops the command and returns what it left behind.
func (s *started) interrupt() ran {
	s.t.Helper()
	s.stop()
	return s.end(s.t)
}

// end waits for a command that ends by itself.
func (s *started) end(t *testing.T) ran {
	t.Helper()
	select {
	case code := <-s.code:
		return ran{code, s.stdout.String(), s.stderr.String()}.unhurried()
	case <-time.After(patience):
		t.Fatalf("it has not ended after %s:\n%s", patience, s.stderr.String())
		return ran{}
	}
}

package acceptance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/cli"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// result is what one command left behind.
type result struct {
	line           string
	exit           int
	stdout, stderr string
	took           time.Duration
}

// String is for failures.
func (r *result) String() string {
	const most = 4000
	out := r.stdout
	if len(out) > most {
		out = out[:most] + "…"
	}
	return fmt.Sprintf("%s: exit %d after %s\n--- stdout\n%s\n--- stderr\n%s", r.line, r.exit, r.took.Round(time.Millisecond), out, r.stderr)
}

// kafkaops runs a whole command with its output in pipes. Where the words hold no
// -b, it begins with the brokers that are alive.
func kafkaops(c *kafkatest.Cluster, words string) *result {
	return kafkaopsOn(term.NewDouble(0, 0), c, words)
}

// screen is kafkaops on a terminal of 120 × 50.
func screen(c *kafkatest.Cluster, words string) *result {
	return kafkaopsOn(term.NewDouble(120, 50), c, words+" --color never")
}

func kafkaopsOn(d *term.Double, c *kafkatest.Cluster, words string) *result {
	args := strings.Fields(words)
	if !slices.Contains(args, "-b") {
		args = append(args, "-b", servers(c, alive(c)...))
	}
	begun := time.Now()
	exit := cli.Main(args, cli.Env{Terminal: d.Terminal, Getenv: func(string) string { return "" }})
	return &result{
		line: "kafkaops " + strings.Join(args, " "), exit: exit,
		stdout: d.Stdout.String(), stderr: d.Stderr.String(), took: time.Since(begun),
	}
}

// want fails the test unless the command ended with this exit code.
func (r *result) want(t *testing.T, exit int) *result {
	t.Helper()
	if r.exit != exit {
		t.Fatalf("exit %d, want %d: %v", r.exit, exit, r)
	}
	return r
}

// decode reads a document and checks what holds for every one.
func decode[T any](r *result) (*render.Document[T], error) {
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	dec.DisallowUnknownFields()
	var d render.Document[T]
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("not a document: %w: %v", err, r)
	}
	switch {
	case dec.More():
		return nil, fmt.Errorf("more than one document: %v", r)
	case d.APIVersion != render.APIVersion:
		return nil, fmt.Errorf("apiVersion %q: %v", d.APIVersion, r)
	case d.Complete != (len(d.Errors) == 0):
		return nil, fmt.Errorf("complete is %t with %d errors: %v", d.Complete, len(d.Errors), r)
	case !d.Complete && r.exit != 1:
		return nil, fmt.Errorf("not complete, and exit %d: %v", r.exit, r)
	}
	for _, e := range d.Errors {
		if !strings.Contains(r.stderr, e.Address) || !strings.Contains(r.stderr, e.Error) {
			return nil, fmt.Errorf("stderr does not tell %+v: %v", e, r)
		}
	}
	return &d, nil
}

// run runs a command with -o json and returns its document.
func run[T any](t *testing.T, c *kafkatest.Cluster, exit int, words string) *render.Document[T] {
	t.Helper()
	d, err := decode[T](kafkaops(c, words+" -o json").want(t, exit))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// describe runs kafkaops describe and returns its one item.
func describe(t *testing.T, c *kafkatest.Cluster, exit int, flags string) *render.ClusterItem {
	t.Helper()
	return only(t, run[render.ClusterItem](t, c, exit, "describe "+flags))
}

func only[T any](t *testing.T, d *render.Document[T]) *T {
	t.Helper()
	if len(d.Items) != 1 {
		t.Fatalf("%d items, want 1: %+v", len(d.Items), d)
	}
	return &d.Items[0]
}

// lagItem is a partition in the document of lag.
func lagItem(t *testing.T, d *render.Document[render.LagItem], topic string, partition int32) *render.LagItem {
	t.Helper()
	for i := range d.Items {
		if d.Items[i].Topic == topic && d.Items[i].Partition == partition {
			return &d.Items[i]
		}
	}
	t.Fatalf("lag does not show %s-%d", topic, partition)
	return nil
}

func partitionItem(t *testing.T, items []render.PartitionItem, topic string, partition int32) *render.PartitionItem {
	t.Helper()
	for i := range items {
		if items[i].Topic == topic && items[i].Partition == partition {
			return &items[i]
		}
	}
	t.Fatalf("%s-%d is not shown", topic, partition)
	return nil
}

func replica(t *testing.T, item *render.LagItem, broker inspect.BrokerID) *render.ReplicaLagItem {
	t.Helper()
	for i := range item.Replicas {
		if item.Replicas[i].Broker == broker {
			return &item.Replicas[i]
		}
	}
	t.Fatalf("%s-%d does not show replica %d", item.Topic, item.Partition, broker)
	return nil
}

func brokerItem(t *testing.T, d *render.Document[render.BrokerItem], id inspect.BrokerID) *render.BrokerItem {
	t.Helper()
	for i := range d.Items {
		if d.Items[i].ID == id {
			return &d.Items[i]
		}
	}
	t.Fatalf("broker %d is not shown", id)
	return nil
}

// unknown is what an unknown value looks like to equal.
const unknown = "-"

// equal fails the test where got and want are not the same in print: 3 is what is
// known to be 3.
func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s = %s, want %s", what, g, w)
	}
}

// sane returns an error where an item of lag contradicts itself, whatever the
// cluster does meanwhile.
func sane(item *render.LagItem) error {
	wrong := func(format string, args ...any) error {
		doc, _ := json.MarshalIndent(item, "", "  ")
		return fmt.Errorf("%s-%d: %s\n%s", item.Topic, item.Partition, fmt.Sprintf(format, args...), doc)
	}
	var before inspect.Offset
	for _, o := range []struct {
		name string
		at   inspect.Opt[inspect.Offset]
	}{
		{"logStartOffset", item.LogStartOffset},
		{"lastStableOffset", item.LastStableOffset},
		{"highWatermark", item.HighWatermark},
		{"logEndOffset", item.LogEndOffset},
	} {
		if at, ok := o.at.Get(); ok {
			if at < before {
				return wrong("%s is below what it cannot be below", o.name)
			}
			before = at
		}
	}
	hw, committed := item.HighWatermark.Get()
	leo, led := item.LogEndOffset.Get()
	if n, ok := item.Uncommitted.Get(); ok != (committed && led) || ok && n != int64(leo-hw) {
		return wrong("uncommitted is not LEO − HW")
	}
	if most, ok := item.UncommittedMax.Get(); ok && most < item.Uncommitted.Or(0) {
		return wrong("uncommittedMax < uncommitted")
	}
	if led && !item.Leader.IsKnown() {
		return wrong("a LEO without a leader")
	}
	for _, r := range item.Replicas {
		lag, known := r.Lag.Get()
		lagMax, knownMax := r.LagMax.Get()
		answered := r.LogEndOffset.IsKnown()
		if item.Leader.Equal(inspect.Known(r.Broker)) { // it is asked for the partition's offsets too
			answered = led && committed && item.LastStableOffset.IsKnown() && item.LogStartOffset.IsKnown()
		}
		switch {
		case lag < 0 || known && knownMax && lagMax < lag:
			return wrong("replica %d: lag bounds %v to %v", r.Broker, r.Lag, r.LagMax)
		case known && (!led || !r.LogEndOffset.IsKnown()):
			return wrong("replica %d: a lag without two offsets", r.Broker)
		case known && r.CaughtUp.Or(false) != (lag == 0):
			return wrong("replica %d: caughtUp is %v", r.Broker, r.CaughtUp)
		case answered == r.Error.IsKnown():
			return wrong("replica %d: either every offset or an error", r.Broker)
		}
	}
	return nil
}

// lag runs kafkaops lag and checks every item of its document.
func lag(t *testing.T, c *kafkatest.Cluster, exit int, words string) *render.Document[render.LagItem] {
	t.Helper()
	d := run[render.LagItem](t, c, exit, "lag "+words)
	for i := range d.Items {
		if err := sane(&d.Items[i]); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// serving is the command that asks a cluster, prints no answer and does not end.
const serving = "export"

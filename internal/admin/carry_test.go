package admin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/admin"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const minISR, fetchers = "min.insync.replicas", "num.replica.fetchers"

func topic(name, value string) admin.Change {
	return admin.Change{Scope: admin.Scope{Kind: admin.ScopeTopic, Name: name}, Setting: minISR, To: inspect.Known(value)}
}

func allBrokers(value string) admin.Change {
	return admin.Change{Scope: admin.Scope{Kind: admin.ScopeCluster}, Setting: fetchers, To: inspect.Known(value)}
}

// told is what a person is told.
type told struct{ lines []string }

func (s *told) has(part string) bool {
	return slices.ContainsFunc(s.lines, func(l string) bool { return strings.Contains(l, part) })
}

func order(t *testing.T) (admin.Order, *told) {
	t.Helper()
	s := &told{}
	return admin.Order{
		Say: func(line string) { s.lines = append(s.lines, line) }, UndoFile: filepath.Join(t.TempDir(), "undo", "a.json"),
		Now: time.Now(), Timeout: time.Minute,
	}, s
}

// make3 makes a topic with three replicas, until the test ends.
func make3(ctx context.Context, t *testing.T, c *admin.Client, name string) {
	t.Helper()
	if err := c.CreateTopic(ctx, admin.Topic{Name: name, Partitions: 1, ReplicationFactor: 3}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.DeleteTopic(context.WithoutCancel(ctx), name); err != nil {
			t.Error(err)
		}
	})
}

// plan is what is yet to be done, as lines.
func plan(ctx context.Context, t *testing.T, c *admin.Client, changes ...admin.Change) (lines []string) {
	t.Helper()
	p, err := c.PlanConfigs(ctx, changes)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Steps {
		lines = append(lines, p.Steps[i].String())
	}
	return lines
}

// TestCarry: not in a dry run, nor where somebody says no; then all of it, at every
// broker, and back by the undo file.
func TestCarry(t *testing.T) {
	client, _, ctx := open(t)
	make3(ctx, t, client, "carried")
	changes := []admin.Change{topic("carried", "2"), allBrokers("2")}
	want := []string{
		"topic carried: min.insync.replicas not set (1 in force) -> 2", "all brokers: num.replica.fetchers not set (1 in force) -> 2",
	}
	dry, said := order(t)
	dry.DryRun, dry.Guard.ReadOnly = true, "context prod"
	if err := client.Carry(ctx, changes, dry); err != nil || !said.has("  "+want[0]) || !said.has("nothing was changed (dry run)") {
		t.Errorf("dry run: %v, %q", err, said.lines)
	}
	no, _ := order(t)
	no.Confirm = func(context.Context, string) (bool, error) { return false, nil }
	if err := client.Carry(ctx, changes, no); !errors.Is(err, admin.ErrDeclined) {
		t.Errorf("declined: %v", err)
	}
	if got := plan(ctx, t, client, changes...); !slices.Equal(got, want) {
		t.Errorf("after both there is to be done %q, want %q", got, want)
	}
	for _, o := range []admin.Order{dry, no} {
		if _, err := os.Stat(o.UndoFile); !os.IsNotExist(err) {
			t.Errorf("an undo file where nothing was done: %v", err)
		}
	}

	yes, said := order(t)
	question := ""
	yes.Confirm = func(_ context.Context, q string) (bool, error) { question = q; return true, nil }
	if err := client.Carry(ctx, changes, yes); err != nil || !said.has("in force at every broker") || !strings.HasPrefix(question, "Apply 2 changes to cluster ") {
		t.Fatalf("%v, %q, %q", err, question, said.lines)
	}
	again, said := order(t)
	if err := client.Carry(ctx, changes, again); err != nil || !said.has("min.insync.replicas is 2 already") || !said.has("nothing is to be changed") {
		t.Errorf("again: %v, %q", err, said.lines)
	}
	again.UndoFile = yes.UndoFile
	if err := client.Carry(ctx, []admin.Change{topic("carried", "1")}, again); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("an undo file was overwritten: %v", err)
	}

	u, err := admin.ReadUndo(yes.UndoFile)
	if err != nil {
		t.Fatal(err)
	}
	back, said := order(t)
	back.Undoes, back.Guard.Expect = u, []admin.Expected{u.Expected()}
	if err := client.Carry(ctx, u.Changes(), back); err != nil {
		t.Fatalf("%v, %q", err, said.lines)
	}
	if got := plan(ctx, t, client, changes...); !slices.Equal(got, want) {
		t.Errorf("after it was undone there is to be done %q, want %q", got, want)
	}
}

// TestUndoChangedSince: what somebody else has changed meanwhile is left alone.
func TestUndoChangedSince(t *testing.T) {
	client, _, ctx := open(t)
	make3(ctx, t, client, "since")
	first, _ := order(t)
	second, _ := order(t)
	for _, err := range []error{
		client.Carry(ctx, []admin.Change{topic("since", "2")}, first), client.Carry(ctx, []admin.Change{topic("since", "3")}, second),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	u, err := admin.ReadUndo(first.UndoFile)
	if err != nil {
		t.Fatal(err)
	}
	back, said := order(t)
	back.Undoes = u
	if err := client.Carry(ctx, u.Changes(), back); err == nil || !said.has("somebody changed it since") {
		t.Errorf("%v, %q", err, said.lines)
	}
	if got := plan(ctx, t, client, topic("since", "3")); len(got) > 0 {
		t.Errorf("it is to be %q", got)
	}
}

// TestOwnValue: what is set for all brokers is not in force at one that has a value of its
// own, and that is said before.
func TestOwnValue(t *testing.T) {
	client, _, ctx := open(t)
	own := admin.Change{Scope: admin.Scope{Kind: admin.ScopeBroker, Name: "2"}, Setting: fetchers, To: inspect.Known("2")}
	ofOne, said := order(t)
	if err := client.Carry(ctx, []admin.Change{own}, ofOne); err != nil || !said.has("applied broker 2: num.replica.fetchers not set (1 in force) -> 2") {
		t.Fatalf("%v, %q", err, said.lines)
	}
	ofAll, said := order(t)
	if err := client.Carry(ctx, []admin.Change{allBrokers("1")}, ofAll); err != nil || !said.has("  all brokers: num.replica.fetchers not set -> 1") ||
		!said.has("broker 2 has a value of its own, 2, which stays in force there") {
		t.Errorf("%v, %q", err, said.lines)
	}
	for _, o := range []admin.Order{ofAll, ofOne} {
		u, err := admin.ReadUndo(o.UndoFile)
		if err != nil {
			t.Fatal(err)
		}
		back, said := order(t)
		if back.Undoes = u; client.Carry(ctx, u.Changes(), back) != nil {
			t.Errorf("%q", said.lines)
		}
	}
	if got := plan(ctx, t, client, own); len(got) != 1 || !strings.Contains(got[0], "not set (1 in force)") {
		t.Errorf("after it was undone there is to be done %q", got)
	}
}

// TestGuard: where nothing may be changed nothing is asked, and another cluster is left
// alone.
func TestGuard(t *testing.T) {
	client, _, ctx := open(t)
	var guarded *admin.GuardedError
	readOnly, _ := order(t)
	readOnly.Guard.ReadOnly = "context prod (config.yaml:3)"
	other, _ := order(t)
	other.Guard.Expect = []admin.Expected{{ClusterID: "another", By: "day.rec"}}
	for want, o := range map[string]admin.Order{"context prod (config.yaml:3) is readonly": readOnly, "day.rec is about cluster another": other} {
		if err := client.Carry(ctx, []admin.Change{allBrokers("2")}, o); !errors.As(err, &guarded) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if got := plan(ctx, t, client, allBrokers("2")); len(got) != 1 {
		t.Errorf("it was changed: %q", got)
	}
}

// TestPlanRefuses: what a broker would store and not take, and what there is not.
func TestPlanRefuses(t *testing.T) {
	client, _, ctx := open(t)
	const step = "broker 1 has 1, and takes 1 to 2 in one step"
	if _, err := client.PlanConfigs(ctx, []admin.Change{allBrokers("5")}); err == nil || !strings.Contains(err.Error(), step) {
		t.Errorf("got %v, want %q", err, step)
	}
	o, said := order(t)
	if err := client.Carry(ctx, []admin.Change{topic("nowhere", "2")}, o); err == nil || !said.has("topic nowhere: there is none") {
		t.Errorf("a topic that is gone: %v, %q", err, said.lines)
	}
	if err := client.Carry(ctx, []admin.Change{{Scope: admin.Scope{Kind: admin.ScopeCluster}, Setting: "replica.lag.time.max.ms", To: inspect.Known("12000")}}, o); err == nil ||
		!strings.Contains(err.Error(), "would refuse it, and nothing was changed") {
		t.Errorf("a setting that needs a restart: %v", err)
	}
}

// permitting plays a cluster that lets these topics be changed, and calls lose and
// closes the connection where it is to change the one that is lost.
func permitting(t *testing.T, permitted, lost string, validates bool, lose func()) (*admin.Client, *fakekafka.Cluster) {
	t.Helper()
	m := fakekafka.NewModel(1)
	m.APIs = fakekafka.APIs()
	m.APIs[kmsg.IncrementalAlterConfigs] = fakekafka.VersionRange{Max: 1}
	for _, name := range []string{"a", "b", "c"} {
		m.AddTopic(name, 1, 1)
	}
	c := fakekafka.Start(t, m)
	c.Intercept(func(_ int32, r kmsg.Request) (kmsg.Response, bool) {
		req, ok := r.(*kmsg.IncrementalAlterConfigsRequest)
		if !ok {
			return nil, false
		}
		name := req.Resources[0].ResourceName
		resp := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
		answer := kmsg.NewIncrementalAlterConfigsResponseResource()
		answer.ResourceType, answer.ResourceName = req.Resources[0].ResourceType, name
		switch {
		case req.ValidateOnly && validates:
		case name == lost:
			lose()
			return nil, true
		case !strings.Contains(permitted, name):
			answer.ErrorCode = kerr.TopicAuthorizationFailed.Code
		case !req.ValidateOnly:
			c.Change(func(m *fakekafka.Model) { m.Topic(name).MinInsyncReplicas = 2 })
		}
		resp.Resources = append(resp.Resources, answer)
		return resp, true
	})
	client, err := admin.Open(connect.Config{Bootstrap: c.Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, c
}

// TestDenied: what is missing is named, and where it shows before anything is done,
// nothing is.
func TestDenied(t *testing.T) {
	t.Parallel()
	client, c := permitting(t, "ac", "", false, nil)
	o, _ := order(t)
	var denied *admin.DeniedError
	err := client.Carry(t.Context(), []admin.Change{topic("a", "2"), topic("b", "2"), topic("c", "2")}, o)
	if !errors.As(err, &denied) || denied.Needs != "ALTER_CONFIGS on topic b" || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("got %v", err)
	}
	for _, r := range c.Requests() {
		if req, ok := r.Body.(*kmsg.IncrementalAlterConfigsRequest); ok && !req.ValidateOnly {
			t.Errorf("it was to change %s", req.Resources[0].ResourceName)
		}
	}
}

// TestPartly: who is refused half way, or not answered, is told what was done and what
// was not, and the undo file has no less.
func TestPartly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lost, says string
		undone     int
	}{
		"refused":      {"", "ALTER_CONFIGS on topic b; applied: topic a min.insync.replicas; not applied: topic b min.insync.replicas, topic c min.insync.replicas; ", 1},
		"not answered": {"b", "applied: topic a min.insync.replicas; asked for, and not known whether it was done: topic b min.insync.replicas; not applied: topic c min.insync.replicas; ", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client, _ := permitting(t, "ac", tt.lost, true, cancel)
			o, _ := order(t)
			err := client.Carry(ctx, []admin.Change{topic("a", "2"), topic("b", "2"), topic("c", "2")}, o)
			var partial *admin.PartialError
			if !errors.As(err, &partial) || !strings.Contains(err.Error(), tt.says) || !strings.HasSuffix(err.Error(), o.UndoFile+" leads back") {
				t.Errorf("got %v", err)
			}
			u, err := admin.ReadUndo(o.UndoFile)
			if err != nil || len(u.Changes()) != tt.undone {
				t.Errorf("the undo file has %+v, %v", u, err)
			}
		})
	}
}

package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/advise"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/tui"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/contexts"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// adviceFor is a screen with one advice that can be applied at once, and one that cannot.
func adviceFor(clusterID, topic string) tui.Target {
	return tui.Target{Screen: "advice", Look: &tui.Look{
		Snap: &inspect.Snapshot{ClusterID: inspect.Known(clusterID)},
		Advice: advise.Result{Advice: []tuning.Advice{
			{Setting: "replica.lag.time.max.ms", Scope: tuning.Scope{Kind: tuning.ScopeCluster}, Current: "30000", Recommended: "20000", Cost: []tuning.Cost{tuning.CostRestart}},
			{Setting: "min.insync.replicas", Scope: tuning.Scope{Kind: tuning.ScopeTopic, Name: topic}, Current: "1", Recommended: "2", Cost: []tuning.Cost{tuning.CostDynamic}},
		}},
	}}
}

// TestTopApplies: the plan changes nothing, yes does what the plan said, and the file that
// is named leads back. What somebody else did meanwhile is not done again, nor is what was
// shown of another state, nor anything on another cluster or where the context is readonly.
func TestTopApplies(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	applies(t, c.Bootstrap(), c.ID(), "orders")
}

func applies(t *testing.T, bootstrap, clusterID, topic string) {
	t.Helper()
	at := place{env: map[string]string{"XDG_STATE_HOME": t.TempDir()}}
	_, env := at.double()
	o := targetOptions{bootstrap: bootstrap}
	target, err := o.resolve(env)
	if err != nil {
		t.Fatal(err)
	}
	run := func(line string) ran { return at.run(t.Context(), argsOf(line, bootstrap)...) }
	minISR := func() int32 {
		t.Helper()
		return items[render.PartitionItem](t, run("describe topics "+topic+" -o json"))[0].MinInsyncReplicas.Or(0)
	}
	screen, a := adviceFor(clusterID, topic), applyAction(env, target, patience)
	other := screen
	other.Screen = "findings"
	idle := screen
	idle.Look = &tui.Look{Snap: screen.Look.Snap, Advice: advise.Result{Advice: screen.Look.Advice.Advice[:1]}}
	if !a.On(screen) || a.On(other) || a.On(idle) {
		t.Errorf("on the advice %v, on another screen %v, with nothing to apply %v", a.On(screen), a.On(other), a.On(idle))
	}
	plan, err := a.Plan(t.Context(), screen)
	const step = "min.insync.replicas not set (1 in force) -> 2"
	if err != nil || !strings.Contains(strings.Join(plan.Lines, "\n"), "topic "+topic+": "+step) || plan.Title != "apply 1 change" {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	stale, err := a.Plan(t.Context(), screen)
	if err != nil || minISR() != 1 {
		t.Fatalf("a plan has changed something: %d, %v", minISR(), err)
	}
	said, err := plan.Do(t.Context())
	_, file, ok := strings.Cut(said, "--undo ")
	if err != nil || !ok || minISR() != 2 {
		t.Fatalf("done: %q, %v, and min.insync.replicas is %d", said, err, minISR())
	}
	if said, err := stale.Do(t.Context()); err != nil || said != "nothing is to be changed" {
		t.Errorf("done already: %q, %v", said, err)
	}
	if plan, err := a.Plan(t.Context(), screen); err == nil || !strings.Contains(err.Error(), "is 2 already") {
		t.Errorf("done already: plan %+v, %v", plan, err)
	}
	if r := run("tune --undo " + file + " --yes"); r.code != exitOK || minISR() != 1 {
		t.Errorf("undo: exit code %d: %s", r.code, r.stderr)
	}
	moved := slices.Clone(plan.Lines)
	if said, err := target.applyShown(t.Context(), env, applicable(screen.Look.Advice.Advice).changes, screen, patience, moved[1:]); err == nil || minISR() != 1 {
		t.Errorf("another plan than was shown: %q, %v", said, err)
	}
	if _, err := a.Plan(t.Context(), adviceFor("another", topic)); err == nil || minISR() != 1 {
		t.Error("the screen is of another cluster, and there is a plan")
	}
	only := *target
	only.context = &contexts.Context{Name: "prod", ReadOnly: true}
	if _, err := applyAction(env, &only, time.Second).Plan(t.Context(), screen); err == nil || !strings.Contains(err.Error(), "prod") {
		t.Errorf("a context that is readonly: %v", err)
	}
	if _, err := plan.Do(t.Context()); err != nil || minISR() != 2 {
		t.Errorf("the same state again: %v", err)
	}
}

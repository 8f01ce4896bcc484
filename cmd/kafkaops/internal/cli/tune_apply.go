package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/advise"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/admin"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/tuning"
	"github.com/spf13/cobra"
)

// changeOptions are the flags of commands that change a cluster.
type changeOptions struct {
	dryRun, yes   bool
	undoFile      string
	undoFileGiven bool
}

func (o *changeOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.dryRun, "dry-run", false, "show the plan, ask the cluster whether it would do it, and change nothing")
	f.BoolVar(&o.yes, "yes", false, "do not ask before the change")
	f.StringVar(&o.undoFile, "undo-file", "", "keep what leads back in this `file` (default: a new one in $XDG_STATE_HOME/kafkaops/undo)")
	_ = cmd.MarkFlagFilename("undo-file")
}

// check is for a command line that changes something.
func (o *changeOptions) check(env Env, what string) error {
	switch {
	case o.dryRun && o.yes:
		return usagef("--dry-run and --yes: a dry run changes nothing, and does not ask")
	case o.dryRun && o.undoFile != "":
		return usagef("--dry-run and --undo-file: a dry run changes nothing")
	case !o.dryRun && !o.yes && !env.Terminal.CanAsk:
		return usagef("%s changes the cluster and there is no terminal to ask on: say --yes, or --dry-run", what)
	}
	return nil
}

// guard is what the target says of who may change it.
func (t *target) guard() admin.Guard {
	var g admin.Guard
	if t.context == nil {
		return g
	}
	by := fmt.Sprintf("context %q (%s:%d)", t.context.Name, t.file, t.context.Line)
	if t.context.ReadOnly {
		g.ReadOnly = by
	}
	if t.context.ClusterID != "" {
		g.Expect = append(g.Expect, admin.Expected{ClusterID: t.context.ClusterID, By: by})
	}
	return g
}

// order is how the flags want a change to be carried out.
func (o *changeOptions) order(env Env, t *target, timeout time.Duration) (admin.Order, error) {
	out := admin.Order{
		Guard: t.guard(), DryRun: o.dryRun, Now: time.Now(), Timeout: timeout, UndoFile: o.undoFile,
		Say: func(line string) { fmt.Fprintln(env.Terminal.Err, render.Clean(line)) },
	}
	if !o.yes {
		out.Confirm = env.Terminal.Confirm
	}
	if out.UndoFile == "" && !o.dryRun {
		state, err := local.StateHome(env.Getenv)
		if err != nil {
			return out, fmt.Errorf("%w, or use --undo-file FILE", err)
		}
		out.UndoFile = filepath.Join(state, "kafkaops", "undo", out.Now.UTC().Format("20060102T150405.000Z")+".json")
	}
	return out, nil
}

// carry does it.
func (t *target) carry(ctx context.Context, changes []admin.Change, o admin.Order) error {
	client, err := admin.Open(t.brokers)
	if err != nil {
		return err
	}
	defer client.Close()
	return client.Carry(ctx, changes, o)
}

// apply does what of the advice can be done at once, and tells how to do what takes a
// restart.
func (r *tuneRun) apply(ctx context.Context, c *advise.Collector, all []tuning.Advice) error {
	o, err := r.opts.order(r.env, r.target, r.opts.timeout)
	if err != nil {
		return err
	}
	if id, ok := r.snap.ClusterID.Get(); ok && r.opts.from != "" {
		o.Guard.Expect = append(o.Guard.Expect, admin.Expected{ClusterID: id, By: "recording " + r.opts.from})
	}
	can := applicable(all)
	tellRestarts(o.Say, c.Restarts(), can.brokers, can.controllers)
	if len(can.changes) == 0 {
		if err := o.Guard.Check(); err != nil && !o.DryRun {
			return err
		}
		o.Say("no advice can be applied at once")
		return nil
	}
	return r.target.carry(ctx, can.changes, o)
}

// appliedBy is what advice comes to, by how it is applied.
type appliedBy struct {
	// changes can be made while brokers run; the others are lines of the properties files of
	// brokers and of controllers.
	changes              []admin.Change
	brokers, controllers []string
}

func applicable(all []tuning.Advice) (can appliedBy) {
	for i := range all {
		a := &all[i]
		if a.Recommended == "" || a.Recommended == a.Current || a.Scope.Kind == tuning.ScopeClient {
			continue
		}
		switch {
		case slices.Contains(a.Cost, tuning.CostDynamic):
			can.changes = append(can.changes, changeOf(a))
		case a.Setting == "broker.session.timeout.ms":
			can.controllers = append(can.controllers, a.Setting+"="+a.Recommended)
		default:
			can.brokers = append(can.brokers, a.Setting+"="+a.Recommended)
		}
	}
	return can
}

func changeOf(a *tuning.Advice) admin.Change {
	ch := admin.Change{Scope: admin.Scope{Kind: admin.ScopeKind(a.Scope.Kind), Name: a.Scope.Name}, Setting: a.Setting, To: inspect.Known(a.Recommended)}
	if slices.Contains(a.Cost, tuning.CostClearsELR) {
		ch.Note = "forgets its eligible leader replicas (KIP-966), and undoing it does so again"
	}
	return ch
}

// tellRestarts tells the lines of properties files, and in which order to restart.
func tellRestarts(say func(string), order advise.Restarts, brokers, controllers []string) {
	for _, part := range []struct {
		lines []string
		whose string
	}{{brokers, "broker"}, {controllers, "controller"}} {
		if len(part.lines) == 0 {
			continue
		}
		say("not applied, as it takes a restart: in each " + part.whose + "'s properties file")
		for _, line := range part.lines {
			say("  " + line)
		}
	}
	if len(brokers) > 0 && len(order.Brokers) > 0 {
		var ids []string
		for _, id := range order.Brokers {
			ids = append(ids, strconv.Itoa(int(id)))
		}
		why := "fewest leaders first"
		if id, ok := order.Controller.Get(); ok {
			why += fmt.Sprintf(", and %d last, which is the active controller too", id)
		}
		say(fmt.Sprintf("restart brokers one by one: %s (%s); before each: kafkaops check health", strings.Join(ids, ", "), why))
	}
	if len(controllers) > 0 {
		say("restart controllers one by one, the active one last (kafkaops describe quorum)")
	}
}

// undo leads back by an undo file.
func (r *tuneRun) undo(ctx context.Context) error {
	u, err := admin.ReadUndo(r.opts.undoOf)
	if err != nil {
		return fmt.Errorf("--undo: %w", err)
	}
	o, err := r.opts.order(r.env, r.target, r.opts.timeout)
	if err != nil {
		return err
	}
	o.Undoes = u
	o.Guard.Expect = append(o.Guard.Expect, u.Expected())
	return r.target.carry(ctx, u.Changes(), o)
}

// checkChange checks the flags of --apply, --undo and --canary, and finds the cluster
// where it is not to be looked at for anything else.
func (r *tuneRun) checkChange(args []string) (err error) {
	o := r.opts
	switch {
	case o.undoFileGiven && o.undoFile == "":
		return usagef("--undo-file \"\": name a file")
	case o.undoGiven && o.undoOf == "":
		return usagef("--undo \"\": name a file")
	case o.canaryGiven && o.canary == "":
		return usagef("--canary \"\": name a topic")
	case strings.ContainsAny(o.canary, "*?["):
		return usagef("--canary %q names no single topic", o.canary)
	case o.undoOf != "" && (o.apply || o.canary != "" || o.from != "" || o.forGiven || len(args)+len(o.topics) > 0):
		return usagef("--undo leads back by what its file says, and nothing else is asked")
	case !o.apply && o.undoOf == "" && (o.dryRun || o.yes || o.undoFile != ""):
		return usagef("--dry-run, --yes and --undo-file are for --apply and --undo")
	}
	what := "--apply"
	if o.undoOf != "" {
		what = "--undo"
	}
	if o.apply || o.undoOf != "" {
		if err := o.check(r.env, what); err != nil {
			return err
		}
	}
	if o.from != "" && !o.apply && o.canary == "" {
		return nil // a recording needs no cluster
	}
	if r.target, err = o.resolve(r.env); err != nil {
		if errors.Is(err, errNoCluster) && o.from != "" {
			return usagef("%w: a recording alone cannot be changed or measured", err)
		}
		return err
	}
	r.target.tellWarnings(r.env)
	if g := r.target.guard(); (o.apply || o.undoOf != "") && !o.dryRun || o.canary != "" {
		return g.Check()
	}
	return nil
}

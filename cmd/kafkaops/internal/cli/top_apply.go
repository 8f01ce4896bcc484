package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/tui"
	"github.com/kafkaops/kafkaops/internal/admin"
)

// errMoved: between the plan and the yes somebody else has changed something.
var errMoved = errors.New("the plan is no longer what was shown: nothing was changed; look at it again")

// applyAction does what of the advice can be done while brokers run, as tune --apply does:
// the plan, which the cluster says it would carry out; after the yes the same plan or none,
// and a file that leads back.
func applyAction(env Env, t *target, timeout time.Duration) tui.Action {
	return tui.Action{
		Key: "ctrl+a", Name: "apply what of the advice can be changed while brokers run",
		On: func(at tui.Target) bool {
			return at.Screen == "advice" && at.Look != nil && len(applicable(at.Look.Advice.Advice).changes) > 0
		},
		Plan: func(ctx context.Context, at tui.Target) (tui.Plan, error) {
			if guard := t.guard(); guard.ReadOnly != "" {
				return tui.Plan{}, guard.Check()
			}
			changes := applicable(at.Look.Advice.Advice).changes
			shown, err := t.tryChanges(ctx, changes, at, timeout)
			if err != nil {
				return tui.Plan{}, err
			}
			return tui.Plan{
				Title: "apply " + count(len(changes), "change"),
				Lines: append(slices.Clone(shown), "the cluster was asked, and would do it", "kafkaops tune --undo leads back, by a file that is kept"),
				Do:    func(ctx context.Context) (string, error) { return t.applyShown(ctx, env, changes, at, timeout, shown) },
			}, nil
		},
	}
}

// tryChanges is the plan, as tune --dry-run tells it.
func (t *target) tryChanges(ctx context.Context, changes []admin.Change, at tui.Target, timeout time.Duration) (plan []string, err error) {
	var said []string
	err = t.carry(ctx, changes, admin.Order{
		Guard: t.guardOf(at), DryRun: true, Now: time.Now(), Timeout: timeout, Say: func(line string) { said = append(said, line) },
	})
	if err != nil {
		return nil, err
	}
	last := len(said) - 1
	if !strings.HasPrefix(said[last], "the cluster would do it") { // nothing is to be changed, and why
		return nil, errors.New(strings.Join(said, "; "))
	}
	return said[:last], nil
}

// guardOf is the target's, and that it is still the cluster on the screen.
func (t *target) guardOf(at tui.Target) admin.Guard {
	g := t.guard()
	if id, ok := at.Look.Snap.ClusterID.Get(); ok {
		g.Expect = append(g.Expect, admin.Expected{ClusterID: id, By: "the screen"})
	}
	return g
}

// applyShown carries the plan out, if it is the one that was shown.
func (t *target) applyShown(ctx context.Context, env Env, changes []admin.Change, at tui.Target, timeout time.Duration, shown []string) (string, error) {
	o, err := (&changeOptions{yes: true}).order(env, t, timeout)
	if err != nil {
		return "", err
	}
	var said []string
	o.Guard, o.Say = t.guardOf(at), func(line string) { said = append(said, line) }
	o.Confirm = func(context.Context, string) (bool, error) {
		if !slices.Equal(said, shown) {
			return false, errMoved
		}
		return true, nil
	}
	if err := t.carry(ctx, changes, o); err != nil {
		return "", err
	}
	if !slices.ContainsFunc(said, func(line string) bool { return strings.HasPrefix(line, "undo file ") }) {
		return said[len(said)-1], nil // somebody else has done it
	}
	return fmt.Sprintf("applied, and in force at every broker; undo: kafkaops tune --undo %s", o.UndoFile), nil
}

package admin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Order says how a change is to be carried out.
type Order struct {
	Guard Guard
	// DryRun ends after the cluster was asked whether it would do it.
	DryRun bool
	// Confirm asks a person; nil where that is not wanted.
	Confirm func(ctx context.Context, question string) (bool, error)
	// Say tells a person, a line at a time.
	Say func(line string)
	// UndoFile is where what leads back is kept; it must not be there yet.
	UndoFile string
	// Undoes is set where the changes are those of an undo file.
	Undoes *Undo
	// Now is when this is.
	Now time.Time
	// Timeout bounds the plan, the cluster's opinion of it, each change, and how long is
	// waited for all to be in force.
	Timeout time.Duration
}

// ErrDeclined is what Carry returns where the person said no. Nothing was changed.
var ErrDeclined = errors.New("nothing was changed")

// errLeft: a part was left as it is, and each is told.
var errLeft = errors.New("not all was done")

// Carry makes a plan of the changes, tells it, lets the cluster say whether it would do
// it, asks, does it, and looks whether it is in force. The undo file names each step
// before it is asked for, so that it has all that may have been done whatever happens.
//
// A *[PartialError] says that a part was done.
func (c *Client) Carry(ctx context.Context, changes []Change, o Order) error {
	if !o.DryRun {
		if err := o.Guard.Check(); err != nil {
			return err
		}
	}
	planning, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	p, err := c.PlanConfigs(planning, changes)
	if err != nil {
		return err
	}
	if err := o.Guard.CheckCluster(p.ClusterID); err != nil {
		return err
	}
	if o.Undoes != nil {
		o.Undoes.keep(p)
	}
	o.tell(p)
	var left error
	if len(p.Left) > 0 {
		left = errLeft
	}
	if len(p.Steps) == 0 {
		o.Say("nothing is to be changed")
		return left
	}
	validating, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if err := c.Validate(validating, p); err != nil {
		return fmt.Errorf("the cluster would refuse it, and nothing was changed: %w", err)
	}
	if o.DryRun {
		o.Say("the cluster would do it; nothing was changed (dry run)")
		return left
	}
	if o.Confirm != nil {
		yes, err := o.Confirm(ctx, fmt.Sprintf("Apply %s to cluster %s?", changesOf(len(p.Steps)), p.ClusterID))
		switch {
		case err != nil:
			return err
		case !yes:
			return ErrDeclined
		}
	}
	if err := c.do(ctx, p, o); err != nil {
		return err
	}
	return left
}

func changesOf(n int) string {
	if n == 1 {
		return "1 change"
	}
	return fmt.Sprintf("%d changes", n)
}

// tell says what the plan is.
func (o *Order) tell(p *Plan) {
	for _, line := range append(p.Skipped, p.Left...) {
		o.Say(line)
	}
	if len(p.Steps) == 0 {
		return
	}
	o.Say(fmt.Sprintf("plan for cluster %s:", p.ClusterID))
	for i := range p.Steps {
		o.Say("  " + p.Steps[i].String())
		for _, n := range p.Steps[i].Notes {
			o.Say("    " + n)
		}
	}
}

// PartialError says that not all of a plan was done.
type PartialError struct {
	// Applied and NotApplied are the steps; Unknown those that were asked for without
	// an answer.
	Applied, Unknown, NotApplied []string
	UndoFile                     string
	err                          error
}

func (e *PartialError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", e.err)
	for _, part := range []struct {
		what  string
		steps []string
	}{{"applied", e.Applied}, {"asked for, and not known whether it was done", e.Unknown}, {"not applied", e.NotApplied}} {
		if len(part.steps) > 0 {
			fmt.Fprintf(&b, "; %s: %s", part.what, strings.Join(part.steps, ", "))
		}
	}
	if len(e.Applied)+len(e.Unknown) > 0 {
		fmt.Fprintf(&b, "; %s leads back", e.UndoFile)
	}
	return b.String()
}

// Unwrap is what ended it.
func (e *PartialError) Unwrap() error { return e.err }

// do applies and verifies.
func (c *Client) do(ctx context.Context, p *Plan, o Order) error {
	u, err := createUndo(o.UndoFile, p, o.Now)
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	states := map[*Step]State{}
	err = c.Apply(ctx, p, o.Timeout, func(steps []*Step, s State) error {
		if err := u.note(steps, s); err != nil {
			return err
		}
		for _, step := range steps {
			states[step] = s
			if s == StateApplied {
				o.Say("applied " + step.String())
			}
		}
		return nil
	})
	if err != nil {
		if len(u.doc.Items) == 0 {
			err = together(err, os.Remove(u.name)) // it leads back from nothing
		}
		return partial(p, states, o.UndoFile, err)
	}
	o.Say("undo file " + o.UndoFile)
	var steps []*Step
	for i := range p.Steps {
		steps = append(steps, &p.Steps[i])
	}
	bounded, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if err := c.Verify(bounded, steps); err != nil {
		return fmt.Errorf("applied, and stored; but %w", err)
	}
	o.Say("in force at every broker")
	return nil
}

func partial(p *Plan, states map[*Step]State, file string, err error) error {
	e := &PartialError{UndoFile: file, err: err}
	for i := range p.Steps {
		s := &p.Steps[i]
		name := s.Scope.String() + " " + s.Setting
		switch states[s] {
		case StateApplied:
			e.Applied = append(e.Applied, name)
		case StateUnknown:
			e.Unknown = append(e.Unknown, name)
		default:
			e.NotApplied = append(e.NotApplied, name)
		}
	}
	return e
}

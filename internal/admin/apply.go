package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Validate asks the cluster whether it would do all of the plan, and nothing is done.
// The error joins all that would be refused.
func (c *Client) Validate(ctx context.Context, p *Plan) error {
	var all []error
	for _, steps := range p.byScope() {
		err := c.alter(ctx, steps, true)
		all = append(all, err)
		var none *NoAnswerError
		if errors.As(err, &none) || ctx.Err() != nil {
			break // who does not answer this one does not answer the next
		}
	}
	return together(all...)
}

// alter changes the settings of one scope, all or none.
func (c *Client) alter(ctx context.Context, steps []*Step, validateOnly bool) error {
	scope := steps[0].Scope
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = scope.resource()
	what := scope.String() + ":"
	for _, s := range steps {
		k := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		k.Name, k.Op = s.Setting, kmsg.IncrementalAlterConfigOpDelete
		if v, ok := s.To.Get(); ok {
			k.Op, k.Value = kmsg.IncrementalAlterConfigOpSet, &v
		}
		r.Configs = append(r.Configs, k)
		what += " " + s.Setting
	}
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources, req.ValidateOnly = append(req.Resources, r), validateOnly
	resp, err := req.RequestWith(ctx, c.kgo)
	if err != nil {
		return fmt.Errorf("%s: %w", what, unanswered(err))
	}
	if len(resp.Resources) != 1 {
		return fmt.Errorf("%s: %w", what, &NoAnswerError{fmt.Sprintf("the answer is about %d resources, not about one", len(resp.Resources)), nil})
	}
	got := &resp.Resources[0]
	if err := denied(got.ErrorCode, got.ErrorMessage, scope.needs("ALTER_CONFIGS")); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// several are errors in one line.
type several []error

func (s several) Error() string {
	var all []string
	for _, err := range s {
		all = append(all, err.Error())
	}
	return strings.Join(all, "; ")
}

// Unwrap are all of them.
func (s several) Unwrap() []error { return s }

// together is nil where all are.
func together(all ...error) error {
	all = slices.DeleteFunc(all, func(err error) bool { return err == nil })
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return several(all)
}

// State is what became of a step.
type State string

// The states.
const (
	// StateApplied: the cluster said so. StateUnknown: it was asked, and nobody knows
	// whether it was done.
	StateApplied State = "applied"
	StateUnknown State = "unknown"
)

// Apply does the steps of the plan in their order, those of one scope at once, and ends
// at the first that fails; each has the time named each. note is called before each with StateUnknown, and after it
// with StateApplied; where note fails nothing more is done. What was refused was not
// done: note is then called with "".
func (c *Client) Apply(ctx context.Context, p *Plan, each time.Duration, note func(steps []*Step, s State) error) error {
	for _, steps := range p.byScope() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := note(steps, StateUnknown); err != nil {
			return err
		}
		bounded, cancel := context.WithTimeout(ctx, each)
		err := c.alter(bounded, steps, false)
		cancel()
		var none *NoAnswerError
		switch {
		case err == nil:
			if err := note(steps, StateApplied); err != nil {
				return err
			}
		case errors.As(err, &none), ctx.Err() != nil:
			return err
		default:
			return together(err, note(steps, ""))
		}
	}
	return nil
}

// Verify waits until what the steps set is in force, at every broker that is listed, as
// long as ctx permits. The error names each step that is not, and where.
func (c *Client) Verify(ctx context.Context, steps []*Step) error {
	var all []error
	for _, s := range steps {
		if err := c.awaitInForce(ctx, s); err != nil {
			all = append(all, err)
		}
	}
	return together(all...)
}

func (c *Client) awaitInForce(ctx context.Context, s *Step) error {
	const every = 20 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := c.inForce(ctx, s)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %s: not seen in force: %w", s.Scope, s.Setting, err)
		case <-tick.C:
		}
	}
}

// inForce says where the step is not.
func (c *Client) inForce(ctx context.Context, s *Step) error {
	meta := kmsg.NewPtrMetadataRequest()
	meta.Topics = []kmsg.MetadataRequestTopic{}
	who, err := meta.RequestWith(ctx, c.kgo)
	if err != nil {
		return unanswered(err)
	}
	slices.SortFunc(who.Brokers, func(a, b kmsg.MetadataResponseBroker) int { return int(a.NodeID) - int(b.NodeID) })
	for _, b := range who.Brokers {
		scope := s.Scope
		switch {
		case scope.Kind == ScopeBroker && scope.Name != strconv.Itoa(int(b.NodeID)):
			continue
		case scope.Kind == ScopeCluster:
			scope = Scope{ScopeBroker, strconv.Itoa(int(b.NodeID))}
		}
		at, err := c.setting(ctx, &b.NodeID, scope, s.Setting)
		if err != nil {
			return fmt.Errorf("broker %d: %w", b.NodeID, err)
		}
		if s.Scope.Kind == ScopeCluster && at.set.IsKnown() {
			continue // its own value goes before
		}
		want := s.To
		if !want.IsKnown() {
			if want = at.below(s.Scope.source()); at.has(s.Scope.source()) {
				return fmt.Errorf("broker %d still has the value %s", b.NodeID, at.inForce)
			}
		}
		if at.inForce != want {
			return fmt.Errorf("broker %d has %s in force, not %s", b.NodeID, at.inForce, want)
		}
	}
	return nil
}

// has reports whether a value of a source is among those that are set.
func (t *told) has(source kmsg.ConfigSource) bool {
	return slices.ContainsFunc(t.synonyms, func(s kmsg.DescribeConfigsResponseResourceConfigConfigSynonym) bool { return s.Source == source })
}

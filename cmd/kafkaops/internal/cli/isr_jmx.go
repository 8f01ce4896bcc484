package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/jmx"
)

// checkAgents takes those of --jmx.
func (r *isrReading) checkAgents() error {
	for _, text := range r.opts.jmx {
		if _, err := jmx.ParseURL(text); err != nil {
			return usagef("--jmx: %w", err)
		}
		r.agents = append(r.agents, text)
	}
	return nil
}

// useAgents takes the context's where --jmx was not given. What is followed is followed
// without.
func (r *isrReading) useAgents() error {
	c := r.target.context
	if c == nil || len(r.opts.jmx) > 0 || r.opts.follow {
		return nil
	}
	for _, text := range c.Agents() {
		if _, err := jmx.ParseURL(text); err != nil {
			return usagef("context %q: jmx: %w (%s:%d)", c.Name, err, r.target.file, c.Line)
		}
		r.agents = append(r.agents, text)
	}
	return nil
}

// agentAnswer is what one agent told.
type agentAnswer struct {
	meters *jmx.Meters
	err    error
}

// askAgents asks the agents, all at once and beside the reading, which has the same time.
func (r *isrReading) askAgents(ctx context.Context) {
	for _, address := range r.agents {
		answer := make(chan agentAnswer, 1)
		r.answers = append(r.answers, answer)
		go func() {
			bounded, cancel := context.WithTimeout(ctx, r.opts.timeout/3)
			defer cancel()
			m, err := jmx.Read(bounded, address)
			answer <- agentAnswer{m, err}
		}()
	}
}

// meters are the agents' answers. One that cannot be read is a failure.
// In a pipe, where stdout has one table, they are lines on stderr.
func (r *isrReading) meters(ctx context.Context) ([]jmx.Meters, error) {
	if len(r.answers) == 0 {
		return nil, nil
	}
	read := make([]*jmx.Meters, len(r.answers))
	failed := make([]error, len(r.answers))
	for i, answer := range r.answers {
		a := <-answer
		read[i], failed[i] = a.meters, a.err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	all := []jmx.Meters{}
	for i, err := range failed {
		if err != nil {
			r.fail(jmxFailure(r.agents[i], err))
			continue
		}
		all = append(all, *read[i])
	}
	if !r.view.Terminal && !r.view.Format.Structured() {
		r.tellMeters(all)
	}
	return all, nil
}

// tellMeters says them on stderr.
func (r *isrReading) tellMeters(all []jmx.Meters) {
	for i := range all {
		fmt.Fprintln(r.env.Terminal.Err, "kafkaops: "+render.MetersLine(&all[i]))
	}
}

func jmxFailure(address string, err error) inspect.Failure {
	f := inspect.Failure{Request: "JMX", Phase: inspect.PhaseRequest, Error: err.Error()}
	if u, parsed := url.Parse(address); parsed == nil {
		f.Address = u.Host
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		f.Phase = inspect.PhaseDial
	}
	var late interface{ Timeout() bool }
	f.TimedOut = errors.As(err, &late) && late.Timeout()
	return f
}

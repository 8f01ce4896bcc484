package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/spf13/cobra"
)

// topicsOptions are the flags of describe topics.
type topicsOptions struct {
	describeOptions
	topics         []string
	all            bool
	kafkaSemantics bool
	filters        statusFilter
}

func newDescribeTopicsCmd(env Env) *cobra.Command {
	var o topicsOptions
	cmd := &cobra.Command{
		Use:   "topics [NAME…]",
		Short: "Every partition: leader, replicas in assignment order, ISR, min ISR, status",
		Long: `Lists the partitions of the named topics, or of all. A NAME with any of *?[ is a
glob; quote it from the shell. Several filters show what any of them matches.

Where partitions are unhealthy the active controller's metadata log is asked, for a
second at most, since when and why: SINCE and CAUSE, which are unknown where it cannot
be had (kafkaops isr says why).`,
		Example: `  kafkaops describe topics orders 'payments-*' -b kafka-1:9092
  kafkaops describe topics --under-min-isr --exit-code -b kafka-1:9092`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	}
	o.register(cmd, env)
	f := cmd.Flags()
	f.StringArrayVar(&o.topics, "topic", nil, "a topic, as an argument is")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when the verdict over what was asked is not ok")
	f.BoolVar(&o.excludeInternal, "exclude-internal", false, "leave Kafka's internal topics out")
	f.BoolVar(&o.all, "all", false, "do not cut a long list on a terminal")
	f.BoolVar(&o.kafkaSemantics, "kafka-semantics", false, "judge by kafka-topics.sh's rules: configured min ISR, replicas by number")
	o.filters.register(f)
	o.completeTopics(cmd, env, &o.topics)
	return cmd
}

func (o *topicsOptions) run(ctx context.Context, env Env, args []string) error {
	s, err := o.open(env)
	if err != nil {
		return err
	}
	return o.show(ctx, s, args)
}

// show draws the topics of an open session.
func (o *topicsOptions) show(ctx context.Context, s *session, args []string) error {
	filter, err := newTopicFilter(append(args, o.topics...), o.excludeInternal)
	if err != nil {
		return err
	}
	if !o.all && len(filter.exact) == 0 {
		s.view.Rows = listRows
	}
	q := filter.query()
	q.Parts = inspect.PartELR
	q.QuorumBeside = !o.exitCode // the verdict alone needs it
	return s.each(ctx, func(ctx context.Context, out, notes io.Writer) error {
		snap, err := s.ask(ctx, q, notes)
		if err != nil {
			return err
		}
		filter.tellUnmatched(snap, notes)
		judged, undecided := o.judge(snap)
		if undecided > 0 {
			fail(snap, inspect.Failure{
				Request: "DescribeConfigs", Phase: inspect.PhaseRequest,
				Error: fmt.Sprintf("the filter leaves out %s for which it could not be decided", partitions(undecided)),
			}, notes)
		}
		s.addOnsets(ctx, snap, unhealthyOnes(judged))
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := render.Topics(out, s.view, snap, judged); err != nil {
			return err
		}
		return outcome(snap, !o.exitCode || snap.Verdict().Level == inspect.LevelOK)
	})
}

// unhealthyOnes are those that are unhealthy.
func unhealthyOnes(judged []inspect.Judged) (out []inspect.Judged) {
	for i := range judged {
		if judged[i].Health.Unhealthy() {
			out = append(out, judged[i])
		}
	}
	return out
}

// partitions counts them.
func partitions(n int) string {
	if n == 1 {
		return "1 partition"
	}
	return fmt.Sprintf("%d partitions", n)
}

// listRows is how many rows of a long list a terminal shows.
const listRows = 20

// judge applies the rules that were asked for and the filters, and counts the
// partitions for which a filter could not be decided.
func (o *topicsOptions) judge(snap *inspect.Snapshot) (judged []inspect.Judged, undecided int) {
	live := func(id inspect.BrokerID) bool {
		b := snap.Broker(id)
		return b != nil && !b.Fenced.Or(false)
	}
	for p := range snap.Partitions {
		h := p.Health()
		if o.kafkaSemantics {
			h = p.RawHealth(live)
		}
		switch matched, decided := o.filters.match(&h); {
		case matched:
			judged = append(judged, inspect.Judged{Partition: p, Health: h})
		case !decided:
			undecided++
		}
	}
	return judged, undecided
}

// tellUnmatched prints the names and globs that no topic answers to, and adds
// them to the failures.
func (f *topicFilter) tellUnmatched(snap *inspect.Snapshot, notes io.Writer) {
	names := make([]string, len(snap.Topics))
	for i := range snap.Topics {
		names[i] = snap.Topics[i].Name
	}
	for _, u := range f.unmatched(names) {
		cause := "matches no topic"
		switch named := slices.Contains(f.exact, u); {
		case named && f.excludeInternal:
			cause = "no such topic, no permission to see it, or an internal one, which --exclude-internal leaves out"
		case named: // in the words of a pass that asks for it by its name
			cause = "no such topic, or no permission to see it"
		case f.excludeInternal:
			cause += " but internal ones at most, which --exclude-internal leaves out"
		}
		fail(snap, inspect.Failure{Topic: u, Request: "Metadata", Phase: inspect.PhaseRequest, Error: cause}, notes)
	}
}

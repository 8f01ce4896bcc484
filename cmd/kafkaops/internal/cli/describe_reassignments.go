package cli

import (
	"context"
	"io"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
	"github.com/spf13/cobra"
)

// reassignmentsOptions are the flags of describe reassignments.
type reassignmentsOptions struct {
	options
	topics  []string
	samples int
}

func newDescribeReassignmentsCmd(env Env) *cobra.Command {
	var o reassignmentsOptions
	cmd := &cobra.Command{
		Use:   "reassignments [TOPIC…]",
		Short: "Partitions on the move: from where to where, how much is copied, when is it done?",
		Long: `Lists every partition whose replicas are being changed, with how much of the leader's
log each new replica has, by the sizes on their disks. Two samples or more give the
rate and the time that is left. It only reads: no throttle is touched.

A TOPIC with any of *?[ is a glob; quote it from the shell.`,
		Example: `  kafkaops describe reassignments -b kafka-1:9092
  kafkaops describe reassignments --samples 2 --interval 10s -b kafka-1:9092`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	}
	o.register(cmd, env)
	cmd.Flags().StringArrayVar(&o.topics, "topic", nil, "a topic, as an argument is")
	o.completeTopics(cmd, env, &o.topics)
	cmd.Flags().IntVar(&o.samples, "samples", 1, "passes, one --interval apart; two or more give rate and time left")
	return cmd
}

func (o *reassignmentsOptions) run(ctx context.Context, env Env, args []string) error {
	if o.samples < 1 || o.samples > history.MaxSamples {
		return usagef("--samples %d: use 1 to %d", o.samples, history.MaxSamples)
	}
	s, err := o.open(env)
	if err != nil {
		return err
	}
	filter, err := newTopicFilter(append(args, o.topics...), false)
	if err != nil {
		return err
	}
	q := filter.query()
	q.Parts = inspect.PartReplicaLogs
	q.NoMinISR, q.QuorumBeside = true, true
	var previous *inspect.Snapshot // of the pass before, in a watch
	return s.each(ctx, func(ctx context.Context, out, notes io.Writer) error {
		var first *inspect.Snapshot
		last, err := s.sample(ctx, q, o.samples, s.opts.interval, func(snap *inspect.Snapshot) {
			if first == nil {
				first = snap
			}
		}, notes)
		if err != nil {
			return err
		}
		if first == last {
			first = previous
		}
		previous = last
		filter.tellUnmatched(last, notes)
		if err := render.Reassignments(out, s.view, last, last.Reassignments(first)); err != nil {
			return err
		}
		return outcome(last, true)
	})
}

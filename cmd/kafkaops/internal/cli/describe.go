package cli

import (
	"context"
	"io"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

// describeOptions are the flags of describe.
type describeOptions struct {
	options
	exitCode        bool
	excludeInternal bool
}

func newDescribeCmd(env Env) *cobra.Command {
	var o describeOptions
	cmd := &cobra.Command{
		Use:   "describe",
		Short: "Is anything at risk right now, where and why?",
		Long: `Judges the whole cluster in one verdict, says why, and lists every partition that
is not healthy, the worst first.

  unavailable  a partition has no leader
  at-risk      a partition refuses acks=all writes, or has one in-sync copy left,
               or the controllers cannot lose another voter or have no leader
  degraded     a replica is missing, or a broker does not answer
  unknown      an answer that the verdict needs is missing
  ok           none of these

Where the metadata log of the active controller can be read (see kafkaops isr), each
of them has since when it is so and why; that may take one second more.

It looks once. Whether records wait for their commit while all else looks well, as
behind a slow disk, is asked by kafkaops check health --max-uncommitted-age 5s.`,
		Example: `  kafkaops describe -b kafka-1:9092,kafka-2:9092
  kafkaops describe --exit-code -o json -b kafka-1:9092 | jq '.items[0].reasons'`,
		Args: noSuchFacet,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	o.register(cmd, env)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when the verdict is not ok")
	cmd.Flags().BoolVar(&o.excludeInternal, "exclude-internal", false, "leave Kafka's internal topics out")
	cmd.AddCommand(
		newDescribeTopicsCmd(env), newDescribeBrokersCmd(env), newDescribeQuorumCmd(env), newDescribeFeaturesCmd(env),
		newDescribeReassignmentsCmd(env), newDescribeLogDirsCmd(env), newDescribeConfigsCmd(env),
		newDescribeTransactionsCmd(env),
	)
	return cmd
}

// noSuchFacet is noSuchCommand where the word may have been meant as a topic.
func noSuchFacet(cmd *cobra.Command, args []string) error {
	err := noSuchCommand(cmd, args)
	if err == nil {
		return nil
	}
	return usagef("%w; a topic is described by '%s topics %s'", err, cmd.CommandPath(), args[0])
}

func (o *describeOptions) run(ctx context.Context, env Env) error {
	filter := topicFilter{excludeInternal: o.excludeInternal}
	q := filter.query()
	q.Parts = inspect.PartELR | inspect.PartReachable
	s, err := o.open(env)
	if err != nil {
		return err
	}
	return o.showIn(ctx, s, q, func(out io.Writer, v render.View, snap *inspect.Snapshot) (bool, error) {
		verdict := snap.Verdict()
		if len(verdict.Unhealthy) > 0 {
			s.addOnsets(ctx, snap, verdict.Unhealthy)
			if err := ctx.Err(); err != nil {
				return false, err
			}
			verdict = snap.Verdict() // whose reasons say since when
		}
		return verdict.Level == inspect.LevelOK, render.Overview(out, v, snap, &verdict)
	})
}

// drawing draws one Snapshot and says whether it is healthy by what it shows.
type drawing func(out io.Writer, v render.View, snap *inspect.Snapshot) (healthy bool, err error)

// show is what the commands of the family have in common: ask, draw, and judge
// where --exit-code is given.
func (o *describeOptions) show(ctx context.Context, env Env, q source.Query, draw drawing) error {
	s, err := o.open(env)
	if err != nil {
		return err
	}
	return o.showIn(ctx, s, q, draw)
}

// showIn is show in an open session.
func (o *describeOptions) showIn(ctx context.Context, s *session, q source.Query, draw drawing) error {
	return s.each(ctx, func(ctx context.Context, out, notes io.Writer) error {
		snap, err := s.ask(ctx, q, notes)
		if err != nil {
			return err
		}
		healthy, err := draw(out, s.view, snap)
		if err != nil {
			return err
		}
		return outcome(snap, !o.exitCode || healthy)
	})
}

func newDescribeBrokersCmd(env Env) *cobra.Command {
	var o describeOptions
	cmd := &cobra.Command{
		Use:   "brokers",
		Short: "Each broker: does it answer, what does it lead, what is out of sync on it, how full are its disks?",
		Example: `  kafkaops describe brokers -b kafka-1:9092
  kafkaops describe brokers -o wide -b kafka-1:9092`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.runBrokers(cmd.Context(), env) },
	}
	o.register(cmd, env)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when the verdict is not ok")
	return cmd
}

func (o *describeOptions) runBrokers(ctx context.Context, env Env) error {
	q := source.Query{Parts: inspect.PartFenced | inspect.PartReachable | inspect.PartLogDirs | inspect.PartOffsets}
	q.NoMinISR = !o.exitCode // the verdict alone needs it
	return o.show(ctx, env, q, func(out io.Writer, v render.View, snap *inspect.Snapshot) (bool, error) {
		return snap.Verdict().Level == inspect.LevelOK, render.Brokers(out, v, snap)
	})
}

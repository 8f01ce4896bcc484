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
  ok           none of these`,
		Example: `  kafkaops describe -b kafka-1:9092,kafka-2:9092
  kafkaops describe --exit-code -o json -b kafka-1:9092 | jq '.items[0].reasons'`,
		Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	o.register(cmd)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when the verdict is not ok")
	cmd.Flags().BoolVar(&o.excludeInternal, "exclude-internal", false, "leave Kafka's internal topics out")
	cmd.AddCommand(
		newDescribeTopicsCmd(env), newDescribeBrokersCmd(env), newDescribeQuorumCmd(env), newDescribeFeaturesCmd(env),
		newDescribeReassignmentsCmd(env), newDescribeLogDirsCmd(env), newDescribeConfigsCmd(env),
		newDescribeTransactionsCmd(env),
	)
	return cmd
}

func (o *describeOptions) run(ctx context.Context, env Env) error {
	s, err := o.open(env)
	if err != nil {
		return err
	}
	filter := topicFilter{excludeInternal: o.excludeInternal}
	q := filter.query()
	q.Parts = inspect.PartELR | inspect.PartReachable
	return s.each(ctx, func(ctx context.Context, out, notes io.Writer) error {
		snap, err := s.ask(ctx, q, notes)
		if err != nil {
			return err
		}
		verdict := snap.Verdict()
		if err := render.Overview(out, s.view, snap, &verdict); err != nil {
			return err
		}
		return outcome(snap, !o.exitCode || verdict.Level == inspect.LevelOK)
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
	o.register(cmd)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when the verdict is not ok")
	return cmd
}

func (o *describeOptions) runBrokers(ctx context.Context, env Env) error {
	s, err := o.open(env)
	if err != nil {
		return err
	}
	q := source.Query{Parts: inspect.PartFenced | inspect.PartReachable | inspect.PartLogDirs | inspect.PartOffsets}
	return s.each(ctx, func(ctx context.Context, out, notes io.Writer) error {
		snap, err := s.ask(ctx, q, notes)
		if err != nil {
			return err
		}
		if err := render.Brokers(out, s.view, snap); err != nil {
			return err
		}
		return outcome(snap, !o.exitCode || snap.Verdict().Level == inspect.LevelOK)
	})
}

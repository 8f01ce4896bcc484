package cli

import (
	"context"
	"io"
	"slices"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/spf13/cobra"
)

// configsOptions are the flags of describe configs.
type configsOptions struct {
	describeOptions
	topics []string
	all    bool
}

func newDescribeConfigsCmd(env Env) *cobra.Command {
	var o configsOptions
	cmd := &cobra.Command{
		Use:   "configs [TOPIC…]",
		Short: "Settings that matter for replication: what is in force, who set it, who disagrees?",
		Long: `Asks every broker and every topic (or the named ones) for the settings that matter
for replication. The table shows those that are not Kafka's default, that brokers
disagree on, or that are a trap; JSON and YAML have all. Values that are sensitive
are never shown. It needs DESCRIBE_CONFIGS on the cluster and on the topics.

  set          somebody set it to something else than Kafka's default
  disagree     not all brokers have the same value
  not-applied  stored, but not in force
  fenced       the broker is not there and not asked: a row of "-" and a line on stderr;
  gone         the exit code does not change

On a terminal settings that are each broker's own, such as broker.rack, share a row.

A TOPIC with any of *?[ is a glob; quote it from the shell.`,
		Example: `  kafkaops describe configs -b kafka-1:9092
  kafkaops describe configs -o json -b kafka-1:9092 | jq '.items[] | select(.disagree)'`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	}
	o.register(cmd, env)
	f := cmd.Flags()
	f.StringArrayVar(&o.topics, "topic", nil, "a topic, as an argument is")
	o.completeTopics(cmd, env, &o.topics)
	f.BoolVar(&o.all, "all", false, "show settings at Kafka's default too")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when brokers disagree or a stored value is not in force")
	f.BoolVar(&o.excludeInternal, "exclude-internal", false, "leave Kafka's internal topics out")
	return cmd
}

func (o *configsOptions) run(ctx context.Context, env Env, args []string) error {
	s, err := o.open(env)
	if err != nil {
		return err
	}
	filter, err := newTopicFilter(append(args, o.topics...), o.excludeInternal)
	if err != nil {
		return err
	}
	q := filter.query()
	q.Parts = inspect.PartConfigs | inspect.PartFenced
	q.NoMinISR, q.NoReassignments, q.QuorumBeside = true, true, true
	return s.each(ctx, func(ctx context.Context, out, notes io.Writer) error {
		snap, err := s.ask(ctx, q, notes)
		if err != nil {
			return err
		}
		filter.tellUnmatched(snap, notes)
		configs := snap.Configs()
		if err := render.Configs(out, s.view, snap, configs, o.all); err != nil {
			return err
		}
		bad := slices.ContainsFunc(configs, func(r inspect.ConfigReport) bool { return r.Disagree || r.NotApplied().IsKnown() })
		return outcome(snap, !o.exitCode || !bad)
	})
}

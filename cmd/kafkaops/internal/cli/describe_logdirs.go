package cli

import (
	"context"
	"io"
	"slices"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

func newDescribeLogDirsCmd(env Env) *cobra.Command {
	var o describeOptions
	cmd := &cobra.Command{
		Use:   "log-dirs",
		Short: "Each log directory: is it online, how full, what is moving into it?",
		Long: `Asks every broker for its log directories. It needs DESCRIBE on the cluster. Total and
free space are of the volume, which directories may share: SAME-VOLUME names those
that tell the same.

A fenced broker, and one that is not there though replicas are assigned to it, is
not asked: it has a row of "-" and a line on stderr, and does not change the exit
code without --exit-code.`,
		Example: `  kafkaops describe log-dirs -b kafka-1:9092
  kafkaops describe log-dirs -o json -b kafka-1:9092 | jq '.items[] | select(.error != null)'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.runLogDirs(cmd.Context(), env) },
	}
	o.register(cmd, env)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when a directory is offline, or a broker fenced or gone")
	return cmd
}

func (o *describeOptions) runLogDirs(ctx context.Context, env Env) error {
	q := source.Query{Parts: inspect.PartReplicaLogs | inspect.PartFenced, Keep: noTopics, QuorumBeside: true}
	return o.show(ctx, env, q, func(out io.Writer, v render.View, snap *inspect.Snapshot) (bool, error) {
		offline := slices.ContainsFunc(snap.Brokers, func(b inspect.Broker) bool {
			return slices.ContainsFunc(b.LogDirs.Or(nil), func(d inspect.LogDir) bool { return d.Error != "" })
		})
		down := slices.ContainsFunc(
			snap.Untold(func(b *inspect.Broker) bool { return b.LogDirs.IsKnown() }),
			func(u inspect.Untold) bool { return u.Cause.Down() },
		)
		return !offline && !down, render.LogDirs(out, v, snap)
	})
}

package cli

import (
	"context"
	"io"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

func newDescribeQuorumCmd(env Env) *cobra.Command {
	var o describeOptions
	o.quorumAlone = true
	cmd := &cobra.Command{
		Use:   "quorum",
		Short: "The controllers: who leads, who is behind or lost, may one more be lost?",
		Long: `Shows each node's copy of the metadata log as the active controller sees it, asked
through a broker or, with --controller, at the controllers' own listener, for which
no broker has to be up. It needs DESCRIBE on the cluster.

  leader    the active controller
  ok        it fetches, and had everything within the last 6s
  behind    it fetches, and has not had everything for 6s
  lost      it has not fetched for 6s, or not once since this leader took over
  unknown   the leader does not tell (before Kafka 3.3)

A quorum of three or more voters that has lost some and cannot lose another is at
risk, and so is one without a leader. Brokers are observers; one that has been
silent for five minutes is no longer listed.`,
		Example: `  kafkaops describe quorum -b kafka-1:9092
  kafkaops describe quorum --controller controller-1:9093 -o json | jq '.items[0].tolerates'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.runQuorum(cmd.Context(), env) },
	}
	o.register(cmd, env)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when the quorum is at risk")
	return cmd
}

func (o *describeOptions) runQuorum(ctx context.Context, env Env) error {
	q := source.Query{Parts: inspect.PartQuorum, Keep: noTopics, QuorumAlone: true}
	return o.show(ctx, env, q, func(out io.Writer, v render.View, snap *inspect.Snapshot) (bool, error) {
		return !snap.QuorumAtRisk(), render.Quorum(out, v, snap)
	})
}

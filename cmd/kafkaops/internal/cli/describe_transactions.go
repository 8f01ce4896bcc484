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

func newDescribeTransactionsCmd(env Env) *cobra.Command {
	var o describeOptions
	cmd := &cobra.Command{
		Use:   "transactions",
		Short: "Open transactions: whose, since when, which hang, which partitions wait for them?",
		Long: `Joins what coordinators and partition leaders tell of open transactions. A partition
whose LSO is below its HW makes read_committed consumers wait for whoever holds it.

  open      in the middle of its life
  hanging   open for longer than its timeout and 5 minutes, or its coordinator does
            not have the partition in it; or no coordinator has it, and it has not
            written for 20 minutes
  suspect   no coordinator has it, and it has written lately
  unknown   an answer that decides is missing

It needs DESCRIBE on the transactional ids, of which Kafka leaves out the others
without a word, and READ on the topics whose LSO is held back.`,
		Example: `  kafkaops describe transactions -b kafka-1:9092
  kafkaops describe transactions -o json -b kafka-1:9092 | jq '.items[] | select(.status == "hanging")'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.runTransactions(cmd.Context(), env) },
	}
	o.register(cmd, env)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when a transaction hangs")
	return cmd
}

func (o *describeOptions) runTransactions(ctx context.Context, env Env) error {
	q := source.Query{Parts: inspect.PartTransactions | inspect.PartOffsets | inspect.PartFenced}
	q.NoMinISR, q.NoReassignments, q.QuorumBeside = true, true, true
	return o.show(ctx, env, q, func(out io.Writer, v render.View, snap *inspect.Snapshot) (bool, error) {
		open := snap.OpenTransactions()
		hangs := slices.ContainsFunc(open, func(t inspect.OpenTransaction) bool { return t.Status == inspect.TransactionHanging })
		return !hangs, render.Transactions(out, v, snap, open)
	})
}

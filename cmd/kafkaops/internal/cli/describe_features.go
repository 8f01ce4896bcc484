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

func newDescribeFeaturesCmd(env Env) *cobra.Command {
	var o describeOptions
	cmd := &cobra.Command{
		Use:   "features",
		Short: "Feature levels: what is finalized, what do all brokers support, who disagrees?",
		Long: `Asks every broker for the levels that are finalized (metadata.version among them)
and those that it supports. Controllers are not asked.

  unsupported  a broker does not support the finalized level: it will not start again
  disagree     brokers support different levels, or one has not heard of the level yet
  unknown      a broker did not answer, is fenced, or tells no features: whether the
               level can be raised is unknown
  upgradable   all brokers support a higher level (the controllers must, too)
  ok           none of these

A fenced broker, and one that is not there though replicas are assigned to it, is
not asked: it has a line on stderr and "-", and does not change the exit code.`,
		Example: `  kafkaops describe features -b kafka-1:9092
  kafkaops describe features -o json -b kafka-1:9092 | jq '.items[] | {name, finalizedLevel, release}'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.runFeatures(cmd.Context(), env) },
	}
	o.register(cmd, env)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when brokers disagree, or one does not support a finalized level")
	return cmd
}

func (o *describeOptions) runFeatures(ctx context.Context, env Env) error {
	q := source.Query{Parts: inspect.PartFeatures | inspect.PartFenced, Keep: noTopics, QuorumBeside: true}
	return o.show(ctx, env, q, func(out io.Writer, v render.View, snap *inspect.Snapshot) (bool, error) {
		features := snap.Features()
		bad := slices.ContainsFunc(features, func(f inspect.Feature) bool {
			return slices.Contains(f.Status, inspect.FeatureUnsupported) || slices.Contains(f.Status, inspect.FeatureDisagree)
		})
		return !bad, render.Features(out, v, snap, features)
	})
}

// noTopics is for what is of brokers alone.
func noTopics(string, bool) bool { return false }

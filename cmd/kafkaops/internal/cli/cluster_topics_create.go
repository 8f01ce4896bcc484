package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/admin"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/spf13/cobra"
)

// createOptions are the flags of topics create.
type createOptions struct {
	placeOptions
	partitions, replicas int
	assignment           string
	configs              []string
}

func newTopicsCreateCmd(env Env) *cobra.Command {
	var o createOptions
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a topic, and wait until it can be used",
		Example: `  kafkaops cluster topics create orders --partitions 6
  kafkaops cluster topics create payments --replication-factor 3 --config min.insync.replicas=2
  kafkaops cluster topics create lopsided --replica-assignment 1:2:3,1:3:2`,
		Args: oneTopic,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.assignment == "" && cmd.Flags().Changed("replica-assignment") {
				return usagef("--replica-assignment is empty: use the brokers of each partition, as 1:2:3,2:3:1, or leave it out")
			}
			if o.assignment != "" && (cmd.Flags().Changed("partitions") || cmd.Flags().Changed("replication-factor")) {
				return usagef("--replica-assignment says how many partitions and replicas there are: leave --partitions and --replication-factor out")
			}
			return o.run(cmd.Context(), env, args[0])
		},
	}
	o.register(cmd)
	f := cmd.Flags()
	f.IntVar(&o.partitions, "partitions", 1, "how many partitions")
	f.IntVar(&o.replicas, "replication-factor", 0, "how many replicas; 0 for as many as there are brokers, at most 3")
	f.StringVar(&o.assignment, "replica-assignment", "", "instead of the two above: the brokers of each partition, the preferred leader first, as `1:2:3,2:3:1`")
	f.StringArrayVar(&o.configs, "config", nil, "a topic config as `key=value`; may be repeated")
	return cmd
}

// oneTopic is for commands that take the name of one.
func oneTopic(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] == "" {
		return usagef("%s: the topic's name is empty", cmd.CommandPath())
	}
	if len(args) != 1 {
		return usagef("%s takes the name of one topic, got %d", cmd.CommandPath(), len(args))
	}
	return nil
}

// usualReplicas is the replication factor where there are brokers enough.
const usualReplicas = 3

func (o *createOptions) run(ctx context.Context, env Env, name string) error {
	t, err := o.topic(ctx, env, name)
	if err != nil {
		return err
	}
	if err := o.change(ctx, env, func(ctx context.Context, c *admin.Client) error { return c.CreateTopic(ctx, t) }); admin.IsInvalid(err) {
		return usageError{err}
	} else if err != nil {
		return err
	}
	partitions, replicas := int(t.Partitions), int(t.ReplicationFactor)
	if t.Assignment != nil {
		partitions, replicas = len(t.Assignment), len(t.Assignment[0])
	}
	_, err = fmt.Fprintf(env.Terminal.Out, "topic %s created: %s, RF %d\n", render.Clean(name), count(partitions, "partition"), replicas)
	return err
}

// topic is what the flags ask for.
func (o *createOptions) topic(ctx context.Context, env Env, name string) (admin.Topic, error) {
	const maxPartitions = 10_000 // of one request, Kafka's too
	t := admin.Topic{Name: name}
	switch {
	case o.partitions < 1 || o.partitions > maxPartitions:
		return t, usagef("--partitions %d: use 1 to %d", o.partitions, maxPartitions)
	case o.replicas < 0 || o.replicas > maxBrokers:
		return t, usagef("--replication-factor %d: use 1 to the number of brokers", o.replicas)
	}
	var err error
	if t.Configs, err = parseSettings("config", o.configs); err != nil {
		return t, err
	}
	if o.assignment != "" {
		t.Partitions, t.ReplicationFactor = -1, -1
		t.Assignment, err = parseAssignment(o.assignment)
		return t, err
	}
	t.Partitions, t.ReplicationFactor = int32(o.partitions), int16(o.replicas)
	if o.replicas == 0 {
		s, err := o.ask(ctx, env, local.Request{Do: local.VerbStatus})
		if err != nil {
			return t, err
		}
		t.ReplicationFactor = int16(min(usualReplicas, max(1, len(s.Nodes)-1))) // the last one is the controller
	}
	return t, nil
}

// parseAssignment reads what kafka-topics.sh calls a replica assignment. Whether there
// are such brokers the cluster says.
func parseAssignment(text string) ([][]inspect.BrokerID, error) {
	var out [][]inspect.BrokerID
	for i, partition := range strings.Split(text, ",") {
		var replicas []inspect.BrokerID
		for word := range strings.SplitSeq(partition, ":") {
			id, err := strconv.ParseInt(word, 10, 32)
			if err != nil || id < 0 {
				return nil, usagef("--replica-assignment %s: partition %d: %q is no broker's id; use brokers as 1:2:3, and a comma between partitions", text, i, word)
			}
			if slices.Contains(replicas, inspect.BrokerID(id)) {
				return nil, usagef("--replica-assignment %s: partition %d has broker %d twice", text, i, id)
			}
			replicas = append(replicas, inspect.BrokerID(id))
		}
		if i > 0 && len(replicas) != len(out[0]) {
			return nil, usagef("--replica-assignment %s: partition %d has %s, partition 0 has %d: use as many for each",
				text, i, count(len(replicas), "replica"), len(out[0]))
		}
		out = append(out, replicas)
	}
	return out, nil
}

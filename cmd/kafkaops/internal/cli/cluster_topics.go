package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/admin"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

func newClusterTopicsCmd(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "topics <what>",
		Short: "Topics of a local cluster: create, delete, list",
		Example: `  kafkaops cluster topics create clicks --partitions 6
  kafkaops cluster topics list`,
		Args: noSuchCommand,
		RunE: whichOne,
	}
	cmd.AddCommand(newTopicsCreateCmd(env), newTopicsDeleteCmd(env), newTopicsListCmd(env))
	return cmd
}

// connection is how to reach the brokers of the local cluster.
func (o *placeOptions) connection(ctx context.Context, env Env) (connect.Config, error) {
	s, err := o.ask(ctx, env, local.Request{Do: local.VerbStatus})
	if err != nil {
		return connect.Config{}, err
	}
	if !s.Ready {
		return connect.Config{}, errors.New("the cluster is still starting: try again in a moment")
	}
	addrs, err := connect.ParseBootstrap(s.Bootstrap)
	return connect.Config{Bootstrap: addrs}, err
}

// change opens a client of the local cluster for one change.
func (o *placeOptions) change(ctx context.Context, env Env, do func(context.Context, *admin.Client) error) error {
	conn, err := o.connection(ctx, env)
	if err != nil {
		return err
	}
	client, err := admin.Open(conn)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	return do(ctx, client)
}

// createOptions are the flags of topics create.
type createOptions struct {
	placeOptions
	partitions, replicas int
	configs              []string
}

func newTopicsCreateCmd(env Env) *cobra.Command {
	var o createOptions
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a topic, and wait until it can be used",
		Example: `  kafkaops cluster topics create orders --partitions 6
  kafkaops cluster topics create payments --replication-factor 3 --config min.insync.replicas=2`,
		Args: oneTopic,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args[0]) },
	}
	o.register(cmd)
	f := cmd.Flags()
	f.IntVar(&o.partitions, "partitions", 1, "how many partitions")
	f.IntVar(&o.replicas, "replication-factor", 0, "how many replicas; 0 for as many as there are brokers, at most 3")
	f.StringArrayVar(&o.configs, "config", nil, "a topic config as `key=value`; may be repeated")
	return cmd
}

// oneTopic is for commands that take the name of one.
func oneTopic(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return usagef("%s takes the name of one topic, got %d", cmd.CommandPath(), len(args))
	}
	return nil
}

// usualReplicas is the replication factor where there are brokers enough.
const usualReplicas = 3

func (o *createOptions) run(ctx context.Context, env Env, name string) error {
	const maxPartitions = 100_000
	switch {
	case o.partitions < 1 || o.partitions > maxPartitions:
		return usagef("--partitions %d: use 1 to %d", o.partitions, maxPartitions)
	case o.replicas < 0 || o.replicas > maxBrokers:
		return usagef("--replication-factor %d: use 1 to the number of brokers", o.replicas)
	}
	configs, err := parseSettings("config", o.configs)
	if err != nil {
		return err
	}
	if o.replicas == 0 {
		s, err := o.ask(ctx, env, local.Request{Do: local.VerbStatus})
		if err != nil {
			return err
		}
		o.replicas = min(usualReplicas, max(1, len(s.Nodes)-1)) // the last one is the controller
	}
	err = o.change(ctx, env, func(ctx context.Context, c *admin.Client) error {
		return c.CreateTopic(ctx, admin.Topic{
			Name: name, Partitions: int32(o.partitions), ReplicationFactor: int16(o.replicas), Configs: configs,
		})
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Terminal.Out, "topic %s created: %s, RF %d\n", render.Clean(name), count(o.partitions, "partition"), o.replicas)
	return err
}

func newTopicsDeleteCmd(env Env) *cobra.Command {
	var o placeOptions
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a topic and its records",
		Example: `  kafkaops cluster topics delete orders
  kafkaops cluster topics delete payments --name demo`,
		Args: oneTopic,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := o.change(cmd.Context(), env, func(ctx context.Context, c *admin.Client) error { return c.DeleteTopic(ctx, args[0]) })
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Terminal.Out, "topic %s deleted\n", render.Clean(args[0]))
			return err
		},
	}
	o.register(cmd)
	return cmd
}

// listOptions are the flags of topics list.
type listOptions struct {
	placeOptions
	viewOptions
}

func newTopicsListCmd(env Env) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "The topics of a local cluster, by partition: as describe topics shows them",
		Example: `  kafkaops cluster topics list
  kafkaops cluster topics list -o json | jq -r '.items[].topic' | sort -u`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	o.placeOptions.register(cmd)
	o.viewOptions.register(cmd)
	return cmd
}

func (o *listOptions) run(ctx context.Context, env Env) error {
	view, err := o.view(env.Terminal)
	if err != nil {
		return err
	}
	conn, err := o.connection(ctx, env)
	if err != nil {
		return err
	}
	s := &session{
		opts: options{timeout: o.timeout}, view: view, terminal: env.Terminal, target: &target{brokers: conn},
		source: source.New(conn, o.timeout),
	}
	return (&topicsOptions{all: true}).show(ctx, s, nil)
}

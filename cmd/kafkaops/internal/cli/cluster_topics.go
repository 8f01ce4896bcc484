package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/admin"
	"github.com/kafkaops/kafkaops/pkg/embedded"
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
	return o.explainChange(ctx, env, do(ctx, client))
}

// explainChange says why nobody has answered, where that can be seen.
func (o *placeOptions) explainChange(ctx context.Context, env Env, err error) error {
	var none *admin.NoAnswerError
	if !errors.As(err, &none) {
		return err
	}
	p, placed := o.place(env)
	if placed != nil {
		return err
	}
	state, answered := controllerState(ctx, p)
	if !answered {
		return err
	}
	status := typed("cluster status", p.Flags()...)
	if state != embedded.Running {
		return fmt.Errorf("%w: the controller, which alone creates and deletes topics, is %s; %s brings it back, %s shows how all stand",
			err, state, typed("cluster heal", p.Flags()...), status)
	}
	return fmt.Errorf("%w; %s shows who is down and which faults are in force", err, status)
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
			if admin.IsAbsent(err) {
				if p, placed := o.place(env); placed == nil {
					err = fmt.Errorf("%w; %s shows which there are", err, typed("cluster topics list", p.Flags()...))
				}
			}
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
		Use:   "list [NAME…]",
		Short: "The topics of a local cluster, by partition: as describe topics shows them",
		Long: `All of them, or those that are named. A NAME with any of *?[ is a glob; quote it from
the shell.`,
		Example: `  kafkaops cluster topics list
  kafkaops cluster topics list -o json | jq -r '.items[].topic' | sort -u`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	}
	o.placeOptions.register(cmd)
	o.viewOptions.register(cmd)
	return cmd
}

func (o *listOptions) run(ctx context.Context, env Env, names []string) error {
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
	return (&topicsOptions{all: true}).show(ctx, s, names)
}

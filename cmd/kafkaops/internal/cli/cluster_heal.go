package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/spf13/cobra"
)

func newClusterHealCmd(env Env) *cobra.Command {
	var o placeOptions
	cmd := &cobra.Command{
		Use:   "heal",
		Short: "End all faults: links, disks, pauses, fences; restart who is down",
		Long: `Returns when every broker is up again. Clocks that have jumped stay as they are. Replicas that fell behind catch up after it:
kafkaops lag shows how they do.`,
		Example: `  kafkaops cluster heal
  kafkaops cluster heal --name demo`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.runHeal(cmd.Context(), env) },
	}
	o.register(cmd)
	return cmd
}

func (o *placeOptions) runHeal(ctx context.Context, env Env) error {
	before, err := o.ask(ctx, env, local.Request{Do: local.VerbStatus})
	if err != nil {
		return err
	}
	begun := time.Now()
	if _, err := o.ask(ctx, env, local.Request{Do: local.VerbHeal}); err != nil {
		return err
	}
	clocks := 0
	for _, f := range before.Faults {
		if f.Kind == local.JumpClock {
			clocks++
		}
	}
	what := "no fault was in force"
	if n := len(before.Faults) - clocks; n > 0 {
		what = count(n, "fault") + " ended"
	}
	if clocks > 0 {
		what += ", clocks stay as they are"
	}
	_, err = fmt.Fprintf(env.Terminal.Out, "healed in %s: %s, every broker is up\n", shortly(time.Since(begun)), what)
	return err
}

func newClusterRestartCmd(env Env) *cobra.Command {
	var (
		o    placeOptions
		node nodeFlag
	)
	cmd := &cobra.Command{
		Use:   "restart",
		Short: "Stop one broker cleanly, where it runs, and start it again",
		Long: `A controlled shutdown: the broker gives its leaderships away first. Returns when it is
up again; its replicas catch up after that. The controller restarts without giving
anything away.`,
		Example: `  kafkaops cluster restart --broker 2
  kafkaops cluster restart --broker controller`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := node.given("broker"); err != nil {
				return err
			}
			begun := time.Now()
			if _, err := o.ask(cmd.Context(), env, local.Request{Do: local.VerbRestart, Broker: node.id}); err != nil {
				return err
			}
			_, err := fmt.Fprintf(env.Terminal.Out, "%s is up again after %s\n", nodeName(node.id), shortly(time.Since(begun)))
			return err
		},
	}
	o.register(cmd)
	cmd.Flags().Var(&node, "broker", "which one: its `id`, or controller")
	return cmd
}

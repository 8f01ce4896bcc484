package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/spf13/cobra"
)

func newClusterDownCmd(env Env) *cobra.Command {
	var o placeOptions
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop a local cluster cleanly",
		Long: `Returns when it has stopped. Its data stays, for the next up; of a cluster in memory
nothing does.`,
		Example: `  kafkaops cluster down
  kafkaops cluster down --name demo`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.runDown(cmd.Context(), env) },
	}
	o.register(cmd)
	return cmd
}

func (o *placeOptions) runDown(ctx context.Context, env Env) error {
	begun := time.Now()
	s, err := o.ask(ctx, env, local.Request{Do: local.VerbStop})
	if err != nil {
		return err
	}
	kept := "it was in memory, and nothing is left"
	if s.Data != "" {
		kept = "its data stays in " + s.Data
	}
	p, err := o.place(env)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Terminal.Out, "cluster %s stopped in %s (process %d); %s\n", p.Name, shortly(time.Since(begun)), s.PID, kept)
	return err
}

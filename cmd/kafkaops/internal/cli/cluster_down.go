package cli

import (
	"context"
	"errors"
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
nothing does.

Exit codes: 0 it is down, also where it was before: that is a line on stderr; 1 it is
not, or could not be asked.`,
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
	var not notUpError
	if errors.As(err, &not) {
		fmt.Fprintf(env.Terminal.Err, "kafkaops: cluster %s is not up: there is nothing to stop\n", not.place.Name)
		return nil
	}
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

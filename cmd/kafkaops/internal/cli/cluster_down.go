package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/spf13/cobra"
)

// downOptions are the flags of cluster down.
type downOptions struct {
	placeOptions
	purge, yes bool
}

func newClusterDownCmd(env Env) *cobra.Command {
	var o downOptions
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop a local cluster cleanly",
		Long: `Returns when it has stopped. Its data stays, for the next up; of a cluster in memory
nothing does.

With --purge --yes its data is removed for good, also of a cluster that is not up; --purge
alone says what would be. Only what a cluster has written goes: a directory with something
else in it stays, and so does one that --data names.

Exit codes: 0 it is down, also where it was before: that is a line on stderr; 1 it is
not, or could not be asked, or its data could not be removed; 2 --purge without --yes,
and nothing was done.`,
		Example: `  kafkaops cluster down
  kafkaops cluster down --name demo --purge --yes`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	o.register(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.purge, "purge", false, "remove its data too, for good; needs --yes")
	f.BoolVar(&o.yes, "yes", false, "with --purge: do it")
	return cmd
}

func (o *downOptions) run(ctx context.Context, env Env) error {
	if o.yes && !o.purge {
		return usagef("--yes is for --purge: without it nothing is removed")
	}
	p, err := o.place(env)
	if err != nil {
		return err
	}
	if o.purge && !o.yes {
		return o.refusePurge(ctx, env, p)
	}
	begun := time.Now()
	data := p.Data
	s, err := o.ask(ctx, env, local.Request{Do: local.VerbStop})
	var not notUpError
	switch {
	case errors.As(err, &not):
		fmt.Fprintf(env.Terminal.Err, "kafkaops: cluster %s is not up: there is nothing to stop\n", p.Name)
		if err := o.sweep(ctx, p); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		data = s.Data
		kept := "its data stays in " + s.Data
		switch {
		case s.Data == "":
			kept = "it was in memory, and nothing is left"
		case o.purge:
			kept = "its data is in " + s.Data
		}
		if _, err = fmt.Fprintf(env.Terminal.Out, "cluster %s stopped in %s (process %d); %s\n", p.Name, shortly(time.Since(begun)), s.PID, kept); err != nil {
			return err
		}
	}
	if !o.purge || data == "" {
		return nil
	}
	return o.removeData(env, p, data)
}

// sweep removes what a process has left behind that was killed.
func (o *downOptions) sweep(ctx context.Context, p local.Place) error {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	return local.Sweep(ctx, p)
}

// refusePurge says what --yes would do.
func (o *downOptions) refusePurge(ctx context.Context, env Env, p local.Place) error {
	if p.Homeless != nil {
		return usagef("--purge: cluster %s can only be in memory, and nothing of that stays: leave --purge out", p.Name)
	}
	n, err := embedded.BrokersIn(p.Data)
	switch {
	case err != nil:
		return fmt.Errorf("purge cluster %s: %w; nothing was done", p.Name, err)
	case n == 0:
		return usagef("--purge: there is no data of cluster %s in %s: leave --purge out", p.Name, p.Data)
	}
	would := fmt.Sprintf("--purge would stop cluster %s and remove", p.Name)
	var not notUpError
	if _, err := o.ask(ctx, env, local.Request{Do: local.VerbStatus}); errors.As(err, &not) {
		would = fmt.Sprintf("cluster %s is not up, and --purge would remove", p.Name)
	}
	return usagef("%s the data of %s in %s for good: add --yes to do it", would, count(n, "broker"), p.Data)
}

func (o *downOptions) removeData(env Env, p local.Place, data string) error {
	if _, err := os.Stat(data); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(env.Terminal.Err, "kafkaops: there is no data of cluster %s in %s: there is nothing to remove\n", p.Name, data)
		return nil
	}
	if err := embedded.RemoveData(data); err != nil {
		return fmt.Errorf("purge cluster %s: %w", p.Name, err)
	}
	left := ""
	entries, err := os.ReadDir(data)
	switch {
	case err != nil:
		return fmt.Errorf("purge cluster %s: %w", p.Name, err)
	case len(entries) > 0:
		left = fmt.Sprintf("; the directory stays, with what no cluster has written (%s)", count(len(entries), "other name"))
	case o.data != "":
		left = "; the directory stays, empty"
	default:
		if err := os.Remove(data); err != nil {
			return fmt.Errorf("purge cluster %s: %w", p.Name, err)
		}
	}
	_, err = fmt.Fprintf(env.Terminal.Out, "data of cluster %s removed from %s%s\n", p.Name, data, left)
	return err
}

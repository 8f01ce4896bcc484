package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/spf13/cobra"
)

func newClusterCmd(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster <what>",
		Short: "A cluster of your own on this machine: start it, use it, break it on purpose",
		Long: `Brokers and a controller that follow Kafka's rules, in one process: for trying,
testing and teaching, not for data that matters. Any client of Kafka can use them;
every other command of kafkaops asks them as it asks a Kafka, with -b.

A cluster has a name (--name, default: default); its data lies in
$XDG_STATE_HOME/kafkaops/clusters/NAME (~/.local/state without it), or where --data
says. With --ephemeral it is in memory. Commands reach its process by a control
socket that its owner alone can open, in $XDG_RUNTIME_DIR/kafkaops (without it
kafkaops-UID among the temporary files). A cluster in memory has no other file, but
for its log while --detach runs it in the background.`,
		Example: `  kafkaops cluster up --ephemeral
  kafkaops cluster fault slow-disk --broker 3`,
		Args: noSuchCommand,
		RunE: whichOne,
	}
	cmd.AddCommand(
		newClusterUpCmd(env), newClusterDownCmd(env), newClusterStatusCmd(env), newClusterListCmd(env), newClusterTopicsCmd(env),
		newClusterFaultCmd(env), newClusterHealCmd(env), newClusterRestartCmd(env), newClusterBenchCmd(env),
	)
	return cmd
}

// placeOptions are the flags that say which local cluster is meant.
type placeOptions struct {
	name, data string
	timeout    time.Duration
}

const defaultLocalTimeout = 30 * time.Second

func (o *placeOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.name, "name", local.DefaultName, "which local cluster")
	f.StringVar(&o.data, "data", "", "the `directory` of its data, where that is not the one of its name")
	f.DurationVar(&o.timeout, "timeout", defaultLocalTimeout, "bounds the whole command")
	cmd.Flag("data").Annotations = map[string][]string{cobra.BashCompSubdirsInDir: {}}
}

// place is where the cluster is, the flags checked.
func (o *placeOptions) place(env Env) (local.Place, error) {
	if o.timeout < minTimeout {
		return local.Place{}, usagef("--timeout %s is too short: the least is %s", o.timeout, minTimeout)
	}
	p, err := local.Find(env.Getenv, o.name, o.data)
	if err != nil {
		return p, usageError{err}
	}
	return p, nil
}

// ask sends one request to the process of the cluster.
func (o *placeOptions) ask(ctx context.Context, env Env, req local.Request) (local.Status, error) {
	p, err := o.place(env)
	if err != nil {
		return local.Status{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	a, err := local.Ask(ctx, p, req)
	return a.Status, explainAsk(p, o.timeout, req, err)
}

// notUpError says that nobody runs the cluster that is meant.
type notUpError struct{ place local.Place }

func (e notUpError) Error() string {
	return fmt.Sprintf("cluster %s is not up: start it with %s", e.place.Name, typed("cluster up", e.place.Flags()...))
}

// explainAsk says what to try.
func explainAsk(p local.Place, timeout time.Duration, req local.Request, err error) error {
	switch {
	case errors.Is(err, local.ErrNotUp):
		return notUpError{p}
	case errors.Is(err, context.DeadlineExceeded):
		return &lateError{p, req.Do, timeout}
	case err == nil:
		return nil
	}
	err = fmt.Errorf("cluster %s: %w", p.Name, err)
	var refused *local.RefusedError
	if errors.As(err, &refused) && refused.Usage {
		return usageError{err}
	}
	return err
}

// lateError says that what was asked for was not done in time.
type lateError struct {
	place   local.Place
	do      local.Verb
	timeout time.Duration
}

func (e *lateError) Error() string {
	return fmt.Sprintf("cluster %s: %s was not done within %s: try a longer --timeout; %s says how it stands",
		e.place.Name, e.do, e.timeout, typed("cluster status", e.place.Flags()...))
}

// Unwrap: what it is to who looks for the reason.
func (e *lateError) Unwrap() error { return context.DeadlineExceeded }

// controllerState asks what the controller does, for an error whose cause it may be: also
// where the time of ctx is up. false where nobody answers.
func controllerState(ctx context.Context, p local.Place) (embedded.State, bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), minTimeout*100)
	defer cancel()
	a, err := local.Ask(ctx, p, local.Request{Do: local.VerbStatus})
	if err != nil {
		return "", false
	}
	for _, n := range a.Status.Nodes {
		if n.Controller {
			return embedded.State(n.State), true
		}
	}
	return "", false
}

// typed is a command of ours as it would be typed.
func typed(command string, args ...string) string { return local.Command(command, args...) }

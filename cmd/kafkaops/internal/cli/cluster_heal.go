package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/spf13/cobra"
)

func newClusterHealCmd(env Env) *cobra.Command {
	var o placeOptions
	cmd := &cobra.Command{
		Use:   "heal",
		Short: "End all faults: links, disks, pauses, fences; restart who is down",
		Long: `Returns when every broker is up again: where one was down that may take 13 seconds, see
kafkaops cluster restart. Clocks that have jumped stay as they are. Replicas that fell
behind catch up after it: kafkaops lag shows how they do.`,
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
	done := tellWait(env, "waiting until every broker is unfenced: one that was down has to wait for the end of its last session, about 13 s with Kafka's settings")
	_, err = o.ask(ctx, env, local.Request{Do: local.VerbHeal})
	done()
	if err != nil {
		return o.explainHeal(env, before, err)
	}
	clocks, err := o.clocks(env, before)
	if err != nil {
		return err
	}
	what := "no fault was in force"
	switch n := len(before.Faults) - len(clocks); {
	case n > 0:
		what = count(n, "fault") + " ended"
	case len(clocks) > 0:
		what = "no fault was in force that it ends"
	}
	lines := append([]string{fmt.Sprintf("healed in %s: %s, every broker is up", shortly(time.Since(begun)), what)}, clocks...)
	_, err = fmt.Fprintln(env.Terminal.Out, strings.Join(lines, "\n"))
	return err
}

// explainHeal says where no --timeout may be long enough: of a node that had failed by
// itself, and was started again.
func (o *placeOptions) explainHeal(env Env, before local.Status, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	broken := map[int]bool{}
	for _, f := range before.Faults {
		broken[f.Broker] = broken[f.Broker] || f.Kind == local.FailDisk || f.Kind == local.FillDisk
	}
	var failed []string
	for _, n := range before.Nodes {
		if n.Error != "" && !broken[n.ID] {
			failed = append(failed, fmt.Sprintf("%s had failed (%s)", nodeName(n.ID), n.Error))
		}
	}
	p, placed := o.place(env)
	if placed != nil || len(failed) == 0 {
		return err
	}
	return fmt.Errorf("cluster %s: heal was not done within %s: %s, and what is not mended will fail again; else try a longer --timeout; %s shows how all stand",
		p.Name, o.timeout, strings.Join(failed, ", "), typed("cluster status", p.Flags()...))
}

// clocks are lines of those that have jumped, and how to set them back.
func (o *placeOptions) clocks(env Env, s local.Status) (lines []string, err error) {
	p, err := o.place(env)
	if err != nil {
		return nil, err
	}
	for _, f := range s.Faults {
		if f.Kind != local.JumpClock {
			continue
		}
		way := "ahead"
		if f.By < 0 {
			way = "behind"
		}
		node := nodeFlag{f.Broker}
		back := typed("cluster fault jump-clock", append(p.Flags(), "--broker", node.String(), "--by", (-f.By).String())...)
		lines = append(lines, fmt.Sprintf("the clock of %s stays %s %s: %s sets it back", nodeName(f.Broker), f.By.Abs(), way, back))
	}
	return lines, nil
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
up again; its replicas catch up after that. As in Kafka a broker cannot come back before
the session of its last life is over, also where that ended cleanly, and it asks after
pauses that double: with Kafka's broker.session.timeout.ms that takes about 13 s. Set it
lower with cluster up --set. The controller restarts at once, without giving anything
away.`,
		Example: `  kafkaops cluster restart --broker 2
  kafkaops cluster restart --broker controller`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := node.given("broker"); err != nil {
				return err
			}
			begun := time.Now()
			done := tellWait(env, "waiting until "+node.waitsFor())
			_, err := o.ask(cmd.Context(), env, local.Request{Do: local.VerbRestart, Broker: node.id})
			done()
			if err != nil {
				return o.explainRestart(cmd.Context(), env, node, err)
			}
			_, err = fmt.Fprintf(env.Terminal.Out, "%s is up again after %s\n", nodeName(node.id), shortly(time.Since(begun)))
			return err
		},
	}
	o.register(cmd)
	cmd.Flags().Var(&node, "broker", "which one: its `id`, or controller")
	return cmd
}

// waitsFor is what a restart of the node takes long for.
func (n *nodeFlag) waitsFor() string {
	if n.id == embedded.ControllerID {
		return "the controller has stopped and is up again"
	}
	return nodeName(n.id) + " is unfenced: it has to wait for the end of its last session, about 13 s with Kafka's settings"
}

// tellWait says on a terminal what is waited for, once that takes long. The end of the wait
// is told by the function that it returns.
func tellWait(env Env, what string) (done func()) {
	if !env.Terminal.IsTTY {
		return func() {}
	}
	const long = time.Second
	over := make(chan struct{})
	var told sync.WaitGroup
	told.Go(func() {
		select {
		case <-time.After(long):
			fmt.Fprintf(env.Terminal.Err, "kafkaops: %s\n", what)
		case <-over:
		}
	})
	return func() {
		close(over)
		told.Wait()
	}
}

// explainRestart says where no --timeout is long enough: a broker is up when the controller
// has unfenced it.
func (o *placeOptions) explainRestart(ctx context.Context, env Env, node nodeFlag, err error) error {
	if node.id == embedded.ControllerID || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	p, placed := o.place(env)
	if placed != nil {
		return err
	}
	state, answered := controllerState(ctx, p)
	if !answered || state == embedded.Running {
		return err
	}
	return fmt.Errorf("cluster %s: %s was started, and is not up within %s: the controller, which alone unfences it, is %s; %s brings it back, %s shows how all stand",
		p.Name, nodeName(node.id), o.timeout, state, typed("cluster heal", p.Flags()...), typed("cluster status", p.Flags()...))
}

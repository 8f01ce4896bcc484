package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/tui"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

// topOptions are the flags of top.
type topOptions struct {
	lookOptions
	replay             string
	speed              float64
	speedGiven         bool
	agents             agentsFlag
	embedded, readOnly bool
}

func newTopCmd(env Env) *cobra.Command {
	var o topOptions
	cmd := &cobra.Command{
		Use:   "top [TOPIC…]",
		Short: "Let me watch: replication, live in the terminal",
		Long: `Shows the cluster and goes on showing it: the verdict with its reasons and its cause,
partitions with the worst first, each replica's lag in records and in time and whether
it grows or drains, brokers, changes of ISRs with their causes, groups, the quorum, what
diagnose finds and what tune would say of what was seen so far.

Keys are as in k9s: ? lists them, : goes to a screen, / filters, enter opens, esc goes
back, Shift-letters sort, p holds the screen, [ and ] step through what was seen, y copies
a row as JSON, w writes all of it into a recording, q quits. A cluster that does not answer
is a state of the screen: the last look stays, greyed, with its age and the reason.

--embedded starts three brokers in memory with a workload, and has keys that break a broker
and heal it, after the plan was shown and confirmed; to other commands it is the local
cluster top.

--replay FILE plays what kafkaops record kept, --speed times as fast as it was: { and }
wind it, < and > change its speed.

--jmx reads Kafka's own meters beside the looks: how idle request handlers and network
threads are, and how long flushes take. An agent that does not answer is told, and no
error.

Nothing is changed by watching. On the screen of the advice ctrl+a applies, after the plan
was shown and confirmed, what can be changed while brokers run, as tune --apply does.
Where no terminal is there to draw on (top | cat, TERM=dumb), or with -o json or yaml, it
prints what describe prints, once.

A TOPIC with any of *?[ is a glob; quote it from the shell. A cluster whose topics are
many is looked at less often: between two looks passes three times what one took.`,
		Example: `  kafkaops top -b kafka-1:9092
  kafkaops top 'orders*' --interval 1s -b kafka-1:9092
  kafkaops top --embedded
  kafkaops top --replay day.rec --speed 60`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.speedGiven = cmd.Flags().Changed("speed")
			return o.run(cmd.Context(), env, args)
		},
	}
	o.register(cmd, env, defaultInterval)
	f := cmd.Flags()
	f.StringVar(&o.replay, "replay", "", "play a `file` of kafkaops record")
	f.Float64Var(&o.speed, "speed", 1, "with --replay: play so many `times` as fast, 0.125 to 1024")
	o.agents.register(cmd, "show how busy the brokers are")
	f.BoolVar(&o.embedded, "embedded", false, "start a cluster of its own in memory, with a workload, and keys that break it and heal it")
	f.BoolVar(&o.readOnly, "readonly", false, "offer nothing that changes the cluster; so it is in a context that is readonly")
	_ = cmd.MarkFlagFilename("replay")
	return cmd
}

func (o *topOptions) run(ctx context.Context, env Env, args []string) error {
	view, filter, err := o.shown(env, args)
	if err != nil {
		return err
	}
	if o.interval < minInterval {
		return usagef("--interval %s is too short: the least is %s", o.interval, minInterval)
	}
	cfg := tui.Config{Interval: o.interval, Color: view.Color, Now: time.Now}
	if err := o.agents.check(); err != nil {
		return err
	}
	if o.readOnly {
		cfg.ReadOnly = "--readonly"
	}
	screen := view.Terminal && env.Terminal.InPlace() && view.Format != render.FormatWide
	switch {
	case o.replay != "" && o.embedded:
		return usagef("--replay and --embedded: use one of them")
	case o.speedGiven && o.replay == "":
		return usagef("--speed is how fast a recording plays: name one by --replay")
	case !(o.speed >= tui.SpeedLeast && o.speed <= tui.SpeedMost): // NaN is neither
		return usagef("--speed %g: use %g to %g", o.speed, tui.SpeedLeast, tui.SpeedMost)
	case o.replay != "" && len(o.agents.jmx) > 0:
		return usagef("--jmx reads what is now, and --replay is a recording: use kafkaops record --jmx")
	case o.embedded && o.bootstrap+o.contextName != "":
		return usagef("--embedded starts a cluster of its own: name no other")
	case o.replay != "":
		return o.runReplay(ctx, env, cfg, view, filter, screen)
	}
	cfg.Title = "live"
	if o.embedded {
		e, err := startEmbedded(ctx, env)
		if err != nil {
			return err
		}
		defer func() { _ = e.close() }() // it was in memory
		cfg.Title, cfg.Actions, env.Getenv = "embedded", e.actions(), e.demo.getenv
	}
	t, err := o.resolve(env)
	if err != nil {
		return err
	}
	t.tellWarnings(env)
	if t.context != nil && t.context.ReadOnly {
		cfg.ReadOnly = fmt.Sprintf("context %s is readonly", t.context.Name)
	}
	if !screen {
		return o.printOnce(ctx, env, view, filter, t)
	}
	cfg.Actions = append(cfg.Actions, applyAction(env, t, o.timeout))
	if !o.embedded {
		defer leaner(env)()
	}
	live := newTopLive(t, filter, o.interval, o.timeout)
	defer live.close()
	if live.meters, err = o.agents.of(t, o.timeout); err != nil {
		return err
	}
	cfg.Source, cfg.Write = live, writeSeen
	return tui.Run(ctx, cfg, env.Terminal.In, env.Terminal.Out)
}

// leaner has garbage collected when there is half as much of it as of what is in use,
// rather than as much, and returns what ends that: each look at a large cluster is garbage
// a few seconds later. GOGC goes before.
func leaner(env Env) (end func()) {
	const percent = 50
	if env.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// printOnce is what there is without a terminal: one look.
func (o *topOptions) printOnce(ctx context.Context, env Env, view render.View, filter topicFilter, t *target) error {
	s := &session{
		opts: options{timeout: o.timeout}, view: view, target: t, terminal: env.Terminal,
		source: source.New(t.brokers, o.timeout, t.options()...),
	}
	q := filter.query()
	q.Parts = inspect.PartELR | inspect.PartReachable
	snap, err := s.ask(ctx, q, env.Terminal.Err)
	if err != nil {
		return err
	}
	verdict := snap.Verdict()
	if err := render.Overview(env.Terminal.Out, view, snap, &verdict); err != nil {
		return err
	}
	return outcome(snap, true)
}

// writeSeen keeps the looks that a screen has seen in a new recording in the current
// directory.
func writeSeen(snaps []*inspect.Snapshot) (name string, err error) {
	if len(snaps) == 0 {
		return "", fmt.Errorf("nothing was seen yet")
	}
	last := snaps[len(snaps)-1]
	name = "kafkaops-top-" + last.TakenAt.UTC().Format("20060102T150405Z") + ".rec"
	if at, err := filepath.Abs(name); err == nil {
		name = at
	}
	if _, err := os.Lstat(name); err == nil {
		return "", fmt.Errorf("%s is there already", name)
	}
	w, err := recording.Open(name, last.ClusterID.Or(""))
	if err != nil {
		return "", err
	}
	for _, s := range snaps {
		if err == nil {
			err = w.AppendLook(s)
		}
	}
	if closed := w.Close(); err == nil {
		err = closed
	}
	return name, err
}

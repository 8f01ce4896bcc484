package cli

import (
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

const (
	defaultTimeout  = 10 * time.Second
	defaultInterval = 2 * time.Second
	// minTimeout: a third of it is what one request gets.
	minTimeout = 30 * time.Millisecond
	// maxTimeout keeps within the hour that connections allow for any answer.
	maxTimeout = time.Hour
	// minInterval keeps a typing mistake from becoming a load on the cluster.
	minInterval = 100 * time.Millisecond
)

// options are the flags of every command that asks a cluster.
type options struct {
	targetOptions
	viewOptions
	timeout  time.Duration
	watch    bool
	interval time.Duration
}

// viewOptions are the flags that say how an answer looks.
type viewOptions struct {
	output string
	color  string
}

func (o *options) register(cmd *cobra.Command, env Env) {
	o.registerConnection(cmd, env)
	o.viewOptions.register(cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.watch, "watch", "w", false, "repeat until interrupted; in place on a terminal")
	f.DurationVar(&o.interval, "interval", defaultInterval, "time between passes of --watch and between samples")
}

// registerConnection adds what says which cluster, and how long to wait for it.
func (o *options) registerConnection(cmd *cobra.Command, env Env) {
	o.targetOptions.register(cmd, env)
	cmd.Flags().DurationVar(&o.timeout, "timeout", defaultTimeout, "bounds one whole pass, from the first dial to the last answer; one request gets a third of it")
}

func (o *viewOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", string(render.FormatTable), "table, wide, json or yaml")
	f.StringVar(&o.color, "color", string(term.ColorAuto), "auto, always or never; NO_COLOR is honoured, pipes and JSON are never coloured")
	complete(cmd, "output", "table", "wide", "json", "yaml")
	complete(cmd, "color", "auto", "always", "never")
}

// complete offers fixed words for a flag's value.
func complete(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// view checks the flags.
func (o *viewOptions) view(t *term.Terminal) (render.View, error) {
	format, err := render.ParseFormat(o.output)
	if err != nil {
		return render.View{}, usagef("--output: %w", err)
	}
	color, err := term.ParseColor(o.color)
	if err != nil {
		return render.View{}, usagef("--color: %w", err)
	}
	return render.View{
		Format: format, Terminal: t.IsTTY && !format.Structured(), Color: t.UseColor(color, format.Structured()),
	}, nil
}

// session is a command's options, checked, with what they lead to.
type session struct {
	opts     options
	view     render.View
	target   *target
	source   snapshotter
	terminal *term.Terminal
	// earlier is what passes found out of since when partitions are unhealthy.
	earlier isrlog.Earlier
}

// open checks the options. Whatever is wrong with them is a usage error, found
// before anything is asked.
func (o *options) open(env Env) (*session, error) {
	view, err := o.view(env.Terminal)
	if err != nil {
		return nil, err
	}
	if err := checkTimeout(o.timeout); err != nil {
		return nil, err
	}
	if o.interval < minInterval {
		return nil, usagef("--interval %s is too short: the least is %s", o.interval, minInterval)
	}
	view.Stream = o.watch
	t, err := o.resolve(env)
	if err != nil {
		return nil, err
	}
	t.tellWarnings(env)
	return &session{
		opts: *o, view: view, target: t, terminal: env.Terminal,
		source: source.New(t.brokers, o.timeout, t.options()...),
	}, nil
}

func checkTimeout(timeout time.Duration) error {
	switch {
	case timeout < minTimeout:
		return usagef("--timeout %s is too short: the least is %s", timeout, minTimeout)
	case timeout > maxTimeout:
		return usagef("--timeout %s is too long: the most is %s", timeout, maxTimeout)
	}
	return nil
}

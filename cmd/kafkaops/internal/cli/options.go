package cli

import (
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

const (
	envBootstrap = "KAFKAOPS_BOOTSTRAP_SERVER"

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
	bootstrap     string
	commandConfig string
	timeout       time.Duration
	output        string
	watch         bool
	interval      time.Duration
	color         string
}

func (o *options) register(cmd *cobra.Command) {
	f := cmd.Flags()
	o.registerConnection(cmd)
	f.StringVarP(&o.output, "output", "o", string(render.FormatTable), "table, wide, json or yaml")
	f.BoolVarP(&o.watch, "watch", "w", false, "repeat until interrupted; in place on a terminal")
	f.DurationVar(&o.interval, "interval", defaultInterval, "time between passes of --watch and between samples")
	f.StringVar(&o.color, "color", string(term.ColorAuto), "auto, always or never; NO_COLOR is honoured, pipes and JSON are never coloured")
	complete(cmd, "output", "table", "wide", "json", "yaml")
	complete(cmd, "color", "auto", "always", "never")
}

// registerConnection adds what says which cluster, and how long to wait for it.
func (o *options) registerConnection(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.bootstrap, "bootstrap-server", "b", "", "`host:port,…` to begin with (env "+envBootstrap+")")
	o.registerCommandConfig(cmd)
	f.DurationVar(&o.timeout, "timeout", defaultTimeout, "bounds one whole pass, from the first dial to the last answer; one request gets a third of it")
}

// complete offers fixed words for a flag's value.
func complete(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// session is a command's options, checked, with what they lead to.
type session struct {
	opts     options
	view     render.View
	source   snapshotter
	terminal *term.Terminal
}

// open checks the options. Whatever is wrong with them is a usage error, found
// before anything is asked.
func (o *options) open(env Env) (*session, error) {
	format, err := render.ParseFormat(o.output)
	if err != nil {
		return nil, usagef("--output: %w", err)
	}
	color, err := term.ParseColor(o.color)
	if err != nil {
		return nil, usagef("--color: %w", err)
	}
	if err := o.checkTimeout(); err != nil {
		return nil, err
	}
	if o.interval < minInterval {
		return nil, usagef("--interval %s is too short: the least is %s", o.interval, minInterval)
	}
	conf, err := o.connection(env)
	if err != nil {
		return nil, err
	}
	t := env.Terminal
	return &session{
		opts: *o, terminal: t,
		source: source.New(conf, o.timeout),
		view: render.View{
			Format: format, Terminal: t.IsTTY && !format.Structured(),
			Color: t.UseColor(color, format.Structured()), Stream: o.watch,
		},
	}, nil
}

func (o *options) checkTimeout() error {
	switch {
	case o.timeout < minTimeout:
		return usagef("--timeout %s is too short: the least is %s", o.timeout, minTimeout)
	case o.timeout > maxTimeout:
		return usagef("--timeout %s is too long: the most is %s", o.timeout, maxTimeout)
	}
	return nil
}

// connection says how to reach the cluster that is named.
func (o *options) connection(env Env) (connect.Config, error) {
	bootstrap, from := o.bootstrap, "--bootstrap-server"
	if bootstrap == "" {
		bootstrap, from = env.Getenv(envBootstrap), envBootstrap
	}
	security, err := o.security(env)
	if err != nil {
		return connect.Config{}, err
	}
	if bootstrap == "" {
		if bootstrap, err = security.Bootstrap(); err != nil {
			return connect.Config{}, err
		}
	}
	if bootstrap == "" {
		return connect.Config{}, usagef("no cluster named: use --bootstrap-server (-b) host:port, or set %s", envBootstrap)
	}
	addrs, err := connect.ParseBootstrap(bootstrap)
	if err != nil {
		return connect.Config{}, usagef("%s: %w", from, err)
	}
	return connect.Config{Bootstrap: addrs, Security: security}, nil
}

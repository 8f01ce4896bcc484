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
	f.StringVarP(&o.bootstrap, "bootstrap-server", "b", "", "`host:port,…` to begin with (env "+envBootstrap+")")
	o.registerCommandConfig(cmd)
	f.DurationVar(&o.timeout, "timeout", defaultTimeout, "bounds one whole pass, from the first dial to the last answer; one request gets a third of it")
	f.StringVarP(&o.output, "output", "o", string(render.FormatTable), "table, wide, json or yaml")
	f.BoolVarP(&o.watch, "watch", "w", false, "repeat until interrupted; in place on a terminal")
	f.DurationVar(&o.interval, "interval", defaultInterval, "time between passes of --watch and between samples")
	f.StringVar(&o.color, "color", string(term.ColorAuto), "auto, always or never; NO_COLOR is honoured, pipes and JSON are never coloured")
	complete(cmd, "output", "table", "wide", "json", "yaml")
	complete(cmd, "color", "auto", "always", "never")
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
	// bootstrap and principal are what a tool of Kafka's would be told: host:port
	// and User:name, the latter empty where it is not certain.
	bootstrap, principal string
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
	switch {
	case o.timeout < minTimeout:
		return nil, usagef("--timeout %s is too short: the least is %s", o.timeout, minTimeout)
	case o.timeout > maxTimeout:
		return nil, usagef("--timeout %s is too long: the most is %s", o.timeout, maxTimeout)
	case o.interval < minInterval:
		return nil, usagef("--interval %s is too short: the least is %s", o.interval, minInterval)
	}
	bootstrap, from := o.bootstrap, "--bootstrap-server"
	if bootstrap == "" {
		bootstrap, from = env.Getenv(envBootstrap), envBootstrap
	}
	security, err := o.security(env)
	if err != nil {
		return nil, err
	}
	if bootstrap == "" {
		if bootstrap, err = security.Bootstrap(); err != nil {
			return nil, err
		}
	}
	if bootstrap == "" {
		return nil, usagef("no cluster named: use --bootstrap-server (-b) host:port, or set %s", envBootstrap)
	}
	addrs, err := connect.ParseBootstrap(bootstrap)
	if err != nil {
		return nil, usagef("%s: %w", from, err)
	}
	t := env.Terminal
	return &session{
		opts: *o, terminal: t, bootstrap: addrs[0], principal: security.Principal(),
		source: source.New(connect.Config{Bootstrap: addrs, Security: security}, o.timeout),
		view: render.View{
			Format: format, Terminal: t.IsTTY && !format.Structured(),
			Color: t.UseColor(color, format.Structured()), Stream: o.watch,
		},
	}, nil
}

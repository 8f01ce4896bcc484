package cli

import (
	"errors"
	"fmt"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/contexts"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

const (
	envBootstrap        = "KAFKAOPS_BOOTSTRAP_SERVER"
	envCommandConfig    = "KAFKAOPS_COMMAND_CONFIG"
	envController       = "KAFKAOPS_CONTROLLER"
	envControllerConfig = "KAFKAOPS_CONTROLLER_CONFIG"
	envContext          = "KAFKAOPS_CONTEXT"
)

// targetOptions are the flags that say which cluster is meant and how to reach it.
type targetOptions struct {
	contextName      string
	bootstrap        string
	commandConfig    string
	controller       string
	controllerConfig string
	// quorumAlone commands need no broker where controllers are given.
	quorumAlone bool
}

func (o *targetOptions) register(cmd *cobra.Command, env Env) {
	// Three dots: the library counts bytes where it aligns the help.
	f := cmd.Flags()
	f.StringVarP(&o.bootstrap, "bootstrap-server", "b", "", "`host:port,...` to begin with (env "+envBootstrap+")")
	f.StringVar(&o.commandConfig, "command-config", "", "a Java client.properties, used unchanged, for TLS and SASL; its bootstrap.servers where none is named (env "+envCommandConfig+")")
	f.StringVar(&o.controller, "controller", "", "`host:port,...` of controllers: ask them for the quorum, not the brokers (env "+envController+")")
	f.StringVar(&o.controllerConfig, "controller-config", "", "a client.properties for the controllers; --command-config where none is named (env "+envControllerConfig+")")
	f.StringVar(&o.contextName, "context", "", "a cluster by its `name` in config.yaml (env "+envContext+"); kafkaops context --help has the rules")
	for _, flag := range []string{"command-config", "controller-config"} {
		cmd.Flag(flag).Annotations = map[string][]string{cobra.BashCompFilenameExt: {"properties", "conf", "cfg"}}
	}
	_ = cmd.RegisterFlagCompletionFunc("context", completeContexts(env, nil))
}

// target is the cluster that is meant.
type target struct {
	// context is what a part of it comes from; nil for none. Commands that change
	// a cluster have to refuse where it is ReadOnly.
	context *contexts.Context
	// file is where the context is written.
	file string
	// brokers has no addresses where only controllers are asked.
	brokers connect.Config
	// controllers is nil where they are asked through the brokers.
	controllers *connect.Config
	// controllersAt is how they are reached where brokers tell their addresses, or where
	// controllers are: it has none of its own then.
	controllersAt connect.Config
	// warnings are lines for stderr.
	warnings []string
}

// given is a value with where it comes from: a flag, a variable of the
// environment, or nothing of both.
type given struct{ value, from string }

// first is the flag, else the environment; an empty one is none.
func (o *targetOptions) first(env Env, flag, value, variable string) given {
	if value != "" {
		return given{value, "--" + flag}
	}
	return given{env.Getenv(variable), variable}
}

// resolve finds out which cluster is meant: for each field the flag, then the
// environment, then the context. What names a cluster by itself (an address, or a
// command config with bootstrap.servers) replaces the current context as a whole,
// so that one cluster's credentials never go to another one that was named by
// hand; a context that is named by hand as well keeps its other fields.
func (o *targetOptions) resolve(env Env) (*target, error) {
	bootstrap := o.first(env, "bootstrap-server", o.bootstrap, envBootstrap)
	config := o.first(env, "command-config", o.commandConfig, envCommandConfig)
	r := &resolving{env: env, read: map[string]*connect.Security{}}
	if err := r.useNamed(o.first(env, "context", o.contextName, envContext)); err != nil {
		return nil, err
	}
	if r.context == nil && bootstrap.value == "" {
		security, err := r.security(config.value)
		if err != nil {
			return nil, err
		}
		own, err := security.Bootstrap()
		if err != nil {
			return nil, err
		}
		if own == "" {
			if err := r.useCurrent(); err != nil {
				return nil, err
			}
		}
	}
	c := r.context
	if c == nil {
		c = &contexts.Context{}
	}
	var err error
	if r.brokers.Bootstrap, err = r.addresses(bootstrap, c.Bootstrap, connect.ParseBootstrap); err != nil {
		return nil, err
	}
	commands := r.path(config, c.CommandConfig)
	if r.brokers.Security, err = r.security(commands); err != nil {
		return nil, err
	}
	controllers := o.first(env, "controller", o.controller, envController)
	addrs, err := r.addresses(controllers, c.Controller, connect.ParseControllers)
	if err != nil {
		return nil, err
	}
	path := r.path(o.first(env, "controller-config", o.controllerConfig, envControllerConfig), c.ControllerConfig)
	if path == "" {
		path = commands
	}
	r.controllersAt = connect.Config{Bootstrap: addrs}
	if r.controllersAt.Security, err = r.security(path); err != nil {
		return nil, err
	}
	if len(addrs) > 0 {
		r.controllers = &r.controllersAt
	}
	return &r.target, o.complete(&r.target)
}

// complete takes bootstrap.servers of the command config where no address is
// named, and refuses to go on without any.
func (o *targetOptions) complete(t *target) error {
	if len(t.brokers.Bootstrap) > 0 {
		return nil
	}
	text, err := t.brokers.Security.Bootstrap()
	switch {
	case err != nil:
		return err
	case text != "":
		t.brokers.Bootstrap, err = connect.ParseBootstrap(text)
		return err
	case o.quorumAlone && t.controllers != nil:
		return nil
	case t.context != nil:
		return usagef("context %q names no cluster: give it a bootstrap-server in %s:%d", t.context.Name, t.file, t.context.Line)
	}
	return errNoCluster
}

// errNoCluster: neither a flag nor the environment nor a context names one.
var errNoCluster = usagef("no cluster named: use --bootstrap-server (-b) host:port, set %s, or choose a context (kafkaops context)", envBootstrap)

// resolving is a target in the making.
type resolving struct {
	target
	env Env
	// byFlag: --context names the context.
	byFlag bool
	// read are the config files that were read.
	read map[string]*connect.Security
}

// useNamed takes the context that a flag or the environment names, if any.
func (r *resolving) useNamed(name given) error {
	if name.value == "" {
		return nil
	}
	file, err := contexts.Read(contexts.Path(r.env.Getenv))
	if err != nil {
		return err
	}
	if r.context, err = file.Get(name.value); err != nil {
		return usagef("%s: %w", name.from, err)
	}
	r.file, r.byFlag = file.Path, name.from != envContext
	return nil
}

// useCurrent takes the current context, if there is one.
func (r *resolving) useCurrent() error {
	file, err := contexts.Read(contexts.Path(r.env.Getenv))
	if err != nil {
		return err
	}
	r.file = file.Path
	r.context, err = file.GetCurrent()
	return err
}

// addresses are those given, else the context's.
func (r *resolving) addresses(g given, ofContext []string, parse func(string) ([]string, error)) ([]string, error) {
	if g.value == "" {
		return ofContext, nil
	}
	r.tellReplaced(g, len(ofContext) > 0)
	addrs, err := parse(g.value)
	if err != nil {
		return nil, usagef("%s: %w", g.from, err)
	}
	return addrs, nil
}

// path is the one given, else the context's.
func (r *resolving) path(g given, ofContext string) string {
	if g.value == "" {
		return ofContext
	}
	r.tellReplaced(g, ofContext != "")
	return g.value
}

// tellReplaced warns of a variable that comes before what --context says: whoever
// types a context may not remember what the shell has exported.
func (r *resolving) tellReplaced(g given, set bool) {
	if set && r.byFlag && g.from != "" && g.from[0] != '-' {
		r.warnings = append(r.warnings, fmt.Sprintf("%s comes before what context %q says: unset it to use the context's", g.from, r.context.Name))
	}
}

// security reads a config file, once; nil for none: then all is plain text.
func (r *resolving) security(path string) (*connect.Security, error) {
	if path == "" {
		return nil, nil
	}
	if security, ok := r.read[path]; ok {
		return security, nil
	}
	security, err := connect.ReadProperties(path)
	if err != nil {
		return nil, err
	}
	r.read[path] = security
	r.warnings = append(r.warnings, security.Warnings()...)
	return security, nil
}

// tellWarnings prints them.
func (t *target) tellWarnings(env Env) {
	for _, w := range t.warnings {
		fmt.Fprintf(env.Terminal.Err, "kafkaops: %s\n", render.Clean(w))
	}
}

// options are what the Source has to know beside the brokers.
func (t *target) options() []source.Option {
	var opts []source.Option
	if t.controllers != nil {
		opts = append(opts, source.WithControllers(*t.controllers))
	}
	if t.context != nil && t.context.ClusterID != "" {
		opts = append(opts, source.ExpectCluster(t.context.ClusterID))
	}
	return opts
}

// explain says of a cluster that is the wrong one who expects another.
func (t *target) explain(err error) error {
	var wrong *source.WrongClusterError
	if t.context == nil || !errors.As(err, &wrong) {
		return err
	}
	expects := fmt.Sprintf("and context %q expects cluster %s (%s:%d): nothing more was asked", t.context.Name, wrong.Expected, t.file, t.context.Line)
	if id, ok := wrong.Got.Get(); ok {
		return fmt.Errorf("%s is of cluster %s, %s", wrong.Address, id, expects)
	}
	if wrong.Hint != "" {
		expects += "; " + wrong.Hint
	}
	return fmt.Errorf("%s does not tell which cluster it is of, %s", wrong.Address, expects)
}

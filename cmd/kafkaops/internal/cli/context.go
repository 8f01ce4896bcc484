package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/contexts"
	"github.com/spf13/cobra"
)

func newContextCmd(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "context <what>",
		Short: "Clusters by name: list them, choose one, show what it stands for",
		Long: `Clusters have names in $XDG_CONFIG_HOME/kafkaops/config.yaml (~/.config without it):

  current-context: prod
  contexts:
    prod:
      bootstrap-server: [kafka-1:9094, kafka-2:9094]   # or one text with commas
      command-config: prod.properties                  # from this file's directory
      controller: controller-1:9093
      controller-config: controllers.properties
      cluster-id: 64bNKcnqSLylJY2lNVGf3g               # any other is refused
      readonly: true                                   # nothing may change it
      jmx: http://kafka-1:7777,http://kafka-2:7777     # agents, as of isr --jmx
    staging:
      bootstrap-server: kafka.staging:9092

Every command takes the current one, or the one that --context NAME or
KAFKAOPS_CONTEXT names. For each field a flag comes first, then the environment,
then the context. An address by hand (-b, KAFKAOPS_BOOTSTRAP_SERVER, or a command
config with bootstrap.servers) replaces the current context as a whole, its
credentials and its expected cluster-id too; beside a context that is named by hand
it replaces the addresses alone.

Where cluster-id is set, a command that is led to another cluster, or to one that
does not tell its id, ends with exit code 1 before it asks or shows anything more.`,
		Example: `  kafkaops context list
  kafkaops context use prod`,
		Args: noSuchCommand,
		RunE: whichOne,
	}
	cmd.AddCommand(newContextListCmd(env), newContextUseCmd(env), newContextShowCmd(env))
	return cmd
}

func newContextListCmd(env Env) *cobra.Command {
	var o viewOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "All contexts, the current one marked",
		Example: `  kafkaops context list
  kafkaops context list -o json | jq -r '.items[].name'`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return o.runContextList(env) },
	}
	o.register(cmd)
	return cmd
}

func (o *viewOptions) runContextList(env Env) error {
	view, err := o.view(env.Terminal)
	if err != nil {
		return err
	}
	view.Width = env.Terminal.Width
	file, err := contexts.Read(contexts.Path(env.Getenv))
	if err != nil {
		return err
	}
	items := make([]render.ContextItem, len(file.Contexts))
	for i := range file.Contexts {
		items[i] = contextItem(file, &file.Contexts[i])
	}
	if len(items) == 0 && view.Terminal {
		_, err := fmt.Fprintf(env.Terminal.Out, "no contexts: write some into %s (kafkaops context --help)\n", render.Clean(file.Path))
		return err
	}
	if _, err := file.GetCurrent(); err != nil {
		fmt.Fprintf(env.Terminal.Err, "kafkaops: %s\n", render.Clean(err.Error()))
	}
	return render.Contexts(env.Terminal.Out, view, time.Now(), items)
}

func newContextUseCmd(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "use NAME",
		Short: "Make a context the current one",
		Long: `Writes current-context into the file and leaves everything else of it as it is,
comments too.`,
		Example: `  kafkaops context use prod
  kafkaops context use staging && kafkaops describe`,
		Args:              oneContext,
		ValidArgsFunction: completeContexts(env, func(args []string) bool { return len(args) > 0 }),
		RunE:              func(_ *cobra.Command, args []string) error { return useContext(env, args[0]) },
	}
}

// oneContext is for commands that take one name.
func oneContext(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s takes the name of one context, got %d", cmd.CommandPath(), len(args))
	}
	return nil
}

func useContext(env Env, name string) error {
	file, err := contexts.Read(contexts.Path(env.Getenv))
	if err != nil {
		return err
	}
	if _, err := file.Get(name); err != nil {
		return usageError{err}
	}
	if err := file.Use(name); err != nil {
		return err
	}
	for _, variable := range []string{envContext, envBootstrap} {
		if env.Getenv(variable) != "" {
			fmt.Fprintf(env.Terminal.Err, "kafkaops: %s is set and comes before the current context\n", variable)
		}
	}
	_, err = fmt.Fprintf(env.Terminal.Out, "the current context is now %s\n", render.Clean(name))
	return err
}

func newContextShowCmd(env Env) *cobra.Command {
	var o viewOptions
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "What a context, or the one in use, stands for",
		Long: `Shows every field of the context, paths from the root. What is secret is in the
files that it names, and is not shown.`,
		Example: `  kafkaops context show
  kafkaops context show prod -o yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneContext(cmd, args)
		},
		ValidArgsFunction: completeContexts(env, func(args []string) bool { return len(args) > 0 }),
		RunE:              func(_ *cobra.Command, args []string) error { return o.runContextShow(env, args) },
	}
	o.register(cmd)
	return cmd
}

func (o *viewOptions) runContextShow(env Env, args []string) error {
	view, err := o.view(env.Terminal)
	if err != nil {
		return err
	}
	view.Width = env.Terminal.Width
	file, err := contexts.Read(contexts.Path(env.Getenv))
	if err != nil {
		return err
	}
	name := given{env.Getenv(envContext), envContext + ": "}
	if len(args) > 0 {
		name = given{args[0], ""}
	}
	var c *contexts.Context
	switch {
	case name.value != "":
		if c, err = file.Get(name.value); err != nil {
			return usagef("%s%w", name.from, err)
		}
	default:
		if c, err = file.GetCurrent(); err != nil {
			return err
		}
	}
	if c == nil {
		return usagef("there is no current context: choose one (kafkaops context use NAME), or name it")
	}
	if name.value == "" && env.Getenv(envBootstrap) != "" {
		fmt.Fprintf(env.Terminal.Err, "kafkaops: %s is set: commands take nothing of the current context, its credentials neither; --context %s keeps the rest of it\n", envBootstrap, render.Clean(c.Name))
		return o.drawContext(env, view, file, c)
	}
	for _, variable := range []string{envBootstrap, envCommandConfig, envController, envControllerConfig} {
		if env.Getenv(variable) != "" {
			fmt.Fprintf(env.Terminal.Err, "kafkaops: %s is set and comes before what this context says\n", variable)
		}
	}
	return o.drawContext(env, view, file, c)
}

func (o *viewOptions) drawContext(env Env, view render.View, file *contexts.File, c *contexts.Context) error {
	item := contextItem(file, c)
	unreadable := addOwnBootstrap(&item, c, env.Terminal.Err)
	if err := render.Context(env.Terminal.Out, view, time.Now(), &item); err != nil {
		return err
	}
	return unreadable
}

// addOwnBootstrap shows bootstrap.servers of the command config where the context
// has no addresses.
func addOwnBootstrap(item *render.ContextItem, c *contexts.Context, notes io.Writer) error {
	if len(c.Bootstrap) > 0 || c.CommandConfig == "" {
		return nil
	}
	security, err := connect.ReadProperties(c.CommandConfig)
	var own string
	if err == nil {
		own, err = security.Bootstrap()
	}
	if err != nil {
		fmt.Fprintf(notes, "kafkaops: %s\n", render.Clean(err.Error()))
		return errIncomplete
	}
	if own != "" {
		item.Bootstrap, err = connect.ParseBootstrap(own)
	}
	return err
}

// contextItem is the context as documents have it.
func contextItem(file *contexts.File, c *contexts.Context) render.ContextItem {
	text := func(s string) inspect.Opt[string] {
		if s == "" {
			return inspect.Unknown[string]()
		}
		return inspect.Known(s)
	}
	return render.ContextItem{
		Name: c.Name, Current: c.Name == file.Current,
		Bootstrap: c.Bootstrap, CommandConfig: text(c.CommandConfig),
		Controllers: c.Controller, ControllerConfig: text(c.ControllerConfig),
		JMX: text(withoutUsers(c)), ClusterID: text(c.ClusterID), ReadOnly: c.ReadOnly,
		File: file.Path, Line: c.Line,
	}
}

// withoutUsers are the agents, each without user and password.
func withoutUsers(c *contexts.Context) string {
	agents := c.Agents()
	for i := range agents {
		agents[i] = withoutUser(agents[i])
	}
	return strings.Join(agents, ",")
}

// withoutUser is a URL without user and password: what is secret is not shown.
func withoutUser(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if ok {
		scheme += "://"
	} else {
		scheme, rest = "", url
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		rest = "…" + rest[at:]
	}
	return scheme + rest
}

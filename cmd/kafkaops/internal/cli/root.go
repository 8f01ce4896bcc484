package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

// Env is what a command has of the world outside.
type Env struct {
	Terminal *term.Terminal
	Getenv   func(string) string
}

// OS is the Env of this process.
func OS() Env { return Env{Terminal: term.OS(), Getenv: os.Getenv} }

// snapshotter is where commands get their Snapshots from.
type snapshotter interface {
	Snapshot(context.Context, source.Query) (*inspect.Snapshot, error)
}

// Main runs one command line, without the program's name, and returns its exit
// code.
func Main(args []string, env Env) int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		ends = append(ends, syscall.SIGHUP) // the terminal is gone: a cluster's logs are closed all the same
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	// A write that nobody reads does not end with the context.
	done := make(chan struct{})
	defer close(done)
	context.AfterFunc(ctx, func() {
		select {
		case <-done:
		case <-time.After(graceOf(args)):
			os.Exit(exitInterrupted)
		}
	})
	return run(ctx, args, env)
}

// graceOf is how long a command may take to end once it was told to. One that runs a
// cluster, or that records, has files to close.
func graceOf(args []string) time.Duration {
	const usual, withFiles = time.Second, 15 * time.Second
	if len(args) > 0 && slices.Contains([]string{"cluster", "demo", "record", "top"}, args[0]) {
		return withFiles
	}
	return usual
}

func run(ctx context.Context, args []string, env Env) int {
	root := newRootCmd(env)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Canceled
	}
	if asksNagios(cmd, args) {
		err = asNagios(err, env, cmd)
	}
	return exitCode(err, env.Terminal.Err, cmd.CommandPath())
}

func newRootCmd(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "kafkaops <command>",
		Short: "Is replication healthy, where not, and what is at risk?",
		Long: `kafkaops answers what an operator asks of Kafka's replication, on any real
cluster, by plain client requests: no JMX, no agent, and nothing written
unless you ask for it.

Exit codes: 0 answered in full; 1 something could not be asked (each is a line on
stderr); 2 wrong usage; 3 answered, and not healthy; 130 interrupted.`,
		Example: `  kafkaops describe -b kafka-1:9092         is anything at risk?
  kafkaops lag --top 10 -b kafka-1:9092     which replica is behind, by how much?`,
		Version:       ownVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          help,
	}
	root.SetOut(env.Terminal.Out)
	root.SetErr(env.Terminal.Err)
	root.SetFlagErrorFunc(flagError)
	root.Flags().Bool("version", false, "print the version")
	// A command that says itself what it takes needs no second line for that.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(),
		"{{if .HasAvailableSubCommands}}\n  {{.CommandPath}} [command]{{end}}",
		"{{if and .HasAvailableSubCommands (eq .Use .Name)}}\n  {{.CommandPath}} [command]{{end}}", 1))
	root.SetVersionTemplate(versionLine())
	root.AddCommand(
		newDescribeCmd(env), newLagCmd(env), newIsrCmd(env), newRecordCmd(env), newTuneCmd(env), newDiagnoseCmd(env), newTopCmd(env), newCheckCmd(env), newExportCmd(env), newContextCmd(env),
		newClusterCmd(env), newDemoCmd(env), newVersionCmd(env),
	)
	addBuiltins(root)
	// Files are offered where a flag takes one, and nowhere else.
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	return root
}

// help is what a command does that is only a family of others.
func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// whichOne is what a command does whose members have nothing in common to say:
// help alone, with exit code 0, would pass for an answer.
func whichOne(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usagef("%s what? Use one of: %s", cmd.Name(), strings.Join(names, ", "))
}

// noSuchCommand is for commands whose only arguments are subcommands: one that
// arrives here is none of them.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	const near = 2 // letters that may differ for a suggestion
	cmd.SuggestionsMinimumDistance = near
	hint := ""
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		hint = "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return usagef("%q is not a command of %s%s", args[0], cmd.CommandPath(), hint)
}

// noArguments is for commands that take flags alone.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Flags().Lookup("broker") != nil && new(nodeFlag).Set(args[0]) == nil {
		return usagef("%s takes no argument, got %q: did you mean --broker %s?", cmd.CommandPath(), args[0], args[0])
	}
	return usagef("%s takes no argument, got %q", cmd.CommandPath(), args[0])
}

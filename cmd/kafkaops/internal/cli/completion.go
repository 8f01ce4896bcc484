package cli

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect/contexts"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

// Completion answers within completionLimit or not at all: somebody has pressed a
// key. What is asked ends a little before, so that a part of the answer is one.
const (
	completionLimit = 300 * time.Millisecond
	askingLimit     = completionLimit - 30*time.Millisecond
)

// names are what may be completed; internal ones only where somebody begins to
// write one.
type names struct{ usual, internal []string }

// askNames gets names from a cluster.
type askNames func(context.Context, *source.Source) (names, error)

// completeTopics completes topics, as arguments and as --topic, whose values so
// far are flagged.
func (o *targetOptions) completeTopics(cmd *cobra.Command, env Env, flagged *[]string) {
	o.completeNames(cmd, env, "topic", flagged, func(ctx context.Context, src *source.Source) (n names, err error) {
		n.usual, n.internal, err = src.TopicNames(ctx)
		return n, err
	})
}

// completeGroups is completeTopics for groups.
func (o *targetOptions) completeGroups(cmd *cobra.Command, env Env, flagged *[]string) {
	o.completeNames(cmd, env, "group", flagged, func(ctx context.Context, src *source.Source) (n names, err error) {
		n.usual, err = src.GroupNames(ctx)
		return n, err
	})
}

func (o *targetOptions) completeNames(cmd *cobra.Command, env Env, flag string, flagged *[]string, ask askNames) {
	offer := func(cmd *cobra.Command, args []string, begun string, useless func(string) bool) ([]string, cobra.ShellCompDirective) {
		return within(completionLimit, func() []string {
			ctx, cancel := context.WithTimeout(cmd.Context(), askingLimit)
			defer cancel()
			return offered(o.names(ctx, env, ask), begun, func(name string) bool {
				return useless(name) || slices.Contains(args, name) || slices.Contains(*flagged, name)
			})
		}), cobra.ShellCompDirectiveNoFileComp
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		return offer(cmd, args, begun, func(name string) bool {
			// It would be taken for a flag, or for a command.
			return strings.HasPrefix(name, "-") || len(args) == 0 && isSubcommand(cmd, name)
		})
	}
	_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		return offer(cmd, args, begun, func(string) bool { return false })
	})
}

func isSubcommand(cmd *cobra.Command, name string) bool {
	return slices.ContainsFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name })
}

// names asks the cluster that flags, environment and context lead to. Whatever is
// wrong with them is told when the command runs.
func (o *targetOptions) names(ctx context.Context, env Env, ask askNames) names {
	t, err := o.resolve(env)
	if err != nil {
		return names{}
	}
	// One request gets a third of a Source's timeout: here all that there is.
	found, err := ask(ctx, source.New(t.brokers, 3*completionLimit, t.options()...))
	if err != nil {
		return names{}
	}
	return found
}

// offered are the names that begin so, without those that are not wanted and those
// that a shell cannot be told: its protocol has a line for each and tabs within.
func offered(found names, begun string, unwanted func(string) bool) []string {
	all := found.usual
	if strings.HasPrefix(begun, "_") {
		all = append(slices.Clone(all), found.internal...)
	}
	var out []string
	for _, name := range all {
		untold := strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.HasPrefix(name, "_activeHelp_")
		if strings.HasPrefix(name, begun) && !untold && !unwanted(name) {
			out = append(out, name)
		}
	}
	return out
}

// completeContexts completes a context's name; not where there is one already.
func completeContexts(env Env, most func(args []string) bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if most != nil && most(args) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return within(completionLimit, func() []string {
			file, err := contexts.Read(contexts.Path(env.Getenv))
			if err != nil {
				return nil
			}
			return offered(names{usual: file.Names()}, begun, func(string) bool { return false })
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

// within is what find returns in time, or nothing: also where a file or a name
// server hangs, which no context ends.
func within(limit time.Duration, find func() []string) []string {
	found := make(chan []string, 1)
	go func() { found <- find() }()
	select {
	case names := <-found:
		return names
	case <-time.After(limit):
		return nil
	}
}

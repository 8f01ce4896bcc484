package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addBuiltins adds the commands that cobra brings along, help and completion,
// with examples and our exit code for wrong usage.
func addBuiltins(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Example = `  kafkaops help lag
  kafkaops help describe topics`
			cmd.Args = func(cmd *cobra.Command, args []string) error {
				of, rest, err := cmd.Root().Find(args)
				if err != nil {
					return usageError{err}
				}
				return noSuchCommand(of, rest)
			}
		case "completion":
			cmd.Use = "completion <shell>"
			cmd.Short = "Print the script that completes commands and flags in a shell"
			cmd.Example = `  source <(kafkaops completion bash)
  kafkaops completion fish > ~/.config/fish/completions/kafkaops.fish`
			cmd.Args, cmd.RunE = noSuchCommand, whichOne
			for _, shell := range cmd.Commands() {
				shell.Args, shell.Example = noArguments, completionExamples(shell.Name())
			}
		}
	}
}

// completionExamples are for this shell and for every one to come.
func completionExamples(shell string) string {
	switch shell {
	case "bash":
		return `  source <(kafkaops completion bash)
  kafkaops completion bash > /etc/bash_completion.d/kafkaops`
	case "zsh":
		return `  source <(kafkaops completion zsh)
  kafkaops completion zsh > "${fpath[1]}/_kafkaops"`
	case "fish":
		return `  kafkaops completion fish | source
  kafkaops completion fish > ~/.config/fish/completions/kafkaops.fish`
	}
	return `  kafkaops completion powershell | Out-String | Invoke-Expression
  kafkaops completion powershell >> $PROFILE`
}

// flagError says what a flag takes where the parser only says what it got.
func flagError(cmd *cobra.Command, err error) error {
	// To the root, flags of a command that it does not have are unknown; what is wrong
	// is the command.
	if !cmd.HasParent() {
		if wrong := noSuchCommand(cmd, cmd.Flags().Args()); wrong != nil {
			return wrong
		}
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return usageError{err}
	}
	if cause := invalid.Unwrap(); cause != nil && invalid.GetFlag().Value.Type() == nodeFlagType {
		return usagef("--%s %w", invalid.GetFlag().Name, cause)
	}
	takes := map[string]string{
		"bool":          "true or false",
		"duration":      "a duration such as 10s or 1m30s",
		"durationSlice": "durations such as 10s or 1m30s, with commas between",
		"int":           "a whole number",
		"int64":         "a whole number",
		"float64":       "a number",
	}[invalid.GetFlag().Value.Type()]
	switch {
	case takes == "":
		return usageError{err}
	case errors.Is(err, strconv.ErrRange):
		takes += " that is not so far out"
	}
	return usagef("--%s %q: use %s", invalid.GetFlag().Name, invalid.GetValue(), takes)
}

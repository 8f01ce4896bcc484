package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker in releases: -ldflags "-X …/cli.version=1.2.3".
var version = ""

func newVersionCmd(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of kafkaops",
		Example: `  kafkaops version
  kafkaops version | cut -d ' ' -f 2      the number alone`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(env.Terminal.Out, versionLine())
			return err
		},
	}
}

// versionLine is what version and --version print.
func versionLine() string {
	return fmt.Sprintf("kafkaops %s %s %s/%s\n", ownVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// ownVersion is the linker's, else what the module system recorded.
func ownVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

package cli

import (
	"fmt"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/spf13/cobra"
)

const envCommandConfig = "KAFKAOPS_COMMAND_CONFIG"

// registerCommandConfig adds the flag under which Kafka's own tools take a
// client.properties.
func (o *options) registerCommandConfig(cmd *cobra.Command) {
	const flag = "command-config"
	cmd.Flags().StringVar(&o.commandConfig, flag, "", "a Java client.properties, used unchanged, for TLS and SASL; its bootstrap.servers where none is named (env "+envCommandConfig+")")
	cmd.Flag(flag).Annotations = map[string][]string{cobra.BashCompFilenameExt: {"properties", "conf", "cfg"}}
}

// security reads the file that the flag or the environment names, and says on
// stderr what does nothing in it. It is nil for none: then all is plain text.
func (o *options) security(env Env) (*connect.Security, error) {
	path := o.commandConfig
	if path == "" {
		path = env.Getenv(envCommandConfig)
	}
	if path == "" {
		return nil, nil
	}
	security, err := connect.ReadProperties(path)
	if err != nil {
		return nil, err
	}
	for _, w := range security.Warnings() {
		fmt.Fprintf(env.Terminal.Err, "kafkaops: %s\n", render.Clean(w))
	}
	return security, nil
}

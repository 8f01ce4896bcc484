// Command kafkaops answers what a Kafka operator asks of replication.
package main

import (
	"os"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], cli.OS())) }

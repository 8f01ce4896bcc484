// Command fetch resolves Apache Kafka's jars for the tests that start a real
// one, so that the tests need no network:
//
//	go run ./internal/kafkatest/fetch            # the default version
//	go run ./internal/kafkatest/fetch 4.0.0 3.9.1
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	versions := os.Args[1:]
	if len(versions) == 0 {
		versions = []string{kafkatest.DefaultVersion}
	}
	for _, version := range versions {
		dir, err := kafkatest.Fetch(ctx, version)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "Kafka %s is in %s\n", version, dir)
	}
	return kafkatest.FetchAgents(ctx)
}

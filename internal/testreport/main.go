// Command testreport reads `go test -json` and prints what a person wants to
// know of it: the output of what failed, at once; at the end which tests were
// skipped and why, and which took long; and last go test's own line for every package.
//
//	go test -json ./... | go run ./internal/testreport
//
// It exits with 1 if anything failed, or if nothing was tested at all. Run it
// under pipefail, for go test may fail in ways of its own.
package main

import (
	"fmt"
	"os"
)

func main() {
	r := newReport(os.Stdout, os.Stderr)
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	if !r.finish() {
		os.Exit(1)
	}
}

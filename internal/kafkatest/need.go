package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Need skips the test where a real Kafka cannot be started, and says what is
// missing and how to get it. With CI=true in the environment it fails the test
// instead: a check that silently does not run is worse than none. It also skips
// under go test -short.
func Need(tb testing.TB) {
	tb.Helper()
	need(tb, DefaultVersion)
}

func need(tb testing.TB, version string) install {
	tb.Helper()
	if testing.Short() {
		tb.Skip("kafkatest: starts a real Kafka, which takes seconds: not under -short")
	}
	in, err := missing(tb.Context(), version)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		tb.Fatal(err)
	default:
		tb.Skip(err)
	}
	return in
}

// missing returns where Kafka is, or an error that says why it cannot start.
func missing(ctx context.Context, version string) (install, error) {
	if !canSignal {
		return install{}, errors.New("kafkatest: needs a Unix, whose processes can be paused and resumed")
	}
	in, err := installOf(version)
	if err != nil {
		return install{}, err
	}
	if _, _, err := findJava(ctx); err != nil {
		return install{}, fmt.Errorf("kafkatest: cannot start Kafka %s: %w", version, err)
	}
	if in.present() {
		return in, nil
	}
	hint := "run make deps"
	if version != DefaultVersion {
		hint = "run go run ./internal/kafkatest/fetch " + version
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		hint = "install Maven (there is no mvn on the path) and " + hint
	}
	return install{}, fmt.Errorf("kafkatest: Kafka %s is not in %s: %s (or set %s)", version, in.dir, hint, cacheEnv)
}

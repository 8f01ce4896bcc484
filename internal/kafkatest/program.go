package kafkatest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

// programTimeout bounds a program, so that one that hangs does not cost the time of
// all tests. The longest takes half a minute on a quiet machine.
const programTimeout = 8 * time.Minute

// Program returns a command that runs one Java source file with the jars of that
// version of Kafka on its class path, to ask Kafka's own classes what they do.
// It skips tb where that is impossible, as Need does; nothing is compiled ahead,
// but the Java needs its compiler, which Debian's runtime has without a JDK. It is
// killed after eight minutes.
func Program(tb testing.TB, version, file string, args ...string) *exec.Cmd {
	tb.Helper()
	in := need(tb, version)
	java, _, err := findJava(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	modules, err := exec.CommandContext(tb.Context(), java, "--list-modules").Output()
	if err != nil {
		tb.Fatalf("kafkatest: %s --list-modules: %v", java, err)
	}
	if !bytes.Contains(modules, []byte("jdk.compiler@")) {
		const missing = "kafkatest: this Java has no module jdk.compiler: install a JDK 17 or later, or Debian's default-jre-headless, and set JAVA_HOME to it"
		if os.Getenv("CI") == "true" {
			tb.Fatal(missing)
		}
		tb.Skip(missing)
	}
	classpath, err := in.classpath()
	if err != nil {
		tb.Fatal(err)
	}
	flags := []string{"-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classpath, file}
	ctx, cancel := context.WithTimeout(tb.Context(), programTimeout)
	tb.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, java, append(flags, args...)...)
	cmd.WaitDelay = 10 * time.Second // for what holds its output when it is killed
	return cmd
}

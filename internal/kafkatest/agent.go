package kafkatest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The agents that tests put into a broker's Java machine, as Maven names them.
const (
	JolokiaAgent    = "org.jolokia:jolokia-agent-jvm:2.5.1:jar:javaagent"
	PrometheusAgent = "io.prometheus.jmx:jmx_prometheus_javaagent:1.0.1"
)

// agentJars are what Maven calls their files.
var agentJars = map[string]string{
	JolokiaAgent:    "jolokia-agent-jvm-2.5.1-javaagent.jar",
	PrometheusAgent: "jmx_prometheus_javaagent-1.0.1.jar",
}

// FetchAgents resolves the agents with Maven into the cache, as Fetch does Kafka.
func FetchAgents(ctx context.Context) error {
	for name := range agentJars {
		if _, err := fetchAgent(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Agent returns the file of an agent, which is fetched where it is not there.
func Agent(tb testing.TB, name string) string {
	tb.Helper()
	file, err := fetchAgent(tb.Context(), name)
	if err != nil {
		tb.Fatal(err)
	}
	return file
}

func fetchAgent(ctx context.Context, name string) (string, error) {
	root, err := cacheRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "agents")
	file := filepath.Join(dir, agentJars[name])
	lock, err := lockFile(ctx, filepath.Join(root, "fetch.lock"))
	if err != nil {
		return "", err
	}
	defer lock.unlock()
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return "", fmt.Errorf("kafkatest: fetch %s: %w; install Maven, or copy the jar to %s", name, err, file)
	}
	part := filepath.Join(dir, "part")
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:copy", "-Dartifact="+name, "-DoutputDirectory="+part)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("kafkatest: fetch %s: mvn: %w; is Maven Central reachable?\n%s", name, err, out)
	}
	if err := os.Rename(filepath.Join(part, agentJars[name]), file); err != nil {
		return "", fmt.Errorf("kafkatest: %w", err)
	}
	return file, nil
}

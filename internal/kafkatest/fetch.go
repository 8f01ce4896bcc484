package kafkatest

import (
	"context"
	_ "embed" // pom.xml
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed pom.xml
var pom []byte

// Fetch resolves Kafka's jars with Maven into the cache and returns the
// directory of that version. It does nothing for what is already there, and two processes may
// call it at once. It also prepares what makes a start fast; an error there
// leaves the jars in place, and clusters start all the same, only slower.
func Fetch(ctx context.Context, version string) (string, error) {
	in, err := installOf(version)
	if err != nil {
		return "", err
	}
	lock, err := lockFile(ctx, filepath.Join(in.root, "fetch.lock"))
	if err != nil {
		return "", err
	}
	defer lock.unlock()
	if !in.present() {
		if err := in.resolve(ctx); err != nil {
			return "", err
		}
	}
	return in.dir, in.train(ctx)
}

// resolve runs Maven. The jars come to stand in a .part directory, which takes
// its name when it is whole.
func (in install) resolve(ctx context.Context) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("kafkatest: fetch Kafka %s: %w; install Maven, or copy the jars to %s/libs", in.version, err, in.dir)
	}
	part := in.dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return fmt.Errorf("kafkatest: %w", err)
	}
	if err := os.MkdirAll(part, 0o755); err != nil {
		return fmt.Errorf("kafkatest: %w", err)
	}
	file := filepath.Join(part, "pom.xml")
	if err := os.WriteFile(file, pom, 0o644); err != nil {
		return fmt.Errorf("kafkatest: %w", err)
	}
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "-f", file, "dependency:copy-dependencies",
		"-Dkafka.version="+in.version, "-DincludeScope=runtime", "-DoutputDirectory="+filepath.Join(part, "libs"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kafkatest: fetch Kafka %s: mvn: %w; is Maven Central reachable?\n%s", in.version, err, out)
	}
	if err := os.Rename(part, in.dir); err != nil {
		return fmt.Errorf("kafkatest: %w", err)
	}
	return nil
}

// train runs a small cluster once to record which classes a broker loads, in
// the form that the Java machine maps in at its next start. With it three
// brokers start in about half the time, and a tool too.
func (in install) train(ctx context.Context) error {
	java, version, err := findJava(ctx)
	if err != nil {
		return fmt.Errorf("kafkatest: Kafka %s is in %s, but cannot start: %w", in.version, in.dir, err)
	}
	archive := in.archive(java, version)
	if _, err := os.Stat(archive); err == nil {
		return nil
	}
	part := archive + ".part"
	c, err := launch(ctx, in, Options{
		Version:      in.version,
		StartTimeout: 2 * time.Minute,
		JVM: func(id int32) []string {
			if id != 1 {
				return nil
			}
			return []string{"-XX:ArchiveClassesAtExit=" + part, "-Xlog:disable"}
		},
	}.withDefaults())
	if err != nil {
		return err
	}
	defer c.close(false)
	if err := c.exercise(ctx); err != nil {
		return err
	}
	if err := c.stop(c.nodes[1]); err != nil {
		return err
	}
	if err := os.Rename(part, archive); err != nil {
		return fmt.Errorf("kafkatest: the Java machine wrote no class data archive: %w", err)
	}
	return nil
}

// exercise makes a broker load what tests will want of it.
func (c *Cluster) exercise(ctx context.Context) error {
	if err := c.createTopic(ctx, "training", [][]int32{{1}}, nil); err != nil {
		return err
	}
	for _, acks := range []int{1, AcksAll} {
		if err := c.Produce(ctx, "training", 0, 10, acks, 100); err != nil {
			return err
		}
	}
	_, stderr, exit, err := c.Tool(ctx, TopicCommand, "--bootstrap-server", c.BrokerAddr(1), "--describe")
	if err == nil && exit != 0 && !strings.Contains(stderr, "load main class") { // before 3.7 it had another name
		err = fmt.Errorf("kafkatest: %s: exit %d: %s", TopicCommand, exit, stderr)
	}
	return err
}

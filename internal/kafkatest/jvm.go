package kafkatest

import (
	"context"
	_ "embed" // the two log configurations
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

//go:embed log4j2.properties
var log4j2 []byte

//go:embed log4j.properties
var log4j1 []byte

// errNoJava: there is no Java, or too old a one.
var errNoJava = errors.New("no Java")

// A jvm runs classes of one installed Kafka.
type jvm struct {
	java      string // the program
	classpath string
	archive   string // class data archive; may not exist
	logConfig string // directory of the two log configurations
}

// newJVM finds Java and the jars, and writes log configurations to dir.
func newJVM(ctx context.Context, in install, dir string) (jvm, error) {
	java, version, err := findJava(ctx)
	if err != nil {
		return jvm{}, err
	}
	classpath, err := in.classpath()
	if err != nil {
		return jvm{}, err
	}
	for name, text := range map[string][]byte{"log4j2.properties": log4j2, "log4j.properties": log4j1} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return jvm{}, fmt.Errorf("kafkatest: %w", err)
		}
	}
	return jvm{java: java, classpath: classpath, archive: in.archive(java, version), logConfig: dir}, nil
}

// flags returns the arguments up to the class. Start is what matters, not
// speed later: no second compiler, no concurrent collector.
func (j jvm) flags(heapMB int, level string) []string {
	flags := []string{
		"-Xmx" + strconv.Itoa(heapMB) + "m",
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto",
		"-Dkafkatest.level=" + level,
		"-Dlog4j2.configurationFile=" + filepath.Join(j.logConfig, "log4j2.properties"),
		"-Dlog4j.configuration=file:" + filepath.Join(j.logConfig, "log4j.properties"),
		"-cp", j.classpath,
	}
	if _, err := os.Stat(j.archive); err == nil {
		// An archive that does not fit is ignored, with a warning on standard
		// output, of all places; hence the second flag.
		flags = append(flags, "-XX:SharedArchiveFile="+j.archive, "-Xlog:disable")
	}
	return flags
}

// tool returns a command that runs one of Kafka's tools, quietly.
func (j jvm) tool(ctx context.Context, class string, args ...string) *exec.Cmd {
	all := append(j.flags(256, "error"), class)
	return exec.CommandContext(ctx, j.java, append(all, args...)...)
}

var javaVersion = regexp.MustCompile(`version "(\d+)`)

// findJava returns the program and what it says about itself.
func findJava(ctx context.Context) (java, version string, err error) {
	name := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		name = filepath.Join(home, "bin", "java")
	}
	java, err = exec.LookPath(name)
	if err != nil {
		return "", "", fmt.Errorf("%w: %w; install a Java 17 runtime or set JAVA_HOME", errNoJava, err)
	}
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("%w: %s -version: %w\n%s", errNoJava, java, err, out)
	}
	m := javaVersion.FindSubmatch(out)
	if m == nil {
		return "", "", fmt.Errorf("%w: %s -version says %q, which is no version", errNoJava, java, out)
	}
	if major, _ := strconv.Atoi(string(m[1])); major < 17 { // Kafka 4's brokers
		return "", "", fmt.Errorf("%w: %s is Java %s; install a Java 17 runtime or set JAVA_HOME", errNoJava, java, m[1])
	}
	return java, string(out), nil
}

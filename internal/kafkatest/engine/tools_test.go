package engine_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
)

var rewriteTools = flag.Bool("rewrite", false, "record anew what Kafka's tools say to a real Kafka, with KAFKAOPS_LONG=1")

const toolsFile = "testdata/tools-4.4.0.txt"

// TestKafkasTools: Kafka's own command-line tools say of the engine what they said of a
// real Kafka 4.4.0, word by word, and end as they did.
func TestKafkasTools(t *testing.T) {
	compareTools(t, playTools(t, kafkatest.Start(t, toolsOptions(engine.New()))))
}

// TestToolsAsRecorded: and they still say so of a real Kafka.
func TestToolsAsRecorded(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: runs all tools on a real Kafka; set KAFKAOPS_LONG=1")
	}
	got := playTools(t, kafkatest.Start(t, toolsOptions(nil)))
	if *rewriteTools {
		if err := os.WriteFile(toolsFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	compareTools(t, got)
}

func toolsOptions(e kafkatest.Engine) kafkatest.Options {
	return kafkatest.Options{Brokers: 3, Engine: e}
}

func compareTools(t *testing.T, got string) {
	t.Helper()
	recorded, err := os.ReadFile(toolsFile)
	if err != nil {
		t.Fatal(err)
	}
	want, have := strings.Split(string(recorded), "\n$ "), strings.Split(got, "\n$ ")
	if len(want) != len(have) {
		t.Errorf("%d tools recorded, %d run", len(want), len(have))
	}
	for i := range min(len(want), len(have)) {
		if diff := cmp.Diff(strings.Split(want[i], "\n"), strings.Split(have[i], "\n")); diff != "" {
			t.Errorf("recorded (-) and said (+):\n%s", diff)
		}
	}
}

// toolbox is a Java machine that runs one tool after the other.
type toolbox struct {
	t         *testing.T
	in        io.Writer
	answers   *bufio.Scanner
	bootstrap string
	out       strings.Builder
}

// step is how a tool is run and how what it says is written down.
type step struct {
	stdin string
	// numbers: what it counts is another number each time.
	numbers bool
	// until: it is run again until it says this, for what takes its time; gone: until
	// it does not say this any more.
	until, gone string
	// sorted: it has no order.
	sorted bool
	// quiet: how it ends is all that matters.
	quiet bool
}

func newToolbox(t *testing.T, bootstrap string) *toolbox {
	t.Helper()
	cmd := kafkatest.Program(t, kafkatest.DefaultVersion, "testdata/Tools.java")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
		hang.Stop()
	})
	return &toolbox{t: t, in: in, answers: bufio.NewScanner(out), bootstrap: bootstrap}
}

// run runs a tool with --bootstrap-server, and writes down what it says.
func (b *toolbox) run(s step, class string, args ...string) {
	b.t.Helper()
	b.with(s, class, append([]string{"--bootstrap-server", b.bootstrap}, args...)...)
}

func (b *toolbox) with(s step, class string, args ...string) {
	b.t.Helper()
	var text string
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		text = b.once(s, class, args...)
		if strings.Contains(text, s.until) && (s.gone == "" || !strings.Contains(text, s.gone)) {
			break
		}
		if time.Now().After(end) {
			b.t.Errorf("%s %v: never says %q, or always %q:\n%s", class, args, s.until, s.gone, text)
			break
		}
	}
	if s.sorted {
		lines := strings.Split(text, "\n")
		slices.Sort(lines)
		text = strings.TrimLeft(strings.Join(lines, "\n"), "\n") + "\n"
	}
	name := class[strings.LastIndexByte(class, '.')+1:]
	fmt.Fprintf(&b.out, "\n$ %s\n%s", unify(name+" "+strings.Join(args, " "), false), unify(text, s.numbers))
}

func (b *toolbox) once(s step, class string, args ...string) string {
	b.t.Helper()
	fields := append([]string{class, strings.ReplaceAll(s.stdin, "\n", `\n`)}, args...)
	if _, err := fmt.Fprintln(b.in, strings.Join(fields, "\t")); err != nil {
		b.t.Fatalf("%s: %v", class, err)
	}
	var text strings.Builder
	for b.answers.Scan() {
		line := b.answers.Text()
		if strings.HasPrefix(line, "exit ") {
			fmt.Fprintln(&text, line)
			return text.String()
		}
		if !s.quiet {
			fmt.Fprintln(&text, strings.TrimRight(line, " \t"))
		}
	}
	b.t.Fatalf("%s %v: the Java machine ended: %v\n%s", class, args, b.answers.Err(), text.String())
	return ""
}

var (
	address   = regexp.MustCompile(`127\.0\.0\.1:\d+|localhost:\d+`)
	hostPort  = regexp.MustCompile(`127\.0\.0\.1(\s+)\d+`)
	ids       = regexp.MustCompile(`(TopicId: |Cluster ID: |ClusterId:\s+|"directoryId": "|out \d+ )[A-Za-z0-9_-]{22}`)
	directory = regexp.MustCompile(`/[^ ,"]*/[^ ,"]*`)
	number    = regexp.MustCompile(`-?\d+`)
	// offset is that of the metadata log.
	offset = regexp.MustCompile(`Epoch: \d+`)
	blanks = regexp.MustCompile(`[ \t]+`)
	// said is what the server says in its own words, traces what Java adds to it.
	said   = regexp.MustCompile(`(Exception|Error while executing topic command ?|err \d+ replica.*): .*`)
	traces = regexp.MustCompile(`(?m)^err(|  ?at .*| null| Tools\$Ended| (Caused by|Suppressed): .*)\n`)
)

// unify takes out what is another each time.
func unify(text string, numbers bool) string {
	text = blanks.ReplaceAllString(text, " ")
	text = traces.ReplaceAllString(text, "")
	text = said.ReplaceAllString(text, "$1: …")
	text = address.ReplaceAllString(text, "HOST:PORT")
	text = hostPort.ReplaceAllString(text, "HOST${1}PORT")
	text = strings.ReplaceAll(text, strings.Repeat("A", 22), "none")
	text = ids.ReplaceAllString(text, "${1}ID")
	text = directory.ReplaceAllString(text, "PATH")
	text = offset.ReplaceAllString(text, "Epoch: N")
	if numbers {
		said, exit, _ := strings.Cut(text, "exit ")
		text = number.ReplaceAllString(said, "N") + "exit " + exit
	}
	return strings.ReplaceAll(text, " --bootstrap-server HOST:PORT,HOST:PORT,HOST:PORT", "")
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

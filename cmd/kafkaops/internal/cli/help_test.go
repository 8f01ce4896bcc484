package cli

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/spf13/pflag"
)

// TestHelp: every command has a sentence and two examples, every flag a usage,
// and both ways to ask for help give the same.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, cmd := range commands(t) {
		path := pathOf(cmd)
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || strings.Contains(cmd.Short, "\n") {
			t.Errorf("kafkaops %s: got Short %q, want a sentence without a full stop", path, cmd.Short)
		}
		if n := len(examplesOf(cmd.Example)); n < 2 {
			t.Errorf("kafkaops %s: got %d examples, want two", path, n)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("kafkaops %s: --%s has no usage", path, f.Name)
			}
		})
		byFlag := place{}.run(t.Context(), append(strings.Fields(path), "--help")...)
		byCommand := place{}.run(t.Context(), append([]string{"help"}, strings.Fields(path)...)...)
		if byFlag.code != exitOK || byFlag != byCommand || byFlag.stderr != "" {
			t.Errorf("kafkaops %s --help: got %+v, want the same as kafkaops help %s", path, byFlag, path)
		}
		for _, part := range []string{"Usage:\n", "Examples:\n" + cmd.Example + "\n"} {
			if !strings.Contains(byFlag.stdout, part) {
				t.Errorf("kafkaops %s --help: got\n%s\nwant %q in it", path, byFlag.stdout, part)
			}
		}
		if kafkaSpelling.MatchString(byFlag.stdout) {
			t.Errorf("kafkaops %s --help shows kafka-topics.sh's spellings", path)
		}
	}
}

// kafkaSpelling is a filter of kafka-topics.sh, such as --under-replicated-partitions.
var kafkaSpelling = regexp.MustCompile(`\w-partitions `)

// examplesOf are the command lines of an example text.
func examplesOf(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// wordsOf are an example's arguments for kafkaops: without what follows in a
// pipe, quotes, or a remark behind several blanks.
func wordsOf(t *testing.T, example string) []string {
	t.Helper()
	m := exampleLine.FindStringSubmatch(example)
	if m == nil {
		t.Fatalf("%q is no example of kafkaops", example)
	}
	return strings.Fields(strings.ReplaceAll(m[1], "'", ""))
}

var exampleLine = regexp.MustCompile(`^(?:source <\()?kafkaops\b(.*?)(?:\)| {2,}.*| (?:\||&&|>|>>) .*)?$`)

// TestExamples runs every example.
func TestExamples(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	c.Change(func(m *fakekafka.Model) { m.AddTopic("payments-us", 1, 3) })
	named := "bootstrap-server: [" + c.Bootstrap() + "]"
	contexts := withConfig(t, "contexts:\n  prod: {"+named+"}\n  staging: {"+named+"}\ncurrent-context: prod\n")
	controllers := fakekafka.Start(t, fakekafka.NewControllers(3))
	here := strings.NewReplacer("controller-1:9093", controllers.Addr(101), "kafka-1:9092,kafka-2:9092", c.Bootstrap(), "kafka-1:9092", c.Addr(1), "--interval 1s", "--interval 100ms")
	for _, cmd := range commands(t) {
		if localCommand(cmd) || readsLog(cmd) { // TestLocalExamples, TestIsrExamples
			continue
		}
		for _, example := range examplesOf(cmd.Example) {
			args := wordsOf(t, here.Replace(example))
			if serves(cmd) { // it runs in TestExport
				if err := cmd.ParseFlags(args[1:]); err != nil || args[0] != pathOf(cmd) {
					t.Errorf("%s: %v", example, err)
				}
				continue
			}
			if r := contexts.run(t.Context(), args...).unhurried(); r.code != exitOK || r.stdout == "" || r.stderr != "" {
				t.Errorf("%s: got exit code %d, %d bytes on stdout, stderr %q; want 0 and an answer", example, r.code, len(r.stdout), r.stderr)
			}
			if path := pathOf(cmd); path != "" && path != "help" && !strings.HasPrefix(strings.Join(args, " "), path) {
				t.Errorf("%s is no example of kafkaops %s", example, path)
			}
		}
	}
}

// TestCompletion: the scripts are there, and the words of flags with fixed ones.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for shell, begin := range map[string]string{
		"bash": "# bash completion", "zsh": "#compdef kafkaops\n", "fish": "# fish completion", "powershell": "# powershell completion",
	} {
		r := place{}.run(t.Context(), "completion", shell)
		if r.code != exitOK || !strings.HasPrefix(r.stdout, begin) || r.stderr != "" {
			t.Errorf("completion %s: got exit code %d, %.60q, stderr %q; want %q", shell, r.code, r.stdout, r.stderr, begin)
		}
		if path, err := exec.LookPath(shell); err == nil && (shell == "bash" || shell == "zsh") {
			check := exec.CommandContext(t.Context(), path, "-n")
			check.Stdin = strings.NewReader(r.stdout)
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s -n: %v\n%s", shell, err, out)
			}
		}
	}
	for line, want := range map[string]string{
		"describe --output |":            "table wide json yaml :4",
		"lag -o |":                       "table wide json yaml :4",
		"lag --sort |":                   "lag uncommitted name :4",
		"lag --color |":                  "auto always never :4",
		"check |":                        "access health :4",
		"describe --timeout |":           ":4",
		"describe quorum |":              ":4",
		"context |":                      "list show use :4",
		"describe --command-config |":    "properties conf cfg :8",
		"describe --controller-config |": "properties conf cfg :8",
		"help desc|":                     "describe :4",
	} {
		args := strings.Fields(strings.TrimSuffix(line, "|"))
		if strings.HasSuffix(line, " |") {
			args = append(args, "")
		}
		r := place{}.run(t.Context(), append([]string{"__completeNoDesc"}, args...)...)
		if got := strings.Join(strings.Fields(r.stdout), " "); got != want || r.code != exitOK {
			t.Errorf("%s: got %q, exit code %d; want %q", line, got, r.code, want)
		}
	}
}

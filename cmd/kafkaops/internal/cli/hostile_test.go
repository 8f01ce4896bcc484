package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
)

// nasty is text that drives terminals, breaks rows or looks like something else.
const nasty = "a\x1bc\tb\nc\rd\x07\u202e\u0085\x7f|\"';--;\\,:#"

// TestHostileArguments: whatever is typed ends in time, with an exit code of the
// contract and text that is safe to print.
func TestHostileArguments(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	long := strings.Repeat("x", 10_000)
	for _, tt := range []struct {
		args []string
		code int
	}{
		{[]string{long}, exitUsage},
		{[]string{""}, exitUsage},
		{[]string{"describe", ""}, exitUsage},
		{[]string{"help", nasty}, exitUsage},
		{[]string{nasty}, exitUsage},
		{[]string{"describe", "--" + long}, exitUsage},
		{[]string{"describe", "--" + nasty}, exitUsage},
		{[]string{"describe", "--=1"}, exitUsage},
		{[]string{"describe", "---"}, exitUsage},
		{[]string{"describe", "-"}, exitUsage},
		{[]string{"describe", "-b"}, exitUsage},
		{[]string{"describe", "-b", long}, exitUsage},
		{[]string{"describe", "-b", nasty}, exitUsage},
		{[]string{"describe", "-b", nasty + ":9092"}, exitUsage}, // has a colon of its own
		{[]string{"describe", "-b", "\xff\xfe:9092", "--timeout", "1s"}, exitFailed},
		{[]string{"describe", "-b", strings.Repeat("kafka-1,", 1000)}, exitUsage},
		{[]string{"describe", "-b", "127.0.0.1:99999999999999999999"}, exitUsage},
		{[]string{"describe", "-o", nasty}, exitUsage},
		{[]string{"describe", "-o", long}, exitUsage},
		{[]string{"describe", "--color", nasty}, exitUsage},
		{[]string{"describe", "--timeout", strings.Repeat("9", 400) + "h"}, exitUsage},
		{[]string{"describe", "--timeout", nasty}, exitUsage},
		{[]string{"describe", "--interval", "-9223372036854775808ns", "-b", c.Addr(1)}, exitUsage},
		{[]string{"lag", "--min", strings.Repeat("9", 400)}, exitUsage},
		{[]string{"lag", "--min", "-9223372036854775808"}, exitUsage},
		{[]string{"lag", "--sort", nasty}, exitUsage},
		{[]string{"lag", "--top", "0x7fffffffffffffff", "-b", c.Addr(1)}, exitOK},
		{[]string{"lag", "", "-b", c.Addr(1)}, exitUsage},
		{[]string{"lag", long, "-b", c.Addr(1)}, exitFailed},
		{[]string{"lag", long + "*", "-b", c.Addr(1)}, exitFailed},
		{[]string{"lag", strings.Repeat("*", 10_000), "-b", c.Addr(1)}, exitOK},
		{[]string{"lag", strings.Repeat("*a", 5_000), "-b", c.Addr(1)}, exitFailed},
		{[]string{"lag", nasty, "-b", c.Addr(1)}, exitFailed},
		{[]string{"lag", nasty + "*", "-b", c.Addr(1)}, exitFailed},
		{[]string{"lag", "[" + nasty, "-b", c.Addr(1)}, exitUsage},
		{[]string{"lag", "\xff\xfe", "-b", c.Addr(1)}, exitFailed},
		{[]string{"lag", "..", ".", "/", "-b", c.Addr(1)}, exitFailed},
		{[]string{"describe", "topics", "-b", c.Addr(1), "--", "--watch"}, exitFailed},
		{[]string{"describe", "topics", nasty, long, "\xff", "-b", c.Addr(1)}, exitFailed},
		{append(strings.Fields("describe topics -b "+c.Addr(1)), strings.Fields(strings.Repeat("orders ", 10_000))...), exitOK},
	} {
		for _, format := range []string{"table", "json"} {
			args := tt.args
			if strings.HasPrefix(args[0], "lag") {
				args = append(append([]string{}, args...), "-o", format)
			}
			r := place{}.run(t.Context(), args...)
			if r.code != tt.code || (r.stderr == "") != (tt.code == exitOK) || (tt.code == exitUsage && r.stdout != "") {
				t.Errorf("%.80q: got exit code %d, %d bytes on stdout, stderr %.200q; want %d", args, r.code, len(r.stdout), r.stderr, tt.code)
			}
			checkPrintable(t, r)
			if format == "json" && r.stdout != "" && args[0] == "lag" && !json.Valid([]byte(r.stdout)) {
				t.Errorf("%.80q: stdout is no JSON: %.200q", args, r.stdout)
			}
		}
	}
}

// checkPrintable fails for whatever a terminal might act upon.
func checkPrintable(t *testing.T, r ran) {
	t.Helper()
	for _, text := range []string{r.stdout, r.stderr} {
		if !utf8.ValidString(text) {
			t.Errorf("the output is not UTF-8: %.200q", text)
		}
		for _, c := range text {
			if c != '\n' && c != '\t' && !unicode.IsPrint(c) {
				t.Errorf("the output has a %U in it: %.200q", c, text)
				return
			}
		}
	}
	for line := range strings.Lines(r.stderr) {
		if !strings.HasPrefix(line, "kafkaops: ") && !strings.HasPrefix(line, "See 'kafkaops") {
			t.Errorf("a line on stderr is torn off: %.200q", line)
		}
	}
}

// TestHostileCluster: names that a cluster sends cannot leave their cell.
func TestHostileCluster(t *testing.T) {
	t.Parallel()
	m := healthyModel()
	m.ClusterID = nasty
	name := nasty + strings.Repeat("日本", 100)
	bad := m.AddTopic(name, 1, 3)
	bad.Partitions[0].Shrink(2)
	m.Broker(1).Rack = nasty
	m.Broker(1).LogDirs = []fakekafka.LogDir{{Path: nasty, Offline: false}}
	group := m.AddGroup(nasty, fakekafka.ClassicGroup)
	group.Coordinator = 1
	group.Join(nasty, name, 0)
	group.Commit(name, 0, 0)
	m.Transactions = []fakekafka.Transaction{{
		ID: nasty, ProducerID: 1, State: "Ongoing", TimeoutMs: 60_000, StartMs: time.Now().UnixMilli(), Coordinator: 1,
		Partitions: map[string][]int32{name: {0}},
	}}
	more := map[string]int{"describe topics": 1, "lag": 3, "lag groups": 1, "describe transactions": 1}
	c := fakekafka.Start(t, m)
	for _, command := range asking(t) {
		for _, format := range []string{"table", "wide"} {
			well := ask(t, healthy(t), command+" -o "+format).stdout
			r := ask(t, c, command+" -o "+format)
			checkPrintable(t, r)
			if command == "check access" { // its table ends at a blank line
				well, _, _ = strings.Cut(well, "\n\n")
				r.stdout, _, _ = strings.Cut(r.stdout, "\n\n")
				well, r.stdout = well+"\n", r.stdout+"\n"
			}
			rows := strings.Count(well, "\n")
			if command == "describe" || command == "check health" {
				continue // no table of their own
			}
			lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
			if want := more[command]; len(lines) != rows+want {
				t.Errorf("%s -o %s: got %d lines, want %d and %d for what is hostile", command, format, len(lines), rows, want)
			}
			for _, line := range lines {
				if got, want := strings.Count(line, "\t"), strings.Count(lines[0], "\t"); got != want {
					t.Errorf("%s -o %s: got %d cells, want %d: %q", command, format, got+1, want+1, line)
				}
			}
		}
		for _, format := range []string{"json", "yaml"} {
			checkPrintable(t, ask(t, c, command+" -o "+format))
		}
		r := screen().ask(t, c, command+" --color never")
		checkPrintable(t, ran{stdout: r.stdout, stderr: r.stderr})
	}
	// What was sent is all there, in the document.
	docs := documents[render.LagItem](t, ask(t, c, "lag -o json").stdout)
	if diff := cmp.Diff(docs[0].Items[1].Topic, name); diff != "" || docs[0].Cluster.ID.Or("") != nasty {
		t.Errorf("got cluster %s, topic -got +want:\n%s", docs[0].Cluster.ID, diff)
	}
}

// TestTinyTerminals and huge ones neither panic nor hang.
func TestTinyTerminals(t *testing.T) {
	t.Parallel()
	c := unhealthy(t)
	for _, size := range []place{{width: 1, height: 1}, {width: 2, height: 2}, {width: 20, height: 3}, {width: 100_000, height: 100_000}} {
		for _, command := range asking(t) {
			for _, format := range []string{"table", "wide"} {
				if r := size.ask(t, c, command+" --color never -o "+format); r.stdout == "" || r.stderr != "" {
					t.Errorf("%s -o %s on %dx%d: got %+v", command, format, size.width, size.height, r)
				}
			}
		}
	}
}

package render

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew; read the diff")

var scenarios = []struct {
	name     string
	snapshot func() *inspect.Snapshot
}{
	{"healthy", healthy},
	{"paused-follower", pausedFollower},
	{"leaderless", leaderless},
	{"reassigning", reassigning},
	{"min-above-rf", minAboveRF},
	{"unknown-min", unknownMin},
	{"offsets-unknown", offsetsUnknown},
	{"groups", grouped},
}

var views = []struct {
	name string
	view View
}{
	{"80 columns", View{Terminal: true, Width: 80}},
	{"140 columns wide", View{Format: FormatWide, Terminal: true, Width: 140}},
	{"pipe", View{Format: FormatTable}},
	{"pipe wide", View{Format: FormatWide}},
}

// draw is one screen of a scenario.
func draw(t *testing.T, screen string, v View, s *inspect.Snapshot) string {
	t.Helper()
	var b bytes.Buffer
	verdict := s.Verdict()
	var err error
	switch screen {
	case "describe":
		err = Overview(&b, v, s, &verdict)
	case "describe topics":
		err = Topics(&b, v, s, judge(s))
	case "describe brokers":
		err = Brokers(&b, v, s)
	case "lag":
		err = Lag(&b, v, s, lagRowsOf(s))
	case "lag samples":
		err = Lag(&b, v, s, timed(lagRowsOf(s)))
	case "lag groups":
		err = Groups(&b, v, s, groupRowsOf(s))
	case "lag groups samples":
		err = Groups(&b, v, s, timedGroupRows(groupRowsOf(s)))
	case "lag groups partitions":
		err = GroupPartitions(&b, v, s, groupRowsOf(s))
	case "lag groups partitions samples":
		err = GroupPartitions(&b, v, s, timedGroupRows(groupRowsOf(s)))
	case "check health":
		err = CheckHealth(&b, v, s, &verdict, &Aged{})
	case "check health nagios":
		err = CheckHealthNagios(&b, s, &verdict, &Aged{}, Limits{})
	default:
		t.Fatalf("no screen %q", screen)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var screens = []string{"describe", "describe topics", "describe brokers", "lag", "check health"}

var groupScreens = []string{"lag groups", "lag groups samples", "lag groups partitions", "lag groups partitions samples"}

// TestScreens compares with testdata; -rewrite writes it.
func TestScreens(t *testing.T) {
	t.Parallel()
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			var got archive
			add := got.add
			for _, v := range views {
				for _, screen := range screens[:4] {
					add(screen+", "+v.name, draw(t, screen, v.view, sc.snapshot()))
				}
			}
			if sc.name == "paused-follower" {
				for _, v := range views {
					add("lag samples, "+v.name, draw(t, "lag samples", v.view, sc.snapshot()))
				}
			}
			if sc.name == "groups" {
				for _, v := range views {
					for _, screen := range groupScreens {
						add(screen+", "+v.name, draw(t, screen, v.view, sc.snapshot()))
					}
				}
				add("lag groups.json", draw(t, "lag groups samples", View{Format: FormatJSON}, sc.snapshot()))
			}
			add("check health", draw(t, "check health", View{}, sc.snapshot()))
			add("check health nagios", draw(t, "check health nagios", View{}, sc.snapshot()))
			var lines strings.Builder
			for _, f := range sc.snapshot().Failures {
				lines.WriteString(FailureLine(f) + "\n")
			}
			add("stderr", lines.String())
			golden(t, sc.name+".txtar", got.String())
		})
	}
}

// TestDocuments compares JSON and YAML with testdata.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, sc := range scenarios[1:3] {
		var got archive
		for _, screen := range append(screens, "lag samples") {
			got.add(screen+".json", draw(t, screen, View{Format: FormatJSON}, sc.snapshot()))
		}
		got.add("lag.yaml", draw(t, "lag", View{Format: FormatYAML}, sc.snapshot()))
		golden(t, sc.name+".json.txtar", got.String())
	}
}

// archive is files in the form of txtar.
type archive struct{ strings.Builder }

func (a *archive) add(name, data string) { a.WriteString("-- " + name + " --\n" + data) }

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

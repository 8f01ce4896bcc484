package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const watching = " --watch --interval 100ms"

// timesIn says that a text holds part n times at least.
func timesIn(part string, n int) func(string) bool {
	return func(s string) bool { return strings.Count(s, part) >= n }
}

// TestWatchPrints, into a pipe: JSON one document a line, YAML and tables one
// after the other; until it is interrupted.
func TestWatchPrints(t *testing.T) {
	t.Parallel()
	const passes = 3
	for _, command := range asking(t) {
		for format, begin := range map[string]string{
			"json": `{"apiVersion":"kafkaops/v1",`, "yaml": "---\napiVersion: kafkaops/v1\n", "table": "", "wide": "",
		} {
			t.Run(command+" "+format, func(t *testing.T) {
				t.Parallel()
				c := unhealthy(t)
				once := ask(t, c, command+" -o "+format)
				if begin == "" { // the first word of a table; lag has more columns in a watch
					begin = once.stdout[:strings.IndexAny(once.stdout, "\t ")]
				}
				s := place{}.start(t, c.Addr(1), command+" -o "+format+watching)
				s.stdout.await(t, func(s string) bool { return timesIn("\n"+begin, passes)("\n" + s) })
				r := s.interrupt()
				if r.code != exitInterrupted || r.stderr != "" {
					t.Errorf("got exit code %d, stderr %q; want 130 and nothing", r.code, r.stderr)
				}
				if !strings.HasPrefix(r.stdout, begin) || strings.Contains(r.stdout, "\x1b") {
					t.Errorf("got stdout %q, want it to begin with %q, and no escapes", r.stdout, begin)
				}
				if format != "json" {
					return
				}
				for line := range strings.Lines(r.stdout) {
					if !json.Valid([]byte(line)) || !strings.HasSuffix(line, "}\n") {
						t.Errorf("a line is no document: %q", line)
					}
				}
			})
		}
	}
}

// TestWatchRedraws in place on a terminal, and leaves the last picture.
func TestWatchRedraws(t *testing.T) {
	t.Parallel()
	for _, command := range asking(t) {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			c := healthy(t)
			s := screen().start(t, c.Addr(1), command+watching)
			const home = "\x1b[H"
			s.stdout.await(t, timesIn(home, 3))
			r := s.interrupt()
			if r.code != exitInterrupted || r.stderr != "" {
				t.Errorf("got exit code %d, stderr %q; want 130 and nothing", r.code, r.stderr)
			}
			frames := strings.Split(r.stdout, home)
			if frames[0] != "\x1b[?25l" || frames[1] != "\x1b[2J" || !strings.HasSuffix(r.stdout, "\x1b[?25h") {
				t.Errorf("got %q; want the cursor hidden, the screen cleared, and the cursor shown at the end", r.stdout)
			}
			for _, frame := range frames[2:] {
				if n := strings.Count(frame, "\n"); n == 0 || n > 23 || n != strings.Count(frame, "\x1b[K\r\n") {
					t.Errorf("got a frame of %d lines, want 1 to 23, each cleared to its end: %q", n, frame)
				}
			}
		})
	}
}

// TestWatchWithoutEscapes: a terminal that knows none gets one picture after the
// other, and documents are never drawn.
func TestWatchWithoutEscapes(t *testing.T) {
	t.Parallel()
	dumb := place{width: 80, height: 24, env: map[string]string{"TERM": "dumb"}}
	for name, tt := range map[string]struct {
		in    place
		flags string
		part  string
	}{
		"dumb": {dumb, "", "OK   "}, "json": {screen(), " -o json", "apiVersion"}, "yaml": {screen(), " -o yaml", "apiVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tt.in.start(t, healthy(t).Addr(1), "describe"+tt.flags+watching)
			s.stdout.await(t, timesIn(tt.part, 2))
			if r := s.interrupt(); strings.Contains(r.stdout, "\x1b") || r.code != exitInterrupted {
				t.Errorf("got exit code %d, %q; want 130 and no escapes", r.code, r.stdout)
			}
		})
	}
}

// TestWatchShowsChanges: each picture is of its own moment, and what two looks
// tell is there without --samples.
func TestWatchShowsChanges(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	onPass(c, func(n int, m *fakekafka.Model) { m.Topic("orders").Partitions[0].Append(int64(n)) })
	s := place{}.start(t, c.Addr(1), "lag orders -o json"+watching)
	s.stdout.await(t, timesIn("\n", 3))
	docs := documents[render.LagItem](t, s.interrupt().stdout)
	var ends []int64
	for _, d := range docs[:3] {
		ends = append(ends, int64(d.Items[0].LogEndOffset.Or(0)))
	}
	if got, want := fmt.Sprint(ends), "[1001 1003 1006]"; got != want {
		t.Errorf("got log ends %s, want %s", got, want)
	}
	if docs[0].Items[0].Rates == nil || docs[0].Items[0].Rates.AppendPerSecond.IsKnown() || docs[2].Items[0].Rates.AppendPerSecond.Or(0) <= 0 {
		t.Errorf("got rates %+v, then %+v; want unknown, then more than 0", docs[0].Items[0].Rates, docs[2].Items[0].Rates)
	}
}

// TestWatchOutlivesItsCluster: the brokers go away, each in some way, and come
// back.
func TestWatchOutlivesItsCluster(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault fakekafka.Faults
		told  string
	}{
		"closing": {fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.ApiVersions}}, "closed the connection on ApiVersions"},
		"mute":    {fakekafka.Faults{Mute: true}, "no reply to ApiVersions within "},
		"hung later": {
			fakekafka.Faults{HangOn: []kmsg.Key{kmsg.Metadata, kmsg.DescribeTopicPartitions, kmsg.DescribeCluster}}, "no reply to ",
		},
	} {
		for _, command := range asking(t) {
			t.Run(name+" "+command, func(t *testing.T) {
				t.Parallel()
				c := healthy(t)
				s := place{}.start(t, c.Addr(1), command+" -o json --timeout 600ms"+watching)
				s.stdout.await(t, timesIn("\n", 1))
				for id := int32(1); id <= 3; id++ {
					c.Break(id, tt.fault)
				}
				s.stderr.await(t, timesIn(tt.told, 3))
				for id := int32(1); id <= 3; id++ {
					c.Heal(id)
				}
				seen := strings.Count(s.stdout.String(), `"complete":true`)
				s.stdout.await(t, timesIn(`"complete":true`, seen+2))
				r := s.interrupt()
				if r.code != exitInterrupted {
					t.Errorf("got exit code %d, want 130", r.code)
				}
				for line := range strings.Lines(r.stdout) {
					if !json.Valid([]byte(line)) {
						t.Errorf("a line is no document: %q", line)
					}
				}
				for line := range strings.Lines(r.stderr) {
					if !strings.HasPrefix(line, "kafkaops: ") {
						t.Errorf("a line on stderr is no failure: %q", line)
					}
				}
			})
		}
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		c := healthy(t)
		s := place{}.start(t, c.Addr(1), "describe"+watching)
		s.stdout.await(t, timesIn("verdict\tok\n", 1))
		for id := int32(1); id <= 3; id++ {
			c.Break(id, fakekafka.Faults{Refuse: true})
		}
		s.stderr.await(t, timesIn("dial: connection refused", 6))
		if r := s.interrupt(); r.code != exitInterrupted {
			t.Errorf("got exit code %d, want 130", r.code)
		}
	})
}

// TestWatchPutsFailuresFirst: what is longer than the screen is cut at its end,
// and a broker that does not answer must not be cut.
func TestWatchPutsFailuresFirst(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	m.AddTopic("long", 50, 3)
	c := fakekafka.Start(t, m)
	c.Break(2, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.ApiVersions}})
	s := screen().start(t, c.Addr(1), "lag --color never"+watching)
	const home = "\x1b[H"
	frame := strings.Split(s.stdout.await(t, timesIn("\x1b[J", 2)), home)[2]
	s.interrupt()
	if !strings.HasPrefix(frame, "kafkaops: broker 2 (") || !strings.Contains(frame, "PARTITION ") {
		t.Errorf("got a frame that begins with %.80q, want the broker that does not answer, and the table below", frame)
	}
}

// TestWatchUnreachableFromTheStart says why on the terminal itself.
func TestWatchUnreachableFromTheStart(t *testing.T) {
	t.Parallel()
	closed := fakekafka.ClosedPort(t)
	s := screen().start(t, closed, "describe"+watching)
	s.stdout.await(t, timesIn("\x1b[Hkafkaops: "+closed+": dial: connection refused\x1b[K\r\n", 2))
	if r := s.interrupt(); r.code != exitInterrupted || r.stderr != "" {
		t.Errorf("got exit code %d, stderr %q; want 130 and nothing", r.code, r.stderr)
	}
}

// TestWatchKeepsExitCodesForItself: ill health and missing answers end no watch.
func TestWatchKeepsExitCodesForItself(t *testing.T) {
	t.Parallel()
	ill := unhealthy(t)
	for _, command := range asking(t) {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			s := place{}.start(t, ill.Addr(1), command+" -o json "+exitCodes[command].flags+watching)
			s.stdout.await(t, timesIn("\n", 2))
			if r := s.interrupt(); r.code != exitInterrupted {
				t.Errorf("got exit code %d, want 130", r.code)
			}
		})
	}
	var level inspect.Level
	for _, d := range documents[render.ClusterItem](t, ask(t, ill, "describe -o json").stdout) {
		level = d.Items[0].Verdict
	}
	if level != inspect.LevelAtRisk {
		t.Errorf("got verdict %s, want at-risk: the test watched nothing ill", level)
	}
}

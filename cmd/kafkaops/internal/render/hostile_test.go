package render

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// hostile is a cluster whose every text tries to escape.
func hostile() *inspect.Snapshot {
	const evil = "a\x1b[31m\tb\nc\u009b2J\u202ed\xff|e"
	s := pausedFollower()
	s.ClusterID = inspect.Known(evil)
	for i := range s.Brokers {
		s.Brokers[i].Host = evil
		s.Brokers[i].Rack = inspect.Known(evil)
		s.Brokers[i].VersionRange = inspect.Known(evil)
		s.Brokers[i].LogDirs = inspect.Known([]inspect.LogDir{{Path: evil, Error: evil}, {Path: evil}})
	}
	for t := range s.Topics {
		s.Topics[t].Name = evil
		for p := range s.Topics[t].Partitions {
			part := &s.Topics[t].Partitions[p]
			part.Topic, part.TopicID, part.Index = evil, inspect.Known(evil), int32(t*10+p)
			part.Offsets.Error = evil
			for f := range part.Offsets.Followers {
				part.Offsets.Followers[f].Error = evil
			}
		}
	}
	evilMember := inspect.Member{ID: evil, InstanceID: evil, ClientID: evil, Host: evil, Assigned: []inspect.TopicPartition{{Topic: evil, Partition: 1}}}
	s.Groups = []inspect.Group{{
		Name: evil, Type: inspect.Known(inspect.GroupType(evil)), Protocol: evil, State: inspect.Known(evil), Error: evil,
		Members: inspect.Known([]inspect.Member{evilMember}),
		Commits: inspect.Known([]inspect.Commit{{TopicPartition: inspect.TopicPartition{Topic: evil, Partition: 99}, Error: evil}}),
	}}
	for i := range s.Failures {
		s.Failures[i].Error, s.Failures[i].Topic, s.Failures[i].Address, s.Failures[i].Hint = evil, evil, evil, evil
	}
	return s
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		for _, v := range []View{{Format: f}, {Format: f, Terminal: true, Width: 120}} {
			for _, screen := range allScreens {
				out := draw(t, screen, v, hostile())
				if clean := strings.NewReplacer("\n", "", "\t", "").Replace(out); !isClean(clean) {
					t.Errorf("%s %+v: unprintable bytes in %q", screen, v, out)
				}
				if v.Format == FormatJSON && screen != "check health nagios" && !json.Valid([]byte(out)) {
					t.Errorf("%s: not JSON: %s", screen, out)
				}
			}
		}
	}
	lines := strings.Split(strings.TrimSuffix(draw(t, "lag", View{Format: FormatWide}, hostile()), "\n"), "\n")
	if len(lines) != 1+9 {
		t.Errorf("got %d lines for 9 replicas", len(lines)-1)
	}
	for _, line := range lines {
		if got, want := strings.Count(line, "\t"), strings.Count(lines[0], "\t"); got != want {
			t.Errorf("%d tabs, want %d: %q", got, want, line)
		}
	}
	if n := strings.Count(draw(t, "check health nagios", View{}, hostile()), "|"); n != 1 {
		t.Errorf("%d bars in the nagios line, want the one before its data", n)
	}
	for _, f := range hostile().Failures {
		if line := FailureLine(f); !isClean(line) {
			t.Errorf("unprintable bytes in %q", line)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"orders-0":           "orders-0",
		"größe 日本":           "größe 日本",
		"a\x1b[31mb":         `a\x1b[31mb`,
		"tab\there":          `tab\there`,
		"line\nbreak":        `line\nbreak`,
		"\u009b31m":          `\u009b31m`,
		"\u202etxt":          `\u202etxt`,
		"broken \xff\xfe":    `broken \xff\xfe`,
		"replacement \ufffd": "replacement \ufffd",
		`C:\kafka 'x' "y"`:   `C:\kafka 'x' "y"`,
		"":                   "",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

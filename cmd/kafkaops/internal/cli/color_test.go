package cli

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestEscapeBytes: https://github.com/yashbhutwala/kubectl-df-pv/issues/27. None
// into a pipe, with NO_COLOR, on a dumb terminal, in a document; colour on a
// terminal. On stderr there is never any.
func TestEscapeBytes(t *testing.T) {
	t.Parallel()
	c := unhealthy(t)
	c.Change(func(m *fakekafka.Model) {
		m.Broker(3).Rack = "r\x1b[31m"
		transact(m)
		reassign(m)
		m.Deny = []kmsg.Key{kmsg.DescribeLogDirs}
	})
	with := func(key, value string) place {
		p := screen()
		p.env = map[string]string{key: value}
		return p
	}
	for _, command := range asking(t) {
		for _, tt := range []struct {
			name  string
			in    place
			flags string
			color bool
		}{
			{"pipe", place{}, "", false},
			{"pipe, always", place{}, "--color always", false},
			{"terminal", screen(), "", true},
			{"terminal, wide", screen(), "-o wide", true},
			{"never", screen(), "--color never", false},
			{"NO_COLOR", with("NO_COLOR", "1"), "", false},
			{"NO_COLOR, wide", with("NO_COLOR", "1"), "-o wide", false},
			{"NO_COLOR is empty", with("NO_COLOR", ""), "", true},
			{"NO_COLOR, always", with("NO_COLOR", "1"), "--color always", true},
			{"dumb", with("TERM", "dumb"), "", false},
			{"json", screen(), "-o json", false},
			{"json, always", screen(), "-o json --color always", false},
			{"yaml", screen(), "-o yaml", false},
			{"yaml, always", screen(), "-o yaml --color always", false},
		} {
			r := tt.in.ask(t, c, command+" "+tt.flags)
			if got := strings.Contains(r.stdout, "\x1b"); got != tt.color || strings.Contains(r.stderr, "\x1b") {
				t.Errorf("%s, %s: got colour %v, want %v: %q", command, tt.name, got, tt.color, r.stdout)
			}
			// Whatever is an escape is colour, and ends on its line.
			for line := range strings.Lines(r.stdout) {
				colors := sgr.FindAllString(line, -1)
				if strings.Contains(sgr.ReplaceAllString(line, ""), "\x1b") || len(colors) > 0 && colors[len(colors)-1] != "\x1b[0m" {
					t.Errorf("%s, %s: a line has other escapes than colour, or goes on with it: %q", command, tt.name, line)
				}
			}
		}
		r := with("NO_COLOR", "1").ask(t, c, "check health --nagios")
		if strings.Contains(r.stdout+r.stderr, "\x1b") || strings.Contains(screen().ask(t, c, "check health --nagios").stdout, "\x1b") {
			t.Errorf("--nagios has escapes: %q", r.stdout)
		}
	}
	for _, line := range []string{"", "help lag", "nosuch", "version", "describe --no-such-flag", "check"} {
		if r := screen().run(t.Context(), strings.Fields(line)...); strings.Contains(r.stdout+r.stderr, "\x1b") {
			t.Errorf("kafkaops %s has escapes: %+v", line, r)
		}
	}
}

// sgr is an escape sequence that sets or ends a colour.
var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestStatusIsAWord: taking the colour away takes nothing else.
func TestStatusIsAWord(t *testing.T) {
	t.Parallel()
	c := unhealthy(t)
	c.Change(transact)
	c.Change(func(m *fakekafka.Model) {
		// So old that its age is told in minutes: the same in both runs.
		m.Transactions[0].StartMs -= (3*time.Hour + 30*time.Second).Milliseconds()
	})
	c.Change(reassign)
	for _, command := range asking(t) {
		colored, plain := screen().ask(t, c, command), screen().ask(t, c, command+" --color never")
		timeless := func(s string) string { return told.ReplaceAllString(seconds.ReplaceAllString(s, ""), "${1}AGE") }
		if got := sgr.ReplaceAllString(colored.stdout, ""); timeless(got) != timeless(plain.stdout) {
			t.Errorf("%s: got without its colours\n%s\nwant\n%s", command, got, plain.stdout)
		}
	}
}

// seconds is the time on a terminal's verdict line.
var seconds = regexp.MustCompile(`\d\d:\d\d:\d\dZ`)

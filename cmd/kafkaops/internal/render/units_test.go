package render

import (
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ got, want string }{
		{Thousands(0), "0"},
		{Thousands(999), "999"},
		{Thousands(918250), "918,250"},
		{Thousands(-1234567), "-1,234,567"},
		{Thousands(math.MaxInt64), "9,223,372,036,854,775,807"},
		{Thousands(math.MinInt64), "-9,223,372,036,854,775,808"},
		{Millis(0), "0"},
		{Millis(350), "350ms"},
		{Millis(12_412), "12.4s"},
		{Millis(42_000), "42s"},
		{Millis(59_999), "59.9s"},
		{Millis(91_000), "1m31s"},
		{Millis(7_500_000), "2h05m"},
		{Millis(273_600_000), "3d04h"},
		{Millis(-350), "-350ms"},
		{Bytes(0), "0 B"},
		{Bytes(1023), "1023 B"},
		{Bytes(1536), "1.5 KiB"},
		{Bytes(1 << 40), "1.0 TiB"},
		{Bytes(1<<40 - 1), "1.0 TiB"},
		{Bytes(math.MaxInt64), "8.0 EiB"},
		{PerSecond(4100.4), "4,100/s"},
		{PerSecond(0.25), "0.2/s"},
		{PerSecond(0), "0/s"},
		{PerSecond(-20.6), "-21/s"},
		{hostPort("10.0.0.1", 9092), "10.0.0.1:9092"},
		{hostPort("::1", 9092), "[::1]:9092"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

func TestBar(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		part, whole float64
		want        string
	}{
		{0, 8, "    "},
		{8, 8, "████"},
		{4, 8, "██  "},
		{1, 8, "▌   "},
		{7.99, 8, "███▉"},
		{9, 8, "████"},
		{-1, 8, "    "},
		{1, 0, "    "},
		{math.NaN(), 8, "    "},
		{8, math.NaN(), "    "},
	} {
		if got := Bar(4, tc.part, tc.whole); got != tc.want {
			t.Errorf("Bar(4, %v, %v) = %q, want %q", tc.part, tc.whole, got, tc.want)
		}
	}
}

func TestOffsetBar(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name         string
		end, leo, hw int64
		want         string
	}{
		{"caught up", 1000, 1000, 1000, "████████▏"},
		{"one record short", 1000, 999, 1000, "███████▉▏"},
		{"a quarter", 1000, 925, 1000, "██      ▏"},
		{"uncommitted", 1000, 1000, 950, "████░░░░▏"},
		{"below the scale", 1000, 3, 950, "        ▏"},
		{"past the end", 1000, 1004, 1000, "████████▏"},
		{"whatever a broker says", math.MaxInt64, math.MinInt64, 0, "        ▏"},
	} {
		if got := OffsetBar(9, 100, tc.end, tc.leo, tc.hw); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := OffsetBar(0, 100, 1, 1, 1); got != "" {
		t.Errorf("no room: got %q", got)
	}
	if a, b := BarSpan(0), BarSpan(3000); a != 100 || b != 4000 {
		t.Errorf("BarSpan(0), BarSpan(3000) = %d, %d, want 100, 4000", a, b)
	}
}

func TestSparkline(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		values []float64
		want   string
	}{
		{nil, ""},
		{[]float64{0, 0}, "··"},
		{[]float64{0, 1, 4, 8}, "·▁▄█"},
		{[]float64{8, math.NaN(), 0.001}, "█ ▁"},
	} {
		if got := Sparkline(tc.values); got != tc.want {
			t.Errorf("Sparkline(%v) = %q, want %q", tc.values, got, tc.want)
		}
	}
}

func TestFailureLine(t *testing.T) {
	t.Parallel()
	three := inspect.Known[inspect.BrokerID](3)
	for _, tc := range []struct {
		f    inspect.Failure
		want string
	}{
		{
			inspect.Failure{
				Broker: three, Address: "10.0.0.13:9092", Request: "ListOffsets", Phase: inspect.PhaseRequest,
				Error: "no reply to ListOffsets within 3s", Lost: "its 204 replicas are shown as unknown",
			},
			"kafkaops: broker 3 (10.0.0.13:9092): no reply to ListOffsets within 3s; its 204 replicas are shown as unknown",
		},
		{
			inspect.Failure{Address: "b:9092", Request: "ApiVersions", Phase: inspect.PhaseDial, Error: "connection refused"},
			"kafkaops: b:9092: dial: connection refused",
		},
		{
			inspect.Failure{Address: "b:9093", Phase: inspect.PhaseTLS, Error: "TLS handshake timed out", Hint: "Is it a TLS port?"},
			"kafkaops: b:9093: TLS handshake timed out. Is it a TLS port?",
		},
		{
			inspect.Failure{Address: "b:9093", Request: "SASL SCRAM-SHA-256", Phase: inspect.PhaseSASL, Error: "authentication failed with SASL mechanism SCRAM-SHA-256"},
			"kafkaops: b:9093: SASL: authentication failed with SASL mechanism SCRAM-SHA-256",
		},
		{
			inspect.Failure{Broker: three, Topic: "orders", Request: "DescribeConfigs", Phase: inspect.PhaseRequest, Error: "TOPIC_AUTHORIZATION_FAILED"},
			"kafkaops: broker 3: topic orders: DescribeConfigs: TOPIC_AUTHORIZATION_FAILED",
		},
		{inspect.Failure{Request: "Metadata", Error: "timed out"}, "kafkaops: Metadata: timed out"},
	} {
		if got := FailureLine(tc.f); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}

// A notice cost no data: it is a line on stderr and no error of the document.
func TestNoticesAreNoErrors(t *testing.T) {
	t.Parallel()
	s := healthy()
	s.Failures = []inspect.Failure{{Address: "dead:9092", Phase: inspect.PhaseDial, Error: "connection refused", Notice: true}}
	out := draw(t, "describe", View{Format: FormatJSON, Stream: true}, s)
	if !strings.Contains(out, `"complete":true,"errors":[]`) {
		t.Errorf("got %s", out)
	}
}

func TestWorstFirst(t *testing.T) {
	t.Parallel()
	s := cluster(
		topic("a", 2, part(ids(1, 2, 3), ids(1, 2), nil), part(ids(1, 2, 3), ids(1), nil)),
		topic("b", 3, part(ids(1, 2, 3), ids(1), nil), part(ids(1, 2, 3), nil, nil)),
		// Further below its minimum, and yet with a copy more than b-0.
		topic("c", 5, part(ids(1, 2, 3, 4, 5), ids(1, 2), nil)),
	)
	s.Topics[1].Partitions[1].Leader = inspect.NoBroker
	var got []string
	for _, j := range WorstFirst(judge(s)) {
		got = append(got, nameOf(j.Partition))
	}
	if want := "b-1 b-0 a-1 c-0 a-0"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	got = nil
	for _, r := range WorstLagFirst(lagRowsOf(pausedFollower())) {
		got = append(got, nameOf(r.Partition))
	}
	if want := "payments-0 orders-0 payments-1"; strings.Join(got, " ") != want {
		t.Errorf("by lag: got %v, want %s", got, want)
	}
}

// TestSilentMemberOfISR: on a terminal, only where records wait.
func TestSilentMemberOfISR(t *testing.T) {
	t.Parallel()
	silent := inspect.FollowerOffset{Broker: 3, Error: "no reply to ListOffsets within 3s"}
	const note = "in the ISR"
	for _, tt := range []struct {
		name string
		hw   inspect.Offset
		isr  []inspect.BrokerID
		want bool
	}{
		{"records wait", 90, ids(1, 2, 3), true},
		{"none waits", 100, ids(1, 2, 3), false},
		{"out of the ISR", 90, ids(1, 2), false},
	} {
		s := cluster(topic("t", 2, part(ids(1, 2, 3), tt.isr, offsets(tt.hw, 100, at(2, 100), silent))))
		if out := draw(t, "lag", View{Terminal: true}, s); strings.Contains(out, note) != tt.want {
			t.Errorf("%s: a note is %v, want %v:\n%s", tt.name, !tt.want, tt.want, out)
		}
	}
}

func TestLongListsAreCutOnTerminals(t *testing.T) {
	t.Parallel()
	var parts []inspect.Partition
	for range 143 {
		parts = append(parts, part(ids(1, 2, 3), ids(1, 2), offsets(5, 5, at(2, 5), at(3, 4))))
	}
	s := cluster(topic("orders", 2, parts...))
	terminal := View{Terminal: true, Width: 80, Rows: 20}
	for screen, want := range map[string]string{
		"describe":        "… 123 more (kafkaops describe topics --under-replicated)",
		"describe topics": "20 of 143 partitions shown (all of them: --all)",
		"lag":             "20 of 143 partitions shown (all of them: --all)",
	} {
		if out := draw(t, screen, terminal, s); !strings.Contains(out, want+"\n") {
			t.Errorf("%s does not say %q:\n%s", screen, want, out)
		}
		if out := draw(t, screen, View{Rows: 20}, s); strings.Count(out, "orders-") < 143 {
			t.Errorf("%s is cut in a pipe:\n%s", screen, out)
		}
	}
}

func TestNarrowTables(t *testing.T) {
	t.Parallel()
	s := cluster(topic(strings.Repeat("long.", 20)+"orders", 2, part(ids(1, 2, 3), ids(1, 2, 3), offsets(5, 5, at(2, 5), at(3, 5)))))
	out := draw(t, "describe topics", View{Terminal: true, Width: 70}, s)
	if !strings.Contains(out, "…") || !strings.Contains(out, "orders-0  1") || !strings.Contains(out, "(no room in 70 columns for HEADROOM)") {
		t.Errorf("a long name is not shortened in its middle:\n%s", out)
	}
	wide := cluster(topic("日本", 2, part(ids(1, 2, 3), ids(1, 2, 3), nil)), topic("ab", 2, part(ids(1, 2, 3), ids(1, 2, 3), nil)))
	lines := strings.Split(draw(t, "describe topics", View{Terminal: true}, wide), "\n")
	before := func(line string) int {
		head, _, _ := strings.Cut(line, "1,2,3")
		return ansi.StringWidth(head)
	}
	if a, b := before(lines[1]), before(lines[2]); a != b {
		t.Errorf("wide runes break the columns: %d and %d\n%s\n%s", a, b, lines[1], lines[2])
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""},
		{"at-min-isr, under-replicated", 40, "at-min-isr, under-replicated"},
		{"at-min-isr, under-replicated, wrong-leader", 20, "at-min-isr,|  under-replicated,|  wrong-leader"},
		{"0123456789abcdef", 8, "01234567|  89abcd|  ef"},
		{"a 0123456789", 6, "a|  0123|  4567|  89"},
		{"日本", 1, "日|  本"},
	} {
		if got := strings.Join(wrap(tc.text, tc.width, "  "), "|"); got != tc.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", tc.text, tc.width, got, tc.want)
		}
	}
}

func TestParseFormat(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		if got, err := ParseFormat(string(f)); err != nil || got != f {
			t.Errorf("ParseFormat(%s) = %s, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil || !strings.Contains(err.Error(), "table, wide, json, yaml") {
		t.Errorf("ParseFormat(xml) = %v, want an error that lists the formats", err)
	}
}

// TestNarrowest: on whatever terminal, a row says what it is of and how it is, as long as
// anything has room, and the line that says what was left out is whole.
func TestNarrowest(t *testing.T) {
	t.Parallel()
	s := cluster(topic("orders", 2, part(ids(1, 2, 3), ids(1, 2), offsets(500, 900, at(2, 900), at(3, 500)))))
	for screen, words := range map[string][]string{
		"describe topics": {"orders-0", "at-min-isr"},
		"lag":             {"orders-0", "400", "in-sync", "out-of-sync"},
	} {
		for width := 120; width >= 40; width-- {
			out := draw(t, screen, View{Terminal: true, Width: width}, s)
			for _, word := range words {
				if !strings.Contains(out, word) {
					t.Errorf("%s in %d columns lacks %s:\n%s", screen, width, word, out)
				}
			}
			for line := range strings.Lines(out) {
				if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s in %d columns has a line of %d: %s", screen, width, n, line)
				}
			}
			if _, notice, ok := strings.Cut(out, "(no room in "); ok && (strings.Contains(notice, "…") || !strings.HasSuffix(notice, ")\n")) {
				t.Errorf("%s in %d columns: the notice is cut:\n%s", screen, width, out)
			}
		}
	}
}

package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// manyNames has topics whose names collide with globs, commands and each other.
func manyNames(t *testing.T) *fakekafka.Cluster {
	t.Helper()
	m := fakekafka.NewModel(2)
	for _, name := range []string{"orders", "orders-v2", "orders.eu", "brokers", "topics", "o"} {
		m.AddTopic(name, 1, 2)
	}
	for _, name := range []string{"__consumer_offsets", "__transaction_state"} {
		m.AddTopic(name, 1, 2).Internal = true
	}
	return fakekafka.Start(t, m)
}

// TestTopicArguments: exact names, globs, --topic and --exclude-internal, of both
// commands that take them.
func TestTopicArguments(t *testing.T) {
	t.Parallel()
	c := manyNames(t)
	for _, tt := range []struct {
		args string
		want string // topics, in order
		code int
		line string // stderr
	}{
		{"", "__consumer_offsets __transaction_state brokers o orders orders-v2 orders.eu topics", exitOK, ""},
		{"--exclude-internal", "brokers o orders orders-v2 orders.eu topics", exitOK, ""},
		{"orders", "orders", exitOK, ""},
		{"orders o orders", "o orders", exitOK, ""},
		{"orders.eu", "orders.eu", exitOK, ""},
		{"orders*", "orders orders-v2 orders.eu", exitOK, ""},
		{"orders?*", "orders-v2 orders.eu", exitOK, ""},
		{`orders[.\-]*`, "orders-v2 orders.eu", exitOK, ""},
		{"?", "o", exitOK, ""},
		{"* --exclude-internal", "brokers o orders orders-v2 orders.eu topics", exitOK, ""},
		{"__*", "__consumer_offsets __transaction_state", exitOK, ""},
		{"brokers topics", "brokers topics", exitOK, ""},
		{"--topic brokers", "brokers", exitOK, ""},
		{"--topic brokers --topic orders* o", "brokers o orders orders-v2 orders.eu", exitOK, ""},
		{"__consumer_offsets", "__consumer_offsets", exitOK, ""},

		{"Orders", "", exitFailed, "kafkaops: topic Orders: Metadata: no such topic, or no permission to see it\n"},
		{"order o", "o", exitFailed, "kafkaops: topic order: Metadata: no such topic, or no permission to see it\n"},
		{"x*", "", exitFailed, "kafkaops: topic x*: Metadata: matches no topic\n"},
		{"x* o* orderz", "o orders orders-v2 orders.eu", exitFailed, "kafkaops: topic orderz: Metadata: no such topic, or no permission to see it\nkafkaops: topic x*: Metadata: matches no topic\n"},
		{"__* --exclude-internal", "", exitFailed, "kafkaops: topic __*: Metadata: matches no topic but internal ones at most, which --exclude-internal leaves out\n"},
		{
			"__consumer_offsets o --exclude-internal", "o", exitFailed,
			"kafkaops: topic __consumer_offsets: Metadata: no such topic, no permission to see it, or an internal one, which --exclude-internal leaves out\n",
		},
		{"orders\\*", "", exitFailed, "kafkaops: topic orders\\*: Metadata: matches no topic\n"},
		{"bad/name", "", exitFailed, "kafkaops: topic bad/name: Metadata: INVALID_TOPIC_EXCEPTION\n"},
	} {
		for _, command := range []string{"describe topics", "lag"} {
			r := ask(t, c, command+" "+tt.args)
			var got []string
			for _, name := range column(t, r.stdout, "PARTITION") {
				got = append(got, strings.TrimSuffix(name, "-0"))
			}
			if command == "lag" {
				slices.Sort(got) // from the worst on, and they are all the same
			}
			got = slices.Compact(got)
			if strings.Join(got, " ") != tt.want || r.code != tt.code || r.stderr != tt.line {
				t.Errorf("%s %s: got %q, exit code %d, stderr %q; want %q, %d, %q", command, tt.args, got, r.code, r.stderr, tt.want, tt.code, tt.line)
			}
			r = ask(t, c, command+" -o json "+tt.args)
			got = nil
			for _, item := range items[map[string]any](t, r) {
				got = append(got, item["topic"].(string))
			}
			if strings.Join(got, " ") != tt.want || r.code != tt.code || r.stderr != tt.line {
				t.Errorf("%s -o json %s: got %q, exit code %d, stderr %q; want %q, %d, %q", command, tt.args, got, r.code, r.stderr, tt.want, tt.code, tt.line)
			}
		}
	}
}

// TestStatusFilters: each alone under both of its names, joined, and by the rules
// of kafka-topics.sh.
func TestStatusFilters(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(4)
	topic := func(name string, rf int, change func(*fakekafka.Partition)) {
		added := m.AddTopic(name, 1, rf)
		added.MinInsyncReplicas = 2
		change(added.Partitions[0])
	}
	topic("a-ok", 3, func(*fakekafka.Partition) {})
	topic("b-lost-one", 4, func(p *fakekafka.Partition) { p.ISR = []int32{1, 2, 3} })
	topic("c-at-min", 3, func(p *fakekafka.Partition) { p.ISR = []int32{1, 2} })
	topic("d-under-min", 3, func(p *fakekafka.Partition) { p.ISR = []int32{1} })
	topic("e-offline", 3, func(p *fakekafka.Partition) { p.Leader, p.ISR = fakekafka.NoLeader, nil })
	topic("f-offline-with-isr", 3, func(p *fakekafka.Partition) { p.Leader, p.ISR = fakekafka.NoLeader, []int32{1, 2} })
	topic("g-no-headroom", 2, func(*fakekafka.Partition) {})
	topic("h-rf-1", 1, func(*fakekafka.Partition) {})
	topic("i-adding", 4, func(p *fakekafka.Partition) { p.Adding, p.ISR = []int32{4}, []int32{1, 2, 3} })
	// The one that is being added has joined, another has left: the numbers agree.
	topic("j-adding-hides-lost", 4, func(p *fakekafka.Partition) { p.Adding, p.ISR = []int32{4}, []int32{1, 2, 4} })
	topic("k-wrong-leader", 3, func(p *fakekafka.Partition) { p.Leader = 2 })
	c := fakekafka.Start(t, m)
	for flags, want := range map[string]string{
		"":                                   "a b c d e f g h i j k",
		"--under-replicated":                 "b c d e f j",
		"--under-min-isr":                    "d e",
		"--at-min-isr":                       "c f",
		"--unavailable":                      "e f",
		"--unavailable --at-min-isr":         "c e f",
		"--under-min-isr --under-replicated": "b c d e f j",
		"--under-replicated=false":           "a b c d e f g h i j k",

		"--kafka-semantics":                    "a b c d e f g h i j k",
		"--kafka-semantics --under-replicated": "b c d e f",
		// A leaderless one is under it whatever its ISR; RF 1 is under a min ISR of 2.
		"--kafka-semantics --under-min-isr": "d e f h",
		// At it by number, lost or not.
		"--kafka-semantics --at-min-isr":  "c f g",
		"--kafka-semantics --unavailable": "e f",
	} {
		spellings := []string{flags}
		if strings.Count(flags, "--") == 1+strings.Count(flags, "--kafka-semantics") && !strings.Contains(flags, "=") {
			spellings = append(spellings, flags+"-partitions")
		}
		for _, spelling := range spellings {
			r := ask(t, c, "describe topics "+spelling)
			var got []string
			for _, name := range column(t, r.stdout, "PARTITION") {
				got = append(got, name[:1])
			}
			if diff := cmp.Diff(strings.Join(got, " "), want); diff != "" || r.code != exitOK || r.stderr != "" {
				t.Errorf("describe topics %s: exit code %d, stderr %q; -got +want:\n%s", spelling, r.code, r.stderr, diff)
			}
			if n := len(items[render.PartitionItem](t, ask(t, c, "describe topics -o json "+spelling))); n != len(got) {
				t.Errorf("describe topics %s -o json: got %d items, want %d", spelling, n, len(got))
			}
		}
	}
}

// TestExitCodeOfFilters: the verdict is that over the topics asked for, whatever
// the filter shows.
func TestExitCodeOfFilters(t *testing.T) {
	t.Parallel()
	c := unhealthy(t)
	for line, want := range map[string]int{
		"describe topics payments* --exit-code":                      exitOK,
		"describe topics orders --exit-code":                         exitUnhealthy,
		"describe topics orders --unavailable --exit-code":           exitUnhealthy,
		"describe topics payments-eu --exclude-internal --exit-code": exitOK,
		"lag payments* --exit-code":                                  exitOK,
		"lag orders --exit-code":                                     exitUnhealthy,
		"describe topics orders nosuch --exit-code":                  exitFailed,
	} {
		if r := ask(t, c, line); r.code != want {
			t.Errorf("%s: got exit code %d, want %d", line, r.code, want)
		}
	}
}

// TestLongListsAreCut on a terminal, unless the topics are named or --all is there.
func TestLongListsAreCut(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	m.AddTopic("long", 50, 1)
	c := fakekafka.Start(t, m)
	for line, cut := range map[string]bool{
		"describe topics": true, "describe topics l*": true, "describe topics --all": false, "describe topics long": false,
		"lag": true, "lag l*": true, "lag --all": false, "lag long": false, "lag --top 40": false, "lag --sort name": true,
	} {
		r := screen().ask(t, c, line)
		if got := strings.Contains(r.stdout, "partitions shown (all of them: --all)"); got != cut {
			t.Errorf("%s: got cut %v, want %v:\n%s", line, got, cut, r.stdout)
		}
		if n := strings.Count(ask(t, c, line).stdout, "\nlong-"); n < 40 {
			t.Errorf("%s into a pipe: got %d rows, want all", line, n)
		}
	}
}

// TestFilterMatch: what is certain though an answer is missing.
func TestFilterMatch(t *testing.T) {
	t.Parallel()
	min2 := inspect.Known[int32](2)
	for _, tt := range []struct {
		filter           statusFilter
		isr              []inspect.BrokerID
		min              inspect.Opt[int32]
		matched, decided bool
	}{
		{statusFilter{}, []inspect.BrokerID{1}, inspect.Unknown[int32](), true, true},
		{statusFilter{underMinISR: true}, []inspect.BrokerID{1}, min2, true, true},
		{statusFilter{underMinISR: true}, []inspect.BrokerID{1, 2}, min2, false, true},
		{statusFilter{underMinISR: true}, []inspect.BrokerID{1}, inspect.Unknown[int32](), false, false},
		{statusFilter{underMinISR: true}, nil, inspect.Unknown[int32](), true, true},
		{statusFilter{atMinISR: true}, []inspect.BrokerID{1, 2}, min2, true, true},
		{statusFilter{atMinISR: true}, []inspect.BrokerID{1, 2}, inspect.Unknown[int32](), false, false},
		{statusFilter{atMinISR: true, underReplicated: true}, []inspect.BrokerID{1, 2}, inspect.Unknown[int32](), true, true},
		{statusFilter{underReplicated: true}, []inspect.BrokerID{1, 2, 3}, inspect.Unknown[int32](), false, true},
		{statusFilter{unavailable: true}, []inspect.BrokerID{1}, inspect.Unknown[int32](), false, true},
	} {
		p := inspect.Partition{
			Leader: 1, Replicas: []inspect.BrokerID{1, 2, 3}, ISR: tt.isr, MinInsyncReplicas: tt.min,
			Adding: inspect.Known[[]inspect.BrokerID](nil), Removing: inspect.Known[[]inspect.BrokerID](nil),
		}
		h := p.Health()
		matched, decided := tt.filter.match(&h)
		if got, want := fmt.Sprint(matched, decided), fmt.Sprint(tt.matched, tt.decided); got != want {
			t.Errorf("%+v with ISR %v and min ISR %s: got matched, decided %s; want %s", tt.filter, tt.isr, tt.min, got, want)
		}
	}
}

package cli

import (
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
)

// TestLocalUsage: what cannot be, in a flag or in a name, is wrong usage, and says what
// can; nothing is done of it, not even a part.
func TestLocalUsage(t *testing.T) {
	t.Parallel()
	p := machine(t)
	p.upLocal(t, "--brokers 2 --port 0 --ephemeral")
	for line, want := range map[string]string{
		"fault kill --broker 3":                                  "there is no broker 3: use 1 to 2, or controller",
		"fault kill --broker 0":                                  `--broker "0": use a broker's id, from 1, or controller`,
		"fault kill --broker 2147483648":                         "there is no broker 2147483648: use 1 to 2",
		"fault fence --broker controller":                        "it fences: name a broker",
		"fault cut --from 1 --to 3 --both":                       "there is no broker 3",
		"fault cut --from 3 --to 1":                              "there is no broker 3",
		"fault cut --from controller --to controller":            "--from and --to are both the controller",
		"fault slow-link --from 1 --to 2 --one-way -1ms":         "use a duration above 0 and up to 1h0m0s",
		"fault slow-link --from 1 --to 2 --one-way 99999h":       "use a duration above 0 and up to 1h0m0s",
		"fault slow-disk --broker 1 --per-write 2562047h":        "use a duration above 0 and up to 1h0m0s",
		"fault slow-disk --broker 1 --per-write 5":               `--per-write "5": use a duration such as 10s`,
		"fault slow-disk --broker 1 --per-write NaNs":            `--per-write "NaNs": use a duration such as 10s`,
		"fault jump-clock --broker 1 --by 876001h":               "a clock is at most 100 years",
		"heal --timeout 0":                                       "--timeout 0s is too short",
		"restart --broker 3":                                     "there is no broker 3",
		"topics create t --partitions 0":                         "--partitions 0: use 1 to 10000",
		"topics create t --partitions 10001":                     "--partitions 10001: use 1 to 10000",
		"topics create t --partitions NaN":                       `--partitions "NaN": use a whole number`,
		"topics create t --replication-factor 3":                 "only 2 broker(s) are registered",
		"topics create t --replication-factor -1":                "--replication-factor -1: use 1 to",
		"topics create t --replica-assignment 1:3":               "broker 3 is not registered",
		"topics create t --replica-assignment 0":                 "broker 0 is not registered",
		"topics create t --replica-assignment=":                  "--replica-assignment is empty",
		"topics create t --config min.insync.replicas=0":         `"0" is not a value that it can have`,
		"topics create t --config no.such=1":                     "there is no topic config no.such",
		"topics create a/b":                                      "'/' is not allowed",
		"topics create " + strings.Repeat("x", 250):              "at most 249 are allowed",
		"topics create ..":                                       `a topic cannot be named ".."`,
		"topics create":                                          "takes the name of one topic, got 0",
		"bench --for 999999h":                                    "measuring takes longer than --timeout 5m0s",
		"bench --for 20s":                                        "measuring takes longer than --timeout 5m0s",
		"bench --link-delay 1":                                   `--link-delay "1": use durations such as 10s`,
		"bench --link-delay 2s":                                  "--link-delay 2s: use 0 to 1s",
		"bench --record-bytes -1":                                "--record-bytes -1: use 16 to",
		"up --name other --ephemeral --port 65534":               "use 1 to 65533, or 0 for free ones",
		"up --name other --ephemeral --port 0 --brokers 1000000": "--brokers 1000000: use 1 to 99",
	} {
		r := p.run(t.Context(), append([]string{"cluster"}, strings.Fields(line)...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, want) || r.stdout != "" {
			t.Errorf("%s: got %+v, want %d and %q", line, r, exitUsage, want)
		}
	}
	if r := p.run(t.Context(), "cluster", "topics", "create", ""); r.code != exitUsage || !strings.Contains(r.stderr, "name is empty") {
		t.Errorf("got %+v, want that the name is empty", r)
	}
	r := p.run(t.Context(), "cluster", "status", "-o", "json")
	if item := items[render.LocalClusterItem](t, r)[0]; len(item.Faults) > 0 {
		t.Errorf("%+v is in force, want nothing", item.Faults)
	}
	if r := p.run(t.Context(), "cluster", "topics", "list", "-o", "json"); len(items[render.PartitionItem](t, r)) > 0 {
		t.Errorf("got %+v, want no topic", r)
	}
	// What the state of the cluster makes impossible is no wrong usage.
	r = p.run(t.Context(), "cluster", "topics", "delete", "none")
	if r.code != exitFailed || !strings.Contains(r.stderr, "there is no topic of that name") || !strings.Contains(r.stderr, "kafkaops cluster topics list shows which there are") {
		t.Errorf("got %+v, want what to type", r)
	}
}

// TestTopicsListNames: names and globs choose, as those of describe topics do.
func TestTopicsListNames(t *testing.T) {
	t.Parallel()
	p := machine(t)
	p.upLocal(t, "--brokers 1 --port 0 --ephemeral")
	for _, name := range []string{"orders", "orders-late", "clicks"} {
		if r := p.run(t.Context(), "cluster", "topics", "create", name); r.code != exitOK {
			t.Fatalf("got %+v", r)
		}
	}
	for names, want := range map[string]int{"": 3, "orders": 1, "orders*": 2, "orders clicks": 2} {
		r := p.run(t.Context(), append([]string{"cluster", "topics", "list", "-o", "json"}, strings.Fields(names)...)...)
		if got := len(items[render.PartitionItem](t, r)); r.code != exitOK || got != want {
			t.Errorf("%q: got %d partitions and %+v, want %d", names, got, r, want)
		}
	}
}

// TestTellWait: on a terminal a long wait says what for; into a pipe it says nothing.
func TestTellWait(t *testing.T) {
	t.Parallel()
	p := machine(t)
	p.upLocal(t, "--brokers 1 --port 0 --ephemeral --set broker.session.timeout.ms=2000 --set broker.heartbeat.interval.ms=200")
	for _, width := range []int{0, 200} {
		p.width, p.height = width, 24
		r := p.run(t.Context(), "cluster", "restart", "--broker", "1")
		const want = "kafkaops: waiting until broker 1 is unfenced: it has to wait for the end of its last session, about 13 s with Kafka's settings\n"
		if told := strings.Contains(r.stderr, want); r.code != exitOK || told != (width > 0) {
			t.Errorf("width %d: got %+v, told %v", width, r, told)
		}
	}
	if r := p.run(t.Context(), "cluster", "fault", "kill", "--broker", "1"); r.code != exitOK {
		t.Fatalf("got %+v", r)
	}
	if r := p.run(t.Context(), "cluster", "heal"); r.code != exitOK || !strings.Contains(r.stderr, "kafkaops: waiting until every broker is unfenced") {
		t.Errorf("got %+v, want what it waits for", r)
	}
}

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/spf13/pflag"
)

// TestBootstrapPrecedence: flag, environment, and nothing is wrong usage.
func TestBootstrapPrecedence(t *testing.T) {
	t.Parallel()
	byFlag, byEnv := fakekafka.NewModel(1), fakekafka.NewModel(1)
	byFlag.ClusterID, byEnv.ClusterID = "by-flag", "by-environment"
	flag, env := fakekafka.Start(t, byFlag).Bootstrap(), fakekafka.Start(t, byEnv).Bootstrap()
	for _, command := range asking(t) {
		for _, tt := range []struct {
			name string
			env  string
			args []string
			want string // the cluster's id, or stderr
			code int
		}{
			{"flag", "", []string{"-b", flag}, "by-flag", exitOK},
			{"long flag", "", []string{"--bootstrap-server", flag}, "by-flag", exitOK},
			{"environment", env, nil, "by-environment", exitOK},
			{"flag before environment", env, []string{"-b", flag}, "by-flag", exitOK},
			{"flag before a bad environment", "kafka-1", []string{"-b", flag}, "by-flag", exitOK},
			{"an empty flag is none", env, []string{"-b", ""}, "by-environment", exitOK},
			{"neither", "", nil, "kafkaops: no cluster named: use --bootstrap-server (-b) host:port, set KAFKAOPS_BOOTSTRAP_SERVER, or choose a context (kafkaops context)\n", exitUsage},
			{"bad environment", "kafka-1", nil, "kafkaops: KAFKAOPS_BOOTSTRAP_SERVER: bootstrap server \"kafka-1\" is not host:port", exitUsage},
			{"bad flag before environment", env, []string{"-b", "kafka-1"}, "kafkaops: --bootstrap-server: bootstrap server \"kafka-1\" is not host:port", exitUsage},
		} {
			p := place{env: map[string]string{"KAFKAOPS_BOOTSTRAP_SERVER": tt.env}}
			r := p.run(t.Context(), append(append(strings.Fields(command), "-o", "json"), tt.args...)...)
			told := r.stderr
			for _, d := range documents[any](t, r.stdout) {
				told = d.Cluster.ID.Or("")
			}
			if r.code != tt.code || !strings.HasPrefix(told, tt.want) {
				t.Errorf("%s, %s: got exit code %d, %q; want %d, %q", command, tt.name, r.code, told, tt.code, tt.want)
			}
		}
	}
}

// badValues are wrong values of every flag that takes one, with what stderr says.
// A flag that is not named here fails the test.
var badValues = map[string]map[string]string{
	"bootstrap-server": {
		"kafka-1":                  `--bootstrap-server: bootstrap server "kafka-1" is not host:port (such as kafka-1:9092, or [::1]:9092)`,
		"kafka-1:0":                `--bootstrap-server: bootstrap server "kafka-1:0": port "0" is not a number from 1 to 65535`,
		"kafka-1:9092,":            "", // as Kafka's own tools take it
		",":                        `--bootstrap-server: no bootstrap server in ","`,
		"PLAINTEXT://kafka-1:9092": `--bootstrap-server: bootstrap server "PLAINTEXT://kafka-1:9092" is not host:port (such as kafka-1:9092, or [::1]:9092)`,
	},
	"timeout": {
		"10":   `--timeout "10": use a duration such as 10s or 1m30s`,
		"":     `--timeout "": use a duration such as 10s or 1m30s`,
		"soon": `--timeout "soon": use a duration such as 10s or 1m30s`,
		"29ms": "--timeout 29ms is too short: the least is 30ms",
		"-1s":  "--timeout -1s is too short: the least is 30ms",
		"61m":  "--timeout 1h1m0s is too long: the most is 1h0m0s",
	},
	"interval": {
		"2":     `--interval "2": use a duration such as 10s or 1m30s`,
		"99ms":  "--interval 99ms is too short: the least is 100ms",
		"-100h": "--interval -100h0m0s is too short: the least is 100ms",
	},
	"output": {
		"xml":  `--output: unknown output format "xml": use one of table, wide, json, yaml`,
		"JSON": `--output: unknown output format "JSON": use one of table, wide, json, yaml`,
		"":     `--output: unknown output format "": use one of table, wide, json, yaml`,
	},
	"color": {
		"yes": `--color: unknown colour mode "yes": use auto, always or never`,
		"":    `--color: unknown colour mode "": use auto, always or never`,
	},
	"watch":     {"maybe": `--watch "maybe": use true or false`},
	"exit-code": {"3": `--exit-code "3": use true or false`},
	"topic": {
		"":      "an empty topic name",
		"orde[": `topic pattern "orde[" is not a glob: use *, ? and [a-z], and \ before - or ] in brackets`,
	},
	"min": {
		"-1":                  "--min -1: a lag is not negative",
		"many":                `--min "many": use a whole number`,
		"1.5":                 `--min "1.5": use a whole number`,
		"1k":                  `--min "1k": use a whole number`,
		"9223372036854775808": `--min "9223372036854775808": use a whole number that is not so far out`,
	},
	"top": {
		"-1":                   "--top -1: a number of partitions is not negative",
		"all":                  `--top "all": use a whole number`,
		"-9223372036854775809": `--top "-9223372036854775809": use a whole number that is not so far out`,
	},
	// A file that cannot be used is no wrong usage: TestCommandConfigPrecedence.
	"command-config":    {},
	"controller-config": {},
	"controller": {
		"controller-1":   `--controller: controller "controller-1" is not host:port (such as controller-1:9093, or [::1]:9093)`,
		"controller-1:x": `--controller: controller "controller-1:x": port "x" is not a number from 1 to 65535`,
	},
	"context": {
		"nosuch": `--context: no context "nosuch": there are none, as neither XDG_CONFIG_HOME nor HOME says where their file is`,
	},
	"sort": {
		"size": `--sort "size": use lag, uncommitted or name`,
		"":     `--sort "": use lag, uncommitted or name`,
	},
	"samples": {
		"0":    "--samples 0: use 1 to 4096",
		"-1":   "--samples -1: use 1 to 4096",
		"4097": "--samples 4097: use 1 to 4096",
		"few":  `--samples "few": use a whole number`,
	},
	"group": {
		"":      "an empty group name",
		"bill[": `group pattern "bill[" is not a glob: use *, ? and [a-z], and \ before - or ] in brackets`,
	},
	"transactional-id": {"": "an empty transactional id"},
	"state": {
		"Stabel":       `--state "Stabel": use Stable, Empty, Dead, PreparingRebalance, CompletingRebalance, Assigning, Reconciling, NotReady`,
		"Empty,Stabel": `--state "Stabel": use Stable, Empty, Dead, PreparingRebalance, CompletingRebalance, Assigning, Reconciling, NotReady`,
		"Empty,":       `--state "": use Stable, Empty, Dead, PreparingRebalance, CompletingRebalance, Assigning, Reconciling, NotReady`,
	},
	"type": {
		"new":         `--type "new": use classic, consumer, share, streams`,
		"classic,new": `--type "new": use classic, consumer, share, streams`,
	},
	// export's.
	"collect-interval": {
		"999ms": "--collect-interval 999ms is too short: the least is 1s",
		"10":    `--collect-interval "10": use a duration such as 10s or 1m30s`,
	},
	"sample-interval": {
		"99ms": "--sample-interval 99ms is too short: the least is 100ms",
		"11s":  "--sample-interval 11s is longer than --collect-interval 10s",
	},
	"max-age": {
		"19s": "--max-age 19s is shorter than --collect-interval and --timeout together, 20s: nothing would be served while a broker is waited for",
		"30":  `--max-age "30": use a duration such as 10s or 1m30s`,
	},
	"log.level":         {"loud": `--log.level "loud": use debug, info, warn or error`, "": `--log.level "": use debug, info, warn or error`},
	"log.format":        {"text": `--log.format "text": use logfmt or json`},
	"topics":            {"orders[": "--topics: error parsing regexp: missing closing ]: `[`"},
	"topics-exclude":    {"(": "--topics-exclude: error parsing regexp: missing closing ): `(`"},
	"groups":            {"*": "--groups: error parsing regexp: missing argument to repetition operator: `*`"},
	"groups-exclude":    {"a)": "--groups-exclude: error parsing regexp: unexpected ): `a)`"},
	"partition-metrics": {"some": `--partition-metrics: "some" is none of all, unhealthy, none`},
	"replica-metrics":   {"": `--replica-metrics: "" is none of all, unhealthy, none`},
	"group-metrics":     {"All": `--group-metrics: "All" is none of all, unhealthy, none`},
	// All values are good, and a file that cannot be used is no wrong usage.
	"cluster-label": {}, "web.config.file": {},
	"isr-store": {"": `--isr-store "": name a file`},
	"web.listen-address": {
		"":                  "--web.listen-address: an empty address",
		"foo":               `--web.listen-address: "foo" is not [host]:port, such as :9308`,
		":99999":            `--web.listen-address: ":99999" is not [host]:port, such as :9308`,
		"127.0.0.1:9308,::": `--web.listen-address: "::" is not [host]:port, such as :9308`,
	},

	"max-lag": {"-1": "--max-lag -1: a lag is not negative", "10s": `--max-lag "10s": use a whole number`},
	"nagios-unreachable": {
		"critical": "--nagios-unreachable is about --nagios: add that",
		"warning":  `--nagios-unreachable "warning": use unknown or critical`,
	},
	"max-uncommitted": {"-1": "--max-uncommitted -1: a number of records is not negative"},
	"max-uncommitted-age": {
		"5":  `--max-uncommitted-age "5": use a duration such as 10s or 1m30s`,
		"0s": "--max-uncommitted-age 0s: use a duration above 0, at most 1h0m0s",
		"2h": "--max-uncommitted-age 2h0m0s: use a duration above 0, at most 1h0m0s",
	},
}

// badValuesOf are those of commands in which a flag of the same name means
// something else.
var badValuesOf = map[string]map[string]map[string]string{
	"lag groups": {
		"top": {
			"-1":                   "--top -1: a number of groups is not negative",
			"all":                  `--top "all": use a whole number`,
			"-9223372036854775809": `--top "-9223372036854775809": use a whole number that is not so far out`,
		},
		"sort": {
			"size":        `--sort "size": use lag or name`,
			"uncommitted": `--sort "uncommitted": use lag or name`,
			"":            `--sort "": use lag or name`,
		},
	},
	"export": {
		dashboardsFlag: {"nothing": `--print-dashboards: there is no "nothing": brokers, cluster, groups, replication, or all`},
		rulesFlag:      {"nothing": `--print-rules: there is no "nothing": cluster, exporter, groups, replication, or all`},
	},
	"isr":         badIsrValues,
	"isr summary": badIsrValues,
	"top": {
		"replay": {"": ""}, // any name may be one: TestTopRefuses
		"speed": {
			"2":    "--speed is how fast a recording plays: name one by --replay",
			"fast": `--speed "fast": use a number`,
		},
		"jmx": badIsrValues["jmx"],
	},
	"record": {
		"for": {"-1s": "--for -1s is negative", "long": `--for "long": use a duration such as 10s or 1m30s`},
		"jmx": badIsrValues["jmx"],
	},
	"diagnose": {
		"for":   {"-1s": "--for -1s is negative", "long": `--for "long": use a duration such as 10s or 1m30s`},
		"from":  {"": ""}, // any name may be one: TestDiagnoseRefuses
		"until": {"1h": "--until chooses from a recording: name one by --from"},
		"jmx":   badIsrValues["jmx"],
	},
	"tune": {
		"for":          {"0s": "--for 0s: look for longer", "long": `--for "long": use a duration such as 10s or 1m30s`},
		"from":         {"": ""}, // any name may be one: TestTuneRefuses
		"since":        {"1h": "--since and --until choose from a recording: name one by --from"},
		"until":        {"1h": "--since and --until choose from a recording: name one by --from"},
		"goal":         {"fast": `--goal "fast": use balanced, durable, throughput or latency`},
		"max-removals": {"-1": "--max-removals -1 is negative"},
		"max-stall":    {"-1s": "--max-stall -1s is negative"},
		"max-refused":  {"-1s": "--max-refused -1s is negative"},
		"canary":       {"": `--canary "": name a topic`, "a*": `--canary "a*" names no single topic`},
		"undo":         {"": `--undo "": name a file`},
		"undo-file":    {"": `--undo-file "": name a file`},
	},
}

var badIsrValues = map[string]map[string]string{
	"broker": {
		"-2":    "--broker -2: an id is not negative",
		"three": `--broker "three": use a whole number`,
	},
	"cause": {"bad-luck": `--cause "bad-luck" is none: see kafkaops isr --help`},
	"since": {
		"yesterday": `--since "yesterday" is neither a duration (such as 90m, 24h, 7d) nor a time (such as 2026-11-29T20:15:00Z)`,
		"-1h":       `--since "-1h" is neither a duration (such as 90m, 24h, 7d) nor a time (such as 2026-11-29T20:15:00Z)`,
		"":          `--since "" is neither a duration (such as 90m, 24h, 7d) nor a time (such as 2026-11-29T20:15:00Z)`,
	},
	"until": {
		"never": `--until "never" is neither a duration (such as 90m, 24h, 7d) nor a time (such as 2026-11-29T20:15:00Z)`,
		"25h":   "--until 25h is not after --since 24h",
	},
	"metadata-dir": {"": ""}, // any name may be one: TestIsrUsage
	"store":        {"": `--store "": name a file`},
	"jmx": {
		"kafka-1:8778": "--jmx: not a URL of http or https, such as http://kafka-1:8778/jolokia/ or http://kafka-1:9404/metrics",
		"http://":      "--jmx: names no host",
		"":             "--jmx: not a URL of http or https, such as http://kafka-1:8778/jolokia/ or http://kafka-1:9404/metrics",
	},
}

// TestBadValues: each is wrong usage, names the flag and what it takes, and
// nothing is asked.
func TestBadValues(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	for _, cmd := range commands(t) {
		path := pathOf(cmd)
		if cmd.Flags().Lookup("bootstrap-server") == nil {
			continue
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			bad, ok := badValuesOf[path][f.Name]
			if !ok {
				bad, ok = badValues[f.Name]
			}
			if f.Value.Type() == "bool" && !ok {
				bad = map[string]string{"maybe": fmt.Sprintf("--%s \"maybe\": use true or false", f.Name)}
			} else if !ok {
				t.Errorf("kafkaops %s: no bad value of --%s is tested", path, f.Name)
			}
			for value, want := range bad {
				if want == "" {
					continue
				}
				args := append(strings.Fields(path), "-b", c.Bootstrap(), "--"+f.Name+"="+value)
				want = "kafkaops: " + want + "\nSee 'kafkaops " + path + " --help'.\n"
				r := place{}.run(t.Context(), args...)
				if diff := cmp.Diff(r, ran{exitUsage, "", want}, cmp.AllowUnexported(ran{})); diff != "" {
					t.Errorf("kafkaops %s --%s=%s: -got +want:\n%s", path, f.Name, value, diff)
				}
			}
		})
	}
	if n := len(c.Requests()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestGoodValues are at the edge, and fine.
func TestGoodValues(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	for _, line := range []string{
		"describe --timeout 1h", "describe -o=wide", "describe --color=never --interval 100ms",
		"lag --top 0", "lag --top 9223372036854775807", "lag --min 9223372036854775807", "lag --samples 1 --interval 1000h",
		"lag --sort name --all", "describe topics --all=false", "check health --max-lag 9223372036854775807",
	} {
		if r := ask(t, c, line); r.code != exitOK || r.stdout == "" || r.stderr != "" {
			t.Errorf("%s: got %+v, want exit code 0 and an answer", line, r)
		}
	}
	if r := (place{}).run(t.Context(), "describe", "-b", " "+c.Addr(1)+" , "+c.Addr(2)+","); r.code != exitOK {
		t.Errorf("a list with blanks and a comma at its end: got %+v, want exit code 0", r)
	}
}

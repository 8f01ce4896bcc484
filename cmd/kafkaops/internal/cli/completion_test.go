package cli

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// completes runs a completion and returns what is offered and the directive.
func completes(t *testing.T, p place, args ...string) (offered []string, directive string) {
	t.Helper()
	r := p.run(t.Context(), append([]string{"__completeNoDesc"}, args...)...)
	// cobra tells the directive in words on stderr, which its scripts drop.
	if note, more, _ := strings.Cut(r.stderr, "\n"); r.code != exitOK || !strings.HasPrefix(note, "Completion ended with directive: ") || more != "" {
		t.Errorf("%q: got exit code %d, stderr %q", args, r.code, r.stderr)
	}
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// completesTo is completes until that is offered, or for too long: a busy machine
// may need more than once for what has a limit.
func completesTo(t *testing.T, p place, want []string, args ...string) (offered []string, directive string) {
	t.Helper()
	for began := time.Now(); ; {
		offered, directive = completes(t, p, args...)
		if slices.Equal(offered, want) || time.Since(began) > patience {
			return offered, directive
		}
	}
}

// noFiles keeps shells from offering files in place of names.
const noFiles = ":4"

// odd are names of groups that a shell has to quote.
var odd = []string{"two words", "it's", `say "x"`, "$HOME;`ls`", "über", "a:b/c", "back\\slash"}

func namedModel() *fakekafka.Model {
	m := healthyModel()
	m.AddTopic("orders.v2_x-1", 1, 1)
	m.AddTopic("_schemas", 1, 1)
	for _, name := range slices.Concat(odd, []string{"line\nbreak", "tab\tbed", "_activeHelp_ boo", "-dash"}) {
		m.AddGroup(name, fakekafka.ConsumerGroup).Coordinator = 2
	}
	return m
}

// taking are the commands that take names of something, by their usage.
func taking(t *testing.T, nouns ...string) []string {
	t.Helper()
	var paths []string
	for _, c := range commands(t) {
		if localCommand(c) { // which asks the cluster's process first, and completes no names
			continue
		}
		for _, noun := range nouns {
			if strings.HasSuffix(c.Use, "["+noun+"…]") {
				paths = append(paths, pathOf(c))
			}
		}
	}
	return paths
}

func TestCompleteNames(t *testing.T) {
	t.Parallel()
	topics, groups := taking(t, "TOPIC", "NAME"), taking(t, "GROUP")
	if len(topics) < 4 || len(groups) < 1 {
		t.Fatalf("%q take topics and %q groups: the tree is not walked", topics, groups)
	}
	for _, c := range commands(t) {
		if strings.Contains(c.Use, "…]") && !localCommand(c) && !slices.Contains(slices.Concat(topics, groups), pathOf(c)) {
			t.Errorf("kafkaops %s: completion of its names is not tested", pathOf(c))
		}
	}
	c := fakekafka.Start(t, namedModel())
	at := []string{"-b", c.Bootstrap()}
	check := func(line string, args []string, want []string) {
		t.Helper()
		got, directive := completesTo(t, place{}, want, slices.Concat(strings.Fields(line), args)...)
		if !slices.Equal(got, want) || directive != noFiles {
			t.Errorf("kafkaops %s %q: got %q %s, want %q %s", line, args, got, directive, want, noFiles)
		}
	}
	usual := []string{"_schemas", "orders", "orders.v2_x-1", "payments-eu"}
	for _, command := range topics {
		for _, word := range []string{"", "--topic"} {
			before := at
			if word != "" {
				before = slices.Concat(at, []string{word})
			}
			check(command, append(slices.Clone(before), ""), usual)
			check(command, append(slices.Clone(before), "ord"), []string{"orders", "orders.v2_x-1"})
			check(command, append(slices.Clone(before), "nosuch"), []string{})
			check(command, append(slices.Clone(before), "_"), []string{"_schemas", "__consumer_offsets"})
		}
		// What is there already is not offered again.
		check(command, slices.Concat(at, []string{"orders", "--topic", "_schemas", ""}), []string{"orders.v2_x-1", "payments-eu"})
		check(command, slices.Concat(at, []string{"orders", "--topic", "_schemas", "--topic", ""}), []string{"orders.v2_x-1", "payments-eu"})
	}
	all := slices.Sorted(slices.Values(append(slices.Clone(odd), "billing")))
	for _, command := range groups {
		check(command, slices.Concat(at, []string{""}), all)
		check(command, slices.Concat(at, []string{"two w"}), []string{"two words"})
		check(command, slices.Concat(at, []string{"$"}), []string{"$HOME;`ls`"})
		check(command, slices.Concat(at, []string{"--group=-d"}), []string{"-dash"})
		check(command, slices.Concat(at, []string{"--group=bi"}), []string{"billing"})
		check(command, slices.Concat(at, append(slices.Clone(odd), "")), []string{"billing"})
	}
	for _, r := range c.Requests() {
		if !slices.Contains([]kmsg.Key{kmsg.ApiVersions, kmsg.Metadata, kmsg.ListGroups}, r.Key) {
			t.Errorf("completion asked %s", r.Key.Name())
		}
	}
	checkRequests(t, c, "__complete")
}

// TestCompleteSubcommandsName: a topic that is called as a subcommand would run it.
func TestCompleteSubcommandsName(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	c.Change(func(m *fakekafka.Model) { m.AddTopic("groups", 1, 1) })
	for _, tt := range []struct {
		line string
		want []string
	}{
		// The first of them is the subcommand. With a flag before it cobra knows none.
		{"lag g", []string{"groups"}},
		{"lag -b x g", []string{}},
		{"lag -b x orders g", []string{"groups"}},
		{"lag -b x --topic g", []string{"groups"}},
	} {
		got, _ := completesTo(t, place{env: map[string]string{envBootstrap: c.Bootstrap()}}, tt.want, strings.Fields(strings.ReplaceAll(tt.line, "x", c.Addr(1)))...)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.line, got, tt.want)
		}
	}
}

// TestCompleteTarget: completion goes where the command would.
func TestCompleteTarget(t *testing.T) {
	t.Parallel()
	start := func(topic string) (string, *fakekafka.Logins) {
		m := fakekafka.NewModel(1)
		m.ClusterID = topic
		m.AddTopic(topic, 1, 1)
		c, l := fakekafka.StartSASL(t, m, "PLAIN")
		return c.Bootstrap(), l
	}
	byFlag, _ := start("flag")
	byEnv, _ := start("env")
	byContext, logins := start("context")
	p := withConfig(t, "current-context: cur\ncontexts:\n  cur: {bootstrap-server: '"+byContext+"', command-config: c.properties}\n"+
		"  wrong: {bootstrap-server: '"+byContext+"', cluster-id: other}\n  flag: {bootstrap-server: '"+byFlag+"'}\n")
	p.write(t, "c.properties", login("hugo"))
	odd := p.write(t, "odd.properties", "no.such.setting=1\nbootstrap.servers="+byFlag+"\n")
	for _, tt := range []struct {
		line string
		env  map[string]string
		want string
	}{
		{"lag", nil, "context"},
		{"lag -b " + byFlag, nil, "flag"},
		{"lag --bootstrap-server=" + byFlag, m(envBootstrap, byEnv), "flag"},
		{"lag", m(envBootstrap, byEnv), "env"},
		{"lag --context flag", nil, "flag"},
		{"lag", m(envContext, "flag"), "flag"},
		{"lag --command-config " + odd, nil, "flag"}, // whose warning is not told
		{"lag --context wrong", nil, ""},
		{"lag --context nosuch", nil, ""},
		{"lag -b nonsense", nil, ""},
		{"lag --command-config nosuch", nil, ""},
		{"lag -b " + fakekafka.ClosedPort(t), nil, ""},
	} {
		got, directive := completesTo(t, p.with(tt.env), strings.Fields(tt.want), append(strings.Fields(tt.line), "--topic", "")...)
		if strings.Join(got, " ") != tt.want || directive != noFiles {
			t.Errorf("%s with %v: got %q %s, want %q", tt.line, tt.env, got, directive, tt.want)
		}
	}
	if user, _ := credentials(logins); user != "hugo" {
		t.Errorf("user %q came, want hugo", user)
	}
}

// TestCompleteContexts: names for --context of every command, and for those that
// take one.
func TestCompleteContexts(t *testing.T) {
	t.Parallel()
	p := withConfig(t, "contexts: {prod: {}, \"pre prod\": {}, dev: {}}")
	for _, command := range asking(t) {
		got, directive := completes(t, p, append(strings.Fields(command), "--context", "p")...)
		if want := []string{"pre prod", "prod"}; !slices.Equal(got, want) || directive != noFiles {
			t.Errorf("kafkaops %s --context: got %q %s, want %q", command, got, directive, want)
		}
	}
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"context", "use", ""}, []string{"dev", "pre prod", "prod"}},
		{[]string{"context", "show", "d"}, []string{"dev"}},
		{[]string{"context", "use", "dev", ""}, []string{}},
		{[]string{"context", "show", "dev", ""}, []string{}},
	} {
		if got, directive := completes(t, p, tt.args...); !slices.Equal(got, tt.want) || directive != noFiles {
			t.Errorf("%q: got %q %s, want %q", tt.args, got, directive, tt.want)
		}
	}
	p.write(t, "config.yaml", "contexts: [broken")
	if got, directive := completes(t, p, "context", "use", ""); len(got) > 0 || directive != noFiles {
		t.Errorf("a broken file: got %q %s, want nothing", got, directive)
	}
}

// TestCompleteNoFiles: no command or flag offers files, but those that take one.
func TestCompleteNoFiles(t *testing.T) {
	t.Parallel()
	for _, c := range commands(t) {
		path := strings.Fields(pathOf(c))
		if _, directive := completes(t, place{}, append(slices.Clone(path), "")...); directive != noFiles {
			t.Errorf("kafkaops %s: directive %s, want %s", c.CommandPath(), directive, noFiles)
		}
		if c.Flags().Lookup("bootstrap-server") == nil {
			continue
		}
		for _, flag := range []string{"-b", "--controller", "--timeout", "--interval", "--context", "-o"} {
			if serves(c) && flag == "-o" || flag == "--interval" && c.Flags().Lookup("interval") == nil {
				continue // it has none
			}
			if _, directive := completes(t, place{}, append(slices.Clone(path), flag, "")...); directive != noFiles {
				t.Errorf("kafkaops %s %s: directive %s, want %s", c.CommandPath(), flag, directive, noFiles)
			}
		}
	}
}

// TestCompletionLimit is the clock alone.
func TestCompletionLimit(t *testing.T) {
	t.Parallel()
	stop, end := context.WithCancel(t.Context())
	defer end()
	if got := within(time.Millisecond, func() []string { <-stop.Done(); return []string{"late"} }); got != nil {
		t.Errorf("got %q, want nothing", got)
	}
	if got := within(time.Hour, func() []string { return []string{"soon"} }); len(got) != 1 {
		t.Errorf("got %q, want what was found", got)
	}
	if completionLimit > 300*time.Millisecond {
		t.Errorf("somebody waits for %s", completionLimit)
	}
}

// TestCompletionInBash: a real shell takes odd names as they are.
func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	script := place{}.run(t.Context(), "completion", "bash").stdout
	for _, name := range odd {
		// kafkaops __complete is played; what arrives in COMPREPLY is evaluated as the
		// shell would the line.
		test := script + `
kafkaops() { printf '%s\n:4\n' "$NAME"; }
_get_comp_words_by_ref() { cur=""; prev="groups"; words=(kafkaops lag groups ""); cword=3; }
_init_completion() { _get_comp_words_by_ref; }
__ltrim_colon_completions() { :; }
COMP_TYPE=9 COMP_LINE="kafkaops lag groups " COMP_POINT=20 COMP_WORDS=(kafkaops lag groups "") COMP_CWORD=3
compopt() { :; }
__start_kafkaops kafkaops "" groups
eval "printf '%s' ${COMPREPLY[0]}"
`
		cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", test)
		cmd.Env = append(os.Environ(), "NAME="+name)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != name {
			t.Errorf("%s: got %q, %v", name, out, err)
		}
	}
}

package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

const threeContexts = `# our clusters
current-context: prod   # for now
contexts:
  staging:
    bootstrap-server: s-1:9092,s-2:9092
  prod:
    bootstrap-server: [kafka-1:9094, kafka-2:9094]
    command-config: prod.properties
    controller: c-1:9093
    controller-config: /etc/c.properties
    jmx: http://kafka-1:7777
    cluster-id: 64bNKcnqSLylJY2lNVGf3g
    readonly: true
  byfile:
    command-config: byfile.properties
x-other: [kept]
`

func TestContextList(t *testing.T) {
	t.Parallel()
	p := withConfig(t, threeContexts)
	dir := strings.TrimSuffix(p.config(), "config.yaml")
	p.run(t.Context(), "context", "list").want(t, exitOK,
		"CURRENT\tNAME\tBOOTSTRAP-SERVERS\tCLUSTER-ID\tREADONLY\tCOMMAND-CONFIG\tCONTROLLERS\n"+
			"no\tbyfile\t-\t-\tno\t"+dir+"byfile.properties\t-\n"+
			"yes\tprod\tkafka-1:9094,kafka-2:9094\t64bNKcnqSLylJY2lNVGf3g\tyes\t"+dir+"prod.properties\tc-1:9093\n"+
			"no\tstaging\ts-1:9092,s-2:9092\t-\tno\t-\t-\n", "")
	onScreen := place{width: 100, height: 24, env: p.env}
	r := onScreen.run(t.Context(), "context", "list", "--color", "never")
	if lines := strings.Split(r.stdout, "\n"); r.code != exitOK || len(lines) < 4 || !strings.HasPrefix(lines[2], "*") || strings.HasPrefix(lines[1], "*") || !strings.Contains(lines[2], "readonly") {
		t.Errorf("on a terminal: got %+v", r)
	}
	got := items[render.ContextItem](t, p.run(t.Context(), "context", "list", "-o", "json"))
	want := []render.ContextItem{
		{Name: "byfile", Bootstrap: []string{}, CommandConfig: inspect.Known(dir + "byfile.properties"), Controllers: []string{}, File: p.config(), Line: 14},
		{
			Name: "prod", Current: true, Bootstrap: []string{"kafka-1:9094", "kafka-2:9094"}, CommandConfig: inspect.Known(dir + "prod.properties"),
			Controllers: []string{"c-1:9093"}, ControllerConfig: inspect.Known("/etc/c.properties"), JMX: inspect.Known("http://kafka-1:7777"),
			ClusterID: inspect.Known("64bNKcnqSLylJY2lNVGf3g"), ReadOnly: true, File: p.config(), Line: 6,
		},
		{Name: "staging", Bootstrap: []string{"s-1:9092", "s-2:9092"}, Controllers: []string{}, File: p.config(), Line: 4},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	checkForm(t, p.run(t.Context(), "context", "list", "-o", "json"), render.KindContext, render.ContextItem{})

	// No file, and none can be.
	for _, p := range []place{{}, {env: map[string]string{"XDG_CONFIG_HOME": t.TempDir()}}} {
		p.run(t.Context(), "context", "list").want(t, exitOK, "CURRENT\tNAME\tBOOTSTRAP-SERVERS\tCLUSTER-ID\tREADONLY\tCOMMAND-CONFIG\tCONTROLLERS\n", "")
		if r := p.run(t.Context(), "context", "list", "-o", "json"); r.code != exitOK || len(items[render.ContextItem](t, r)) != 0 {
			t.Errorf("no file: got %+v", r)
		}
	}
	empty := place{width: 80, height: 24, env: map[string]string{"XDG_CONFIG_HOME": t.TempDir()}}
	empty.run(t.Context(), "context", "list").want(t, exitOK, "no contexts: write some into "+empty.config()+" (kafkaops context --help)\n", "")
}

func TestContextUse(t *testing.T) {
	t.Parallel()
	p := withConfig(t, threeContexts)
	p.run(t.Context(), "context", "use", "staging").want(t, exitOK, "the current context is now staging\n", "")
	got, err := os.ReadFile(p.config())
	if want := strings.Replace(threeContexts, "current-context: prod ", "current-context: staging ", 1); err != nil || string(got) != want {
		t.Errorf("got %v and\n%s\nwant\n%s", err, got, want)
	}
	p.with(m(envContext, "prod")).run(t.Context(), "context", "use", "prod").want(t, exitOK,
		"the current context is now prod\n", "kafkaops: KAFKAOPS_CONTEXT is set and comes before the current context\n")
	const see = "See 'kafkaops context use --help'.\n"
	for _, tt := range []struct{ line, want string }{
		{"context use prdo", `kafkaops: no context "prdo": ` + p.config() + " has byfile, prod, staging\n" + see},
		{"context use", "kafkaops: kafkaops context use takes the name of one context, got 0\n" + see},
		{"context use prod staging", "kafkaops: kafkaops context use takes the name of one context, got 2\n" + see},
	} {
		p.run(t.Context(), strings.Fields(tt.line)...).want(t, exitUsage, "", tt.want)
	}
	if now, _ := os.ReadFile(p.config()); string(now) != threeContexts {
		t.Errorf("now the file is\n%s", now)
	}
	place{env: map[string]string{"XDG_CONFIG_HOME": "/nosuch"}}.run(t.Context(), "context", "use", "prod").want(t, exitUsage, "",
		"kafkaops: no context \"prod\": there are none, as there is no /nosuch/kafkaops/config.yaml\n"+see)
}

func TestContextShow(t *testing.T) {
	t.Parallel()
	p := withConfig(t, threeContexts)
	dir := strings.TrimSuffix(p.config(), "config.yaml")
	prod := "FIELD\tVALUE\nname\tprod\ncurrent\tyes\nbootstrap-server\tkafka-1:9094,kafka-2:9094\n" +
		"command-config\t" + dir + "prod.properties\ncontroller\tc-1:9093\ncontroller-config\t/etc/c.properties\njmx\thttp://kafka-1:7777\n" +
		"cluster-id\t64bNKcnqSLylJY2lNVGf3g\nreadonly\tyes\nfile\t" + p.config() + ":6\n"
	staging := "FIELD\tVALUE\nname\tstaging\ncurrent\tno\nbootstrap-server\ts-1:9092,s-2:9092\n" +
		"command-config\t-\ncontroller\t-\ncontroller-config\t-\njmx\t-\ncluster-id\t-\nreadonly\tno\nfile\t" + p.config() + ":4\n"
	p.run(t.Context(), "context", "show").want(t, exitOK, prod, "")
	p.run(t.Context(), "context", "show", "staging").want(t, exitOK, staging, "")
	p.with(m(envContext, "staging")).run(t.Context(), "context", "show").want(t, exitOK, staging, "")
	p.with(m(envContext, "staging")).run(t.Context(), "context", "show", "prod").want(t, exitOK, prod, "")
	p.with(m(envBootstrap, "x:1", envController, "y:2")).run(t.Context(), "context", "show").want(t, exitOK, prod,
		"kafkaops: KAFKAOPS_BOOTSTRAP_SERVER is set: commands take nothing of the current context, its credentials neither; --context prod keeps the rest of it\n")
	for _, named := range [][]string{{"context", "show", "prod"}, {"context", "show"}} {
		env := m(envBootstrap, "x:1", envController, "y:2")
		if len(named) == 2 {
			env[envContext] = "prod"
		}
		p.with(env).run(t.Context(), named...).want(t, exitOK, prod,
			"kafkaops: KAFKAOPS_BOOTSTRAP_SERVER is set and comes before what this context says\n"+
				"kafkaops: KAFKAOPS_CONTROLLER is set and comes before what this context says\n")
	}
	p.run(t.Context(), "context", "show", "nosuch").want(t, exitUsage, "",
		"kafkaops: no context \"nosuch\": "+p.config()+" has byfile, prod, staging\nSee 'kafkaops context show --help'.\n")
	p.with(m(envContext, "nosuch")).run(t.Context(), "context", "show").want(t, exitUsage, "",
		"kafkaops: KAFKAOPS_CONTEXT: no context \"nosuch\": "+p.config()+" has byfile, prod, staging\nSee 'kafkaops context show --help'.\n")
	place{}.run(t.Context(), "context", "show").want(t, exitUsage, "",
		"kafkaops: there is no current context: choose one (kafkaops context use NAME), or name it\nSee 'kafkaops context show --help'.\n")
	checkForm(t, p.run(t.Context(), "context", "show", "staging", "-o", "json"), render.KindContext, render.ContextItem{})

	// The addresses are in the file that it names; its secrets are not shown.
	r := p.run(t.Context(), "context", "show", "byfile")
	if want := "kafkaops: command config: stat " + dir + "byfile.properties: no such file or directory\n"; r.code != exitFailed || r.stderr != want || !strings.Contains(r.stdout, "bootstrap-server\t-\n") {
		t.Errorf("no such file: got %+v", r)
	}
	p.write(t, "byfile.properties", login("hush")+"bootstrap.servers=SASL_PLAINTEXT://b-1:9094,b-2:9094\n")
	for _, format := range []string{"table", "json", "yaml"} {
		r := p.run(t.Context(), "context", "show", "byfile", "-o", format)
		if r.code != exitOK || !strings.Contains(r.stdout, "b-2:9094") || strings.Contains(r.stdout, "hush") || r.stderr != "" {
			t.Errorf("%s: got %+v, want the addresses and no secret", format, r)
		}
	}
	for jmx, want := range map[string]string{
		"http://user:hush@kafka-1:7777/jolokia": "http://…@kafka-1:7777/jolokia", "user:hu@sh@kafka-1:7777": "…@kafka-1:7777",
		"http://a:hu,sh@kafka-1:7777, https://hush@kafka-2:7777/x": "http://…@kafka-1:7777,https://…@kafka-2:7777/x",
		"http://kafka-1:7777/a@b":                                  "http://kafka-1:7777/a@b", "http://hush@[::1]:7777?x=@": "http://…@[::1]:7777?x=@",
	} {
		p := withConfig(t, "contexts:\n  prod: {jmx: '"+jmx+"'}\n")
		for _, format := range []string{"table", "json", "yaml"} {
			r := p.run(t.Context(), "context", "show", "prod", "-o", format)
			if r.code != exitOK || !strings.Contains(r.stdout, want) || strings.Contains(r.stdout, "hu") {
				t.Errorf("jmx as %s: got %+v, want %s", format, r, want)
			}
		}
	}
	if r := p.run(t.Context(), "context", "show", "-o", "xml"); r.code != exitUsage {
		t.Errorf("got %+v, want wrong usage", r)
	}
}

// TestContextExamples: what the README and the help show is a file that works.
func TestContextExamples(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, inReadme, _ := strings.Cut(string(readme), "```yaml\n")
	inReadme, _, _ = strings.Cut(inReadme, "```")
	_, env := place{}.double()
	_, inHelp, _ := strings.Cut(newContextCmd(env).Long, ":\n\n")
	inHelp, _, _ = strings.Cut(inHelp, "\n\n")
	for name, text := range map[string]string{"README": inReadme, "help": inHelp} {
		p := withConfig(t, text)
		r := p.run(t.Context(), "context", "show", "prod", "-o", "json")
		got := items[render.ContextItem](t, r)
		if len(got) != 1 || !got[0].Current || !got[0].ReadOnly || len(got[0].Bootstrap) != 2 || len(got[0].Controllers) != 1 ||
			!got[0].CommandConfig.IsKnown() || !got[0].ControllerConfig.IsKnown() || !got[0].JMX.IsKnown() || !got[0].ClusterID.IsKnown() {
			t.Errorf("%s: got %+v, want every field", name, r)
		}
		if r := p.run(t.Context(), "context", "list"); !strings.Contains(r.stdout, "staging") {
			t.Errorf("%s: got %+v, want staging too", name, r)
		}
	}
}

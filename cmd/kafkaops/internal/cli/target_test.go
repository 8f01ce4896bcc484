package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// withConfig is a place in which the configuration file holds this text. DIR in it
// is the file's directory, which is in env's XDG_CONFIG_HOME.
func withConfig(t *testing.T, text string) place {
	t.Helper()
	p := place{env: map[string]string{"XDG_CONFIG_HOME": t.TempDir()}}
	if err := os.MkdirAll(filepath.Dir(p.config()), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write(t, "config.yaml", text)
	return p
}

// config is the configuration file.
func (p place) config() string {
	return filepath.Join(p.env["XDG_CONFIG_HOME"], "kafkaops", "config.yaml")
}

// write writes a file beside the configuration file, or that itself.
func (p place) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(p.config()), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// with is the place with more of an environment.
func (p place) with(env map[string]string) place {
	all := map[string]string{}
	for _, m := range []map[string]string{p.env, env} {
		for key, value := range m {
			all[key] = value
		}
	}
	p.env = all
	return p
}

// login is a client.properties for PLAIN.
func login(user string) string {
	return "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" +
		"sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=\"" + user + "\" password=\"p\";\n"
}

// TestPrecedence: for each field the flag, then the environment, then the context,
// then the default; and what names a cluster by hand is never joined with the
// current context's credentials.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	brokers, logins := map[string]string{}, map[string]*fakekafka.Logins{}
	for _, name := range []string{"f", "e", "c", "s"} {
		m := fakekafka.NewModel(1)
		m.ClusterID = name
		cluster, l := fakekafka.StartSASL(t, m, "PLAIN")
		brokers[name], logins[name] = cluster.Bootstrap(), l
	}
	p := withConfig(t, "current-context: cur\ncontexts:\n"+
		"  cur: {bootstrap-server: '"+brokers["c"]+"', command-config: c.properties, cluster-id: c}\n"+
		"  other: {bootstrap-server: '"+brokers["s"]+"', command-config: s.properties}\n"+
		"  guarded: {bootstrap-server: '"+brokers["s"]+"', command-config: s.properties, cluster-id: s}\n"+
		"  addressed: {command-config: s-all.properties}\n"+
		"  nowhere: {command-config: s.properties}\n")
	files := map[string]string{}
	for _, name := range []string{"f", "e", "c", "s"} {
		files[name] = p.write(t, name+".properties", login(name))
		files[name+"-all"] = p.write(t, name+"-all.properties", login(name)+"bootstrap.servers="+brokers[name]+"\n")
	}
	short := strings.NewReplacer(brokers["f"], "F", brokers["e"], "E", brokers["c"], "C", brokers["s"], "S", p.config(), "FILE")
	for _, tt := range []struct {
		name string
		flag map[string]string
		env  map[string]string
		// cluster and user, if any logs in there; or code and what stderr begins with.
		cluster, user string
		code          int
		stderr        string
	}{
		{name: "the current context", cluster: "c", user: "c"},
		{name: "-b replaces it", flag: m("b", brokers["f"]), cluster: "f"},
		{name: "-b with the environment's credentials", flag: m("b", brokers["f"]), env: m(envCommandConfig, files["e"]), cluster: "f", user: "e"},
		{name: "the environment's address replaces it", env: m(envBootstrap, brokers["e"]), cluster: "e"},
		{name: "the context's own address by -b replaces it too", flag: m("b", brokers["c"]), cluster: "c"},
		{name: "flags alone", flag: m("b", brokers["f"], "command-config", files["f"]), env: m(envBootstrap, "bad", envCommandConfig, "bad"), cluster: "f", user: "f"},
		{name: "environment alone", env: m(envBootstrap, brokers["e"], envCommandConfig, files["e"]), cluster: "e", user: "e"},
		{name: "--command-config in its place", flag: m("command-config", files["f"]), cluster: "c", user: "f"},
		{name: "the environment's, likewise", env: m(envCommandConfig, files["e"]), cluster: "c", user: "e"},
		{name: "--command-config with an address replaces it", flag: m("command-config", files["f-all"]), cluster: "f", user: "f"},
		{name: "the environment's, likewise", env: m(envCommandConfig, files["e-all"]), cluster: "e", user: "e"},
		{name: "a context by flag", flag: m("context", "other"), cluster: "s", user: "s"},
		{name: "by environment", env: m(envContext, "other"), cluster: "s", user: "s"},
		{name: "flag before environment", flag: m("context", "other"), env: m(envContext, "nosuch"), cluster: "s", user: "s"},
		{name: "an empty flag is none", flag: m("context", ""), env: m(envContext, "other"), cluster: "s", user: "s"},
		{name: "empty ones are none", flag: m("context", "", "b", ""), env: m(envContext, "", envBootstrap, ""), cluster: "c", user: "c"},
		{name: "-b beside a context by flag", flag: m("context", "other", "b", brokers["f"]), cluster: "f", user: "s"},
		{name: "-b beside one by environment", flag: m("b", brokers["f"]), env: m(envContext, "other"), cluster: "f", user: "s"},
		{name: "environment beside one by environment", env: m(envContext, "other", envBootstrap, brokers["e"]), cluster: "e", user: "s"},
		{
			name: "environment beside one by flag", flag: m("context", "other"), env: m(envBootstrap, brokers["e"]), cluster: "e", user: "s",
			stderr: "kafkaops: KAFKAOPS_BOOTSTRAP_SERVER comes before what context \"other\" says: unset it to use the context's\n",
		},
		{name: "flags beside one by flag", flag: m("context", "other", "b", brokers["f"], "command-config", files["f"]), env: m(envBootstrap, "x", envCommandConfig, "x"), cluster: "f", user: "f"},
		{name: "its address before the file's", flag: m("context", "other", "command-config", files["f-all"]), cluster: "s", user: "f"},
		{name: "the file's where it has none", flag: m("context", "addressed"), cluster: "s", user: "s"},
		{
			name: "the guard stays where a context is named", flag: m("context", "guarded", "b", brokers["f"]), code: 1,
			stderr: "kafkaops: F is of cluster f, and context \"guarded\" expects cluster s (FILE:5): nothing more was asked\n",
		},
		{name: "no address at all", flag: m("context", "nowhere"), code: 2, stderr: "kafkaops: context \"nowhere\" names no cluster: give it a bootstrap-server in FILE:7\n"},
		{name: "no such context by flag", flag: m("context", "nosuch"), code: 2, stderr: "kafkaops: --context: no context \"nosuch\": FILE has addressed, cur, guarded, nowhere, other\n"},
		{name: "by environment", env: m(envContext, "nosuch"), code: 2, stderr: "kafkaops: KAFKAOPS_CONTEXT: no context \"nosuch\": FILE has addressed, cur, guarded, nowhere, other\n"},
		{name: "no such context, though -b is enough", flag: m("context", "nosuch", "b", brokers["f"]), code: 2, stderr: "kafkaops: --context: no context"},
	} {
		args := []string{"describe", "-o", "json"}
		for flag, value := range tt.flag {
			if len(flag) == 1 {
				args = append(args, "-"+flag, value)
			} else {
				args = append(args, "--"+flag+"="+value)
			}
		}
		before := map[string]int{}
		for name, l := range logins {
			before[name] = len(l.Messages())
		}
		r := p.with(tt.env).run(t.Context(), args...)
		stderr := short.Replace(r.stderr)
		if r.code != tt.code || !strings.HasPrefix(stderr, tt.stderr) || tt.stderr == "" && stderr != "" {
			t.Errorf("%s: got exit code %d, stderr %q; want %d, %q", tt.name, r.code, stderr, tt.code, tt.stderr)
		}
		if tt.code != 0 {
			if r.stdout != "" {
				t.Errorf("%s: got stdout %q, want none", tt.name, r.stdout)
			}
			continue
		}
		if docs := documents[any](t, r.stdout); len(docs) != 1 || docs[0].Cluster.ID.Or("") != tt.cluster {
			t.Errorf("%s: got %s, want cluster %s", tt.name, r.stdout, tt.cluster)
		}
		for name, l := range logins {
			for _, message := range l.Messages()[before[name]:] {
				if user := strings.Split(message, "\x00")[1]; name != tt.cluster || user != tt.user {
					t.Errorf("%s: cluster %s was given user %s, want %s at %s alone", tt.name, name, user, tt.user, tt.cluster)
				}
			}
		}
		if came := len(logins[tt.cluster].Messages()) > before[tt.cluster]; came != (tt.user != "") {
			t.Errorf("%s: somebody logged in: %v, want user %q", tt.name, came, tt.user)
		}
	}
}

// m is a map of pairs.
func m(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

// TestConfigFileErrors: a file that cannot be read stops what needs it, and nothing
// else.
func TestConfigFileErrors(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	p := withConfig(t, "contexts:\n  prod: {bootstrap-servers: 'a:1'}\n")
	want := "kafkaops: " + p.config() + ":2: contexts.prod.bootstrap-servers: unknown field: did you mean bootstrap-server?\n"
	for _, line := range []string{"describe", "lag --context prod", "context list", "context show", "context use prod"} {
		p.run(t.Context(), strings.Fields(line)...).want(t, exitFailed, "", want)
	}
	if r := p.ask(t, c, "describe"); r.code != exitOK || r.stderr != "" {
		t.Errorf("with -b: got %+v, want an answer", r)
	}
	p.write(t, "config.yaml", "current-context: gone\ncontexts:\n  prod: {bootstrap-server: '"+c.Bootstrap()+"'}\n")
	gone := "kafkaops: " + p.config() + ":1: current-context: no context \"gone\": " + p.config() + " has prod\n"
	p.run(t.Context(), "describe").want(t, exitFailed, "", gone)
	if r := p.run(t.Context(), "describe", "--context", "prod").unhurried(); r.code != exitOK || r.stderr != "" {
		t.Errorf("another one is named: got %+v, want an answer", r)
	}
	if r := p.run(t.Context(), "context", "list"); r.code != exitOK || r.stderr != gone || !strings.Contains(r.stdout, "prod") {
		t.Errorf("context list: got %+v, want the list, and what is wrong", r)
	}
}

// TestExpectedCluster: every command stops at another cluster, and at one that does
// not say which it is, before it asks or shows anything.
func TestExpectedCluster(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"other": "other", "unknown": ""} {
		m := healthyModel()
		m.ClusterID = id
		c := fakekafka.Start(t, m)
		p := withConfig(t, "current-context: prod\ncontexts:\n  prod: {bootstrap-server: '"+c.Bootstrap()+"', cluster-id: expected}\n")
		says := "is of cluster other, and"
		if id == "" {
			says = "does not tell which cluster it is of, and"
		}
		want := "kafkaops: " + c.Addr(1) + " " + says + " context \"prod\" expects cluster expected (" + p.config() + ":3): nothing more was asked\n"
		for _, command := range asking(t) {
			for _, flags := range []string{"", "-o json", "-o yaml --watch", "--context prod"} {
				// A watch ends too: it would wait for ever.
				p.run(t.Context(), strings.Fields(command+" --timeout 3m "+flags)...).unhurried().want(t, exitFailed, "", want)
			}
		}
		for _, r := range c.Requests() {
			switch r.Key {
			case kmsg.ApiVersions, kmsg.Metadata, kmsg.DescribeCluster:
			default:
				t.Fatalf("%s: %s was asked", name, r.Key.Name())
			}
		}
		// On a terminal in a watch, the screen is given back first.
		onScreen := screen()
		onScreen.env = p.env
		if r := onScreen.run(t.Context(), "lag", "--watch", "--timeout", "3m").unhurried(); r.code != exitFailed || r.stderr != want || strings.Contains(r.stdout, "orders") {
			t.Errorf("on a terminal: got %+v", r)
		}
	}
}

// TestExpectedClusterLater: the address leads elsewhere in the middle of a watch.
func TestExpectedClusterLater(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	var id string
	c.View(func(m *fakekafka.Model) { id = m.ClusterID })
	p := withConfig(t, "contexts:\n  prod: {cluster-id: "+id+"}\n")
	s := p.start(t, c.Addr(1), "lag --watch --interval 100ms -o json --context prod")
	s.stdout.await(t, func(text string) bool { return strings.Count(text, "\n") >= 2 })
	c.Change(func(m *fakekafka.Model) { m.ClusterID = "other" })
	code := <-s.code
	if stderr := s.stderr.String(); code != exitFailed || !strings.Contains(stderr, "is of cluster other") {
		t.Errorf("got exit code %d, stderr %q", code, stderr)
	}
	for _, d := range documents[any](t, s.stdout.String()) {
		if d.Cluster.ID.Or("") != id {
			t.Errorf("a document of cluster %s was shown", d.Cluster.ID)
		}
	}
}

// TestReadOnlyIsKnown: a session knows that nothing may be changed.
func TestReadOnlyIsKnown(t *testing.T) {
	t.Parallel()
	p := withConfig(t, "current-context: a\ncontexts:\n  a: {bootstrap-server: 'a:1', readonly: true}\n  b: {bootstrap-server: 'b:1'}\n")
	_, env := p.double()
	for name, want := range map[string]bool{"": true, "a": true, "b": false} {
		o := options{timeout: defaultTimeout, interval: defaultInterval, viewOptions: viewOptions{"table", "auto"}}
		o.contextName = name
		s, err := o.open(env)
		if err != nil || s.target.context.ReadOnly != want {
			t.Errorf("context %q: got %+v, %v; want readonly %v", name, s, err, want)
		}
	}
	o := options{timeout: defaultTimeout, interval: defaultInterval, viewOptions: viewOptions{"table", "auto"}}
	o.bootstrap = "c:1"
	if s, err := o.open(env); err != nil || s.target.context != nil {
		t.Errorf("-b: got %+v, %v; want no context", s, err)
	}
}

// TestControllerPrecedence: who is asked for the quorum, and as whom.
func TestControllerPrecedence(t *testing.T) {
	t.Parallel()
	quorum := func(epoch int32) (string, *fakekafka.Logins) {
		m := fakekafka.NewControllers(1) // of several, some would be given up as they log in
		m.Quorum.Epoch = epoch
		c, l := fakekafka.StartSASL(t, m, "PLAIN")
		return c.Addr(101), l
	}
	flag, flagLogins := quorum(1)
	env, envLogins := quorum(2)
	ctx, ctxLogins := quorum(3)
	m3 := fakekafka.NewModel(1)
	m3.Quorum = fakekafka.NewQuorum(3)
	m3.Quorum.Epoch = 4
	cluster, _ := fakekafka.StartSASL(t, m3, "PLAIN")
	p := withConfig(t, "current-context: prod\ncontexts:\n"+
		"  prod: {bootstrap-server: '"+cluster.Bootstrap()+"', command-config: b.properties, controller: ['"+ctx+"'], controller-config: c.properties}\n"+
		"  same: {bootstrap-server: '"+cluster.Bootstrap()+"', command-config: b.properties, controller: '"+ctx+"'}\n"+
		"  none: {bootstrap-server: '"+cluster.Bootstrap()+"', command-config: b.properties, controller-config: c.properties}\n"+
		"  gone: {bootstrap-server: '"+cluster.Bootstrap()+"', command-config: b.properties, controller-config: nosuch}\n"+
		"  alone: {controller: '"+ctx+"', controller-config: c.properties}\n")
	files := map[string]string{}
	for _, name := range []string{"b", "c", "f", "e"} {
		files[name] = p.write(t, name+".properties", login(name))
	}
	if r := p.run(t.Context(), "describe", "quorum", "--context", "gone"); r.code == exitOK || !strings.Contains(r.stderr, "nosuch: no such file") {
		t.Errorf("a file that is named and not there: exit code %d, stderr %q", r.code, r.stderr)
	}
	all := map[int32]*fakekafka.Logins{1: flagLogins, 2: envLogins, 3: ctxLogins}
	for _, tt := range []struct {
		name  string
		flags string
		env   map[string]string
		epoch int32
		user  string
	}{
		{"context", "", nil, 3, "c"},
		{"environment", "", map[string]string{envController: env}, 2, "c"},
		{"flag", "--controller " + flag, map[string]string{envController: env}, 1, "c"},
		{"config by environment", "", map[string]string{envControllerConfig: files["e"]}, 3, "e"},
		{"config by flag", "--controller-config " + files["f"], map[string]string{envControllerConfig: files["e"]}, 3, "f"},
		{"the command config is the default", "--context same", nil, 3, "b"},
		{"the command config in use is", "--context same --command-config " + files["f"], nil, 3, "f"},
		{"through the brokers", "--context none", nil, 4, ""},
		{"no brokers", "--context alone", nil, 3, "c"},
		{"-b replaces the context's controllers", "--command-config " + files["b"] + " -b " + cluster.Bootstrap(), nil, 4, ""},
	} {
		before := map[int32]int{}
		for epoch, l := range all {
			before[epoch] = len(l.Messages())
		}
		r := p.with(tt.env).run(t.Context(), strings.Fields("describe quorum -o json --timeout 3m "+tt.flags)...)
		docs := documents[render.QuorumItem](t, r.stdout)
		if r.code != exitOK || r.stderr != "" || len(docs) != 1 || docs[0].Items[0].LeaderEpoch != inspect.Known(inspect.Epoch(tt.epoch)) {
			t.Errorf("%s: got exit code %d, stderr %q, %s; want epoch %d", tt.name, r.code, r.stderr, r.stdout, tt.epoch)
		}
		for epoch, l := range all {
			for _, message := range l.Messages()[before[epoch]:] {
				if user := strings.Split(message, "\x00")[1]; user != tt.user || epoch != tt.epoch {
					t.Errorf("%s: user %s came to the controllers of epoch %d, want %s at %d", tt.name, user, epoch, tt.user, tt.epoch)
				}
			}
		}
		if l := all[tt.epoch]; l != nil && len(l.Messages()) == before[tt.epoch] {
			t.Errorf("%s: nobody logged in to the controllers, want %s", tt.name, tt.user)
		}
	}
	p.run(t.Context(), "lag", "--context", "alone").want(t, exitUsage, "",
		"kafkaops: context \"alone\" names no cluster: give it a bootstrap-server in "+p.config()+":7\nSee 'kafkaops lag --help'.\n")
}

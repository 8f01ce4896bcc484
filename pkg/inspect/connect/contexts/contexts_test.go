package contexts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/contexts"
)

// written is a file with this text.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) *contexts.File {
	t.Helper()
	f, err := contexts.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestPath(t *testing.T) {
	t.Parallel()
	abs := t.TempDir()
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"HOME": abs}, filepath.Join(abs, ".config", "kafkaops", "config.yaml")},
		{map[string]string{"USERPROFILE": abs}, filepath.Join(abs, ".config", "kafkaops", "config.yaml")},
		{map[string]string{"HOME": "/elsewhere", "XDG_CONFIG_HOME": abs}, filepath.Join(abs, "kafkaops", "config.yaml")},
		{map[string]string{"HOME": abs, "XDG_CONFIG_HOME": "relative"}, filepath.Join(abs, ".config", "kafkaops", "config.yaml")},
	} {
		if got := contexts.Path(func(key string) string { return tt.env[key] }); got != tt.want {
			t.Errorf("with %v: got %q, want %q", tt.env, got, tt.want)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	path := written(t, "\ufeff# clusters\r\n"+strings.ReplaceAll(`current-context: "prod" # here
x-team: &addrs [a:1, b:2]
contexts:
  staging: {bootstrap-server: 's-1:9092, s-2:9092,'}
  prod:
    bootstrap-server: [kafka-1:9094, "[::1]:9094", kafka-1:9094]
    command-config: prod/client.properties
    controller: c-1:9093,c-2:9093
    controller-config: /etc/kafka/controllers.properties
    jmx: http://kafka-1:7777
    cluster-id: 0123
    readonly: True
  "two words":
    controller: *addrs
    readonly: false
    jmx: ~
    command-config: ""
    cluster-id: ''
  empty:
`, "\n", "\r\n"))
	f := read(t, path)
	want := []contexts.Context{
		{Name: "empty", Line: 20},
		{
			Name: "prod", Line: 6, Bootstrap: []string{"kafka-1:9094", "[::1]:9094"}, Controller: []string{"c-1:9093", "c-2:9093"},
			CommandConfig:    filepath.Join(filepath.Dir(path), "prod", "client.properties"),
			ControllerConfig: "/etc/kafka/controllers.properties", JMX: "http://kafka-1:7777", ClusterID: "0123", ReadOnly: true,
		},
		{Name: "staging", Line: 5, Bootstrap: []string{"s-1:9092", "s-2:9092"}},
		{Name: "two words", Line: 14, Controller: []string{"a:1", "b:2"}},
	}
	if diff := cmp.Diff(f.Contexts, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	c, err := f.GetCurrent()
	if err != nil || c.Name != "prod" {
		t.Errorf("current: got %+v, %v; want prod", c, err)
	}
	for _, nothing := range []string{filepath.Join(t.TempDir(), "none"), "", written(t, ""), written(t, "# nothing\n"), written(t, "~\n"), written(t, "contexts:\n"), written(t, "current-context: \"\"\ncontexts:\n")} {
		f := read(t, nothing)
		if c, err := f.GetCurrent(); len(f.Contexts) != 0 || c != nil || err != nil {
			t.Errorf("%q: got %+v, current %+v, %v; want none", nothing, f.Contexts, c, err)
		}
		if _, err := f.Get("prod"); err == nil || !strings.Contains(err.Error(), "there are none") {
			t.Errorf("%q: got %v, want that there are none", nothing, err)
		}
	}
}

// TestErrors: each names file, line and field, and what to try.
func TestErrors(t *testing.T) {
	t.Parallel()
	const prod = "contexts:\n  prod:\n    "
	for _, tt := range []struct{ text, want string }{
		{prod + "bootstrap-servers: a:1", ":3: contexts.prod.bootstrap-servers: unknown field: did you mean bootstrap-server?"},
		{prod + "commandConfig: a", ":3: contexts.prod.commandConfig: unknown field: did you mean command-config?"},
		{prod + "cluster_id: a", ":3: contexts.prod.cluster_id: unknown field: did you mean cluster-id?"},
		{prod + "read-only: true", ":3: contexts.prod.read-only: unknown field: did you mean readonly?"},
		{prod + "password: hush", ":3: contexts.prod.password: unknown field: use bootstrap-server, command-config, controller, controller-config, jmx, cluster-id, readonly"},
		{"contexts:\n  prod: {bootstrap-server: a:1,b:2}", ":2: contexts.prod.b:2: no field but an address: within { } write several as [a:9092, b:9092]"},
		{"current-contxt: a\n", ":1: current-contxt: unknown field: did you mean current-context?"},
		{"\ncontext:\n  a: {}\n", ":2: context: unknown field: did you mean contexts?"},
		{prod + "readonly: yes", ":3: contexts.prod.readonly: use true or false"},
		{prod + "readonly:", ":3: contexts.prod.readonly: use true or false"},
		{prod + "bootstrap-server: kafka-1", `:3: contexts.prod.bootstrap-server: bootstrap server "kafka-1" is not host:port (such as kafka-1:9092, or [::1]:9092)`},
		{prod + "controller: [c-1:9093, c-2]", `:3: contexts.prod.controller: controller "c-2" is not host:port (such as controller-1:9093, or [::1]:9093)`},
		{prod + "controller:\n    - a:1\n    - [b:2]", ":5: contexts.prod.controller: takes one text, not a list or a mapping"},
		{prod + "jmx: [a]", ":3: contexts.prod.jmx: takes one text, not a list or a mapping"},
		{prod + "jmx: \"a\\nb\"", ":3: contexts.prod.jmx: takes a text on one line"},
		{prod + "command-config: ~/client.properties", ":3: contexts.prod.command-config: ~ is the shell's: write the whole path, or one from DIR"},
		{prod + "jmx: a\n    jmx: b", ":4: contexts.prod.jmx: is there twice, first in line 3"},
		{"contexts:\n  a: {}\n  a: {}", ":3: contexts.a: is there twice, first in line 2"},
		{prod + "<<: {jmx: a}", ":3: contexts.prod.<<: merged fields are not supported: write them out"},
		{"contexts:\n  \"\": {}", ":2: contexts: a key that is no name"},
		{"contexts:\n  [a]: {}", ":2: contexts: a key that is no name"},
		{"contexts: [a]", ":1: contexts: is no mapping: write name: value, a line each"},
		{"contexts:\n  a: b: 1", ":2: not valid YAML: mapping values are not allowed in this context"},
		{"contexts:\n  a: kafka-1:9092", ":2: contexts.a: is no mapping: write name: value, a line each"},
		{prod + "bootstrap-server: SASL_SSL://user:hush@a:1", `:3: contexts.prod.bootstrap-server: bootstrap server "…@a:1" holds an @: user and password belong into the command config`},
		{prod + "jmx: *hush", ": not valid YAML: a text that begins with * stands for another one, which there is not: write it in quotes"},
		{"hello", ":1: the file: is no mapping: write name: value, a line each"},
		{"a:\n\tb: 1", ":2: not valid YAML: found character that cannot start any token (such as a tab: YAML is indented with blanks)"},
		{"a: \xff", ": not valid YAML: invalid leading UTF-8 octet"},
		{"a: 1\n---\nb: 1\n", ":2: a second document begins: use one"},
		{"a: " + strings.Repeat("x", 1<<20), ": longer than 1048576 bytes: is this the right file?"},
	} {
		path := written(t, tt.text)
		want := path + strings.ReplaceAll(tt.want, "DIR", filepath.Dir(path))
		if _, err := contexts.Read(path); err == nil || err.Error() != want {
			t.Errorf("%.60q:\n got %v\nwant %s", tt.text, err, want)
		}
	}
	path := written(t, "# x\ncurrent-context: prdo\ncontexts: {prod: {}, dev: {}}\nsomebody-elses: {a: [1]}\n")
	want := path + `:2: current-context: no context "prdo": ` + path + " has dev, prod"
	if _, err := read(t, path).GetCurrent(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := contexts.Read(t.TempDir()); err == nil || !strings.HasPrefix(err.Error(), "contexts: read ") {
		t.Errorf("a directory: got %v", err)
	}
}

// TestUse: one value changes, and not a byte else.
func TestUse(t *testing.T) {
	t.Parallel()
	const rest = "contexts: {prod: {}, 'it''s': {}, \"yes\": {}, ünö: {}}  # all\n"
	for _, tt := range []struct{ text, name, want string }{
		{"current-context: dev   # why\n" + rest, "prod", "current-context: prod   # why\n" + rest},
		{"# ä\n" + rest + "current-context:   'it''s' #x\n", "prod", "# ä\n" + rest + "current-context:   prod #x\n"},
		{rest + "current-context: \"a\\\"b\" # c", "it's", rest + "current-context: it's # c"},
		{rest + "'current-context': a", "yes", rest + "'current-context': \"yes\""},
		{rest + "current-context: # none yet\n", "ünö", rest + "current-context: ünö # none yet\n"},
		{rest + "current-context:\n", "prod", rest + "current-context: prod\n"},
		{rest + "current-context: '' # unset\n", "prod", rest + "current-context: prod # unset\n"},
		{"current-context: \"\"\n" + rest, "prod", "current-context: prod\n" + rest},
		{rest + "current-context: ~\n", "prod", rest + "current-context: prod\n"},
		{rest, "prod", rest + "current-context: prod\n"},
		{strings.TrimSuffix(rest, "\n"), "prod", rest + "current-context: prod\n"},
		{"\ufeffcurrent-context: a\n" + rest, "prod", "\ufeffcurrent-context: prod\n" + rest},
		{"a: 1\r\n" + rest, "prod", "a: 1\r\n" + rest + "current-context: prod\r\n"},
		{"current-context: a\r\nother: [1, {b: 2}] # kept\r\n" + rest, "prod", "current-context: prod\r\nother: [1, {b: 2}] # kept\r\n" + rest},
		{"é: 'ü'\ncurrent-context: ünö\n" + rest, "prod", "é: 'ü'\ncurrent-context: prod\n" + rest},
		{"current-context: prod\n" + rest, "prod", "current-context: prod\n" + rest},
		{"{current-context: a, contexts: {prod: {}}}", "prod", "{current-context: prod, contexts: {prod: {}}}"},
		// Not safely: an error, and the file as it was.
		{"current-context: |-\n  a\n" + rest, "prod", ""},
		{"current-context: a\n  b\n" + rest, "prod", ""},
		{"current-context: &x a\n" + rest, "prod", ""},
		{rest + "current-context: 'a'#x\n", "prod", ""},
		{"x: &x a\ncurrent-context: *x\n" + rest, "prod", ""},
		{"{contexts: {prod: {}}}", "prod", ""},
		{rest + "...\n", "prod", ""},
		{rest, "nosuch", ""},
	} {
		path := written(t, tt.text)
		f := read(t, path)
		err := f.Use(tt.name)
		want := tt.want
		if want == "" {
			want = tt.text
		}
		got, _ := os.ReadFile(path)
		if string(got) != want || (err != nil) != (tt.want == "") {
			t.Errorf("use %s in\n%s\ngot %v and\n%s\nwant\n%s", tt.name, tt.text, err, got, want)
		}
		if err == nil {
			if diff := cmp.Diff(f, read(t, path), cmpopts.IgnoreUnexported(contexts.File{})); f.Current != tt.name || diff != "" {
				t.Errorf("use %s in\n%s\nthe File has %q, -has +read again:\n%s", tt.name, tt.text, f.Current, diff)
			}
		}
	}
}

// TestUseKeepsTheFile: permissions, symbolic links, and no litter beside it.
func TestUseKeepsTheFile(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o600, 0o644, 0o640} {
		path := written(t, "contexts: {prod: {command-config: x}}\n")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		link := filepath.Join(dir, "config.yaml")
		if err := os.Symlink(path, link); err != nil {
			t.Skip(err)
		}
		if err := read(t, link).Use("prod"); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(link)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is now %v, %v", info, err)
		}
		target, err := os.Stat(path)
		if err != nil || target.Mode().Perm() != mode {
			t.Errorf("the file has mode %v, %v; want %v", target.Mode(), err, mode)
		}
		f := read(t, path)
		if f.Current != "prod" {
			t.Errorf("current is %q, want prod", f.Current)
		}
		if c, _ := read(t, link).Get("prod"); c.CommandConfig != filepath.Join(dir, "x") {
			t.Errorf("got %s, want it beside the link", c.CommandConfig)
		}
		for _, d := range []string{dir, filepath.Dir(path)} {
			if left, _ := os.ReadDir(d); len(left) != 1 {
				t.Errorf("%v lie in the directory, want the file alone", left)
			}
		}
	}
	t.Run("not writable", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() == 0 {
			t.Skip("root may write everywhere")
		}
		path := written(t, "contexts: {prod: {}}\n")
		if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
			t.Fatal(err)
		}
		if err := read(t, path).Use("prod"); err == nil || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("got %v, want an error that names the file", err)
		}
	})
}

// FuzzUse: whatever the file says, reading it does not panic, and what Use has
// written says what it said before, with another current context.
func FuzzUse(f *testing.F) {
	for _, text := range []string{
		"", "current-context: a\ncontexts:\n  a: {bootstrap-server: [x:1]}\n  b:\n", "contexts: {a: {}, b: {}}\ncurrent-context: 'a'\n",
		"? a\n: b\n", "a: &a\n  b: *a\n", "contexts:\n  b: {jmx: \"\\x41\"}\n...\n", "current-context: \u2028a\ncontexts: {b: {}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := written(t, text)
		before, err := contexts.Read(path)
		if err != nil {
			return
		}
		for _, name := range before.Names() {
			file := read(t, path)
			was, _ := os.ReadFile(path)
			if err := file.Use(name); err != nil {
				if now, _ := os.ReadFile(path); string(now) != string(was) {
					t.Fatalf("refused, and changed: %q is now %q", was, now)
				}
				return
			}
			after := read(t, path)
			ignoreLine := cmpopts.IgnoreFields(contexts.Context{}, "Line")
			if diff := cmp.Diff(after.Contexts, before.Contexts, ignoreLine); after.Current != name || diff != "" {
				t.Fatalf("current is %q, want %q; -after +before:\n%s", after.Current, name, diff)
			}
		}
	})
}

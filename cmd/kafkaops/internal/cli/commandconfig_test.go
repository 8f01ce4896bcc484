package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/internal/kafkatest/certs"
)

// credentials are user and password of the first login by PLAIN.
func credentials(l *fakekafka.Logins) (user, password string) {
	messages := l.Messages()
	if len(messages) == 0 {
		return "", ""
	}
	parts := strings.Split(messages[0], "\x00")
	return parts[1], parts[2]
}

func writeFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// describeBy runs describe with these arguments and environment.
func describeBy(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	d := term.NewDouble(0, 0)
	code = run(t.Context(), append([]string{"describe"}, args...), Env{
		Terminal: d.Terminal, Getenv: func(key string) string { return env[key] },
	})
	return code, d.Stdout.String(), d.Stderr.String()
}

// TestCommandConfigRead: what a user's file means arrives at the broker (case 14).
func TestCommandConfigRead(t *testing.T) {
	t.Parallel()
	const login = "org.apache.kafka.common.security.plain.PlainLoginModule required "
	const plain = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
	for _, tt := range []struct {
		name, properties string
		user, password   string
		code             int
		stderr           string // FILE stands for the file
	}{
		{
			name:       "quotes escaped twice",
			properties: plain + `sasl.jaas.config=` + login + `username="u" password="a\\"b";`,
			user:       "u", password: `a"b`,
		},
		{
			name:       "a connection string in quotes",
			properties: plain + `sasl.jaas.config=` + login + `username="$ConnectionString" password="Endpoint=sb://x/;SharedAccessKey=k=";`,
			user:       "$ConnectionString", password: "Endpoint=sb://x/;SharedAccessKey=k=",
		},
		{
			name:       "a connection string without",
			properties: plain + `sasl.jaas.config=` + login + `username="u" password=Endpoint=sb://x/;SharedAccessKey=hush=;`,
			code:       exitFailed, stderr: "kafkaops: FILE:3: sasl.jaas.config: ",
		},
		{
			name:       "three lines",
			properties: plain + "sasl.jaas.config=" + login + "\\\n    username=\"u\" \\\n    password=\"one two\";\n",
			user:       "u", password: "one two",
		},
		{
			name:       "Java's ways to write a line",
			properties: "! comment\n# another\nsecurity.protocol : SASL_PLAINTEXT\nsasl.mechanism PLAIN\nsasl.jaas.config=" + login + `username="k=a=b" password="caf\u00e9";`,
			user:       "k=a=b", password: "café",
		},
		{
			name:       "an unknown key",
			properties: plain + "sasl.jaas.confog=hush\nsasl.jaas.config=" + login + `username="u" password="p";`,
			user:       "u", password: "p",
			stderr: "kafkaops: FILE:3: sasl.jaas.confog: unknown setting, ignored\n",
		},
		{
			name:       "an unknown mechanism",
			properties: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=HUSH\n",
			code:       exitFailed, stderr: "kafkaops: FILE:2: sasl.mechanism: ",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, logins := fakekafka.StartSASL(t, fakekafka.NewModel(1), "PLAIN")
			path := writeFile(t, "client.properties", []byte(tt.properties))
			code, stdout, stderr := describeBy(t, nil, "-b", c.Bootstrap(), "--command-config", path)
			user, password := credentials(logins)
			if user != tt.user || password != tt.password {
				t.Errorf("the broker saw %q, %q; want %q, %q", user, password, tt.user, tt.password)
			}
			want := strings.ReplaceAll(tt.stderr, "FILE", path)
			if code != tt.code || !strings.HasPrefix(stderr, want) || strings.Count(stderr, "\n") != strings.Count(want, "kafkaops: ") {
				t.Errorf("got exit code %d, stderr %q; want %d, one line that begins with %q", code, stderr, tt.code, want)
			}
			if (stdout == "") != (tt.code != exitOK) {
				t.Errorf("exit code %d with stdout %q", code, stdout)
			}
			if strings.Contains(strings.ToLower(stderr), "hush") {
				t.Errorf("stderr shows a value: %q", stderr)
			}
		})
	}
}

// TestCommandConfigTLS: a trust store of Java's own kind.
func TestCommandConfigTLS(t *testing.T) {
	t.Parallel()
	ca := certs.NewCA("authority")
	m := fakekafka.NewModel(1)
	m.TLS = ca.Issue(certs.Request{Name: "broker", Hosts: certs.Loopback()}).Server()
	c := fakekafka.Start(t, m)
	store := writeFile(t, "trust.jks", ca.JKS("hush"))
	path := writeFile(t, "client.properties", []byte("security.protocol=SSL\nssl.truststore.location="+store+"\nssl.truststore.password=hush\n"))
	if code, _, stderr := describeBy(t, nil, "-b", c.Bootstrap(), "--command-config", path); code != exitOK || stderr != "" {
		t.Errorf("got exit code %d, stderr %q; want an answer", code, stderr)
	}
	path = writeFile(t, "client.properties", []byte("security.protocol=SSL\n"))
	code, stdout, stderr := describeBy(t, nil, "-b", c.Bootstrap(), "--command-config", path, "-o", "json")
	want := "kafkaops: " + c.Bootstrap() + ": TLS: failed to verify certificate: "
	if code != exitFailed || stdout != "" || !strings.HasPrefix(stderr, want) {
		t.Errorf("got exit code %d, stdout %q, stderr %q; want 1, nothing, %q", code, stdout, stderr, want)
	}
}

// TestCommandConfigPrecedence: flag before environment; the file's
// bootstrap.servers where neither names a cluster.
func TestCommandConfigPrecedence(t *testing.T) {
	t.Parallel()
	inFile, named := fakekafka.NewModel(1), fakekafka.NewModel(1)
	inFile.ClusterID, named.ClusterID = "in-file", "named"
	addr, other := fakekafka.Start(t, inFile).Bootstrap(), fakekafka.Start(t, named).Bootstrap()
	good := writeFile(t, "good.properties", []byte("bootstrap.servers=PLAINTEXT://"+addr+",\n"))
	bad := writeFile(t, "bad.properties", []byte("security.protocol=hush\n"))
	noPort := writeFile(t, "noport.properties", []byte("bootstrap.servers=hush\n"))
	empty := writeFile(t, "empty.properties", nil)
	none := filepath.Join(t.TempDir(), "none")
	for _, tt := range []struct {
		name string
		env  map[string]string
		args []string
		code int
		says string // in stdout, or stderr's beginning
	}{
		{"flag", nil, []string{"--command-config", good}, exitOK, `"in-file"`},
		{"environment", map[string]string{envCommandConfig: good}, nil, exitOK, `"in-file"`},
		{"flag before environment", map[string]string{envCommandConfig: bad}, []string{"--command-config", good}, exitOK, `"in-file"`},
		{"an empty flag is none", map[string]string{envCommandConfig: good}, []string{"--command-config", ""}, exitOK, `"in-file"`},
		{"-b before the file", nil, []string{"--command-config", good, "-b", other}, exitOK, `"named"`},
		{"environment before the file", map[string]string{envBootstrap: other}, []string{"--command-config", good}, exitOK, `"named"`},
		{"bad file", nil, []string{"--command-config", bad}, exitFailed, "kafkaops: " + bad + ":1: security.protocol: must be one of "},
		{"no file", nil, []string{"--command-config", none}, exitFailed, "kafkaops: command config: stat " + none + ": no such file or directory\n"},
		{"no port in the file", nil, []string{"--command-config", noPort}, exitFailed, "kafkaops: " + noPort + ":1: bootstrap.servers: must be host:port"},
		{"no port, and not used", nil, []string{"--command-config", noPort, "-b", other}, exitOK, `"named"`},
		{"no cluster at all", nil, []string{"--command-config", empty}, exitUsage, "kafkaops: no cluster named: "},
		{"other options first", nil, []string{"--command-config", bad, "-o", "xml"}, exitUsage, "kafkaops: "},
	} {
		code, stdout, stderr := describeBy(t, tt.env, append(tt.args, "-o", "json")...)
		if tt.name == "other options first" {
			code, stdout, stderr = describeBy(t, tt.env, tt.args...)
		}
		told := strings.HasPrefix(stderr, tt.says) && stdout == ""
		if tt.code == exitOK {
			told = strings.Contains(stdout, tt.says) && stderr == ""
		}
		if code != tt.code || !told {
			t.Errorf("%s: got exit code %d, stdout %q, stderr %q; want %d, %q", tt.name, code, stdout, stderr, tt.code, tt.says)
		}
		if strings.Contains(stderr, "hush") {
			t.Errorf("%s: stderr shows a value: %q", tt.name, stderr)
		}
	}
}

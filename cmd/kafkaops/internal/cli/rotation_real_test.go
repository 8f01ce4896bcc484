package cli

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/certs"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestSecretsRotateReal: a command that runs for long goes on when its
// certificate, its password and the brokers' authority are replaced under it, as
// they are where nobody restarts what watches. Before that, isr meets controllers that
// are secured otherwise than the brokers.
func TestSecretsRotateReal(t *testing.T) {
	const listener, user = "SECURE", "alice"
	clients, brokers := certs.NewCA("clients"), certs.NewCA("brokers")
	dir := t.TempDir()
	shown := brokers.Issue(certs.Request{Name: "broker", Hosts: certs.Loopback()})
	c := kafkatest.Start(t, kafkatest.Options{
		Engine:    engine.FromEnv(),
		Listeners: map[string]string{listener: "SASL_SSL"}, ControllerProtocol: "SSL",
		Security: map[string]kafkatest.ListenerSecurity{
			listener: {
				Cert: shown, ClientAuth: "required", ClientCA: clients,
				Mechanisms: []string{kafkatest.ScramSHA256}, Users: map[string]string{user: "old-password"},
			},
			kafkatest.ControllerListener: {Cert: shown, ClientCA: brokers}, // whom brokers trust there
		},
	})
	c.CreateTopic(t, "orders", c.Spread(1, 1), nil)
	t.Run("controllers", func(t *testing.T) { controllersOverTLS(t, c, brokers) })
	put := func(name string, data []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path+".new", data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	properties := func(password string) {
		t.Helper()
		put("client.properties", []byte(strings.ReplaceAll(`security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-256
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="`+password+`";
ssl.keystore.type=PKCS12
ssl.keystore.location=DIR/client.p12
ssl.keystore.password=changeit
ssl.truststore.type=PEM
ssl.truststore.location=DIR/trust.pem
`, "DIR", dir)))
	}
	ends := time.Now().Add(12 * time.Second) // by then it has begun, on a busy machine too
	put("client.p12", clients.Issue(certs.Request{Name: user, NotAfter: ends}).PKCS12("changeit"))
	put("trust.pem", brokers.PEM())
	properties("old-password")

	s := place{}.start(t, c.ListenerAddr(1, listener), "lag -o json --interval 200ms --watch --command-config "+filepath.Join(dir, "client.properties"))
	goesOn := func(after string) {
		t.Helper()
		seen := strings.Count(s.stdout.String(), "\n")
		out := s.stdout.await(t, timesIn("\n", seen+3))
		for line := range strings.Lines(out[strings.LastIndex(out[:len(out)-1], "\n")+1:]) {
			var d struct{ Complete bool }
			if err := json.Unmarshal([]byte(line), &d); err != nil || !d.Complete {
				t.Errorf("after %s: %v, %s", after, err, line)
			}
		}
	}
	goesOn("the start")

	time.Sleep(time.Until(ends.Add(time.Second))) // certificates know no other clock
	s.stderr.await(t, timesIn("the client certificate CN=alice expired on ", 1))
	put("client.p12", clients.Issue(certs.Request{Name: user}).PKCS12("changeit"))
	goesOn("another client certificate")

	setPassword(t, c, user, "new-password")
	s.stderr.await(t, timesIn("SASL: authentication failed", 1))
	properties("new-password")
	goesOn("another password")

	told := s.stderr.String()
	next := certs.NewCA("brokers, the next")
	put("trust.pem", append(brokers.PEM(), next.PEM()...))
	goesOn("a second authority")
	put("broker.pem", next.Issue(certs.Request{Name: "broker", Hosts: certs.Loopback()}).PEM(""))
	c.AlterBrokerConfig(t, 1, "listener.name.secure.ssl.keystore.location", filepath.Join(dir, "broker.pem"))
	goesOn("another certificate of the broker's")
	put("trust.pem", next.PEM())
	goesOn("the first authority's end")
	if now := s.stderr.String(); now != told {
		t.Errorf("the authority was replaced in order, and stderr tells\n%s", strings.TrimPrefix(now, told))
	}
	put("trust.pem", brokers.PEM())
	s.stderr.await(t, timesIn("unknown authority", 1)) // so that the broker did change its certificate
	if r := s.interrupt(); r.code != exitInterrupted {
		t.Errorf("got exit code %d, want 130", r.code)
	}
}

// setPassword is what kafka-configs.sh does to change one.
func setPassword(t *testing.T, c *kafkatest.Cluster, user, password string) {
	t.Helper()
	const scramSHA256, iterations = 1, 4096
	salt := []byte("salt")
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	up := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
	up.Name, up.Mechanism, up.Iterations, up.Salt, up.SaltedPassword = user, scramSHA256, iterations, salt, salted
	req := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	req.Upsertions = append(req.Upsertions, up)
	resp, err := c.Ask(t.Context(), 1, req)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range resp.(*kmsg.AlterUserSCRAMCredentialsResponse).Results {
		if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
			t.Fatal(err)
		}
	}
}

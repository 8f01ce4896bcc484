package connect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/certs"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The listeners of the cluster beside PLAINTEXT.
const (
	listenerTLS       = "TLS"       // asks for a client certificate, and needs none
	listenerMTLS      = "MTLS"      // needs one
	listenerElsewhere = "ELSEWHERE" // TLS with a certificate for another host
	listenerSASL      = "SASL"
	listenerSASLTLS   = "SASLTLS"
	listenerScram     = "SCRAM" // SCRAM-SHA-512 only

	listenerExpired       = "EXPIRED" // TLS with a certificate that has expired
	listenerSASLMTLS      = "SASLMTLS"
	listenerSASLElsewhere = "SASLELSEWHERE"
	listenerSASLExpired   = "SASLEXPIRED"
)

// The secrets of these tests are words that occur nowhere else, for the check
// that nothing prints them.
const (
	alicePassword = `hush-Alice "1"`
	storePassword = "hush-store-1"
	keyPassword   = "hush-key-1"
	clientSecret  = "hush-client=secret&1%"
)

// world is the cluster and what its clients have.
type world struct {
	shared *kafkatest.Shared
	// dir holds the clients' stores, see writeStores.
	dir    string
	tokens *tokenIssuer
	ca     *certs.CA
}

var w *world

func TestMain(m *testing.M) {
	var err error
	if w, err = newWorld(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := w.shared.Main(m)
	w.tokens.close()
	_ = os.RemoveAll(w.dir)
	os.Exit(code)
}

func newWorld() (*world, error) {
	dir, err := os.MkdirTemp("", "connect-")
	if err != nil {
		return nil, err
	}
	w := &world{dir: dir, ca: certs.NewCA("kafkaops test authority"), tokens: newTokenIssuer()}
	jwks := filepath.Join(dir, "jwks.json")
	if err := os.WriteFile(jwks, w.tokens.jwks(), 0o600); err != nil {
		return nil, err
	}
	broker := w.ca.Issue(certs.Request{Name: "broker", Hosts: certs.Loopback()})
	sasl := kafkatest.ListenerSecurity{
		Cert:       broker,
		Mechanisms: []string{kafkatest.Plain, kafkatest.ScramSHA256, kafkatest.ScramSHA512, kafkatest.OAuthBearer},
		Users:      map[string]string{"alice": alicePassword},
		Properties: map[string]string{
			"oauthbearer.sasl.server.callback.handler.class": "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler",
			"oauthbearer.sasl.oauthbearer.jwks.endpoint.url": "file://" + jwks,
			"oauthbearer.sasl.oauthbearer.expected.issuer":   tokenIssuerName,
			"oauthbearer.sasl.oauthbearer.expected.audience": tokenAudience,
		},
	}
	with := func(cert *certs.Cert) kafkatest.ListenerSecurity {
		l := sasl
		l.Cert = cert
		return l
	}
	mutual := sasl
	mutual.ClientAuth, mutual.ClientCA = "required", w.ca
	elsewhere := w.ca.Issue(certs.Request{Name: "elsewhere.example", Hosts: []string{"elsewhere.example"}})
	expired := w.ca.Issue(certs.Request{Name: "broker", Hosts: certs.Loopback(), NotAfter: time.Now().Add(-time.Hour)})
	w.shared = kafkatest.Share(kafkatest.Options{
		Brokers: 1, Authorizer: true,
		Listeners: map[string]string{
			listenerTLS: "SSL", listenerMTLS: "SSL", listenerElsewhere: "SSL",
			listenerSASL: "SASL_PLAINTEXT", listenerSASLTLS: "SASL_SSL", listenerScram: "SASL_PLAINTEXT",
			listenerExpired: "SSL", listenerSASLMTLS: "SASL_SSL", listenerSASLElsewhere: "SASL_SSL", listenerSASLExpired: "SASL_SSL",
		},
		Security: map[string]kafkatest.ListenerSecurity{
			listenerTLS:       {Cert: broker, ClientAuth: "requested", ClientCA: w.ca},
			listenerMTLS:      {Cert: broker, ClientAuth: "required", ClientCA: w.ca},
			listenerElsewhere: {Cert: elsewhere},
			listenerSASL:      with(nil),
			listenerSASLTLS:   sasl,
			listenerScram:     {Mechanisms: []string{kafkatest.ScramSHA512}},

			listenerExpired:       {Cert: expired},
			listenerSASLMTLS:      mutual,
			listenerSASLElsewhere: with(elsewhere),
			listenerSASLExpired:   with(expired),
		},
		JVM: func(int32) []string {
			return []string{"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=file://" + jwks}
		},
	})
	if err := w.writeStores(); err != nil {
		return nil, err
	}
	return w, nil
}

// writeStores writes the stores that the client.properties of the tests name.
func (w *world) writeStores() error {
	alice := w.ca.Issue(certs.Request{Name: "alice"})
	expired := w.ca.Issue(certs.Request{Name: "alice", NotAfter: time.Now().Add(-time.Hour)})
	stranger := certs.NewCA("another authority")
	for name, data := range map[string][]byte{
		"alice.jks":               alice.JKS(storePassword, keyPassword),
		"alice-same.jks":          alice.JKS(storePassword, storePassword),
		"alice.p12":               alice.PKCS12(storePassword),
		"alice.pem":               alice.PEM(""),
		"alice-encrypted.pem":     alice.PEM(keyPassword),
		"alice-expired.p12":       expired.PKCS12(storePassword),
		"alice-stranger.p12":      stranger.Issue(certs.Request{Name: "alice"}).PKCS12(storePassword),
		"trust.jks":               w.ca.JKS(storePassword),
		"trust.p12":               w.ca.PKCS12(storePassword),
		"trust.pem":               w.ca.PEM(),
		"trust-another.pem":       stranger.PEM(),
		"alice-key.txt":           alice.KeyPEM(""),
		"alice-key-encrypted.txt": alice.KeyPEM(keyPassword),
		"alice-chain.txt":         alice.ChainPEM(),
	} {
		if err := os.WriteFile(filepath.Join(w.dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

const topic = "orders"

// cluster is the real one, with the topic, which alice may see by whatever way
// she comes.
func (w *world) cluster(t *testing.T) *kafkatest.Cluster {
	t.Helper()
	c := w.shared.Get(t)
	if p, err := c.Partition(t.Context(), topic, 0); err == nil && p.Leader > 0 {
		return c
	}
	c.CreateTopic(t, topic, c.Spread(2, 1), nil)
	for _, principal := range []string{"User:alice", "User:CN=alice"} {
		c.Allow(t,
			kafkatest.ACL{
				Principal: principal, Type: kmsg.ACLResourceTypeCluster, Name: kafkatest.ClusterResource,
				Operations: []kmsg.ACLOperation{kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs},
			},
			kafkatest.ACL{
				Principal: principal, Type: kmsg.ACLResourceTypeTopic, Name: "*",
				Operations: []kmsg.ACLOperation{kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs},
			},
		)
	}
	return c
}

// properties writes a client.properties. $DIR in it is the directory of the
// stores, $TOKENS the address of the token endpoint.
func (w *world) properties(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "client.properties")
	w.rewrite(t, path, text)
	return path
}

func (w *world) rewrite(t *testing.T, path, text string) {
	t.Helper()
	text = strings.NewReplacer("$DIR", w.dir, "$TOKENS", w.tokens.url()).Replace(text)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// passTimeout is ample for a healthy cluster; one request gets a third.
const passTimeout = time.Minute

// everything makes both clients ask, sarama and kgo.
const everything = inspect.PartELR | inspect.PartReachable | inspect.PartFenced | inspect.PartLogDirs | inspect.PartOffsets

// newSource reads the file and points a Source to addr.
func newSource(t *testing.T, path, addr string) *source.Source {
	t.Helper()
	return newSourceWithin(t, path, addr, passTimeout)
}

func newSourceWithin(t *testing.T, path, addr string, timeout time.Duration) *source.Source {
	t.Helper()
	security, err := connect.ReadProperties(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, warning := range security.Warnings() {
		if !strings.Contains(warning, " expired on ") { // as some tests want it
			t.Errorf("warning: %q", warning)
		}
	}
	return source.New(connect.Config{Bootstrap: []string{addr}, Security: security}, timeout)
}

// wantAnswer takes a pass that must see everything.
func wantAnswer(t *testing.T, src *source.Source) {
	t.Helper()
	snap, err := src.Snapshot(t.Context(), source.Query{Parts: everything})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range snap.Failures {
		t.Errorf("failure: %+v", f)
	}
	seen := 0
	for p := range snap.Partitions {
		if p.Topic != topic {
			continue
		}
		seen++
		if _, ok := p.ELR.Get(); !ok {
			t.Errorf("%s-%d: ELR unknown, want it from the second client", p.Topic, p.Index)
		}
		if p.Offsets == nil || p.Offsets.HW == (inspect.Opt[inspect.Offset]{}) {
			t.Errorf("%s-%d: HW unknown", p.Topic, p.Index)
		}
	}
	if seen != 2 {
		t.Errorf("saw %d partitions of %s, want 2", seen, topic)
	}
}

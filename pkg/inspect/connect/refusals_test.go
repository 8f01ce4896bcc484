package connect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// wantRefusal takes a pass that must end at once with one failure, of the phase
// and with the words, in one line and without any secret.
func wantRefusal(t *testing.T, src *source.Source, phase inspect.Phase, words ...string) {
	t.Helper()
	began := time.Now()
	_, err := src.Snapshot(t.Context(), source.Query{Parts: everything})
	var boot *source.BootstrapError
	if !errors.As(err, &boot) || len(boot.Failures) != 1 {
		t.Fatalf("got error %v, want one bootstrap failure", err)
	}
	f := boot.Failures[0]
	t.Logf("%s: %s", f.Phase, f.Error)
	if f.Phase != phase {
		t.Errorf("phase %q, want %q", f.Phase, phase)
	}
	for _, word := range words {
		if !strings.Contains(f.Error, word) {
			t.Errorf("error %q does not say %q", f.Error, word)
		}
	}
	if strings.ContainsAny(f.Error, "\r\n") {
		t.Errorf("error %q is more than one line", f.Error)
	}
	wantNoSecret(t, fmt.Sprintf("%v %+v", err, boot))
	if took := time.Since(began); took > passTimeout {
		t.Errorf("took %s, want at most %s", took, passTimeout)
	}
}

// wantNoSecret looks for the tests' secrets.
func wantNoSecret(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{"hush", w.tokens.lastToken(), "BEGIN ", "MII", "aHVzaC"} { // the last is hush in base64
		if secret != "" && strings.Contains(text, secret) {
			t.Errorf("%q shows a secret (%q)", text, secret)
		}
	}
}

const keyCheckName = "ssl.endpoint.identification.algorithm"

// keys is a key store of PKCS12.
func keys(file string) string {
	return "ssl.keystore.type=PKCS12\nssl.keystore.location=$DIR/" + file + "\nssl.keystore.password=hush-store-1\n"
}

// TestRefusals goes through what is wrong in real life.
func TestRefusals(t *testing.T) {
	c := w.cluster(t)
	const (
		tlsOnly  = "security.protocol=SSL\n" + trust
		sasl     = "security.protocol=SASL_PLAINTEXT\n"
		mallory  = `sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="mallory" password="hush-mallory";` + "\n"
		wrong    = `sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="hush-wrong";` + "\n"
		wrongSCR = `sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="hush-wrong";` + "\n"
	)
	for _, test := range []struct {
		name, listener, properties string
		phase                      inspect.Phase
		words                      []string
	}{
		{
			"PLAIN, wrong password", listenerSASL, sasl + "sasl.mechanism=PLAIN\n" + wrong,
			inspect.PhaseSASL,
			[]string{"authentication failed: Invalid username or password"},
		},
		{
			"PLAIN, unknown user", listenerSASL, sasl + "sasl.mechanism=PLAIN\n" + mallory,
			inspect.PhaseSASL,
			[]string{"authentication failed: Invalid username or password"},
		},
		{
			"SCRAM, wrong password", listenerSASL, sasl + "sasl.mechanism=SCRAM-SHA-256\n" + wrongSCR,
			inspect.PhaseSASL,
			[]string{"authentication failed: during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256"},
		},
		{
			"SCRAM, wrong password, TLS", listenerSASLTLS, "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n" + trust + wrongSCR,
			inspect.PhaseSASL,
			[]string{"authentication failed: during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-512"},
		},
		{
			"mechanism not enabled", listenerScram, sasl + plainLogin,
			inspect.PhaseSASL,
			[]string{"mechanism PLAIN is not enabled on this listener; it offers SCRAM-SHA-512"},
		},
		{
			"mechanisms not enabled", listenerScram, sasl + "sasl.mechanism=SCRAM-SHA-256\n" + scramLogin,
			inspect.PhaseSASL,
			[]string{"mechanism SCRAM-SHA-256 is not enabled on this listener; it offers SCRAM-SHA-512"},
		},

		{
			"OAUTHBEARER, wrong secret", listenerSASL, sasl + strings.Replace(oauthLogin, "hush-client", "hush-other", 1),
			inspect.PhaseSASL,
			[]string{"token endpoint http://127.0.0.1:", "/token: invalid_client: Invalid client or credentials"},
		},
		{
			"OAUTHBEARER, token for others", listenerSASL, sasl + oauthLogin + "sasl.oauthbearer.scope=others\n",
			inspect.PhaseSASL,
			[]string{"authentication failed", "invalid_token"},
		},
		{
			"OAUTHBEARER, no such endpoint", listenerSASL, sasl + strings.Replace(oauthLogin, "/token", "/nowhere?key=hush-query", 1),
			inspect.PhaseSASL,
			[]string{"token endpoint http://127.0.0.1:", "/nowhere: answered 404 Not Found"},
		},
		{
			"OAUTHBEARER, endpoint down", listenerSASL, sasl + strings.Replace(oauthLogin, "$TOKENS", "http://"+fakekafka.ClosedPort(t), 1),
			inspect.PhaseSASL,
			[]string{"token endpoint http://127.0.0.1:", "connection refused"},
		},

		{
			"client certificate missing", listenerMTLS, tlsOnly,
			inspect.PhaseTLS,
			[]string{"it wants a client certificate, and none is configured; set ssl.keystore.location"},
		},
		{
			"client certificate missing, TLS 1.2", listenerMTLS, tlsOnly + "ssl.enabled.protocols=TLSv1.2\n",
			inspect.PhaseTLS,
			[]string{"it wants a client certificate, and none is configured; set ssl.keystore.location"},
		},
		{
			"client certificate expired", listenerMTLS, tlsOnly + keys("alice-expired.p12"),
			inspect.PhaseTLS,
			[]string{"the client certificate CN=alice expired on 20"},
		},
		{
			"client certificate expired, TLS 1.2", listenerMTLS, tlsOnly + keys("alice-expired.p12") + "ssl.enabled.protocols=TLSv1.2\n",
			inspect.PhaseTLS,
			[]string{"the client certificate CN=alice expired on 20"},
		},
		{
			"client certificate of another authority", listenerMTLS, tlsOnly + keys("alice-stranger.p12"),
			inspect.PhaseTLS,
			[]string{"the key store has none of an authority that it accepts"},
		},
		{
			"broker's authority not trusted", listenerTLS, "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=$DIR/trust-another.pem\n",
			inspect.PhaseTLS,
			[]string{"certificate CN=broker", "trust-another.pem", "unknown authority"},
		},
		{
			"no trust store", listenerTLS, "security.protocol=SSL\n",
			inspect.PhaseTLS,
			[]string{"certificate CN=broker", "the system's trusted certificates", "unknown authority"},
		},
		{
			"broker has another name", listenerElsewhere, tlsOnly,
			inspect.PhaseTLS,
			[]string{"127.0.0.1", "it is for elsewhere.example", keyCheckName},
		},

		{
			"TLS to PLAINTEXT", "PLAINTEXT", tlsOnly,
			inspect.PhaseTLS,
			[]string{"a listener without TLS", "PLAINTEXT"},
		},
		{
			"TLS to SASL_PLAINTEXT", listenerSASL, "security.protocol=SASL_SSL\n" + plainLogin + trust,
			inspect.PhaseTLS,
			[]string{"a listener without TLS", "SASL_PLAINTEXT"},
		},
		{
			"PLAINTEXT to TLS", listenerTLS, "",
			inspect.PhaseRequest,
			[]string{"the port speaks TLS", "use security.protocol SSL or SASL_SSL"},
		},
		{
			"SASL_PLAINTEXT to SASL_SSL", listenerSASLTLS, sasl + plainLogin,
			inspect.PhaseSASL,
			[]string{"the port speaks TLS", "use security.protocol SSL or SASL_SSL"},
		},
		{
			"SASL to PLAINTEXT", "PLAINTEXT", sasl + plainLogin,
			inspect.PhaseSASL,
			[]string{"the listener does not ask for SASL: use security.protocol PLAINTEXT"},
		},
		{
			"SASL to SSL", listenerTLS, "security.protocol=SASL_SSL\n" + plainLogin + trust,
			inspect.PhaseSASL,
			[]string{"the listener does not ask for SASL: use security.protocol PLAINTEXT or SSL"},
		},
		{
			"PLAINTEXT to SASL", listenerSASL, "",
			inspect.PhaseRequest,
			[]string{"as a SASL listener does to a client that has not authenticated"},
		},
		{
			"SSL to SASL_SSL", listenerSASLTLS, tlsOnly,
			inspect.PhaseRequest,
			[]string{"as a SASL listener does to a client that has not authenticated"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := newSource(t, w.properties(t, test.properties), c.ListenerAddr(1, test.listener))
			wantRefusal(t, src, test.phase, test.words...)
		})
	}
}

// TestSilence: what takes a connection and says nothing costs what one request
// may take, whatever the phase in which it is silent.
func TestSilence(t *testing.T) {
	for _, test := range []struct {
		name, addr, properties string
		phase                  inspect.Phase
		words                  string
	}{
		{"TLS", fakekafka.SilentPort(t), "security.protocol=SSL\n", inspect.PhaseTLS, "no reply to TLS handshake within "},
		{"SASL", fakekafka.SilentPort(t), "security.protocol=SASL_PLAINTEXT\n" + plainLogin, inspect.PhaseSASL, "no reply to SASL PLAIN within "},
		{"request", fakekafka.SilentPort(t), "", inspect.PhaseRequest, "no reply to ApiVersions within "},
		{"closed", fakekafka.ClosedPort(t), "security.protocol=SASL_SSL\n" + plainLogin, inspect.PhaseDial, "connection refused"},
		{"HTTP to SASL", fakekafka.HTTPPort(t), "security.protocol=SASL_PLAINTEXT\n" + plainLogin, inspect.PhaseSASL, "the answer is not Kafka's protocol"},
		{"HTTP to TLS", fakekafka.HTTPPort(t), "security.protocol=SSL\n", inspect.PhaseTLS, "the listener does not speak TLS"},
		{"closing to SASL", fakekafka.ClosingPort(t), "security.protocol=SASL_PLAINTEXT\n" + plainLogin, inspect.PhaseSASL, "closed the connection"},
	} {
		t.Run(test.name, func(t *testing.T) {
			timeout := passTimeout
			if strings.HasSuffix(test.words, "within ") {
				timeout = 3 * time.Second
			}
			src := newSourceWithin(t, w.properties(t, test.properties), test.addr, timeout)
			wantRefusal(t, src, test.phase, test.words)
		})
	}
}

// TestSilentTokenEndpoint: it is the one that is named, and not the broker.
func TestSilentTokenEndpoint(t *testing.T) {
	c := w.cluster(t)
	path := w.properties(t, "security.protocol=SASL_PLAINTEXT\n"+strings.Replace(oauthLogin, "/token", "/mute", 1))
	src := newSourceWithin(t, path, c.ListenerAddr(1, listenerSASL), 3*time.Second)
	wantRefusal(t, src, inspect.PhaseSASL, "token endpoint http://127.0.0.1:", "/mute: no answer in time")
}

package connect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// The matrix: every protocol with every mechanism, store format and mistake. Its
// parts are put together here; what stands alone is in TestAnswers and
// TestRefusals. DESIGN.md has it as a table.

// choice is one value along one side of the matrix.
type choice struct{ name, properties string }

// logins are the mechanisms of the brokers' SASL listeners; Kerberos has brokers
// of its own (TestKerberos).
func logins(t *testing.T) []choice {
	t.Helper()
	return []choice{
		{"PLAIN", plainLogin},
		{"SCRAM-SHA-256", "sasl.mechanism=SCRAM-SHA-256\n" + scramLogin},
		{"SCRAM-SHA-512", "sasl.mechanism=SCRAM-SHA-512\n" + scramLogin},
		{"OAUTHBEARER, endpoint", oauthLogin},
		{"OAUTHBEARER, file", tokenFileLogin(t, tokenAudience, time.Minute)},
	}
}

// tokenFileLogin has its token in a file.
func tokenFileLogin(t *testing.T, audience string, life time.Duration) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(w.tokens.sign(audience, life)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return `sasl.mechanism=OAUTHBEARER
sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler
sasl.oauthbearer.token.endpoint.url=file://` + file + `
sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;
`
}

// trusts are the ways to name the brokers' authority.
func trusts(t *testing.T) []choice {
	t.Helper()
	const location, password = "ssl.truststore.location=$DIR/trust.", "ssl.truststore.password=hush-store-1\n"
	return []choice{
		{"JKS", location + "jks\n" + password},
		{"JKS without its password", location + "jks\n"},
		{"PKCS12", "ssl.truststore.type=PKCS12\n" + location + "p12\n" + password},
		{"PEM", trust},
		{"PEM in the settings", "ssl.truststore.type=PEM\nssl.truststore.certificates=" + inline(t, "trust.pem") + "\n"},
	}
}

// clientKeys are the ways to name the client's own key and certificate.
func clientKeys(t *testing.T) []choice {
	t.Helper()
	const keyPassword, pem = "ssl.key.password=hush-key-1\n", "ssl.keystore.type=PEM\n"
	settings := func(key string) string {
		return pem + "ssl.keystore.key=" + inline(t, key) + "\nssl.keystore.certificate.chain=" + inline(t, "alice-chain.txt") + "\n"
	}
	return []choice{
		{"JKS, key of another password", "ssl.keystore.location=$DIR/alice.jks\nssl.keystore.password=hush-store-1\n" + keyPassword},
		{"JKS, key of the same password", "ssl.keystore.location=$DIR/alice-same.jks\nssl.keystore.password=hush-store-1\n"},
		{"PKCS12", keys("alice.p12")},
		{"PEM", pem + "ssl.keystore.location=$DIR/alice.pem\n"},
		{"PEM, encrypted", pem + "ssl.keystore.location=$DIR/alice-encrypted.pem\n" + keyPassword},
		{"PEM in the settings", settings("alice-key.txt")},
		{"PEM in the settings, encrypted", settings("alice-key-encrypted.txt") + keyPassword},
	}
}

// TestMatrixAnswers: mechanism × protocol × trust store.
func TestMatrixAnswers(t *testing.T) {
	c := w.cluster(t)
	for _, login := range logins(t) {
		t.Run("SASL_PLAINTEXT, "+login.name, func(t *testing.T) {
			wantAnswer(t, newSource(t, w.properties(t, "security.protocol=SASL_PLAINTEXT\n"+login.properties), c.ListenerAddr(1, listenerSASL)))
		})
		for _, store := range trusts(t) {
			t.Run("SASL_SSL, "+login.name+", trust in "+store.name, func(t *testing.T) {
				text := "security.protocol=SASL_SSL\n" + login.properties + store.properties
				wantAnswer(t, newSource(t, w.properties(t, text), c.ListenerAddr(1, listenerSASLTLS)))
			})
		}
		t.Run("SASL_SSL, "+login.name+", name not checked", func(t *testing.T) {
			text := "security.protocol=SASL_SSL\n" + keyCheckName + "=\n" + login.properties + trust
			wantAnswer(t, newSource(t, w.properties(t, text), c.ListenerAddr(1, listenerSASLElsewhere)))
		})
	}
	for _, store := range trusts(t) {
		t.Run("SSL, trust in "+store.name, func(t *testing.T) {
			wantAnswer(t, newSource(t, w.properties(t, "security.protocol=SSL\n"+store.properties), c.ListenerAddr(1, listenerTLS)))
		})
	}
}

// TestMatrixClientKeys: key store × protocol × trust store, of listeners that need
// a client certificate.
func TestMatrixClientKeys(t *testing.T) {
	c := w.cluster(t)
	for _, key := range clientKeys(t) {
		for _, store := range trusts(t) {
			t.Run("SSL, "+key.name+", trust in "+store.name, func(t *testing.T) {
				text := "security.protocol=SSL\n" + key.properties + store.properties
				wantAnswer(t, newSource(t, w.properties(t, text), c.ListenerAddr(1, listenerMTLS)))
			})
		}
		for _, login := range logins(t) {
			t.Run("SASL_SSL, "+login.name+", "+key.name, func(t *testing.T) {
				text := "security.protocol=SASL_SSL\n" + login.properties + key.properties + trust
				wantAnswer(t, newSource(t, w.properties(t, text), c.ListenerAddr(1, listenerSASLMTLS)))
			})
		}
	}
}

// mistake is a choice that is wrong, and what must be said of it.
type mistake struct {
	choice
	words []string
}

// wrongLogins are what brokers refuse of each mechanism.
func wrongLogins(t *testing.T) []mistake {
	t.Helper()
	const wrong = `"hush-Alice \\"1\\""`
	password := func(login string) string { return strings.Replace(login, wrong, `"hush-wrong"`, 1) }
	user := func(login string) string { return strings.Replace(login, `"alice"`, `"mallory"`, 1) }
	scram := func(hash, login string) choice {
		return choice{"SCRAM-SHA-" + hash, "sasl.mechanism=SCRAM-SHA-" + hash + "\n" + login}
	}
	var (
		refused  = []string{"authentication failed: Invalid username or password"}
		invalid  = []string{"authentication failed", "invalid credentials with SASL mechanism SCRAM-SHA-"}
		token    = []string{"authentication failed", "invalid_token"}
		endpoint = []string{"token endpoint http://127.0.0.1:", "/token: invalid_client"}
	)
	return []mistake{
		{choice{"PLAIN, wrong password", password(plainLogin)}, refused},
		{choice{"PLAIN, unknown user", user(plainLogin)}, refused},
		{scram("256", password(scramLogin)), invalid},
		{scram("512", password(scramLogin)), invalid},
		{scram("256", user(scramLogin)), invalid},
		{scram("512", user(scramLogin)), invalid},
		{choice{"OAUTHBEARER, wrong secret", strings.Replace(oauthLogin, "hush-client", "hush-other", 1)}, endpoint},
		{choice{"OAUTHBEARER, token for others", oauthLogin + "sasl.oauthbearer.scope=others\n"}, token},
		{choice{"OAUTHBEARER, token for others in a file", tokenFileLogin(t, "others", time.Minute)}, token},
		{choice{"OAUTHBEARER, expired token in a file", tokenFileLogin(t, tokenAudience, -10*time.Minute)}, []string{"authentication failed", "invalid_token", "; the token in /", "/token expired on 20"}},
	}
}

// TestMatrixRefusals: mistake × protocol.
func TestMatrixRefusals(t *testing.T) {
	c := w.cluster(t)
	refuse := func(t *testing.T, listener, text string, phase inspect.Phase, words []string) {
		t.Helper()
		wantRefusal(t, newSource(t, w.properties(t, text), c.ListenerAddr(1, listener)), phase, words...)
	}
	for _, login := range wrongLogins(t) {
		t.Run("SASL_PLAINTEXT, "+login.name, func(t *testing.T) {
			refuse(t, listenerSASL, "security.protocol=SASL_PLAINTEXT\n"+login.properties, inspect.PhaseSASL, login.words)
		})
		t.Run("SASL_SSL, "+login.name, func(t *testing.T) {
			refuse(t, listenerSASLTLS, "security.protocol=SASL_SSL\n"+login.properties+trust, inspect.PhaseSASL, login.words)
		})
	}

	unknownCA := "ssl.truststore.type=PEM\nssl.truststore.location=$DIR/trust-another.pem\n"
	for _, side := range []struct {
		protocol, login                          string
		plain, mutual, elsewhere, expired, other string // listeners
	}{
		{"SSL", "", listenerTLS, listenerMTLS, listenerElsewhere, listenerExpired, listenerSASL},
		{"SASL_SSL", plainLogin, listenerSASLTLS, listenerSASLMTLS, listenerSASLElsewhere, listenerSASLExpired, listenerSASL},
	} {
		base := "security.protocol=" + side.protocol + "\n" + side.login
		for _, m := range []struct {
			name, listener, properties string
			words                      []string
		}{
			{"authority not trusted", side.plain, unknownCA, []string{"certificate CN=broker", "trust-another.pem", "unknown authority"}},
			{"no trust store", side.plain, "", []string{"certificate CN=broker", "the system's trusted certificates", "unknown authority"}},
			{"name is another", side.elsewhere, trust, []string{"127.0.0.1", "it is for elsewhere.example", keyCheckName}},
			{"broker's certificate expired", side.expired, trust, []string{"certificate CN=broker", "trust.pem", "has expired"}},
			{"broker's certificate expired, name not checked", side.expired, trust + keyCheckName + "=\n", []string{"certificate CN=broker", "trust.pem", "has expired"}},
			{"no client certificate", side.mutual, trust, []string{"it wants a client certificate, and none is configured; set ssl.keystore.location"}},
			{"client certificate expired", side.mutual, trust + keys("alice-expired.p12"), []string{"the client certificate CN=alice expired on 20"}},
			{"client certificate of a stranger", side.mutual, trust + keys("alice-stranger.p12"), []string{"the key store has none of an authority that it accepts"}},
			{"listener without TLS", side.other, trust, []string{"a listener without TLS"}},
		} {
			for _, version := range []string{"TLSv1.2", "TLSv1.3"} {
				t.Run(side.protocol+", "+version+", "+m.name, func(t *testing.T) {
					refuse(t, m.listener, base+m.properties+"ssl.enabled.protocols="+version+"\n", inspect.PhaseTLS, m.words)
				})
			}
		}
	}
}

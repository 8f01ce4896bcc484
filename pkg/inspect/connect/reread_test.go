package connect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest/certs"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// replace puts a new file in the place of an old one, as those who renew
// certificates do.
func replace(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestPasswordChanges: a Source outlives the password that it began with.
func TestPasswordChanges(t *testing.T) {
	addr := w.cluster(t).ListenerAddr(1, listenerSASL)
	const right = "security.protocol=SASL_PLAINTEXT\n" + plainLogin
	// Of the same length, so that size alone shows nothing.
	wrong := strings.Replace(right, "hush", "HUSH", 1)
	path := w.properties(t, wrong)
	src := newSource(t, path, addr)
	wantRefusal(t, src, inspect.PhaseSASL, "authentication failed")
	w.rewrite(t, path, right)
	wantAnswer(t, src)
	w.rewrite(t, path, wrong)
	wantRefusal(t, src, inspect.PhaseSASL, "authentication failed")
}

// TestBrokenProperties: what is in use stays in use while the file is broken, and
// a failure says that it is.
func TestBrokenProperties(t *testing.T) {
	addr := w.cluster(t).ListenerAddr(1, listenerSASL)
	path := w.properties(t, "security.protocol=SASL_PLAINTEXT\n"+plainLogin)
	src := newSource(t, path, addr)
	for _, broken := range []string{"", "security.protocol=SASL_", "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"} {
		w.rewrite(t, path, broken)
		wantAnswer(t, src)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, src)

	w.rewrite(t, path, strings.Replace("security.protocol=SASL_PLAINTEXT\n"+plainLogin, "hush", "HUSH", 1))
	wantRefusal(t, src, inspect.PhaseSASL, "authentication failed")
	w.rewrite(t, path, "security.protocol=hush\n")
	wantRefusal(t, src, inspect.PhaseSASL, "authentication failed",
		"newer settings are not in use: "+path+":1: security.protocol: must be one of")
}

// TestCertificateRenewed: a Source outlives its client certificate.
func TestCertificateRenewed(t *testing.T) {
	addr := w.cluster(t).ListenerAddr(1, listenerMTLS)
	store := filepath.Join(t.TempDir(), "client.p12")
	expired := w.ca.Issue(certs.Request{Name: "alice", NotAfter: time.Now().Add(-time.Minute)}).PKCS12(storePassword)
	replace(t, store, expired)
	path := w.properties(t, "security.protocol=SSL\nssl.keystore.type=PKCS12\nssl.keystore.password=hush-store-1\nssl.keystore.location="+store+"\n"+trust)
	src := newSource(t, path, addr)
	wantRefusal(t, src, inspect.PhaseTLS, "the client certificate CN=alice expired on")

	fresh := w.ca.Issue(certs.Request{Name: "alice"})
	replace(t, store, fresh.PKCS12(storePassword))
	wantAnswer(t, src)
	replace(t, store, fresh.PKCS12(storePassword)[:500])
	wantAnswer(t, src)
	replace(t, store, expired)
	wantRefusal(t, src, inspect.PhaseTLS, "the client certificate CN=alice expired on")
	replace(t, store, []byte("no store"))
	wantRefusal(t, src, inspect.PhaseTLS, "expired on", "newer settings are not in use: key store "+store)
}

// TestTokenKept: a token serves all connections until a broker refuses it.
func TestTokenKept(t *testing.T) {
	addr := w.cluster(t).ListenerAddr(1, listenerSASL)
	src := newSource(t, w.properties(t, "security.protocol=SASL_PLAINTEXT\n"+oauthLogin), addr)
	before := w.tokens.issued.Load()
	wantAnswer(t, src)
	wantAnswer(t, src)
	if n := w.tokens.issued.Load() - before; n != 1 {
		t.Errorf("fetched %d tokens for two passes, want 1", n)
	}

	others := newSource(t, w.properties(t, "security.protocol=SASL_PLAINTEXT\n"+oauthLogin+"sasl.oauthbearer.scope=others\n"), addr)
	before = w.tokens.issued.Load()
	wantRefusal(t, others, inspect.PhaseSASL, "invalid_token")
	wantRefusal(t, others, inspect.PhaseSASL, "invalid_token")
	if n := w.tokens.issued.Load() - before; n != 2 {
		t.Errorf("fetched %d tokens for two refusals, want 2", n)
	}
}

// TestTokenFile: a token that lies in a file is read for each connection.
func TestTokenFile(t *testing.T) {
	addr := w.cluster(t).ListenerAddr(1, listenerSASL)
	file := filepath.Join(t.TempDir(), "token")
	replace(t, file, []byte(w.tokens.sign("others", time.Minute)))
	src := newSource(t, w.properties(t, `
security.protocol=SASL_PLAINTEXT
sasl.mechanism=OAUTHBEARER
sasl.oauthbearer.token.endpoint.url=file://`+file+`
sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;
`), addr)
	wantRefusal(t, src, inspect.PhaseSASL, "invalid_token")
	replace(t, file, []byte(w.tokens.sign(tokenAudience, time.Minute)+"\n"))
	wantAnswer(t, src)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, src, inspect.PhaseSASL, "token: open "+file)
}

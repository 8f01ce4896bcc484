package connect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// trust is how most clients know the brokers' authority.
const trust = `ssl.truststore.type=PEM
ssl.truststore.location=$DIR/trust.pem
`

// The logins of alice, as Java users write them. Her password holds what JAAS
// and properties both have to escape.
const (
	plainLogin = `sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
  username="alice" \
  password="hush-Alice \\"1\\"";
`
	scramLogin = `sasl.jaas.config = org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="hush-Alice \\"1\\"";
`
	oauthLogin = `sasl.mechanism=OAUTHBEARER
sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler
sasl.oauthbearer.token.endpoint.url=$TOKENS/token
sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId="alice" clientSecret="hush-client=secret&1%";
`
)

// inline makes one line of PEM for a properties file.
func inline(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.TrimSpace(string(data)), "\n", `\n`)
}

// TestAnswers goes through protocols, mechanisms and kinds of stores against a
// real Kafka whose authorizer is on.
func TestAnswers(t *testing.T) {
	c := w.cluster(t)
	for _, test := range []struct{ name, listener, properties string }{
		{"no security", "PLAINTEXT", "client.id=me\n"},
		{"PLAINTEXT", "PLAINTEXT", "security.protocol=plaintext\n"},

		{"SSL, trust in PEM", listenerTLS, "security.protocol=SSL\n" + trust},
		{"SSL, trust in JKS", listenerTLS, `
security.protocol=SSL
ssl.truststore.location=$DIR/trust.jks
ssl.truststore.password=hush-store-1
`},
		{"SSL, trust in JKS, no password", listenerTLS, `
security.protocol=SSL
ssl.truststore.location=$DIR/trust.jks
`},
		{"SSL, trust in PKCS12 of type JKS", listenerTLS, `
security.protocol=SSL
ssl.truststore.location=$DIR/trust.p12
ssl.truststore.password=hush-store-1
`},
		{"SSL, trust in the settings", listenerTLS, `
security.protocol=SSL
ssl.truststore.type=PEM
ssl.truststore.certificates=` + inline(t, "trust.pem")},
		{"SSL, TLS 1.2", listenerTLS, "security.protocol=SSL\nssl.enabled.protocols=TLSv1.2\n" + trust},
		{"SSL, one cipher of TLS 1.2", listenerTLS, `
security.protocol=SSL
ssl.cipher.suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
` + trust},
		{"SSL, name not checked", listenerElsewhere, `
security.protocol=SSL
ssl.endpoint.identification.algorithm=
` + trust},

		{"mTLS, JKS, key of another password", listenerMTLS, `
security.protocol=SSL
ssl.keystore.location=$DIR/alice.jks
ssl.keystore.password=hush-store-1
ssl.key.password=hush-key-1
` + trust},
		{"mTLS, PKCS12", listenerMTLS, `
security.protocol=SSL
ssl.keystore.type=PKCS12
ssl.keystore.location=$DIR/alice.p12
ssl.keystore.password=hush-store-1
` + trust},
		{"mTLS, TLS 1.2", listenerMTLS, `
security.protocol=SSL
ssl.protocol=TLSv1.2
ssl.enabled.protocols=TLSv1.2
ssl.keystore.type=PKCS12
ssl.keystore.location=$DIR/alice.p12
ssl.keystore.password=hush-store-1
` + trust},
		{"mTLS, PEM", listenerMTLS, "security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.location=$DIR/alice.pem\n" + trust},
		{"mTLS, PEM, encrypted", listenerMTLS, `
security.protocol=SSL
ssl.keystore.type=PEM
ssl.keystore.location=$DIR/alice-encrypted.pem
ssl.key.password=hush-key-1
` + trust},
		{"mTLS, PEM in the settings", listenerMTLS, `
security.protocol=SSL
ssl.keystore.type=PEM
ssl.key.password=hush-key-1
ssl.keystore.key=` + inline(t, "alice-key-encrypted.txt") + `
ssl.keystore.certificate.chain=` + inline(t, "alice-chain.txt") + "\n" + trust},

		{"SASL_PLAINTEXT, PLAIN", listenerSASL, "security.protocol=SASL_PLAINTEXT\n" + plainLogin},
		{"SASL_PLAINTEXT, SCRAM-SHA-256", listenerSASL, "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n" + scramLogin},
		{"SASL_PLAINTEXT, SCRAM-SHA-512", listenerSASL, "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\n" + scramLogin},
		{"SASL_PLAINTEXT, OAUTHBEARER", listenerSASL, "security.protocol=SASL_PLAINTEXT\n" + oauthLogin},
		{"SASL_SSL, PLAIN", listenerSASLTLS, "security.protocol=SASL_SSL\n" + plainLogin + trust},
		{"SASL_SSL, SCRAM-SHA-256", listenerSASLTLS, "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\n" + scramLogin + trust},
		{"SASL_SSL, SCRAM-SHA-512", listenerSASLTLS, "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n" + scramLogin + trust},
		{"SASL_SSL, OAUTHBEARER", listenerSASLTLS, "security.protocol=SASL_SSL\n" + oauthLogin + trust},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantAnswer(t, newSource(t, w.properties(t, test.properties), c.ListenerAddr(1, test.listener)))
		})
	}
}

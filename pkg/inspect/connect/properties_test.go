package connect_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// TestPropertiesRefused: what cannot be done here is an error that names file,
// line and key, and no value.
func TestPropertiesRefused(t *testing.T) {
	const plain = "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"
	for _, test := range []struct {
		name, properties string
		line             string // ":3: key: ", or empty where the error is a store's
		words            string
	}{
		{"protocol", "security.protocol=hush", ":1: security.protocol: ", "must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"},
		{"mechanism", "security.protocol=SASL_SSL\nsasl.mechanism=hush\n", ":2: sasl.mechanism: ", "supported are PLAIN, SCRAM-SHA-256"},
		{"no JAAS", plain, ": sasl.jaas.config: ", "is not set"},
		{"unquoted password", plain + "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=u password=hush=;\n", ":3: sasl.jaas.config: ", "quot"},
		{"no password", plain + `sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u";`, ":3: sasl.jaas.config: ", `password="…"`},
		{"wrong module", plain + `sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="hush";`, ":3: sasl.jaas.config: ", "takes PlainLoginModule"},
		{"own callback", plain + "sasl.client.callback.handler.class=com.example.Hush\n" + plainLogin, ":3: sasl.client.callback.handler.class: ", "a Java class cannot be used"},
		{"own login", "security.protocol=SASL_SSL\n" + strings.Replace(oauthLogin, "OAuthBearerLoginCallbackHandler", "HushHandler", 1), ":3: sasl.login.callback.handler.class: ", "known are OAuthBearerLoginCallbackHandler"},
		{"own retriever", "security.protocol=SASL_SSL\n" + oauthLogin + "sasl.oauthbearer.jwt.retriever.class=com.example.JwtBearerJwtRetriever\n", ":6: sasl.oauthbearer.jwt.retriever.class: ", "known are"},
		{"token address", "security.protocol=SASL_SSL\n" + strings.Replace(oauthLogin, "$TOKENS", "ftp://hush", 1), ":4: sasl.oauthbearer.token.endpoint.url: ", "must begin with https://"},
		{"no token address", "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;\n", ": sasl.oauthbearer.token.endpoint.url: ", "it is missing"},
		{"option of IAM", "security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\nsasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required awsHush=\"x\";\n", ":3: sasl.jaas.config: ", "supported are awsProfileName"},
		{"half a key of IAM", "security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\nsasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required awsRoleArn=r awsRoleAccessKeyId=\"hush\";\n", ":3: sasl.jaas.config: ", "awsRoleAccessKeyId and awsRoleSecretAccessKey go together"},
		{"providers", "config.providers=file\nssl.key.password=${file:/hush:x}\n", ":1: config.providers: ", "not supported"},
		{"engine", "security.protocol=SSL\nssl.engine.factory.class=com.example.Hush\n", ":2: ssl.engine.factory.class: ", "cannot be used"},
		{"TLS version", "security.protocol=SSL\nssl.enabled.protocols=TLSv1.2,hush\n", ":2: ssl.enabled.protocols: ", "known are TLSv1"},
		{"ciphers", "security.protocol=SSL\nssl.cipher.suites=TLS_HUSH\n", ":2: ssl.cipher.suites: ", "none of them"},
		{"ciphers of another version", "security.protocol=SSL\nssl.cipher.suites=TLS_AES_128_GCM_SHA256\nssl.enabled.protocols=TLSv1.2\n", ":2: ssl.cipher.suites: ", "ssl.enabled.protocols"},
		{"store password", "security.protocol=SSL\nssl.truststore.location=$DIR/trust.jks\nssl.truststore.password=hush-wrong\n", "", "ssl.truststore.password does not open it"},
		{"key password", "security.protocol=SSL\nssl.keystore.location=$DIR/alice.jks\nssl.keystore.password=hush-store-1\nssl.key.password=hush-wrong\n", "", "ssl.key.password does not open the private key"},
		{"no store", "security.protocol=SSL\nssl.truststore.location=$DIR/none.jks\n", "", "none.jks"},
		{"PEM under JKS", "security.protocol=SSL\nssl.truststore.location=$DIR/trust.pem\n", "", "set ssl.truststore.type=PEM"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := w.properties(t, test.properties)
			_, err := connect.ReadProperties(path)
			if err == nil {
				t.Fatal("no error")
			}
			if test.line != "" && !strings.HasPrefix(err.Error(), path+test.line) {
				t.Errorf("error %q does not begin with %q", err, path+test.line)
			}
			if !strings.Contains(err.Error(), test.words) {
				t.Errorf("error %q does not say %q", err, test.words)
			}
			wantNoSecret(t, strings.ToLower(err.Error()))
		})
	}
}

func TestPropertiesMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	_, err := connect.ReadProperties(path)
	if err == nil || !strings.Contains(err.Error(), path+": no such file or directory") {
		t.Errorf("error %v, want one that says that there is no such file", err)
	}
}

// TestWarnings: one line for each setting that does nothing here, and none for
// what a Java user's file has besides.
func TestWarnings(t *testing.T) {
	path := w.properties(t, `
bootstrap.servers = b1:9092, SASL_SSL://b2:9092,
client.id=x
acks=all
ssl.keystore.passwrod=hush
sasl.kerberos.kinit.cmd=/usr/bin/kinit
security.protocol=SSL
`+keys("alice-expired.p12"))
	security, err := connect.ReadProperties(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := security.Bootstrap(); got != "b1:9092,b2:9092" || err != nil {
		t.Errorf("bootstrap %q, %v; want b1:9092,b2:9092", got, err)
	}
	warnings := security.Warnings()
	if len(warnings) != 2 || !strings.HasPrefix(warnings[0], path+":5: ssl.keystore.passwrod: unknown setting") ||
		!strings.Contains(warnings[1], "CN=alice expired on ") {
		t.Errorf("warnings %q, want the unknown setting and the expired certificate", warnings)
	}
	wantNoSecret(t, strings.Join(warnings, "\n"))
}

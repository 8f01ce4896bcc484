package cli

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/internal/kafkatest/certs"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// secretly is a client.properties whose secrets all hold the word hush, or are
// keys.
type secretly struct{ name, mechanism, properties string }

// secretFiles has every mechanism and every kind of store.
func secretFiles(t *testing.T, ca *certs.CA) []secretly {
	t.Helper()
	client := ca.Issue(certs.Request{Name: "client"})
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "refuse") { // and show all that came, as some do
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":"invalid_client","error_description":%q}`, fmt.Sprint(r.Header, string(body)))
			return
		}
		fmt.Fprint(w, `{"access_token":"hush-token","token_type":"Bearer","expires_in":300}`)
	}))
	t.Cleanup(endpoint.Close)
	const (
		sasl  = "security.protocol=SASL_SSL\nsasl.mechanism=%s\nsasl.jaas.config=%s required %s;\n"
		kafka = "org.apache.kafka.common.security."
		oauth = kafka + "oauthbearer.OAuthBearerLoginModule"
		iam   = "software.amazon.msk.auth.iam.IAMLoginModule"
	)
	trust := "ssl.truststore.location=" + writeFile(t, "trust.jks", ca.JKS("hush-trust")) + "\nssl.truststore.password=hush-trust\n"
	oneLine := func(pem []byte) string { return strings.ReplaceAll(strings.TrimSpace(string(pem)), "\n", `\n`) }
	stores := map[string]string{
		"JKS": "ssl.keystore.location=" + writeFile(t, "client.jks", client.JKS("hush-store", "hush-key")) +
			"\nssl.keystore.password=hush-store\nssl.key.password=hush-key\n",
		"PKCS12": "ssl.keystore.type=PKCS12\nssl.keystore.location=" + writeFile(t, "client.p12", client.PKCS12("hush-store")) +
			"\nssl.keystore.password=hush-store\n",
		"PEM": "ssl.keystore.type=PEM\nssl.key.password=hush-key\nssl.keystore.key=" + oneLine(client.KeyPEM("hush-key")) +
			"\nssl.keystore.certificate.chain=" + oneLine(client.ChainPEM()) + "\n",
		"wrong password": "ssl.keystore.location=" + writeFile(t, "other.jks", client.JKS("hush-store", "hush-key")) +
			"\nssl.keystore.password=hush-wrong\nssl.key.password=hush-key\n",
	}
	tokens := func(path string) string { return "sasl.oauthbearer.token.endpoint.url=" + endpoint.URL + path + "\n" }
	const credentials = `clientId="service" clientSecret="hush-client"`
	files := []secretly{
		{"PLAIN", "PLAIN", fmt.Sprintf(sasl, "PLAIN", kafka+"plain.PlainLoginModule", `username="u" password="hush"`)},
		{"PLAIN, not quoted", "PLAIN", fmt.Sprintf(sasl, "PLAIN", kafka+"plain.PlainLoginModule", `username=u password=hush=`)},
		{"SCRAM", "SCRAM-SHA-256", fmt.Sprintf(sasl, "SCRAM-SHA-256", kafka+"scram.ScramLoginModule", `username="u" password="hush"`)},
		{"OAUTHBEARER", "OAUTHBEARER", fmt.Sprintf(sasl, "OAUTHBEARER", oauth, credentials) + tokens("/token?key=hush-query")},
		{"OAUTHBEARER, refused", "OAUTHBEARER", fmt.Sprintf(sasl, "OAUTHBEARER", oauth, credentials) + tokens("/refuse?key=hush-query")},
		{"OAUTHBEARER, user in the address", "OAUTHBEARER", fmt.Sprintf(sasl, "OAUTHBEARER", oauth, credentials) +
			strings.Replace(tokens("/refuse"), "://", "://me:hush-user@", 1)},
		{"OAUTHBEARER, file", "OAUTHBEARER", fmt.Sprintf(sasl, "OAUTHBEARER", oauth, "") +
			"sasl.oauthbearer.token.endpoint.url=file://" + writeFile(t, "token", []byte("e30.eyJleHAiOjE3MDAwMDAwMDAsImh1c2giOiJodXNoIn0.hush")) + "\n"},
		{"IAM", "OAUTHBEARER", fmt.Sprintf(sasl, "AWS_MSK_IAM", iam, `awsRoleArn="r" awsRoleAccessKeyId="AKIDHUSH" awsRoleSecretAccessKey="hush-iam"`)},
	}
	for name, store := range stores {
		files = append(files, secretly{"SSL, " + name, "", "security.protocol=SSL\n" + store})
		files = append(files, secretly{"SASL_SSL, " + name, "PLAIN", files[0].properties + store})
	}
	for i := range files {
		files[i].properties += trust + "hush.unknown=hush-unknown\nssl.keystore.passwrod=hush-mistyped\n"
	}
	return files
}

// TestSecretsStayHidden runs every command, with every kind of secret, against
// brokers that let it in and brokers that do not, and looks at all that it wrote.
func TestSecretsStayHidden(t *testing.T) {
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_REGION", "eu-west-3")
	t.Setenv("AWS_ENDPOINT_URL_STS", "http://"+fakekafka.ClosedPort(t))
	ca := certs.NewCA("authority")
	stranger := certs.NewCA("stranger")
	clusters := map[string]func(mechanism string) string{
		"lets in": func(mechanism string) string {
			c, _ := secretCluster(t, ca, mechanism)
			return c.Bootstrap()
		},
		"refuses": func(mechanism string) string {
			c, _ := secretCluster(t, ca, mechanism)
			c.Intercept(refuseLogin(mechanism))
			return c.Bootstrap()
		},
		"other mechanism": func(string) string {
			c, _ := secretCluster(t, ca, "SCRAM-SHA-512")
			return c.Bootstrap()
		},
		"not trusted": func(mechanism string) string {
			c, _ := secretCluster(t, stranger, mechanism)
			return c.Bootstrap()
		},
		"no TLS":  func(string) string { return fakekafka.Start(t, fakekafka.NewModel(1)).Bootstrap() },
		"closing": func(string) string { return fakekafka.ClosingPort(t) },
		"HTTP":    func(string) string { return fakekafka.HTTPPort(t) },
		"closed":  func(string) string { return fakekafka.ClosedPort(t) },
	}
	entered := 0
	for _, f := range secretFiles(t, ca) {
		path := writeFile(t, "client.properties", []byte(f.properties))
		for mood, start := range clusters {
			addr := start(f.mechanism)
			commands := asking(t)
			if mood != "lets in" && mood != "refuses" {
				commands = []string{"describe", "lag groups"} // none gets far enough to differ
			}
			for i, command := range commands {
				format := []string{"wide", "json"}[i%2]
				r := place{}.run(t.Context(), append(argsOf(command+" -o "+format, addr), "--command-config", path)...)
				what := fmt.Sprintf("%s, %s: %s -o %s", f.name, mood, command, format)
				wantHidden(t, what, r.stdout+r.stderr)
				if r.stdout != "" {
					entered++
				} else if r.code != exitFailed || !strings.HasPrefix(r.stderr, "kafkaops: ") {
					t.Errorf("%s: got exit code %d, stderr %q; want 1 and why", what, r.code, r.stderr)
				}
			}
		}
	}
	// PLAIN, OAUTHBEARER, a token in a file, and three key stores with TLS and SASL.
	if least := 9 * len(asking(t)); entered < least {
		t.Errorf("%d runs were answered, want at least %d: the test does not see much", entered, least)
	}
}

// secretCluster is one broker with TLS that lets in everybody by the mechanism, or
// without one.
func secretCluster(t *testing.T, ca *certs.CA, mechanism string) (*fakekafka.Cluster, *fakekafka.Logins) {
	t.Helper()
	m := fakekafka.NewModel(1)
	m.AddTopic("orders", 1, 1)
	m.TLS = ca.Issue(certs.Request{Name: "broker", Hosts: certs.Loopback()}).Server()
	if mechanism == "" {
		return fakekafka.Start(t, m), nil
	}
	return fakekafka.StartSASL(t, m, mechanism)
}

// refuseLogin refuses all, and lets nobody go on.
func refuseLogin(mechanism string) fakekafka.InterceptFunc {
	return func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		switch r := req.(type) {
		case *kmsg.SASLHandshakeRequest:
			resp := r.ResponseKind().(*kmsg.SASLHandshakeResponse)
			resp.SupportedMechanisms = []string{mechanism}
			return resp, true
		case *kmsg.SASLAuthenticateRequest:
			resp := r.ResponseKind().(*kmsg.SASLAuthenticateResponse)
			const saslAuthenticationFailed = 58
			message := "Authentication failed: no"
			resp.ErrorCode, resp.ErrorMessage = saslAuthenticationFailed, &message
			return resp, true
		}
		return nil, mechanism != "" // without one there is nothing to refuse
	}
}

// wantHidden looks for the secrets, and for them in base64.
func wantHidden(t *testing.T, what, text string) {
	t.Helper()
	text = strings.NewReplacer("hush.unknown", "", "AKIDHUSH", "").Replace(text) // a setting's name, and a key's, which is none
	for _, secret := range []string{"hush", "BEGIN ", "MII", strings.TrimRight(base64.StdEncoding.EncodeToString([]byte("hus")), "="), base64.StdEncoding.EncodeToString([]byte("service:hus"))[:13]} {
		if i := strings.Index(strings.ToLower(text), strings.ToLower(secret)); i >= 0 {
			t.Errorf("%s shows a secret (%q): %.200q", what, secret, text[max(0, i-100):])
			return
		}
	}
}

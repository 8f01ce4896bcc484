package connect_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-msk-iam-sasl-signer-go/signer"
	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/internal/kafkatest/certs"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// awsEnvironment keeps the AWS settings of whoever runs the tests out, and the
// network.
func awsEnvironment(t *testing.T, env map[string]string) {
	t.Helper()
	dir := t.TempDir()
	credentials := "[ops]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = hush-profile\n"
	if err := os.WriteFile(filepath.Join(dir, "credentials"), []byte(credentials), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS"} {
		t.Setenv(key, env[key])
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(dir, "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(dir, "credentials"))
}

// mskLogin is the login of Amazon's instructions.
const mskLogin = `security.protocol=SASL_PLAINTEXT
sasl.mechanism=AWS_MSK_IAM
sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler
sasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required`

// mskOAuthLogin is that of Amazon's other instructions.
const mskOAuthLogin = `security.protocol=SASL_PLAINTEXT
sasl.mechanism=OAUTHBEARER
sasl.login.callback.handler.class=software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler
sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required`

// TestMSKIAM compares the token on the wire with that of Amazon's own signer.
func TestMSKIAM(t *testing.T) {
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "hush-aws", "AWS_REGION": "eu-west-3"}
	for _, test := range []struct{ name, properties, key string }{
		{"environment", mskLogin + ";", "AKIDEXAMPLE"},
		{"profile", mskLogin + ` awsProfileName="ops";`, "AKIDPROFILE"},
		{"by OAUTHBEARER", mskOAuthLogin + ";", "AKIDEXAMPLE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			awsEnvironment(t, keys)
			c, logins := fakekafka.StartSASL(t, fakekafka.NewModel(1), "OAUTHBEARER")
			src := newSource(t, w.properties(t, test.properties), c.Bootstrap())
			if _, err := src.Snapshot(t.Context(), source.Query{}); err != nil {
				t.Fatal(err)
			}
			token, ok := strings.CutPrefix(logins.Messages()[0], "n,,\x01auth=Bearer ")
			token, end := strings.CutSuffix(token, "\x01\x01")
			if !ok || !end {
				t.Fatalf("the broker got %q, want RFC 7628's message", logins.Messages()[0])
			}
			own, _, err := signer.GenerateAuthToken(t.Context(), "eu-west-3")
			if err != nil {
				t.Fatal(err)
			}
			got, want := signed(t, token), signed(t, own)
			scope, _ := strings.CutPrefix(want["X-Amz-Credential"], "AKIDEXAMPLE")
			want["X-Amz-Credential"] = test.key + scope
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("token: -got +want:\n%s", diff)
			}
			if got["host"] != "kafka.eu-west-3.amazonaws.com" || got["Action"] != "kafka-cluster:Connect" || !strings.HasSuffix(scope, "/eu-west-3/kafka-cluster/aws4_request") {
				t.Errorf("token %q: want MSK's host, action and region", got)
			}
		})
	}
}

// signed is what a token says, without what differs from one to the next.
func signed(t *testing.T, token string) map[string]string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"host": u.Host, "path": u.Path}
	for key := range u.Query() {
		if key != "X-Amz-Date" && key != "X-Amz-Signature" {
			out[key] = u.Query().Get(key)
		}
	}
	return out
}

// TestMSKIAMRefused: what is missing is named, and nothing is asked of a network.
func TestMSKIAMRefused(t *testing.T) {
	for _, test := range []struct {
		name  string
		env   map[string]string
		words string
	}{
		{"no region", map[string]string{"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "hush-aws"}, "no AWS region: the broker's name holds none, and AWS_REGION is not set"},
		{"no credentials", map[string]string{"AWS_REGION": "eu-west-3"}, "AWS credentials: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			awsEnvironment(t, test.env)
			c, _ := fakekafka.StartSASL(t, fakekafka.NewModel(1), "OAUTHBEARER")
			wantRefusal(t, newSource(t, w.properties(t, mskLogin+";"), c.Bootstrap()), inspect.PhaseSASL, test.words)
		})
	}
}

// securityTokens is an STS that knows one role.
type securityTokens struct {
	*httptest.Server
	mu    sync.Mutex
	asked []url.Values
	// keys are the access keys that asked, with region and service.
	keys []string
}

const mskRole = "arn:aws:iam::123456789012:role/ops"

func startSTS(t *testing.T) *securityTokens {
	t.Helper()
	s := &securityTokens{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

func (s *securityTokens) answer(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.mu.Lock()
	defer s.mu.Unlock()
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	credential, _, _ = strings.Cut(credential, "/aws4_request")
	parts := strings.Split(credential, "/") // key, date, region, service
	s.asked, s.keys = append(s.asked, r.PostForm), append(s.keys, strings.Join(slices.Delete(parts, 1, 2), " "))
	w.Header().Set("Content-Type", "text/xml")
	if r.PostForm.Get("RoleArn") != mskRole {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>`)
		return
	}
	fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>AKIDROLE</AccessKeyId><SecretAccessKey>hush-role</SecretAccessKey><SessionToken>hush-session</SessionToken><Expiration>%s</Expiration>
</Credentials></AssumeRoleResult></AssumeRoleResponse>`, time.Now().Add(15*time.Minute).UTC().Format(time.RFC3339))
}

// TestMSKIAMRole: who assumes the role, how, and whose token the broker sees then.
func TestMSKIAMRole(t *testing.T) {
	for _, test := range []struct {
		name, options string
		// by is the key, the region and the service that asked STS, empty where nobody
		// may; form what was asked; broker the key of the token.
		by, broker string
		form       map[string]string
	}{
		{
			"role", `awsRoleArn="` + mskRole + `"`, "AKIDEXAMPLE eu-west-3 sts", "AKIDROLE",
			map[string]string{"Action": "AssumeRole", "RoleArn": mskRole, "RoleSessionName": "aws-msk-iam-auth", "ExternalId": ""},
		},
		{
			"all options", `awsRoleArn="` + mskRole + `" awsRoleSessionName="night" awsRoleExternalId="x-1" awsStsRegion="eu-north-1" awsDebugCreds="true"`,
			"AKIDEXAMPLE eu-north-1 sts", "AKIDROLE",
			map[string]string{"RoleSessionName": "night", "ExternalId": "x-1"},
		},
		{
			"by a key of its own", `awsRoleArn="` + mskRole + `" awsRoleAccessKeyId="AKIDOWN" awsRoleSecretAccessKey="hush-own" awsRoleSessionToken="hush-token"`,
			"AKIDOWN eu-west-3 sts", "AKIDROLE", nil,
		},
		{"the profile comes first", `awsRoleArn="` + mskRole + `" awsProfileName="ops"`, "", "AKIDPROFILE", nil},
	} {
		for protocol, security := range map[string]string{"AWS_MSK_IAM": mskLogin, "OAUTHBEARER": mskOAuthLogin} {
			t.Run(test.name+" by "+protocol, func(t *testing.T) {
				tokens := startSTS(t)
				awsEnvironment(t, map[string]string{
					"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "hush-aws", "AWS_REGION": "eu-west-3", "AWS_ENDPOINT_URL_STS": tokens.URL,
				})
				m := fakekafka.NewModel(1)
				m.TLS = w.ca.Issue(certs.Request{Name: "broker", Hosts: certs.Loopback()}).Server()
				c, logins := fakekafka.StartSASL(t, m, "OAUTHBEARER")
				text := strings.Replace(security, "SASL_PLAINTEXT", "SASL_SSL", 1) + " " + test.options + ";\n" + trust
				src := newSource(t, w.properties(t, text), c.Bootstrap())
				for range 2 {
					if _, err := src.Snapshot(t.Context(), source.Query{Parts: everything}); err != nil {
						t.Fatal(err)
					}
				}
				token, _ := strings.CutPrefix(logins.Messages()[0], "n,,\x01auth=Bearer ")
				got := signed(t, strings.TrimSuffix(token, "\x01\x01"))
				if key, _, _ := strings.Cut(got["X-Amz-Credential"], "/"); key != test.broker || got["host"] != "kafka.eu-west-3.amazonaws.com" {
					t.Errorf("token %v, want one of %s for eu-west-3", got, test.broker)
				}
				if (got["X-Amz-Security-Token"] == "hush-session") != (test.broker == "AKIDROLE") {
					t.Errorf("session token %q", got["X-Amz-Security-Token"])
				}
				if by := strings.Join(tokens.keys, ", "); by != test.by { // once for all connections
					t.Errorf("STS was asked by %q, want %q", by, test.by)
				}
				for key, want := range test.form {
					if got := tokens.asked[0].Get(key); got != want {
						t.Errorf("%s = %q, want %q", key, got, want)
					}
				}
			})
		}
	}
}

// TestMSKIAMRoleRefused: STS is named, and what it said.
func TestMSKIAMRoleRefused(t *testing.T) {
	const other = "arn:aws:iam::123456789012:role/other"
	tokens := startSTS(t)
	for _, test := range []struct{ name, options, endpoint, words string }{
		{"not allowed", `awsRoleArn="` + other + `"`, tokens.URL, "AWS credentials: assume role " + other + ": AccessDenied: not authorized to perform: sts:AssumeRole"},
		{"nobody there", `awsRoleArn="` + mskRole + `"`, "http://" + fakekafka.ClosedPort(t), "connection refused"},
		{"silent", `awsRoleArn="` + mskRole + `"`, "http://" + fakekafka.SilentPort(t), "AWS credentials: assume role " + mskRole + ": no answer in time"},
		{"no such profile", `awsProfileName="nosuch"`, tokens.URL, "AWS credentials: failed to load credentials: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			awsEnvironment(t, map[string]string{
				"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "hush-aws", "AWS_REGION": "eu-west-3", "AWS_ENDPOINT_URL_STS": test.endpoint,
			})
			c, _ := fakekafka.StartSASL(t, fakekafka.NewModel(1), "OAUTHBEARER")
			src := newSourceWithin(t, w.properties(t, mskLogin+" "+test.options+";"), c.Bootstrap(), 6*time.Second)
			wantRefusal(t, src, inspect.PhaseSASL, test.words)
		})
	}
}

package connect_test

import (
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-msk-iam-sasl-signer-go/signer"
	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
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
	for _, key := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"} {
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

// TestMSKIAM compares the token on the wire with that of Amazon's own signer.
func TestMSKIAM(t *testing.T) {
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "hush-aws", "AWS_REGION": "eu-west-3"}
	for _, test := range []struct{ name, properties, key string }{
		{"environment", mskLogin + ";", "AKIDEXAMPLE"},
		{"profile", mskLogin + ` awsProfileName="ops";`, "AKIDPROFILE"},
		{"by OAUTHBEARER", `security.protocol=SASL_PLAINTEXT
sasl.mechanism=OAUTHBEARER
sasl.login.callback.handler.class=software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler
sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;`, "AKIDEXAMPLE"},
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

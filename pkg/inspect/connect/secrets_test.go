package connect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// TestSecretsHidden prints a Config in every way that a log statement may.
func TestSecretsHidden(t *testing.T) {
	for name, properties := range map[string]string{
		"plain": "security.protocol=SASL_SSL\n" + plainLogin + trust + keys("alice.p12"),
		"scram": "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\n" + scramLogin,
		"oauth": "security.protocol=SASL_PLAINTEXT\n" + oauthLogin,
		"iam": "security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\nsasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required " +
			`awsRoleArn="r" awsRoleAccessKeyId="hush-id" awsRoleSecretAccessKey="hush-iam" awsRoleSessionToken="hush-token";` + "\n",
		"pem": "security.protocol=SSL\nssl.keystore.type=PEM\nssl.key.password=hush-key-1\nssl.keystore.key=" + inline(t, "alice-key-encrypted.txt") + "\nssl.keystore.certificate.chain=" + inline(t, "alice-chain.txt") + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := w.properties(t, properties)
			security, err := connect.ReadProperties(path)
			if err != nil {
				t.Fatal(err)
			}
			conf := connect.Config{Bootstrap: []string{"b:9092"}, Security: security}
			var log bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "config", conf, "security", security)
			slog.New(slog.NewTextHandler(&log, nil)).Info("m", "config", conf, "security", security)
			asJSON, err := json.Marshal(conf)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []any{conf, &conf, security, *security} {
				wantNoSecret(t, fmt.Sprintf("%v %+v %#v %s %q %x", v, v, v, v, v, v))
			}
			wantNoSecret(t, log.String())
			wantNoSecret(t, string(asJSON))
			if got := fmt.Sprint(security); got != path {
				t.Errorf("Security prints as %q, want %q", got, path)
			}
		})
	}
}

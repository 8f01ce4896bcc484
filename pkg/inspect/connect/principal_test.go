package connect_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// TestPrincipal: who the brokers take the credentials for, and nothing where the
// file does not decide it.
func TestPrincipal(t *testing.T) {
	t.Parallel()
	const (
		plain = "sasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u v\" password=\"hush\";\n"
		scram = "sasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username=\"u\" password=\"hush\""
	)
	if got := (*connect.Security)(nil).Principal(); got != "User:ANONYMOUS" {
		t.Errorf("without a file: %q", got)
	}
	for properties, want := range map[string]string{
		"":                        "User:ANONYMOUS",
		"security.protocol=SSL\n": "",
		"security.protocol=SASL_PLAINTEXT\n" + plain:                    "User:u v",
		"security.protocol=sasl_ssl\n" + scram + ";\n":                  "User:u",
		"security.protocol=SASL_SSL\n" + scram + " tokenauth=\"true\";": "",
		"security.protocol=PLAINTEXT\n" + plain:                         "User:ANONYMOUS",
		"security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\nsasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required;\n": "",
	} {
		path := filepath.Join(t.TempDir(), "client.properties")
		if err := os.WriteFile(path, []byte(properties), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := connect.ReadProperties(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Principal(); got != want {
			t.Errorf("%q: got %q, want %q", properties, got, want)
		}
	}
}

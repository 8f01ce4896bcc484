package keystore

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBouncyCastle reads stores that Bouncy Castle 1.80 wrote, as KeyStore Explorer
// has it do: keytool -importkeystore and -importcert with -destprovidername BC and
// -providername BC. Their password is changeit; their certificates are good for a
// hundred years.
func TestBouncyCastle(t *testing.T) {
	t.Parallel()
	spec := Spec{
		KeyStoreLocation: "testdata/bouncycastle-key.p12", KeyStorePassword: NewSecret("changeit"),
		TrustStoreLocation: "testdata/bouncycastle-trust.p12", TrustStorePassword: NewSecret("changeit"),
	}
	m, err := Load(spec)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Aliases, []string{"client"}) || len(m.Certificates[0].Certificate) != 2 {
		t.Errorf("got %q, want one client and a chain of 2", m.Aliases)
	}
	if len(m.anchors) != 1 || m.anchors[0].Subject.CommonName != "authority" {
		t.Errorf("got %d trusted certificates, want the authority", len(m.anchors))
	}
	if err := m.Certificates[0].Leaf.CheckSignatureFrom(m.anchors[0]); err != nil {
		t.Error(err)
	}
	wrong := spec
	wrong.KeyStorePassword = NewSecret(otherPassword)
	_, err = Load(wrong)
	wantError(t, err, ErrPassword, "ssl.keystore.password")

	whole, err := os.ReadFile(spec.KeyStoreLocation)
	if err != nil {
		t.Fatal(err)
	}
	spec.KeyStoreLocation = filepath.Join(t.TempDir(), "cut.p12")
	for _, n := range []int{2, 30, 700, len(whole) - 1} {
		if err := os.WriteFile(spec.KeyStoreLocation, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(spec)
		wantError(t, err, ErrFormat, "it ends too early")
	}
}

func TestToDER(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("aa", 200)
	for _, tt := range []struct {
		name, ber, der string // der empty: refused
	}{
		{"DER", "3003020103", "3003020103"},
		{"more behind it", "3003020103ffff", "3003020103"},
		{"open length", "30800201030000", "3003020103"},
		{"open within open", "3080308002010300000000", "30053003020103"},
		{"open within closed", "300730800201030000", "30053003020103"},
		{"length of more bytes than it takes", "308400000003020103", "3003020103"},
		{"octets in pieces", "24800402aabb0401cc0000", "0403aabbcc"},
		{"pieces of pieces", "240924050403aabbcc0400", "0403aabbcc"},
		{"pieces under another tag", "a0800402aabb0401cc0000", "a0070402aabb0401cc"},
		{"octets that look open", "0404308000ff", "0404308000ff"},
		{"long length", "308004820 0c8" + long + "0000", "3081cb0481c8" + long},
		{"long tag", "bf810180 0201030000", "bf810103020103"},
		{"nothing", "", ""},
		{"a tag alone", "30", ""},
		{"a long tag alone", "bfff", ""},
		{"no end of an open length", "3080020103", ""},
		{"no end of a closed length", "3004020103", ""},
		{"open length of what has no parts", "0480aa0000", ""},
		{"a length of no bytes, then none", "3084000000", ""},
		{"a length that is too long", "3085000000000302 0103", ""},
		{"other than octets in octets", "2403020103", ""},
		{"nested as nothing is", strings.Repeat("3080", maxBERDepth+1) + strings.Repeat("0000", maxBERDepth+1), ""},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(tt.ber, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := toDER(data)
		if (err != nil) != (tt.der == "") || hex.EncodeToString(got) != tt.der {
			t.Errorf("%s: got %x, error %v, want %s", tt.name, got, err, tt.der)
		}
		if again, err2 := toDER(got); err == nil && (err2 != nil || !bytes.Equal(again, got)) {
			t.Errorf("%s: DER changed to %x, error %v", tt.name, again, err2)
		}
	}
}

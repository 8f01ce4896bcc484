package keystore

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"
)

// TestSettings: the combinations that Kafka's DefaultSslEngineFactory refuses.
func TestSettings(t *testing.T) {
	t.Parallel()
	x := NewSecret(storePassword)
	for name, tt := range map[string]struct {
		spec Spec
		kind error
		text string
	}{
		"nothing":                  {Spec{}, nil, ""},
		"types alone":              {Spec{KeyStoreType: "FOO", TrustStoreType: "PEM"}, nil, ""},
		"key password alone":       {Spec{KeyPassword: x}, nil, ""},
		"password alone":           {Spec{KeyStorePassword: x}, ErrSettings, "ssl.keystore.location is not"},
		"trust password alone":     {Spec{TrustStorePassword: x}, ErrSettings, "ssl.truststore.location is not"},
		"no password":              {Spec{KeyStoreLocation: "/k"}, ErrSettings, "ssl.keystore.password is not"},
		"key without chain":        {Spec{KeyStoreType: "PEM", KeyStoreKey: x}, ErrSettings, "certificate.chain is not"},
		"chain without key":        {Spec{KeyStoreType: "PEM", KeyStoreCertificateChain: x}, ErrSettings, "ssl.keystore.key is not"},
		"key of no PEM":            {Spec{KeyStoreKey: x, KeyStoreCertificateChain: x}, ErrSettings, "needs ssl.keystore.type=PEM"},
		"key and file":             {Spec{KeyStoreType: "PEM", KeyStoreLocation: "/k", KeyStoreKey: x, KeyStoreCertificateChain: x}, ErrSettings, "both set"},
		"PEM with password":        {Spec{KeyStoreType: "PEM", KeyStoreLocation: "/k", KeyStorePassword: x}, ErrSettings, "is not for PEM"},
		"inline with password":     {Spec{KeyStoreType: "PEM", KeyStoreKey: x, KeyStoreCertificateChain: x, KeyStorePassword: x}, ErrSettings, "is not for PEM"},
		"other type":               {Spec{KeyStoreType: "bcfks", KeyStoreLocation: "/k", KeyStorePassword: x}, ErrUnsupported, "ssl.keystore.type=BCFKS is not supported"},
		"certificates of no PEM":   {Spec{TrustStoreCertificates: x}, ErrSettings, "need ssl.truststore.type=PEM"},
		"certificates and file":    {Spec{TrustStoreType: "PEM", TrustStoreLocation: "/t", TrustStoreCertificates: x}, ErrSettings, "both set"},
		"trust PEM with password":  {Spec{TrustStoreType: "PEM", TrustStoreLocation: "/t", TrustStorePassword: x}, ErrSettings, "is not for PEM"},
		"certificates of nonsense": {Spec{TrustStoreType: "PEM", TrustStoreCertificates: x}, ErrNoTrust, "trust store in the settings (PEM): no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(tt.spec)
			if tt.kind == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, tt.kind, tt.text)
		})
	}
}

// TestSecretsDoNotPrint tries every printer on secrets and on what holds them.
func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	// Of all keys Ed25519's is the one that is no pointer and prints.
	ca, caKey := newCA(t, "authority")
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1)}, ca, public, caKey)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{Raw: der}
	pemKey := pemOfKey(t, key)
	spec := Spec{
		KeyStoreType: "PEM", KeyStoreKey: NewSecret(pemKey), KeyStoreCertificateChain: NewSecret(pemOf(cert)),
		KeyPassword: NewSecret(keyPassword),
	}
	m, err := Load(spec)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReloader(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSecret(storePassword)
	secrets := []string{
		storePassword, keyPassword, strings.Split(pemKey, "\n")[1][30:50],
		hex.EncodeToString(key.Seed()), strings.ToUpper(hex.EncodeToString(key.Seed())),
		strings.Trim(fmt.Sprintf("%d", key.Seed()), "[]"), strings.Trim(fmt.Sprintf("%#v", key.Seed()), "[]byte{}"),
	}
	unexported := struct {
		s Secret
		p *Secret
	}{s, &s}
	behind := struct {
		m *Material
		c *tls.Certificate
	}{m, &m.Certificates[0]}
	for _, v := range []any{
		s, &s, []Secret{s}, map[string]Secret{"x": s}, unexported, spec, &spec, m, *m, r, m.Certificates, behind, &behind,
	} {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		if data, err := json.Marshal(v); err == nil {
			out.Write(data)
		}
		for _, secret := range secrets {
			if strings.Contains(out.String(), secret) {
				t.Errorf("%T shows %q:\n%s", v, secret, out.String())
			}
		}
	}
	var back map[string]any
	data, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil || back["KeyPassword"] != hidden || back["TrustStorePassword"] != nil {
		t.Errorf("got %s (error %v), want %s for what is set and null for what is not", data, err, hidden)
	}
}

func TestSecretEqual(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b Secret
		want bool
	}{
		{NewSecret("a"), NewSecret("a"), true},
		{NewSecret("a"), NewSecret("b"), false},
		{Secret{}, Secret{}, true},
		{Secret{}, NewSecret(""), false},
	} {
		if got := tt.a.Equal(tt.b); got != tt.want {
			t.Errorf("%q = %q: got %v, want %v", tt.a.text(), tt.b.text(), got, tt.want)
		}
	}
}

package keystore

import (
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"os"
	"strings"
	"testing"

	"software.sslmate.com/src/go-pkcs12"
)

// FuzzLoad reads bytes as every type of store. Whatever they are, the answer is
// material or an *Error, within a bound of work.
func FuzzLoad(f *testing.F) {
	ca, caKey := newCA(f, "authority")
	cert, key := newCert(f, "client", ca, caKey)
	for _, enc := range []*pkcs12.Encoder{pkcs12.Modern2026, pkcs12.Modern2023, pkcs12.LegacyDES, pkcs12.LegacyRC2} {
		data, err := enc.WithIterations(1).Encode(key, cert, []*x509.Certificate{ca}, storePassword)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, storePassword)
		f.Add(withoutMAC(f, data), storePassword)
	}
	for _, enc := range []*pkcs12.Encoder{pkcs12.Passwordless, pkcs12.Modern2023.WithIterations(1)} {
		data, err := enc.EncodeTrustStore([]*x509.Certificate{ca}, "")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "")
	}
	data, err := pkcs12.Passwordless.Encode(key, cert, []*x509.Certificate{ca}, "")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, "")
	for _, name := range []string{"testdata/bouncycastle-key.p12", "testdata/bouncycastle-trust.p12"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "changeit")
		f.Add(withoutMAC(f, data), "changeit")
	}
	f.Add(jksFile(f, map[string][]any{"client": {key, cert, ca}}, map[string][]byte{"ca": ca.Raw}), storePassword)
	f.Add([]byte(pemOfKey(f, key)+pemOf(cert, ca)), "")
	f.Add([]byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"+
		"MIGrMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAi5Yj1sS1cJ2wICCAAw\n-----END ENCRYPTED PRIVATE KEY-----"), "x")
	f.Fuzz(func(t *testing.T, data []byte, password string) {
		for _, store := range []Store{KeyStore, TrustStore} {
			for _, p := range []*place{
				{typ: typeJKS, password: NewSecret(password)},
				{typ: typePKCS12}, // no check stands before the content
				{typ: typePEM, keyPassword: NewSecret(password)},
			} {
				p.store, p.prefix, p.path = store, "ssl.x", "x"
				if err := loadBytes(p, data); err != nil {
					var e *Error
					if !errors.As(err, &e) || strings.Contains(err.Error(), "\n") {
						t.Errorf("%s of type %s: got %T %v, want an *Error of one line", store, p.typ, err, err)
					}
				}
			}
		}
	})
}

func loadBytes(p *place, data []byte) error {
	b := &budget{10_000}
	var c *contents
	var err error
	if p.typ == typePEM {
		c, err = p.decodePEM(string(data), string(data))
	} else {
		c, err = p.decode(data, b)
	}
	if err != nil {
		return err
	}
	m := &Material{}
	if p.store == KeyStore {
		return m.addKeys(p, c, b)
	}
	return m.addTrust(p, c)
}

// withoutMAC takes the check away that stands before the content.
func withoutMAC(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var p pfx
	if err := unmarshal(data, &p, "a seed"); err != nil {
		tb.Fatal(err)
	}
	p.Mac = macData{}
	data, err := asn1.Marshal(p)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

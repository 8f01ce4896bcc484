package keystore

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	jks "github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"
)

// jksFile writes a JKS store: keys under the password of the store, then trusted
// certificates.
func jksFile(tb testing.TB, keys map[string][]any, trusted map[string][]byte) []byte {
	tb.Helper()
	store := jks.New(jks.WithOrderedAliases())
	for alias, parts := range keys {
		e := jks.PrivateKeyEntry{CreationTime: time.Now()}
		var err error
		if e.PrivateKey, err = x509.MarshalPKCS8PrivateKey(parts[0]); err != nil {
			tb.Fatal(err)
		}
		for _, c := range parts[1:] {
			e.CertificateChain = append(e.CertificateChain, jks.Certificate{Type: "X.509", Content: c.(*x509.Certificate).Raw})
		}
		if err := store.SetPrivateKeyEntry(alias, e, []byte(storePassword)); err != nil {
			tb.Fatal(err)
		}
	}
	for alias, der := range trusted {
		e := jks.TrustedCertificateEntry{CreationTime: time.Now(), Certificate: jks.Certificate{Type: "X.509", Content: der}}
		if err := store.SetTrustedCertificateEntry(alias, e); err != nil {
			tb.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := store.Store(&out, []byte(storePassword)); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// TestUnusableEntries: an entry that cannot be used is a warning while another one
// can, and the error where none can.
func TestUnusableEntries(t *testing.T) {
	t.Parallel()
	ca, caKey := newCA(t, "authority")
	cert, key := newCert(t, "good", ca, caKey)
	load := func(keys map[string][]any) (*Material, error) {
		data := jksFile(t, keys, map[string][]byte{"ca": ca.Raw})
		return Load(Spec{KeyStoreLocation: writeFile(t, "client.jks", data), KeyStorePassword: NewSecret(storePassword)})
	}
	bad := map[string][]any{
		"mismatch":    {newKey(t), cert, ca},
		"misordered":  {key, ca, cert},
		"no chain":    {key},
		"no x509":     {key, &x509.Certificate{Raw: []byte("\x30\x03abc")}},
		"second good": {key, cert},
	}
	m, err := load(bad)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"second good"}; !slices.Equal(m.Aliases, want) {
		t.Errorf("got aliases %q, want %q", m.Aliases, want)
	}
	var got []string
	for _, w := range m.Warnings(now()) {
		got = append(got, string(w.Kind)+" "+w.Alias)
	}
	want := []string{"unusable mismatch", "unusable misordered", "unusable no chain", "unusable no x509"}
	if !slices.Equal(got, want) {
		t.Errorf("got warnings %q, want %q", got, want)
	}

	delete(bad, "second good")
	_, err = load(bad)
	wantError(t, err, ErrMismatch, `the private key of "mismatch" does not belong to its certificate (CN=good)`)
	_, err = load(map[string][]any{"misordered": bad["misordered"]})
	wantError(t, err, ErrMismatch, "but to certificate 2, which must come first")
	evil, _ := newCert(t, "two\nlines", ca, caKey)
	_, err = load(map[string][]any{"mismatch": {key, evil}})
	wantError(t, err, ErrMismatch, "(CN=two?lines)")
	_, err = load(map[string][]any{"alone": bad["no chain"]})
	wantError(t, err, ErrMismatch, `the private key of "alone" has no certificate`)
}

// TestUnreadableTrust: a certificate that Go's parser refuses does not take the
// others with it.
func TestUnreadableTrust(t *testing.T) {
	t.Parallel()
	ca, _ := newCA(t, "authority")
	junk := []byte("\x30\x03abc")
	load := func(trusted map[string][]byte) (*Material, error) {
		return Load(trustSpec("", writeFile(t, "trust.jks", jksFile(t, nil, trusted)), storePassword))
	}
	m, err := load(map[string][]byte{"ca": ca.Raw, "junk": junk})
	if err != nil {
		t.Fatal(err)
	}
	if ws := m.Warnings(now()); len(m.anchors) != 1 || len(ws) != 1 || ws[0].Kind != WarnUnusable || ws[0].Alias != "junk" {
		t.Errorf("got %d trusted, warnings %v", len(m.anchors), ws)
	}
	_, err = load(map[string][]byte{"junk": junk})
	wantError(t, err, ErrNoTrust, "no certificate in it can be used")
}

// TestHiddenAlias: of two certificates under one alias Java trusts the last.
func TestHiddenAlias(t *testing.T) {
	t.Parallel()
	first, _ := newCA(t, "first")
	second, _ := newCA(t, "second")
	data, err := pkcs12.Modern2023.EncodeTrustStoreEntries([]pkcs12.TrustStoreEntry{
		{Cert: first, FriendlyName: "CA"}, {Cert: second, FriendlyName: "ca"},
	}, storePassword)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(trustSpec("PKCS12", writeFile(t, "trust.p12", data), storePassword))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.anchors) != 1 || !m.anchors[0].Equal(second) {
		t.Errorf("got %d trusted, want the second alone", len(m.anchors))
	}
	if ws := m.Warnings(now()); len(ws) != 1 || ws[0].Kind != WarnHiddenAlias || ws[0].Alias != "ca" {
		t.Errorf("got warnings %v", ws)
	}
}

// TestPKCS12Chains: how keys find their certificates, and those their issuers.
func TestPKCS12Chains(t *testing.T) {
	t.Parallel()
	keyID := func(id byte) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.SubjectKeyId = []byte{id} }
	}
	oldCA, _ := newCA(t, "authority", keyID(1))
	ca, caKey := newCA(t, "authority", keyID(2))
	cert, key := newCert(t, "client", ca, caKey)
	load := func(t *testing.T, data []byte) (*Material, error) {
		t.Helper()
		return Load(Spec{KeyStoreLocation: writeFile(t, "client.p12", data), KeyStorePassword: NewSecret("")})
	}
	encode := func(t *testing.T, key any, cert *x509.Certificate, cas ...*x509.Certificate) []byte {
		t.Helper()
		data, err := pkcs12.Passwordless.Encode(key, cert, cas, "")
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	wantChain := func(t *testing.T, m *Material, err error, want ...*x509.Certificate) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Certificates) != 1 || len(m.Certificates[0].Certificate) != len(want) {
			t.Fatalf("got %v", m)
		}
		for i, der := range m.Certificates[0].Certificate {
			if !bytes.Equal(der, want[i].Raw) {
				t.Errorf("certificate %d is not %s", i, want[i].Subject)
			}
		}
	}
	t.Run("an authority with a new key", func(t *testing.T) {
		m, err := load(t, encode(t, key, cert, oldCA, ca))
		wantChain(t, m, err, cert, ca)
	})
	t.Run("wrong localKeyId", func(t *testing.T) {
		data := encode(t, key, cert, ca)
		id := sha1.Sum(cert.Raw)
		if bytes.Count(data, id[:]) != 2 {
			t.Fatal("the attribute is not where it was")
		}
		m, err := load(t, bytes.Replace(data, id[:], []byte("another identifier.."), 1))
		wantChain(t, m, err, cert, ca)
	})
	t.Run("localKeyId of another's certificate", func(t *testing.T) {
		_, err := load(t, encode(t, newKey(t), cert, ca))
		wantError(t, err, ErrMismatch, `the private key of "1" does not belong to its certificate (CN=client)`)
	})
	t.Run("issuers in a circle", func(t *testing.T) {
		name := func(cn string) *x509.Certificate { return &x509.Certificate{Subject: pkix.Name{CommonName: cn}} }
		a, aKey := newCert(t, "a", name("b"), newKey(t))
		b, _ := newCert(t, "b", name("a"), newKey(t))
		m, err := load(t, encode(t, aKey, a, b))
		wantChain(t, m, err, a, b)
	})
}

// TestJKSVersion1 has no types of certificates.
func TestJKSVersion1(t *testing.T) {
	t.Parallel()
	ca, _ := newCA(t, "authority")
	var b []byte
	for _, n := range []uint32{jksMagic, 1, 1, jksCertTag} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	b = append(b, "\x00\x02ca"+"12345678"...)
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(ca.Raw))), ca.Raw...)
	b = append(b, sha1Of(passphrase{text: storePassword}.utf16(), []byte("Mighty Aphrodite"), b)...)
	for _, password := range []string{storePassword, ""} {
		m, err := Load(trustSpec("JKS", writeFile(t, "trust.jks", b), password))
		if err != nil || len(m.anchors) != 1 {
			t.Errorf("got %v, error %v", m, err)
		}
	}
}

// TestLyingLengths: no length is believed before the bytes are there.
func TestLyingLengths(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"count of entries":      "feedfeed 00000002 ffffffff",
		"length of alias":       "feedfeed 00000002 00000001 00000002 ffff 61",
		"length of certificate": "feedfeed 00000002 00000001 00000002 0001 61 0000000000000000 0005 582e353039 ffffffff 00",
		"length of key":         "feedfeed 00000002 00000001 00000001 0001 61 0000000000000000 ffffffff 00",
		"count of chain":        "feedfeed 00000002 00000001 00000001 0001 61 0000000000000000 00000001 00 ffffffff",
		"version":               "feedfeed 00000003 00000000",
		"kind of entry":         "feedfeed 00000002 00000001 00000009 0001 61 0000000000000000",
		"PKCS#12 length":        "3084ffffffff 020103",
		"PKCS#12 length long":   "3088ffffffffffffffff 020103",
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(file, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Load(trustSpec("", writeFile(t, "trust.jks", data), storePassword))
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got error %v, want one of the format", name, err)
		}
		checkError(t, err)
	}
	_, err := Load(trustSpec("", writeFile(t, "big.jks", make([]byte, maxStoreBytes+1)), storePassword))
	wantError(t, err, ErrFormat, "more than 16 MiB")
}

// TestTooManyParts: matching keys and certificates must not take forever.
func TestTooManyParts(t *testing.T) {
	t.Parallel()
	b := []byte{0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2, 0, 0, 0xff, 0xff}
	for range maxParts {
		b = append(b, "\x00\x00\x00\x02\x00\x0012345678\x00\x05X.509\x00\x00\x00\x00"...)
	}
	_, err := Load(trustSpec("", writeFile(t, "trust.jks", b), ""))
	wantError(t, err, ErrFormat, "more than 10000 keys and certificates")

	bag := safeBag{ID: oidData, Value: asn1.RawValue{Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: []byte{5, 0}}}
	data := marshalPFX(t, slices.Repeat([]safeBag{bag}, maxParts+1))
	_, err = Load(trustSpec("", writeFile(t, "trust.p12", data), ""))
	wantError(t, err, ErrFormat, "more than 10000 keys and certificates")

	blocks := strings.Repeat("-----BEGIN x-----\n-----END x-----\n", maxParts+1)
	_, err = Load(trustSpec("PEM", writeFile(t, "trust.pem", []byte(blocks)), ""))
	wantError(t, err, ErrFormat, "more than 10000 PEM blocks")

	if _, err := parsePKCS8(make([]byte, maxKeyBytes+1)); err == nil || !strings.Contains(err.Error(), "20001 bytes") {
		t.Errorf("got error %v for a key that is too long", err)
	}
}

// marshalPFX is a store of one safe in the clear, without a MAC.
func marshalPFX(tb testing.TB, bags []safeBag) []byte {
	tb.Helper()
	must := func(v any) []byte {
		data, err := asn1.Marshal(v)
		if err != nil {
			tb.Fatal(err)
		}
		return data
	}
	wrap := func(content []byte) contentInfo {
		return contentInfo{Type: oidData, Content: asn1.RawValue{
			Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: must(content),
		}}
	}
	return must(pfx{Version: 3, AuthSafe: wrap(must([]contentInfo{wrap(must(bags))}))})
}

// TestShortKey: the key of a JKS entry is shorter than its own salt and digest.
func TestShortKey(t *testing.T) {
	t.Parallel()
	for n := range 41 {
		_, err := openJKSKey(sealedJKS(t, make([]byte, n)), passphrase{})
		if !errors.Is(err, errDamaged) {
			t.Errorf("%d bytes: got error %v, want %v", n, err, errDamaged)
		}
	}
	_, err := openJKSKey(sealedJKS(t, make([]byte, 41)), passphrase{})
	if !errors.Is(err, errWrongPassword) {
		t.Errorf("got error %v, want %v", err, errWrongPassword)
	}
}

func sealedJKS(tb testing.TB, sealed []byte) []byte {
	tb.Helper()
	der, err := asn1.Marshal(struct {
		Algorithm pkix.AlgorithmIdentifier
		Sealed    []byte
	}{pkix.AlgorithmIdentifier{Algorithm: oidJKSKeyProtector}, sealed})
	if err != nil {
		tb.Fatal(err)
	}
	return der
}

// TestEmptyPassword: some writers end an empty password in two zero bytes, and some
// do not; Java tries both.
func TestEmptyPassword(t *testing.T) {
	t.Parallel()
	ca, _ := newCA(t, "authority")
	data, err := pkcs12.Passwordless.EncodeTrustStore([]*x509.Certificate{ca}, "")
	if err != nil {
		t.Fatal(err)
	}
	var p pfx
	if _, err := asn1.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	var authSafe []byte
	if _, err := asn1.Unmarshal(p.AuthSafe.Content.Bytes, &authSafe); err != nil {
		t.Fatal(err)
	}
	for _, end := range [][]byte{{0, 0}, nil} {
		p.Mac = macData{Salt: []byte("salt"), Iterations: 1}
		p.Mac.Digest.Algorithm.Algorithm = asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}
		h := hmac.New(sha1.New, pkcs12KDF(sha1.New, 3, end, p.Mac.Salt, 1, sha1.Size))
		h.Write(authSafe)
		p.Mac.Digest.Digest = h.Sum(nil)
		data, err := asn1.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		path := writeFile(t, "trust.p12", data)
		spec := Spec{TrustStoreLocation: path, TrustStorePassword: NewSecret("")}
		if m, err := Load(spec); err != nil || len(m.anchors) != 1 {
			t.Errorf("end %x: got %v, error %v", end, m, err)
		}
		_, err = Load(trustSpec("", path, otherPassword))
		wantError(t, err, ErrPassword, "ssl.truststore.password")
	}
}

// TestLuckyPadding: one wrong password in 256 leaves padding that looks right, and
// is wrong all the same.
func TestLuckyPadding(t *testing.T) {
	t.Parallel()
	cert, key := newCert(t, "client", nil, nil)
	for name, enc := range map[string]*pkcs12.Encoder{"AES": pkcs12.Modern2023, "RC2": pkcs12.LegacyRC2} {
		data, err := enc.WithIterations(1).Encode(key, cert, nil, storePassword)
		if err != nil {
			t.Fatal(err)
		}
		c, err := readPKCS12(data, NewSecret(storePassword), newBudget())
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3000 {
			if _, err := c.entries[0].key(passphrase{text: strconv.Itoa(i)}, newBudget()); !errors.Is(err, errWrongPassword) {
				t.Fatalf("%s, password %d: got error %v, want %v", name, i, err, errWrongPassword)
			}
		}
	}
}

// TestShortPBMAC1Key: a MAC whose key is so short that it can be guessed protects
// nothing.
func TestShortPBMAC1Key(t *testing.T) {
	t.Parallel()
	ca, _ := newCA(t, "authority")
	data, err := pkcs12.Modern2026.EncodeTrustStore([]*x509.Certificate{ca}, storePassword)
	if err != nil {
		t.Fatal(err)
	}
	from, to := []byte{2, 2, 8, 0, 2, 1, 32}, []byte{2, 2, 8, 0, 2, 1, 8}
	if bytes.Count(data, from) != 1 {
		t.Fatal("the length of the key is not where it was")
	}
	_, err = Load(trustSpec("", writeFile(t, "trust.p12", bytes.Replace(data, from, to, 1)), storePassword))
	wantError(t, err, ErrFormat, "PBMAC1 with a key of 8 bytes")
}

// TestIterations: a file may not name how long it takes to be read.
func TestIterations(t *testing.T) {
	t.Parallel()
	ca, _ := newCA(t, "authority")
	data, err := pkcs12.Modern2023.WithIterations(77_777).EncodeTrustStore([]*x509.Certificate{ca}, storePassword)
	if err != nil {
		t.Fatal(err)
	}
	from, to := []byte{2, 3, 0x01, 0x2f, 0xd1}, []byte{2, 3, 0x7f, 0xff, 0xff}
	if bytes.Count(data, from) == 0 {
		t.Fatal("the count is not where it was")
	}
	_, err = Load(trustSpec("PKCS12", writeFile(t, "trust.p12", bytes.ReplaceAll(data, from, to)), storePassword))
	wantError(t, err, ErrFormat, "8388607 iterations")

	b := &budget{100}
	if err := b.spend(60); err != nil {
		t.Error(err)
	}
	if err := b.spend(60); !errors.Is(err, errDamaged) {
		t.Errorf("got error %v where the sum is too large", err)
	}
}

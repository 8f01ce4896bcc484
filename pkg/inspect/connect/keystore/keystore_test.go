package keystore

import (
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	storePassword = "store-Secret-7q"
	keyPassword   = "key-Secret-9z"
	otherPassword = "other-Secret-3k"
)

// recipe is a way to make a key store out of ALG.key and ALG-chain.pem.
type recipe struct {
	name string
	// typ is what the settings have to say; password and keyPassword open the store.
	typ, password, keyPassword string
	make                       func(w *workshop, alg, out string)
	// only restricts it to some algorithms.
	only []string
}

func (r recipe) suits(alg string) bool { return r.only == nil || slices.Contains(r.only, alg) }

// spec points to a store of this recipe.
func (r recipe) spec(path string) Spec {
	s := Spec{KeyStoreType: r.typ, KeyStoreLocation: path}
	if r.password != "" {
		s.KeyStorePassword = NewSecret(r.password)
	}
	if r.keyPassword != "" {
		s.KeyPassword = NewSecret(r.keyPassword)
	}
	return s
}

func opensslP12(args ...string) func(w *workshop, alg, out string) {
	return func(w *workshop, alg, out string) {
		w.openssl(append([]string{
			"pkcs12", "-export", "-inkey", alg + ".key", "-in", alg + "-chain.pem",
			"-name", "Client " + alg, "-passout", "pass:" + storePassword, "-out", out,
		}, args...)...)
	}
}

// keytoolCopy lets keytool write what it has read from a store of OpenSSL's.
func keytoolCopy(typ, keyPass string, options ...string) func(w *workshop, alg, out string) {
	return func(w *workshop, alg, out string) {
		opensslP12()(w, alg, out+".src")
		args := slices.Concat(options, []string{
			"-importkeystore", "-srckeystore", out + ".src", "-srcstoretype", "PKCS12", "-srcstorepass", storePassword,
			"-destkeystore", out, "-deststoretype", typ, "-deststorepass", storePassword,
		})
		if keyPass != "" {
			args = append(args, "-srcalias", "client "+alg, "-destkeypass", keyPass)
		}
		w.keytool(args...)
	}
}

// pemFile joins the key, as OpenSSL writes it with args, and the chain.
func pemFile(args ...string) func(w *workshop, alg, out string) {
	return func(w *workshop, alg, out string) {
		w.openssl(slices.Concat(args[:1], []string{"-in", alg + ".key", "-out", out + ".key"}, args[1:])...)
		w.write(out, string(w.read(out+".key"))+string(w.read(alg+"-chain.pem")))
	}
}

func sealedPEM(args ...string) func(w *workshop, alg, out string) {
	return pemFile(slices.Concat([]string{"pkcs8", "-topk8", "-passout", "pass:" + keyPassword}, args)...)
}

var recipes = []recipe{
	{name: "JKS", typ: "JKS", password: storePassword, make: keytoolCopy("JKS", "")},
	{
		name: "JKS, a password for the key", typ: "JKS", password: storePassword, keyPassword: keyPassword,
		make: keytoolCopy("JKS", keyPassword),
	},
	{name: "JKS declared PKCS12", typ: "PKCS12", password: storePassword, make: keytoolCopy("JKS", ""), only: []string{"ec"}},
	{name: "PKCS12 of keytool", typ: "PKCS12", password: storePassword, make: keytoolCopy("PKCS12", "")},
	{name: "PKCS12 of keytool, no type declared", password: storePassword, make: keytoolCopy("PKCS12", ""), only: []string{"ec"}},
	{
		name: "PKCS12 of an old keytool", typ: "pkcs12", password: storePassword,
		make: keytoolCopy("PKCS12", "", "-J-Dkeystore.pkcs12.legacy"),
	},
	{name: "PKCS12 of OpenSSL", typ: "PKCS12", password: storePassword, make: opensslP12()},
	{
		name: "PKCS12 of OpenSSL, its key password given", typ: "PKCS12", password: storePassword, keyPassword: storePassword,
		make: opensslP12(), only: []string{"ec"},
	},
	{name: "PKCS12 of OpenSSL 1", typ: "JKS", password: storePassword, make: opensslP12("-legacy")},
	{
		name: "PKCS12 with RC2-128", typ: "PKCS12", password: storePassword,
		make: opensslP12("-legacy", "-certpbe", "PBE-SHA1-RC2-128", "-keypbe", "PBE-SHA1-RC2-128"), only: []string{"ec"},
	},
	{
		name: "PKCS12 with 3DES", typ: "PKCS12", password: storePassword,
		make: opensslP12("-certpbe", "PBE-SHA1-3DES", "-keypbe", "PBE-SHA1-3DES", "-macalg", "sha1"),
	},
	{
		name: "PKCS12 with AES-128 and SHA-512", typ: "PKCS12", password: storePassword,
		make: opensslP12("-certpbe", "AES-128-CBC", "-keypbe", "AES-192-CBC", "-macalg", "sha512"), only: []string{"ec"},
	},
	{
		name: "PKCS12 in the clear", typ: "PKCS12", password: storePassword,
		make: opensslP12("-certpbe", "NONE", "-keypbe", "NONE"), only: []string{"ec"},
	},
	{name: "PEM", typ: "PEM", make: pemFile("pkey")},
	{name: "PEM, key not needing its password", typ: "PEM", keyPassword: keyPassword, make: pemFile("pkey"), only: []string{"ec"}},
	{name: "PEM, type in small letters", typ: "pem", make: pemFile("pkey"), only: []string{"ec"}},
	{name: "PEM with PKCS#1", typ: "PEM", make: pemFile("rsa", "-traditional"), only: []string{"rsa"}},
	{name: "PEM with SEC 1", typ: "PEM", make: pemFile("ec"), only: []string{"ec"}},
	{name: "PEM, PBES2 with AES-256 and SHA-256", typ: "PEM", keyPassword: keyPassword, make: sealedPEM("-v2", "aes-256-cbc")},
	{
		name: "PEM, PBES2 with AES-128 and SHA-1", typ: "PEM", keyPassword: keyPassword,
		make: sealedPEM("-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA1"), only: []string{"ec"},
	},
	{
		name: "PEM, PBES2 with AES-256 and SHA-512", typ: "PEM", keyPassword: keyPassword,
		make: sealedPEM("-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA512"), only: []string{"ec"},
	},
	{name: "PEM, PBES2 with 3DES", typ: "PEM", keyPassword: keyPassword, make: sealedPEM("-v2", "des3"), only: []string{"ec"}},
	{name: "PEM, PKCS#12's 3DES", typ: "PEM", keyPassword: keyPassword, make: sealedPEM("-v1", "PBE-SHA1-3DES"), only: []string{"rsa"}},
	{
		name: "PEM, PBES1 with MD5 and DES", typ: "PEM", keyPassword: keyPassword,
		make: sealedPEM("-provider", "default", "-provider", "legacy", "-v1", "PBE-MD5-DES"), only: []string{"ec", "rsa"},
	},
	{
		name: "PEM, PBES1 with SHA-1 and DES", typ: "PEM", keyPassword: keyPassword,
		make: sealedPEM("-provider", "default", "-provider", "legacy", "-v1", "PBE-SHA1-DES"), only: []string{"ec"},
	},
}

// TestKeyStores loads a store of every recipe and algorithm, compares what comes
// out with what went in, shakes hands with it, and spoils it.
func TestKeyStores(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	brokers := []string{w.broker(tls.VersionTLS12), w.broker(tls.VersionTLS13)}
	algs := []string{"ec", "ed25519", "rsa"}
	for _, alg := range algs {
		w.issue(alg, "client", algorithms[alg]...)
	}
	for i, r := range recipes {
		for _, alg := range algs {
			if !r.suits(alg) {
				continue
			}
			t.Run(r.name+"/"+alg, func(t *testing.T) {
				t.Parallel()
				w := w.in(t)
				file := fmt.Sprintf("%d-%s", i, alg)
				r.make(w, alg, file)
				spec := w.caTrust()
				key := r.spec(w.path(file))
				spec.KeyStoreType, spec.KeyStoreLocation = key.KeyStoreType, key.KeyStoreLocation
				spec.KeyStorePassword, spec.KeyPassword = key.KeyStorePassword, key.KeyPassword

				checkLoaded(t, w, spec, alg)
				for _, addr := range brokers {
					shakeHands(t, spec, addr, alg)
				}
				checkWrongPasswords(t, spec, r)
				checkTruncated(t, w, spec, file)
				checkDeclared(t, spec, r)
			})
		}
	}
}

func checkLoaded(t *testing.T, w *workshop, spec Spec, alg string) {
	t.Helper()
	m, err := Load(spec)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Certificates) != 1 {
		t.Fatalf("got %d certificates, want 1; warnings %v", len(m.Certificates), m.Warnings(now()))
	}
	got := m.Certificates[0]
	want := w.key(alg + ".key")
	if !want.(interface{ Equal(crypto.PrivateKey) bool }).Equal(got.PrivateKey.(hiddenKey).signer()) {
		t.Error("not the private key that went in")
	}
	chain := w.certs(alg + "-chain.pem")
	if len(got.Certificate) != len(chain) {
		t.Fatalf("got a chain of %d, want %d", len(got.Certificate), len(chain))
	}
	for i, c := range chain {
		if string(got.Certificate[i]) != string(c.Raw) {
			t.Errorf("certificate %d is not the one that went in", i)
		}
	}
	wantAlias := "client " + alg
	if strings.ToUpper(spec.KeyStoreType) == "PEM" {
		wantAlias = "kafka"
	}
	if want := []string{wantAlias}; !slices.Equal(m.Aliases, want) {
		t.Errorf("got aliases %q, want %q", m.Aliases, want)
	}
	if !m.NotAfter.Equal(chain[0].NotAfter) {
		t.Errorf("got NotAfter %v, want %v", m.NotAfter, chain[0].NotAfter)
	}
	if ws := m.Warnings(now()); len(ws) > 0 {
		t.Errorf("unexpected warnings %v", ws)
	}
}

func shakeHands(t *testing.T, spec Spec, addr, wantName string) {
	t.Helper()
	r, err := NewReloader(spec)
	if err != nil {
		t.Fatal(err)
	}
	got, err := dial(t, addr, r.ClientConfig("localhost", true))
	if err != nil || got != wantName {
		t.Errorf("the broker saw %q (error %v), want %q", got, err, wantName)
	}
}

func checkWrongPasswords(t *testing.T, spec Spec, r recipe) {
	t.Helper()
	try := func(setting string, spec Spec) {
		t.Helper()
		_, err := Load(spec)
		wantError(t, err, ErrPassword, setting)
	}
	wrong := NewSecret(otherPassword)
	if r.password != "" {
		s := spec
		s.KeyStorePassword = wrong
		try("ssl.keystore.password", s)
		s.KeyStorePassword = NewSecret("")
		try("ssl.keystore.password", s)
	}
	encrypted := !strings.Contains(r.name, "not needing") && !strings.Contains(r.name, "in the clear")
	if r.keyPassword != "" && encrypted || r.password != "" && encrypted {
		s := spec
		s.KeyPassword = wrong
		try("ssl.key.password", s)
	}
	if strings.ToUpper(r.typ) == "PEM" && r.keyPassword != "" && encrypted {
		s := spec
		s.KeyPassword = Secret{}
		try("ssl.key.password is not set", s)
	}
}

// checkTruncated cuts the file where a writer may have been: nothing of it may be
// taken for a store.
func checkTruncated(t *testing.T, w *workshop, spec Spec, file string) {
	t.Helper()
	whole := w.read(file)
	cut := file + ".cut"
	spec.KeyStoreLocation = w.path(cut)
	for _, n := range []int{0, 1, 3, 4, 10, len(whole) / 3, len(whole) / 2, len(whole) - 30} {
		w.write(cut, string(whole[:n]))
		_, err := Load(spec)
		if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrNoKey) {
			t.Errorf("%d bytes of %d: got error %v, want one of the format", n, len(whole), err)
		}
		checkError(t, err)
		if n > 10 && whole[0] == 0x30 && !strings.Contains(err.Error(), fmt.Sprintf("cut short: %d bytes of %d", n, len(whole))) {
			t.Errorf("error does not say that the file is cut short: %v", err)
		}
	}
}

// checkDeclared declares the file as what it is not.
func checkDeclared(t *testing.T, spec Spec, r recipe) {
	t.Helper()
	if strings.ToUpper(r.typ) == "PEM" {
		spec.KeyStorePassword = NewSecret(storePassword)
		for _, typ := range []string{"JKS", "PKCS12", ""} {
			spec.KeyStoreType = typ
			_, err := Load(spec)
			wantError(t, err, ErrFormat, "set ssl.keystore.type=PEM")
		}
		return
	}
	spec.KeyStoreType, spec.KeyStorePassword = "PEM", Secret{}
	_, err := Load(spec)
	wantError(t, err, ErrFormat, "store, and ssl.keystore.type is PEM; set ssl.keystore.type=")
}

// wantError checks kind and text, and what holds for every error.
func wantError(t *testing.T, err error, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("got error %v, want kind %q", err, kind)
		return
	}
	checkError(t, err)
	if !strings.Contains(err.Error(), text) {
		t.Errorf("error does not say %q:\n%v", text, err)
	}
}

// checkError: an *Error of one line that holds no secret.
func checkError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("got %T (%v), want an *Error", err, err)
		return
	}
	for _, secret := range []string{storePassword, keyPassword, otherPassword, "MII", "MC4C", "\n"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("error holds %q: %v", secret, err)
		}
	}
	if e.Store == "" || e.Problem == "" {
		t.Errorf("error lacks store or problem: %#v", e)
	}
}

// TestSwallowedKey: a broken marker takes the key with it, and no error may quote
// that.
func TestSwallowedKey(t *testing.T) {
	t.Parallel()
	cert, key := newCert(t, "client", nil, nil)
	text := strings.Replace(pemOfKey(t, key), "KEY-----\n", "KEY----\n", 1)
	text = strings.Replace(text, "-----END", "-----\n-----END", 1)
	for _, keyText := range []string{text, text + pemOf(cert)} {
		_, err := Load(Spec{
			KeyStoreType: "PEM", KeyStoreKey: NewSecret(keyText), KeyStoreCertificateChain: NewSecret(pemOf(cert)),
		})
		wantError(t, err, ErrNoKey, "another kind")
		if body := strings.Split(text, "\n")[1]; strings.Contains(err.Error(), body[:10]) {
			t.Errorf("error quotes the key: %v", err)
		}
	}
}

// TestSeveralKeys: all of them are offered, by alias, and the broker's issuers
// choose.
func TestSeveralKeys(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	need(t, "keytool")
	for _, alg := range []string{"rsa", "ec", "ed25519"} {
		w.issue(alg, "client", algorithms[alg]...)
		opensslP12()(w, alg, alg+".p12")
	}
	addr := w.broker(tls.VersionTLS13)
	// Of another authority, and first by alias: the broker does not take it.
	w.keytool("-genkeypair", "-alias", "another", "-keyalg", "EC", "-dname", "CN=another", "-storetype", "PKCS12",
		"-keystore", "all.p12", "-storepass", storePassword)
	for _, alg := range []string{"rsa", "ec", "ed25519"} {
		w.keytool("-importkeystore", "-srckeystore", alg+".p12", "-srcstorepass", storePassword,
			"-destkeystore", "all.p12", "-deststorepass", storePassword)
	}
	w.keytool("-importkeystore", "-srckeystore", "all.p12", "-srcstorepass", storePassword,
		"-destkeystore", "all.jks", "-deststorepass", storePassword, "-deststoretype", "JKS")
	for _, file := range []string{"all.p12", "all.jks"} {
		spec := w.caTrust()
		spec.KeyStoreLocation, spec.KeyStorePassword = w.path(file), NewSecret(storePassword)
		m, err := Load(spec)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"another", "client ec", "client ed25519", "client rsa"}; !slices.Equal(m.Aliases, want) {
			t.Errorf("%s: got aliases %q, want %q", file, m.Aliases, want)
		}
		for i, want := range []string{"another", "ec", "ed25519", "rsa"} {
			if got := m.Certificates[i].Leaf.Subject.CommonName; got != want {
				t.Errorf("%s: certificate %d is of %q, want %q", file, i, got, want)
			}
		}
		shakeHands(t, spec, addr, "ec")
	}
	t.Run("one key has a password of its own", func(t *testing.T) {
		w := w.in(t)
		w.keytool("-keypasswd", "-alias", "client ec", "-keypass", storePassword, "-new", keyPassword,
			"-keystore", "all.jks", "-storepass", storePassword)
		_, err := Load(Spec{KeyStoreLocation: w.path("all.jks"), KeyStorePassword: NewSecret(storePassword)})
		wantError(t, err, ErrPassword, `the private key of "client ec"`)
	})
}

// TestInlinePEM: the settings themselves hold the PEM, in the shapes in which a
// properties file delivers it.
func TestInlinePEM(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.issue("ec", "client", algorithms["ec"]...)
	addr := w.broker(tls.VersionTLS13)
	key, chain := string(w.read("ec.key")), string(w.read("ec-chain.pem"))
	for name, reshape := range map[string]func(string) string{
		"lines":         func(s string) string { return s },
		"no last line":  strings.TrimSpace,
		"windows lines": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"joined":        func(s string) string { return strings.ReplaceAll(s, "\n", " ") },
		"joined close":  func(s string) string { return strings.ReplaceAll(s, "\n", "") },
		"with text":     func(s string) string { return "Bag Attributes\n    friendlyName: x\n" + s + "the end\n" },
	} {
		t.Run(name, func(t *testing.T) {
			spec := w.caTrust()
			spec.TrustStoreCertificates = NewSecret(reshape(string(w.read("ca.pem"))))
			spec.KeyStoreType = "PEM"
			spec.KeyStoreKey, spec.KeyStoreCertificateChain = NewSecret(reshape(key)), NewSecret(reshape(chain))
			checkLoaded(t, w.in(t), spec, "ec")
			shakeHands(t, spec, addr, "ec")
		})
	}
}

func TestPEMErrors(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.issue("ec", "client", algorithms["ec"]...)
	w.issue("rsa", "client", algorithms["rsa"]...)
	w.openssl("pkcs8", "-topk8", "-scrypt", "-in", "ec.key", "-passout", "pass:"+keyPassword, "-out", "scrypt.key")
	w.openssl("rsa", "-traditional", "-aes128", "-in", "rsa.key", "-passout", "pass:"+keyPassword, "-out", "dek.key")
	w.openssl("genpkey", "-algorithm", "ED448", "-out", "ed448.key")
	w.openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1", "-out", "k1.key")
	key, leaf, ca := string(w.read("ec.key")), string(w.read("ec.pem")), string(w.read("ca.pem"))
	for name, tt := range map[string]struct {
		content string
		kind    error
		text    string
	}{
		"no key":             {leaf + ca, ErrNoKey, "no private key in it, only CERTIFICATE"},
		"no certificate":     {key, ErrFormat, "no certificate in it, only PRIVATE KEY"},
		"a request":          {key + string(w.read("ec.csr")), ErrFormat, "only PRIVATE KEY, CERTIFICATE REQUEST"},
		"nothing":            {"hello, world", ErrFormat, "no PEM block at all"},
		"two keys":           {key + key + leaf, ErrFormat, "2 private keys"},
		"authority first":    {key + ca + leaf, ErrFormat, "out of order: 1 was not issued by 2"},
		"another's key":      {string(w.read("rsa.key")) + leaf + ca, ErrMismatch, "does not belong to its certificate (CN=ec)"},
		"not base64":         {strings.Replace(key, "M", "*", 1) + leaf, ErrFormat, "PEM block 1 is not base64"},
		"swallowed key":      {strings.Replace(key, "KEY-----\n", "KEY----\n", 1) + leaf, ErrFormat, "does not end"},
		"scrypt":             {string(w.read("scrypt.key")) + leaf, ErrUnsupported, "openssl pkcs8 -topk8 -v2 aes-256-cbc"},
		"OpenSSL encryption": {string(w.read("dek.key")) + leaf, ErrUnsupported, "openssl pkcs8 -topk8 -v2 aes-256-cbc"},
		"Ed448":              {string(w.read("ed448.key")) + leaf, ErrUnsupported, "Ed448 (1.3.101.113) is not supported; use a key of"},
		"secp256k1":          {string(w.read("k1.key")) + leaf, ErrUnsupported, "this EC private key is not supported; use a key of"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "client.pem")
			if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(Spec{KeyStoreType: "PEM", KeyStoreLocation: file, KeyPassword: NewSecret(keyPassword)})
			wantError(t, err, tt.kind, tt.text)
			wantError(t, err, tt.kind, file)
		})
	}
}

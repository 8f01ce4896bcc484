package keystore

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"
	"testing"

	"software.sslmate.com/src/go-pkcs12"
)

func trustSpec(typ, path, password string) Spec {
	s := Spec{TrustStoreType: typ, TrustStoreLocation: path}
	if password != "" {
		s.TrustStorePassword = NewSecret(password)
	}
	return s
}

// TestTrustStores loads trust stores of the real tools and shakes hands with a
// broker whose certificate the authority within has issued.
func TestTrustStores(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	need(t, "keytool")
	addr := w.plainBroker()
	importCA := func(options ...string) func(w *workshop, out string) {
		return func(w *workshop, out string) {
			w.keytool(slices.Concat(options, []string{
				"-importcert", "-noprompt", "-alias", "Authority", "-file", "ca.pem", "-keystore", out, "-storepass", storePassword,
			})...)
		}
	}
	for _, tt := range []struct {
		name     string
		typ      string
		make     func(w *workshop, out string)
		unlocked bool // usable without a password
	}{
		{"JKS", "JKS", importCA("-storetype", "JKS"), true},
		{"JKS, no type declared", "", importCA("-storetype", "JKS"), true},
		{"PKCS12", "PKCS12", importCA("-storetype", "PKCS12"), false},
		{"PKCS12 declared JKS", "JKS", importCA("-storetype", "PKCS12"), false},
		{"PKCS12 of an old keytool", "PKCS12", importCA("-J-Dkeystore.pkcs12.legacy", "-storetype", "PKCS12"), false},
		{"PKCS12 in the clear", "PKCS12", importCA("-J-Dkeystore.pkcs12.certProtectionAlgorithm=NONE",
			"-J-Dkeystore.pkcs12.macAlgorithm=NONE", "-storetype", "PKCS12"), true},
		{"PKCS12 in the clear with a MAC", "PKCS12", importCA("-J-Dkeystore.pkcs12.certProtectionAlgorithm=NONE",
			"-storetype", "PKCS12"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			file := strings.ReplaceAll(tt.name, " ", "-")
			tt.make(w, file)
			spec := trustSpec(tt.typ, w.path(file), storePassword)
			checkTrusts(t, w, spec, addr)

			spec.TrustStorePassword = NewSecret(otherPassword)
			if _, err := Load(spec); tt.name != "PKCS12 in the clear" {
				wantError(t, err, ErrPassword, "ssl.truststore.password does not open it")
			} else if err != nil {
				t.Errorf("a store that nothing protects takes any password: %v", err)
			}
			spec.TrustStorePassword = Secret{}
			if tt.unlocked {
				checkTrusts(t, w, spec, addr)
			} else {
				_, err := Load(spec)
				wantError(t, err, ErrNoTrust, "set ssl.truststore.password")
			}
			whole := w.read(file)
			spec = trustSpec(tt.typ, w.path(file+".cut"), storePassword)
			for _, n := range []int{0, 2, len(whole) / 2, len(whole) - 1} {
				w.write(file+".cut", string(whole[:n]))
				_, err := Load(spec)
				wantError(t, err, ErrFormat, ".cut")
			}
		})
	}
	t.Run("PEM", func(t *testing.T) {
		t.Parallel()
		w := w.in(t)
		w.issue("other", "client", algorithms["ec"]...)
		w.write("bundle.pem", "# ours\n"+string(w.read("other.pem"))+"# theirs\n"+string(w.read("ca.pem")))
		spec := trustSpec("PEM", w.path("bundle.pem"), "")
		checkTrusts(t, w, spec, addr)
		w.openssl("x509", "-trustout", "-addtrust", "serverAuth", "-in", "ca.pem", "-out", "trusted.pem")
		checkTrusts(t, w, trustSpec("PEM", w.path("trusted.pem"), ""), addr)
		_, err := Load(trustSpec("JKS", w.path("bundle.pem"), storePassword))
		wantError(t, err, ErrFormat, "set ssl.truststore.type=PEM and no ssl.truststore.password")
		_, err = Load(trustSpec("PEM", w.path("ca.key"), ""))
		wantError(t, err, ErrNoTrust, "no certificate in it, only PRIVATE KEY")
	})
}

// plainBroker is a broker that asks for no certificate.
func (w *workshop) plainBroker() string {
	w.tb.Helper()
	w.issue("server", "server", algorithms["ec"]...)
	return serve(w.tb, &tls.Config{Certificates: []tls.Certificate{{
		Certificate: [][]byte{w.certs("server.pem")[0].Raw}, PrivateKey: w.key("server.key"),
	}}})
}

func checkTrusts(t *testing.T, w *workshop, spec Spec, addr string) {
	t.Helper()
	m, err := Load(spec)
	if err != nil {
		t.Error(err)
		return
	}
	ca := w.certs("ca.pem")[0]
	if !slices.ContainsFunc(m.anchors, ca.Equal) {
		t.Error("the authority is not among the trusted certificates")
	}
	if ws := m.Warnings(now()); len(ws) > 0 {
		t.Errorf("unexpected warnings %v", ws)
	}
	shakeHands(t, spec, addr, "nobody")
}

// TestTrustStoreOfOpenSSL: certificates that Java ignores, and the way out that
// the error names.
func TestTrustStoreOfOpenSSL(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	addr := w.plainBroker()
	w.openssl("pkcs12", "-export", "-nokeys", "-in", "ca.pem", "-passout", "pass:"+storePassword, "-out", "trust.p12")
	_, err := Load(trustSpec("PKCS12", w.path("trust.p12"), storePassword))
	wantError(t, err, ErrNoTrust, "none of its 1 certificates has the attribute that marks it as trusted, so Java ignores them")
	wantError(t, err, ErrNoTrust, "openssl pkcs12 -in "+w.path("trust.p12")+" -nokeys -out ca.pem")
	wantError(t, err, ErrNoTrust, "keytool -importcert -noprompt -alias ca -file ca.pem -keystore trust.p12 -storetype PKCS12")

	w.openssl("pkcs12", "-in", "trust.p12", "-nokeys", "-passin", "pass:"+storePassword, "-out", "out.pem")
	checkTrusts(t, w, trustSpec("PEM", w.path("out.pem"), ""), addr)
	need(t, "keytool")
	w.keytool("-importcert", "-noprompt", "-alias", "ca", "-file", "out.pem", "-keystore", "new.p12", "-storetype", "PKCS12",
		"-storepass", storePassword)
	checkTrusts(t, w, trustSpec("PKCS12", w.path("new.p12"), storePassword), addr)
}

// TestKeyStoreAsTrustStore: Java trusts the own certificate of every private key,
// and not the issuers behind it.
func TestKeyStoreAsTrustStore(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	need(t, "keytool")
	addr := w.plainBroker()
	w.openssl("pkcs12", "-export", "-inkey", "server.key", "-in", "server-chain.pem", "-name", "broker",
		"-passout", "pass:"+storePassword, "-out", "server.p12")
	w.keytool("-importkeystore", "-srckeystore", "server.p12", "-srcstorepass", storePassword,
		"-destkeystore", "server.jks", "-deststorepass", storePassword, "-deststoretype", "JKS")
	for _, file := range []string{"server.p12", "server.jks"} {
		spec := trustSpec("", w.path(file), storePassword)
		m, err := Load(spec)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.anchors) != 1 || m.anchors[0].Subject.CommonName != "server" {
			t.Errorf("%s: got %d trusted certificates, want the broker's own", file, len(m.anchors))
		}
		shakeHands(t, spec, addr, "nobody")
	}
}

// TestOddStores: what is neither wrong nor quite right.
func TestOddStores(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	need(t, "keytool")
	w.keytool("-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem", "-keystore", "trust.p12", "-storepass", storePassword)

	t.Run("empty", func(t *testing.T) {
		w := w.in(t)
		for _, typ := range []string{"JKS", "PKCS12"} {
			file := "empty." + typ
			w.keytool("-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem", "-keystore", file, "-storetype", typ,
				"-storepass", storePassword)
			w.keytool("-delete", "-alias", "ca", "-keystore", file, "-storepass", storePassword)
			_, err := Load(trustSpec(typ, w.path(file), storePassword))
			wantError(t, err, ErrNoTrust, "("+typ+"): no trusted certificate in it")
		}
	})
	t.Run("key store without a key", func(t *testing.T) {
		w := w.in(t)
		spec := w.caTrust()
		spec.KeyStoreLocation, spec.KeyStorePassword = w.path("trust.p12"), NewSecret(storePassword)
		m, err := Load(spec)
		if err != nil {
			t.Fatal(err)
		}
		ws := m.Warnings(now())
		if len(ws) != 1 || ws[0].Kind != WarnNoKey || ws[0].Store != KeyStore || len(m.Certificates) != 0 {
			t.Errorf("got warnings %v and %d certificates, want %s alone", ws, len(m.Certificates), WarnNoKey)
		}
		shakeHands(t, spec, w.plainBroker(), "nobody")
	})
	t.Run("JCEKS", func(t *testing.T) {
		w := w.in(t)
		w.keytool("-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem", "-keystore", "trust.jceks",
			"-storetype", "JCEKS", "-storepass", storePassword)
		_, err := Load(trustSpec("JKS", w.path("trust.jceks"), storePassword))
		wantError(t, err, ErrUnsupported, "the file is a JCEKS store; convert it: keytool -importkeystore")
		w.follow(err, "-srcstorepass", storePassword, "-deststorepass", storePassword)
		if _, err := Load(trustSpec("PKCS12", w.path("trust.jceks.new.p12"), storePassword)); err != nil {
			t.Error(err)
		}
		_, err = Load(trustSpec("jceks", w.path("trust.jceks"), storePassword))
		wantError(t, err, ErrUnsupported, "ssl.truststore.type=JCEKS is not supported")
	})
	t.Run("bare certificate", func(t *testing.T) {
		w := w.in(t)
		w.openssl("x509", "-in", "ca.pem", "-outform", "DER", "-out", "ca.der")
		_, err := Load(trustSpec("PKCS12", w.path("ca.der"), storePassword))
		wantError(t, err, ErrFormat, "one bare certificate (DER), no store; put it into one: keytool -importcert")
		w.follow(err, "-storepass", storePassword)
		if _, err := Load(trustSpec("PKCS12", w.path("ca.der.p12"), storePassword)); err != nil {
			t.Error(err)
		}
	})
	t.Run("no store", func(t *testing.T) {
		w := w.in(t)
		w.write("notes.txt", "buy milk\n")
		_, err := Load(trustSpec("PKCS12", w.path("notes.txt"), storePassword))
		wantError(t, err, ErrFormat, "(PKCS12): neither a JKS nor a PKCS12 store")
		_, err = Load(trustSpec("PKCS12", w.path("missing.p12"), storePassword))
		wantError(t, err, ErrFile, "missing.p12 (PKCS12): no such file or directory")
		_, err = Load(trustSpec("PKCS12", w.dir, storePassword))
		wantError(t, err, ErrFile, "is a directory")
	})
	t.Run("cipher that is not read", func(t *testing.T) {
		w := w.in(t)
		w.issue("ec", "client", algorithms["ec"]...)
		opensslP12("-legacy", "-certpbe", "PBE-SHA1-RC4-128", "-keypbe", "PBE-SHA1-RC4-128")(w, "ec", "rc 4.p12")
		spec := Spec{KeyStoreLocation: w.path("rc 4.p12"), KeyStorePassword: NewSecret(storePassword)}
		_, err := Load(spec)
		wantError(t, err, ErrUnsupported, "the cipher PBE-SHA1-RC4-128 (1.2.840.113549.1.12.1.1) is not supported; convert the store")
		w.follow(err, "-srcstorepass", storePassword, "-deststorepass", storePassword)
		spec.KeyStoreLocation += ".new.p12"
		checkLoaded(t, w, spec, "ec")
	})
}

// follow runs the keytool command that an error tells to run.
func (w *workshop) follow(err error, more ...string) {
	w.tb.Helper()
	_, command, _ := strings.Cut(err.Error(), "keytool ")
	var args []string
	for i, quoted := range strings.Split(command, "'") {
		if i%2 == 1 {
			args = append(args, quoted)
		} else {
			args = append(args, strings.Fields(quoted)...)
		}
	}
	w.keytool(append(args, more...)...)
}

// TestPasswordsBeyondASCII: each scheme encodes them in its own way.
func TestPasswordsBeyondASCII(t *testing.T) {
	t.Parallel()
	const password = "Pässwörd-€-𝄞"
	w := newWorkshop(t)
	w.issue("ec", "client", algorithms["ec"]...)
	load := func(t *testing.T, w *workshop, file string) {
		t.Helper()
		spec := Spec{KeyStoreLocation: w.path(file), KeyStorePassword: NewSecret(password)}
		checkLoaded(t, w, spec, "ec")
		spec.KeyStorePassword = NewSecret("Pässwörd-€-𝄠")
		_, err := Load(spec)
		wantError(t, err, ErrPassword, "ssl.keystore.password")
	}
	for name, options := range map[string][]string{
		"aes": nil, "3des": {"-certpbe", "PBE-SHA1-3DES", "-keypbe", "PBE-SHA1-3DES", "-macalg", "sha1"},
	} {
		t.Run("OpenSSL "+name, func(t *testing.T) {
			w := w.in(t)
			w.openssl(append([]string{
				"pkcs12", "-export", "-inkey", "ec.key", "-in", "ec-chain.pem", "-name", "client ec",
				"-passout", "pass:" + password, "-out", name + ".p12",
			}, options...)...)
			load(t, w, name+".p12")
		})
	}
	t.Run("keytool JKS", func(t *testing.T) {
		w := w.in(t)
		opensslP12()(w, "ec", "src.p12")
		w.keytool("-importkeystore", "-srckeystore", "src.p12", "-srcstorepass", storePassword, "-srcalias", "client ec",
			"-destkeystore", "out.jks", "-deststoretype", "JKS", "-deststorepass", password, "-destkeypass", password)
		load(t, w, "out.jks")
	})
}

// TestOtherWriters reads what neither tool here writes: PBMAC1, and stores without
// the attributes by which keys and certificates find each other.
func TestOtherWriters(t *testing.T) {
	t.Parallel()
	ca, caKey := newCA(t, "authority")
	cert, key := newCert(t, "client", ca, caKey)
	for name, enc := range map[string]*pkcs12.Encoder{
		"PBMAC1": pkcs12.Modern2026, "AES": pkcs12.Modern2023, "3DES": pkcs12.LegacyDES, "RC2": pkcs12.LegacyRC2,
	} {
		t.Run(name, func(t *testing.T) {
			for _, password := range []string{storePassword, ""} {
				data, err := enc.Encode(key, cert, []*x509.Certificate{ca}, password)
				if err != nil {
					t.Fatal(err)
				}
				spec := Spec{KeyStoreLocation: writeFile(t, "client.p12", data), KeyStorePassword: NewSecret(password)}
				m, err := Load(spec)
				if err != nil {
					t.Fatal(err)
				}
				if len(m.Certificates) != 1 || len(m.Certificates[0].Certificate) != 2 || !m.Certificates[0].Leaf.Equal(cert) {
					t.Errorf("password %q: got %v", password, m.Aliases)
				}
				spec.KeyStorePassword = NewSecret(otherPassword)
				_, err = Load(spec)
				wantError(t, err, ErrPassword, "ssl.keystore.password")
			}
		})
	}
	t.Run("trust store", func(t *testing.T) {
		data, err := pkcs12.Passwordless.EncodeTrustStore([]*x509.Certificate{ca}, "")
		if err != nil {
			t.Fatal(err)
		}
		m, err := Load(trustSpec("PKCS12", writeFile(t, "trust.p12", data), ""))
		if err != nil || len(m.anchors) != 1 {
			t.Errorf("got %v, error %v", m, err)
		}
	})
}

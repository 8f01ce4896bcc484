package keystore

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// begin is long ago, so that a file of then has settled.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// settled writes a file that looks as if it had been written then.
func settled(tb testing.TB, path, content string, when time.Time) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chtimes(path, when, when); err != nil {
		tb.Fatal(err)
	}
}

// replace puts a new file in the place of the old one.
func replace(tb testing.TB, path, content string, when time.Time) {
	tb.Helper()
	settled(tb, path+".new", content, when)
	if err := os.Rename(path+".new", path); err != nil {
		tb.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, path string)
		want   bool
	}{
		{"not at all", func(*testing.T, string) {}, false},
		{"size", func(t *testing.T, path string) { settled(t, path, "longer", begin) }, true},
		{"time", func(t *testing.T, path string) { settled(t, path, "same", begin.Add(time.Minute)) }, true},
		{"gone", remove, true},
		{"another file", func(t *testing.T, path string) { replace(t, path, "same", begin) }, true},
		{"another target of the link", func(t *testing.T, path string) {
			target := filepath.Join(t.TempDir(), "target")
			settled(t, target, "same", begin)
			remove(t, path)
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			key, trust := filepath.Join(dir, "key"), filepath.Join(dir, "trust")
			for i, path := range []string{key, trust} {
				settled(t, key, "same", begin)
				settled(t, trust, "same", begin)
				spec := Spec{KeyStoreLocation: key, TrustStoreLocation: trust}
				stamp := spec.Stamp()
				tt.change(t, path)
				if got := spec.Changed(stamp); got != tt.want {
					t.Errorf("file %d: got %v, want %v", i, got, tt.want)
				}
			}
		})
	}
	t.Run("appears", func(t *testing.T) {
		spec := Spec{KeyStoreLocation: filepath.Join(t.TempDir(), "key")}
		stamp := spec.Stamp()
		if spec.Changed(stamp) {
			t.Error("a file that is missing still has changed")
		}
		settled(t, spec.KeyStoreLocation, "x", begin)
		if !spec.Changed(stamp) {
			t.Error("a file that was missing has not changed")
		}
	})
	t.Run("just written", func(t *testing.T) {
		spec := Spec{KeyStoreLocation: filepath.Join(t.TempDir(), "key")}
		settled(t, spec.KeyStoreLocation, "x", now())
		if !spec.Changed(spec.Stamp()) {
			t.Error("a file that was written a moment before the stamp may be written again without showing")
		}
	})
	t.Run("no files", func(t *testing.T) {
		if (Spec{}).Changed(Spec{}.Stamp()) {
			t.Error("nothing has changed")
		}
	})
}

// client is a PEM key store of a new certificate.
func client(tb testing.TB, name string, ca *x509.Certificate, caKey crypto.Signer) string {
	tb.Helper()
	cert, key := newCert(tb, name, ca, caKey)
	return pemOfKey(tb, key) + pemOf(cert)
}

// TestReload replaces the stores under a client that goes on dialling.
func TestReload(t *testing.T) {
	t.Parallel()
	ca, caKey := newCA(t, "authority")
	otherCA, _ := newCA(t, "another authority")
	server, serverKey := newCert(t, "localhost", ca, caKey)
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	addr := serve(t, &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{server.Raw}, PrivateKey: serverKey}},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: pool,
	})
	dir := t.TempDir()
	spec := Spec{
		KeyStoreType: "PEM", KeyStoreLocation: filepath.Join(dir, "client.pem"),
		TrustStoreType: "PEM", TrustStoreLocation: filepath.Join(dir, "trust.pem"),
	}
	first, second := client(t, "first", ca, caKey), client(t, "second", ca, caKey)
	settled(t, spec.KeyStoreLocation, first, begin)
	settled(t, spec.TrustStoreLocation, pemOf(ca), begin)
	r, err := NewReloader(spec)
	if err != nil {
		t.Fatal(err)
	}
	conf := r.ClientConfig("localhost", true)
	saw := func(want string) {
		t.Helper()
		if got, err := dial(t, addr, conf); got != want || err != nil {
			t.Errorf("the broker saw %q (error %v), want %q", got, err, want)
		}
	}
	inUse := func(kind error) *Material {
		t.Helper()
		m, err := r.Material()
		if !errors.Is(err, kind) {
			t.Errorf("got error %v, want %v", err, kind)
		}
		return m
	}
	saw("first")
	was := inUse(nil)
	if inUse(nil) != was {
		t.Error("files that have not changed were read again")
	}

	replace(t, spec.KeyStoreLocation, second[:len(second)/2], begin.Add(time.Minute))
	saw("first")
	if inUse(ErrFormat) != was {
		t.Error("a half-written file took the place of a good one")
	}
	inUse(ErrFormat) // it stays
	replace(t, spec.KeyStoreLocation, second, begin.Add(2*time.Minute))
	saw("second")
	if is := inUse(nil); is == was || is != inUse(nil) {
		t.Error("a file that has changed is to be read again, once")
	}

	remove(t, spec.KeyStoreLocation)
	saw("second")
	inUse(ErrFile)
	replace(t, spec.KeyStoreLocation, first, begin.Add(3*time.Minute))
	saw("first")

	replace(t, spec.TrustStoreLocation, pemOf(otherCA), begin)
	if _, err := dial(t, addr, conf); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("got error %v, want unknown authority: the roots are those of the moment", err)
	}
	replace(t, spec.TrustStoreLocation, pemOf(otherCA, ca), begin)
	saw("first")
}

// TestReloadBroken: there is nothing to keep where the first load fails.
func TestReloadBroken(t *testing.T) {
	t.Parallel()
	_, err := NewReloader(Spec{TrustStoreLocation: filepath.Join(t.TempDir(), "trust.jks")})
	wantError(t, err, ErrFile, "trust.jks")
}

// TestReloadConcurrently is for the race detector.
func TestReloadConcurrently(t *testing.T) {
	t.Parallel()
	ca, caKey := newCA(t, "authority")
	spec := Spec{KeyStoreType: "PEM", KeyStoreLocation: filepath.Join(t.TempDir(), "client.pem")}
	stores := []string{client(t, "first", ca, caKey), client(t, "second", ca, caKey)}
	settled(t, spec.KeyStoreLocation, stores[0], begin)
	r, err := NewReloader(spec)
	if err != nil {
		t.Fatal(err)
	}
	req := &tls.CertificateRequestInfo{
		Version: tls.VersionTLS13, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				cert, err := r.GetClientCertificate(req)
				if err != nil || cert.PrivateKey == nil {
					t.Errorf("got certificate %v, error %v", cert, err)
				}
			}
		})
	}
	for i := range 50 {
		replace(t, spec.KeyStoreLocation, stores[i%2], now())
	}
	wg.Wait()
}

package keystore

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// TestVerify: what a Java client makes of a broker's certificates. Each case was
// tried with Kafka's own DefaultSslEngineFactory on Java 17 and 25.
func TestVerify(t *testing.T) {
	t.Parallel()
	type certs = []*x509.Certificate
	dns := func(names ...string) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.DNSNames = names }
	}
	usage := func(u ...x509.ExtKeyUsage) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.ExtKeyUsage = u }
	}
	expired := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = now().Add(-48*time.Hour), now().Add(-24*time.Hour)
	}
	authority := func(c *x509.Certificate) { c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign }
	local := dns("localhost")
	ca, caKey := newCA(t, "authority")
	oldCA, oldKey := newCA(t, "old authority", expired)
	noCA, noCAKey := newCert(t, "no authority", nil, nil)
	inter, interKey := newCert(t, "intermediate", ca, caKey, authority)
	clientInter, clientInterKey := newCert(t, "for clients", ca, caKey, authority, usage(x509.ExtKeyUsageClientAuth))
	oldInter, oldInterKey := newCert(t, "old intermediate", ca, caKey, authority, expired)
	issue := func(cn string, parent *x509.Certificate, key *ecdsa.PrivateKey, change ...func(*x509.Certificate)) *x509.Certificate {
		if parent == nil {
			c, _ := newCert(t, cn, nil, nil, change...)
			return c
		}
		c, _ := newCert(t, cn, parent, key, change...)
		return c
	}
	plain := issue("x", ca, caKey, local)
	old := issue("x", ca, caKey, local, expired)
	forClients := issue("x", ca, caKey, local, usage(x509.ExtKeyUsageClientAuth))
	byInter := issue("x", inter, interKey, local)
	withIP := issue("localhost", ca, caKey, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)} })
	selfSigned := issue("localhost", nil, nil, expired)

	for _, tt := range []struct {
		name  string
		host  string
		trust certs
		chain certs
		want  string // in the error; empty: it is trusted
	}{
		{"plain", "localhost", certs{ca}, certs{plain}, ""},
		{"no certificate", "localhost", certs{ca}, nil, "no certificate"},
		{"another authority", "localhost", certs{oldCA}, certs{plain}, "trust store in the settings: x509: certificate signed by unknown authority"},
		{"another host", "kafka", certs{ca}, certs{plain}, "valid for localhost, not kafka"},
		{"another host, names not checked", "", certs{ca}, certs{plain}, ""},
		{"name in small letters", "localhost", certs{ca}, certs{issue("x", ca, caKey, dns("LOCALHOST"))}, ""},
		{"name in the CN", "localhost", certs{ca}, certs{issue("localhost", ca, caKey)}, ""},
		{"wildcard in the CN", "a.example.com", certs{ca}, certs{issue("*.example.com", ca, caKey)}, ""},
		{"another name in the CN", "localhost", certs{ca}, certs{issue("kafka", ca, caKey)}, "valid for kafka, not localhost"},
		{"name in the CN, others beside it", "localhost", certs{ca}, certs{issue("localhost", ca, caKey, dns("kafka"))}, "valid for kafka"},
		{"name in the CN, an address beside it", "localhost", certs{ca}, certs{withIP}, ""},
		{"address", "127.0.0.1", certs{ca}, certs{withIP}, ""},
		{"address in the CN", "127.0.0.1", certs{ca}, certs{issue("127.0.0.1", ca, caKey)}, "legacy Common Name"},
		{"address as a DNS name", "127.0.0.1", certs{ca}, certs{issue("x", ca, caKey, dns("127.0.0.1"))}, "IP SANs"},
		{"wildcard for one level", "a.example.com", certs{ca}, certs{issue("x", ca, caKey, dns("*.example.com"))}, ""},
		{"wildcard for two levels", "a.b.example.com", certs{ca}, certs{issue("x", ca, caKey, dns("*.example.com"))}, "not a.b.example.com"},
		{"expired", "localhost", certs{ca}, certs{old}, "has expired"},
		{"expired, itself trusted", "localhost", certs{old}, certs{old}, ""},
		{"expired, self-signed, trusted", "localhost", certs{selfSigned}, certs{selfSigned}, ""},
		{"expired, self-signed, another one trusted", "localhost", certs{ca}, certs{selfSigned}, "x509: "},
		{"expired authority", "localhost", certs{oldCA}, certs{issue("x", oldCA, oldKey, local)}, ""},
		{"for clients", "localhost", certs{ca}, certs{forClients}, "is not for servers"},
		{"for clients, itself trusted", "localhost", certs{forClients}, certs{forClients}, ""},
		{"itself trusted, another host", "kafka", certs{plain}, certs{plain}, "not kafka"},
		{"for anything", "localhost", certs{ca}, certs{issue("x", ca, caKey, local, usage(x509.ExtKeyUsageAny))}, ""},
		{"intermediate", "localhost", certs{ca}, certs{byInter, inter}, ""},
		{"intermediates in any order", "localhost", certs{ca}, certs{byInter, ca, inter}, ""},
		{"intermediate not sent", "localhost", certs{ca}, certs{byInter}, "unknown authority"},
		{"intermediate trusted", "localhost", certs{inter}, certs{byInter}, ""},
		{"intermediate for clients", "localhost", certs{ca}, certs{issue("x", clientInter, clientInterKey, local), clientInter}, ""},
		{"intermediate expired", "localhost", certs{ca}, certs{issue("x", oldInter, oldInterKey, local), oldInter}, "has expired"},
		{"intermediate expired, itself trusted", "localhost", certs{oldInter}, certs{issue("x", oldInter, oldInterKey, local), oldInter}, ""},
		{"issued by who is no authority", "localhost", certs{noCA}, certs{issue("x", noCA, noCAKey, local)}, "unknown authority"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Load(Spec{TrustStoreType: "PEM", TrustStoreCertificates: NewSecret(pemOf(tt.trust...))})
			if err != nil {
				t.Fatal(err)
			}
			err = m.verify(tt.chain, tt.host, now())
			if tt.want == "" && err != nil {
				t.Errorf("not trusted: %v", err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestNoTrustStore: without one the system's certificates are meant, and a broker
// that they do not know is refused.
func TestNoTrustStore(t *testing.T) {
	t.Parallel()
	r, err := NewReloader(Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := r.Material(); m.Roots != nil {
		t.Error("there are roots, want nil for the system's")
	}
	cert, key := newCert(t, "localhost", nil, nil)
	addr := serve(t, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}})
	_, err = dial(t, addr, r.ClientConfig("localhost", true))
	var bad *tls.CertificateVerificationError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "the system's trusted certificates") {
		t.Errorf("got error %v, want one of verification by the system's trusted certificates", err)
	}
	if _, err = dial(t, addr, r.ClientConfig("localhost", false)); err == nil {
		t.Error("without a check of the name, a certificate of nobody was trusted")
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	ca, caKey := newCA(t, "authority")
	cert, key := newCert(t, "client", ca, caKey, func(c *x509.Certificate) { c.NotAfter = now().Add(30 * time.Minute) })
	m, err := Load(Spec{
		KeyStoreType: "PEM", KeyStoreKey: NewSecret(pemOfKey(t, key)), KeyStoreCertificateChain: NewSecret(pemOf(cert, ca)),
		TrustStoreType: "PEM", TrustStoreCertificates: NewSecret(pemOf(ca)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !m.NotAfter.Equal(cert.NotAfter) {
		t.Errorf("got NotAfter %v, want %v", m.NotAfter, cert.NotAfter)
	}
	for _, tt := range []struct {
		name  string
		at    time.Time
		kinds string
	}{
		{"now", now(), ""},
		{"client's expired", cert.NotAfter.Add(time.Second), "key store kafka expired"},
		{"both expired", ca.NotAfter.Add(time.Second), "key store kafka expired, trust store kafka0 expired"},
		{"too early", ca.NotBefore.Add(-time.Second), "key store kafka not-yet-valid, trust store kafka0 not-yet-valid"},
	} {
		var got []string
		for _, w := range m.Warnings(tt.at) {
			got = append(got, string(w.Store)+" "+w.Alias+" "+string(w.Kind))
			if w.NotAfter.IsZero() || !strings.Contains(w.String(), "CN=") {
				t.Errorf("%s: warning without a date or a subject: %+v", tt.name, w)
			}
		}
		if got := strings.Join(got, ", "); got != tt.kinds {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.kinds)
		}
	}
}

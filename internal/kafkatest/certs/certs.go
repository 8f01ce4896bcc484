// Package certs makes certificate authorities, certificates and the stores that
// Kafka's clients and brokers read them from, for tests. Start at [NewCA]:
//
//	ca := certs.NewCA("test authority")
//	broker := ca.Issue(certs.Request{Name: "broker", Hosts: certs.Loopback()})
//	os.WriteFile("broker.pem", broker.PEM(""), 0o600)
//	os.WriteFile("trust.jks", ca.JKS("changeit"), 0o600)
//
// What cannot fail in a test that is written right panics.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"time"
)

// Loopback are the names under which tests reach their servers.
func Loopback() []string { return []string{"127.0.0.1", "::1", "localhost"} }

// CA is an authority.
type CA struct{ cert *Cert }

// Cert is a certificate with its private key and its issuer.
type Cert struct {
	Leaf   *x509.Certificate
	Key    *ecdsa.PrivateKey
	issuer *x509.Certificate // nil for an authority's own
}

// Request says what a certificate is for.
type Request struct {
	// Name is the common name, which is all of the subject.
	Name string
	// Hosts are IP addresses and DNS names; none for a client.
	Hosts []string
	// NotAfter is a day from now unless set.
	NotAfter time.Time
}

// NewCA makes an authority that is valid for two days, yesterday included.
func NewCA(name string) *CA {
	t := template(Request{Name: name})
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign
	t.ExtKeyUsage = nil
	return &CA{sign(t, nil)}
}

// Issue makes a certificate for servers and clients alike.
func (ca *CA) Issue(r Request) *Cert { return sign(template(r), ca.cert) }

// Cert is the authority's own certificate.
func (ca *CA) Cert() *x509.Certificate { return ca.cert.Leaf }

// Server is the TLS of a server that shows the certificate.
func (c *Cert) Server() *tls.Config {
	pair := tls.Certificate{PrivateKey: c.Key, Leaf: c.Leaf}
	for _, cert := range c.chain() {
		pair.Certificate = append(pair.Certificate, cert.Raw)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}

func template(r Request) *x509.Certificate {
	const serialBits = 120
	t := &x509.Certificate{
		SerialNumber: must(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))),
		Subject:      pkix.Name{CommonName: r.Name},
		NotBefore:    time.Now().Add(-24 * time.Hour),
		NotAfter:     r.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if t.NotAfter.IsZero() {
		t.NotAfter = time.Now().Add(24 * time.Hour)
	}
	for _, host := range r.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, host)
		}
	}
	return t
}

// sign makes a key for t and signs t by issuer, or by itself where that is nil.
func sign(t *x509.Certificate, issuer *Cert) *Cert {
	c := &Cert{Key: must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))}
	parent, by := t, c.Key
	if issuer != nil {
		c.issuer, parent, by = issuer.Leaf, issuer.Leaf, issuer.Key
	}
	der := must(x509.CreateCertificate(rand.Reader, t, parent, c.Key.Public(), by))
	c.Leaf = must(x509.ParseCertificate(der))
	return c
}

func must[T any](value T, err error) T {
	if err != nil {
		panic("certs: " + err.Error())
	}
	return value
}

package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"time"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"github.com/youmark/pkcs8"
	"software.sslmate.com/src/go-pkcs12"
)

// What the entries of stores are called.
const (
	keyAlias   = "client"
	trustAlias = "authority"
)

// PEM is the private key, in PKCS#8 and encrypted unless the password is empty,
// and the chain: what a file of ssl.keystore.type=PEM holds.
func (c *Cert) PEM(password string) []byte { return append(c.KeyPEM(password), c.ChainPEM()...) }

// KeyPEM is ssl.keystore.key: the private key in PKCS#8, encrypted unless the
// password is empty.
func (c *Cert) KeyPEM(password string) []byte {
	block := &pem.Block{Type: "PRIVATE KEY"}
	if password == "" {
		block.Bytes = must(x509.MarshalPKCS8PrivateKey(c.Key))
	} else {
		block.Type = "ENCRYPTED PRIVATE KEY"
		block.Bytes = must(pkcs8.MarshalPrivateKey(c.Key, []byte(password), nil))
	}
	return pem.EncodeToMemory(block)
}

// ChainPEM is ssl.keystore.certificate.chain.
func (c *Cert) ChainPEM() []byte {
	var chain []byte
	for _, cert := range c.chain() {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})...)
	}
	return chain
}

func (c *Cert) chain() []*x509.Certificate {
	if c.issuer == nil {
		return []*x509.Certificate{c.Leaf}
	}
	return []*x509.Certificate{c.Leaf, c.issuer}
}

// PKCS12 is a key store of that type.
func (c *Cert) PKCS12(password string) []byte {
	return must(pkcs12.Modern.Encode(c.Key, c.Leaf, c.chain()[1:], password))
}

// JKS is a key store of that type, whose key may have another password.
func (c *Cert) JKS(storePassword, keyPassword string) []byte {
	entry := keystore.PrivateKeyEntry{
		CreationTime: time.Now(), PrivateKey: must(x509.MarshalPKCS8PrivateKey(c.Key)),
	}
	for _, cert := range c.chain() {
		entry.CertificateChain = append(entry.CertificateChain, jksCertificate(cert))
	}
	ks := keystore.New()
	check(ks.SetPrivateKeyEntry(keyAlias, entry, []byte(keyPassword)))
	return store(ks, storePassword)
}

// PEM is ssl.truststore.certificates, or a file of ssl.truststore.type=PEM.
func (ca *CA) PEM() []byte { return ca.cert.ChainPEM() }

// PKCS12 is a trust store of that type.
func (ca *CA) PKCS12(password string) []byte {
	return must(pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{ca.Cert()}, password))
}

// JKS is a trust store of that type.
func (ca *CA) JKS(password string) []byte {
	ks := keystore.New()
	check(ks.SetTrustedCertificateEntry(trustAlias, keystore.TrustedCertificateEntry{
		CreationTime: time.Now(), Certificate: jksCertificate(ca.Cert()),
	}))
	return store(ks, password)
}

func jksCertificate(c *x509.Certificate) keystore.Certificate {
	return keystore.Certificate{Type: "X509", Content: c.Raw}
}

func store(ks keystore.KeyStore, password string) []byte {
	var b bytes.Buffer
	check(ks.Store(&b, []byte(password)))
	return b.Bytes()
}

func check(err error) { must(0, err) }

package connect

import (
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/keystore"
)

// tlsSettings are the ssl.* settings, whose stores are read again when they
// change.
type tlsSettings struct {
	stores    *keystore.Reloader
	checkName bool
	min, max  uint16
	ciphers   []uint16
}

const (
	keyProtocols = "ssl.enabled.protocols"
	keyCiphers   = "ssl.cipher.suites"
	keyCheckName = "ssl.endpoint.identification.algorithm"
)

// newTLS reads the ssl.* settings with Kafka's defaults: TLS 1.2 and 1.3, host
// names checked.
func newTLS(f *javaprops.File) (*tlsSettings, error) {
	for _, key := range []string{"ssl.engine.factory.class", "ssl.provider", "ssl.trustmanager.algorithm", "ssl.keymanager.algorithm"} {
		if _, ok := f.Get(key); ok {
			return nil, f.Errorf(key, "parts of Java cannot be used; remove the setting to use the stores as they are")
		}
	}
	check, err := f.OneOfFold(keyCheckName, "https", "https", "")
	if err != nil {
		return nil, err
	}
	t := &tlsSettings{checkName: check != "", min: tls.VersionTLS12, max: tls.VersionTLS13}
	if err := t.setVersions(f); err != nil {
		return nil, err
	}
	if err := t.setCiphers(f); err != nil {
		return nil, err
	}
	t.stores, err = keystore.NewReloader(storesOf(f.Secret))
	return t, err
}

// storesOf reads the stores from the settings of a file, or from a login
// module's options, which have the same names.
func storesOf(get func(key string) (javaprops.Secret, bool)) keystore.Spec {
	text := func(key string) string {
		value, _ := get(key)
		return value.Reveal()
	}
	secret := func(key string) keystore.Secret {
		value, ok := get(key)
		if !ok {
			return keystore.Secret{}
		}
		return keystore.NewSecret(value.Reveal())
	}
	return keystore.Spec{
		KeyStoreType: text("ssl.keystore.type"), KeyStoreLocation: text("ssl.keystore.location"),
		KeyStorePassword: secret("ssl.keystore.password"), KeyPassword: secret("ssl.key.password"),
		KeyStoreKey: secret("ssl.keystore.key"), KeyStoreCertificateChain: secret("ssl.keystore.certificate.chain"),
		TrustStoreType: text("ssl.truststore.type"), TrustStoreLocation: text("ssl.truststore.location"),
		TrustStorePassword: secret("ssl.truststore.password"), TrustStoreCertificates: secret("ssl.truststore.certificates"),
	}
}

// tlsVersions are those that Go still speaks to a client's order.
func tlsVersions() map[string]uint16 {
	return map[string]uint16{
		"TLSV1": tls.VersionTLS10, "TLSV1.1": tls.VersionTLS11, "TLSV1.2": tls.VersionTLS12, "TLSV1.3": tls.VersionTLS13,
	}
}

func (t *tlsSettings) setVersions(f *javaprops.File) error {
	names, ok := f.List(keyProtocols)
	if !ok || len(names) == 0 {
		return nil
	}
	var versions []uint16
	for _, name := range names {
		v, known := tlsVersions()[strings.ToUpper(strings.TrimSpace(name))]
		if !known {
			return f.Errorf(keyProtocols, "known are TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3")
		}
		versions = append(versions, v)
	}
	t.min, t.max = slices.Min(versions), slices.Max(versions)
	return nil
}

// setCiphers takes the standard's names, which are Java's too. Go offers all of
// TLS 1.3's, so that a list without any of them, or with nothing else, bounds
// the version instead.
func (t *tlsSettings) setCiphers(f *javaprops.File) error {
	names, ok := f.List(keyCiphers)
	if !ok || len(names) == 0 {
		return nil
	}
	known := slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites())
	old, newest := false, false
	for _, name := range names {
		i := slices.IndexFunc(known, func(c *tls.CipherSuite) bool { return c.Name == strings.TrimSpace(name) })
		if i < 0 {
			continue
		}
		t.ciphers = append(t.ciphers, known[i].ID)
		if slices.Contains(known[i].SupportedVersions, tls.VersionTLS13) {
			newest = true
		} else {
			old = true
		}
	}
	switch {
	case !old && !newest:
		return f.Errorf(keyCiphers, "none of them is one that kafkaops has")
	case !newest:
		t.max = min(t.max, tls.VersionTLS12)
	case !old:
		t.min = max(t.min, tls.VersionTLS13)
	}
	if t.min > t.max {
		return f.Errorf(keyCiphers, "none of them is of a version in %s", keyProtocols)
	}
	return nil
}

// client wraps a connection; the handshake is the caller's to make.
func (t *tlsSettings) client(conn net.Conn, addr string) (*tls.Conn, *handshake) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	conf := t.stores.ClientConfig(host, t.checkName)
	conf.MinVersion, conf.MaxVersion, conf.CipherSuites = t.min, t.max, t.ciphers
	shake := &handshake{}
	choose := conf.GetClientCertificate
	conf.GetClientCertificate = func(req *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		material, _ := t.stores.Material()
		cert, err := choose(req)
		shake.asked, shake.shown, shake.keys = true, cert, len(material.Certificates)
		return cert, err
	}
	return tls.Client(conn, conf), shake
}

// warnings are lines about the stores as they are now.
func (t *tlsSettings) warnings() []string {
	material, err := t.stores.Material()
	var lines []string
	if err != nil {
		lines = append(lines, err.Error())
	}
	for _, w := range material.Warnings(time.Now()) {
		lines = append(lines, w.String())
	}
	return lines
}

// outdated is why the stores as they are now are not in use.
func (t *tlsSettings) outdated() error {
	_, err := t.stores.Material()
	return err
}

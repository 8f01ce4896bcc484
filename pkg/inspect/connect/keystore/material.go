package keystore

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Material is what a client needs for TLS.
type Material struct {
	// Certificates are the private keys with their chains, by alias. Which of them
	// is shown is decided in the handshake, see [Reloader.GetClientCertificate].
	// There is none without a key store, or with one that holds no private key. The
	// keys are a crypto.Signer and nothing else: they sign, and do not print.
	Certificates []tls.Certificate
	// Aliases are those of Certificates, in the same order.
	Aliases []string
	// Roots are the trust store's certificates. Nil without a trust store: then the
	// system's are meant, as Java means those of its own installation. As in Java
	// (and RFC 5280 §6.1), that one of them has expired does not matter.
	Roots *x509.CertPool
	// NotAfter is when the first certificate of Certificates expires, their issuers
	// included; zero where there is none.
	NotAfter time.Time

	warnings []Warning
	held     []heldCert
	anchors  []*x509.Certificate
	// trustedBy says where Roots come from, for errors.
	trustedBy string
}

// heldCert is a certificate whose validity is looked at again and again.
type heldCert struct {
	store         Store
	source, alias string
	cert          *x509.Certificate
}

// Load reads the stores. Errors are of type *Error.
func Load(spec Spec) (*Material, error) {
	keys, err := spec.keyPlace()
	if err != nil {
		return nil, err
	}
	trust, err := spec.trustPlace()
	if err != nil {
		return nil, err
	}
	m := &Material{trustedBy: "the system's trusted certificates"}
	if keys != nil {
		if err := m.loadKeys(keys); err != nil {
			return nil, err
		}
	}
	if trust != nil {
		if err := m.loadTrust(trust); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Material) loadKeys(p *place) error {
	b := newBudget()
	c, err := p.read(b)
	if err != nil {
		return err
	}
	return m.addKeys(p, c, b)
}

// addKeys makes a client certificate of every private key. A wrong password for
// one of them fails all, as it does in Java; any other trouble with an entry is a
// warning as long as another entry can be used.
func (m *Material) addKeys(p *place, c *contents, b *budget) error {
	m.warnHidden(p, c)
	var unusable []*Error
	keys := 0
	for _, e := range c.entries {
		if e.key == nil {
			continue
		}
		keys++
		cert, chain, err := p.clientCertificate(e, c, b)
		var bad *Error
		switch {
		case errors.Is(err, ErrPassword):
			return err
		case errors.As(err, &bad):
			unusable = append(unusable, bad)
			m.warn(p, WarnUnusable, e.alias, bad.Problem)
			continue
		}
		m.Certificates = append(m.Certificates, cert)
		m.Aliases = append(m.Aliases, e.alias)
		for i, link := range chain {
			if i > 0 && selfIssued(link) {
				continue // a root, at whose date peers do not look
			}
			m.held = append(m.held, heldCert{p.store, p.source(), e.alias, link})
			if m.NotAfter.IsZero() || link.NotAfter.Before(m.NotAfter) {
				m.NotAfter = link.NotAfter
			}
		}
	}
	switch {
	case len(m.Certificates) > 0:
		return nil
	case unusable != nil:
		return unusable[0]
	case keys == 0:
		m.warn(p, WarnNoKey, "", "no private key in it: connecting without a certificate, as a Java client does")
	}
	return nil
}

// clientCertificate opens the key of e. Errors are of type *Error.
func (p *place) clientCertificate(e entry, c *contents, b *budget) (tls.Certificate, []*x509.Certificate, error) {
	key, err := p.open(e, b)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	ders := c.chainFor(key, e.chain)
	if len(ders) == 0 {
		return tls.Certificate{}, nil, p.fail(ErrMismatch,
			fmt.Sprintf("the private key of %q has no certificate", e.alias), "", nil)
	}
	leaf, err := x509.ParseCertificate(ders[0])
	if err != nil {
		return tls.Certificate{}, nil, p.fail(ErrUnsupported,
			fmt.Sprintf("the certificate of %q cannot be used: %v", e.alias, err), "", err)
	}
	chain := []*x509.Certificate{leaf}
	for _, der := range ders[1:] {
		if cert, err := x509.ParseCertificate(der); err == nil {
			chain = append(chain, cert)
		}
	}
	if !belongs(key, leaf.PublicKey) {
		problem := fmt.Sprintf("the private key of %q does not belong to its certificate (%s)", e.alias, leaf.Subject)
		if i := slices.IndexFunc(chain, func(c *x509.Certificate) bool { return belongs(key, c.PublicKey) }); i > 0 {
			problem += fmt.Sprintf(", but to certificate %d, which must come first", i+1)
		}
		return tls.Certificate{}, nil, p.fail(ErrMismatch, problem, "", nil)
	}
	return tls.Certificate{Certificate: ders, PrivateKey: hide(key), Leaf: leaf}, chain, nil
}

// open opens the key of e with ssl.key.password, or with the password of the
// store where that is not set.
func (p *place) open(e entry, b *budget) (crypto.Signer, error) {
	password, name := p.keyPassword, "ssl.key.password"
	if !password.IsSet() && p.typ != typePEM {
		password, name = p.password, "ssl.key.password is not set, and ssl.keystore.password"
	}
	pw := passphrase{text: password.text()}
	key, err := e.key(pw, b)
	if errors.Is(err, errWrongPassword) && pw.text == "" {
		pw.bare = true
		key, err = e.key(pw, b)
	}
	var done *Error
	if err == nil || errors.As(err, &done) {
		return key, err
	}
	return nil, p.explain(err, fmt.Sprintf("%s does not open the private key of %q", name, e.alias))
}

func (m *Material) loadTrust(p *place) error {
	c, err := p.read(newBudget())
	if err != nil {
		return err
	}
	return m.addTrust(p, c)
}

// addTrust trusts what Java's PKIX trust manager does: trusted certificates, and
// the first certificate of each private key.
func (m *Material) addTrust(p *place, c *contents) error {
	m.warnHidden(p, c)
	m.Roots = x509.NewCertPool()
	m.trustedBy = fmt.Sprintf("%s %s", p.store, p.source())
	keys := 0
	var unreadable error
	for _, e := range c.entries {
		if e.key != nil {
			keys++
		}
		if len(e.chain) == 0 {
			continue
		}
		cert, err := x509.ParseCertificate(e.chain[0])
		if err != nil {
			unreadable = err
			m.warn(p, WarnUnusable, e.alias, fmt.Sprintf("left out: %v", err))
			continue
		}
		m.anchors = append(m.anchors, cert)
		m.Roots.AddCert(ageless(cert))
		m.held = append(m.held, heldCert{p.store, p.source(), e.alias, cert})
	}
	if len(m.anchors) == 0 {
		return p.noTrust(c, unreadable)
	}
	if c.loose > 0 && keys == 0 {
		m.warn(p, WarnIgnored, "", fmt.Sprintf("%d certificates are not marked as trusted, and Java ignores them", c.loose))
	}
	return nil
}

// noTrust says why a store has nothing to trust. Java takes such a store and
// fails at the first connection: "the trustAnchors parameter must be non-empty".
func (p *place) noTrust(c *contents, unreadable error) error {
	switch {
	case unreadable != nil:
		return p.fail(ErrNoTrust, fmt.Sprintf("no certificate in it can be used: %v", unreadable), "", unreadable)
	case c.sealed:
		return p.fail(ErrNoTrust, "its certificates are encrypted, and ssl.truststore.password is not set",
			"set ssl.truststore.password", nil)
	case c.loose > 0:
		return p.fail(ErrNoTrust,
			fmt.Sprintf("none of its %d certificates has the attribute that marks it as trusted, so Java ignores them", c.loose),
			fmt.Sprintf("take them out with openssl pkcs12 -in %s -nokeys -out ca.pem, then set ssl.truststore.type=PEM "+
				"and ssl.truststore.location to that file, with no password, or put each into a new store with "+
				"keytool -importcert -noprompt -alias ca -file ca.pem -keystore trust.p12 -storetype PKCS12",
				shellQuote(p.path)), nil)
	default:
		return p.fail(ErrNoTrust, "no trusted certificate in it", "", nil)
	}
}

// ageless is cert without its validity, which does not bind a trust anchor.
func ageless(cert *x509.Certificate) *x509.Certificate {
	c := *cert
	c.NotBefore = time.Time{}
	c.NotAfter = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	return &c
}

func selfIssued(c *x509.Certificate) bool { return string(c.RawIssuer) == string(c.RawSubject) }

// String says how much there is.
func (m Material) String() string {
	return fmt.Sprintf("%d client certificates, %d trusted certificates", len(m.Certificates), len(m.anchors))
}

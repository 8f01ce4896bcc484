package keystore

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// verify checks a broker's certificates as a Java client does, which differs from
// crypto/tls in what matters to clusters that have been up for years:
//
//   - a broker's certificate that is itself in the trust store is trusted, expired
//     or not and whatever it is for;
//   - the validity of a trusted issuer is not looked at;
//   - a name is looked for in the subject's CN where there is no DNS name among the
//     alternative ones;
//   - what a certificate may be used for is asked of the broker's own alone.
//
// host is empty where ssl.endpoint.identification.algorithm is.
func (m *Material) verify(chain []*x509.Certificate, host string, now time.Time) error {
	if len(chain) == 0 {
		return errors.New("the broker showed no certificate")
	}
	leaf := chain[0]
	if !slices.ContainsFunc(m.anchors, leaf.Equal) {
		opts := x509.VerifyOptions{
			Roots:         m.Roots,
			Intermediates: x509.NewCertPool(),
			CurrentTime:   now,
			KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
		}
		for _, c := range chain[1:] {
			opts.Intermediates.AddCert(c)
		}
		if _, err := leaf.Verify(opts); err != nil {
			return fmt.Errorf("certificate %s, by %s: %w", leaf.Subject, m.trustedBy, err)
		}
		if !mayServe(leaf) {
			return fmt.Errorf("certificate %s is not for servers: its extended key usage lacks serverAuth", leaf.Subject)
		}
	}
	if host == "" {
		return nil
	}
	return verifyHost(leaf, host)
}

func mayServe(c *x509.Certificate) bool {
	if len(c.ExtKeyUsage) == 0 && len(c.UnknownExtKeyUsage) == 0 {
		return true
	}
	return slices.ContainsFunc(c.ExtKeyUsage, func(u x509.ExtKeyUsage) bool {
		return u == x509.ExtKeyUsageServerAuth || u == x509.ExtKeyUsageAny ||
			u == x509.ExtKeyUsageNetscapeServerGatedCrypto || u == x509.ExtKeyUsageMicrosoftServerGatedCrypto
	})
}

// verifyHost is RFC 2818 §3.1 with its way back to the CN, which Java still takes.
func verifyHost(c *x509.Certificate, host string) error {
	err := c.VerifyHostname(host)
	if err == nil || len(c.DNSNames) > 0 || c.Subject.CommonName == "" {
		return err
	}
	named := *c
	named.DNSNames = []string{c.Subject.CommonName}
	return named.VerifyHostname(host)
}

package keystore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Spec holds Kafka's settings. Empty strings and zero secrets are settings that
// were not made. Values are taken as they are: whoever reads a properties file
// trims them as Kafka does.
type Spec struct {
	// KeyStoreType is ssl.keystore.type: JKS (the default), PKCS12 or PEM.
	KeyStoreType string
	// KeyStoreLocation is ssl.keystore.location, a file.
	KeyStoreLocation string
	// KeyStorePassword is ssl.keystore.password, that of the file.
	KeyStorePassword Secret
	// KeyPassword is ssl.key.password, that of the private keys; without it they are
	// opened with the password of the file.
	KeyPassword Secret
	// KeyStoreKey and KeyStoreCertificateChain are ssl.keystore.key and
	// ssl.keystore.certificate.chain: PEM in place of a file.
	KeyStoreKey, KeyStoreCertificateChain Secret

	// TrustStoreType is ssl.truststore.type.
	TrustStoreType string
	// TrustStoreLocation is ssl.truststore.location, a file.
	TrustStoreLocation string
	// TrustStorePassword is ssl.truststore.password. Without it a JKS file is used
	// and not checked; of a PKCS12 file only what is not encrypted is seen.
	TrustStorePassword Secret
	// TrustStoreCertificates is ssl.truststore.certificates: PEM in place of a file.
	TrustStoreCertificates Secret
}

// The types of stores. Kafka's settings name the first three.
const (
	typeJKS    = "JKS"
	typePKCS12 = "PKCS12"
	typePEM    = "PEM"
	typeJCEKS  = "JCEKS"
)

// place is one of the two stores as the settings describe it.
type place struct {
	store Store
	// prefix starts the names of its settings.
	prefix string
	// typ is what was declared, in capitals.
	typ                   string
	path                  string
	password, keyPassword Secret
	// key and certificates are PEM in the settings.
	key, certificates Secret
}

// keyPlace checks the settings as Kafka's DefaultSslEngineFactory does. It is nil
// where there is no key store.
func (s Spec) keyPlace() (*place, error) {
	p := &place{
		store: KeyStore, prefix: "ssl.keystore", typ: declared(s.KeyStoreType), path: s.KeyStoreLocation,
		password: s.KeyStorePassword, keyPassword: s.KeyPassword,
		key: s.KeyStoreKey, certificates: s.KeyStoreCertificateChain,
	}
	inline := p.key.IsSet() || p.certificates.IsSet()
	switch {
	case !inline && p.path == "" && p.password.IsSet():
		return nil, p.contradiction("ssl.keystore.password is set, and ssl.keystore.location is not")
	case !inline && p.path == "":
		return nil, nil
	case inline && p.typ != typePEM:
		return nil, p.contradiction("a key or a certificate chain in the settings needs ssl.keystore.type=PEM")
	case inline && !p.certificates.IsSet():
		return nil, p.contradiction("ssl.keystore.key is set, and ssl.keystore.certificate.chain is not")
	case inline && !p.key.IsSet():
		return nil, p.contradiction("ssl.keystore.certificate.chain is set, and ssl.keystore.key is not")
	case inline && p.path != "":
		return nil, p.contradiction("ssl.keystore.location and ssl.keystore.key are both set")
	case p.typ == typePEM && p.password.IsSet():
		return nil, p.contradiction("ssl.keystore.password is not for PEM; the password of the key is ssl.key.password")
	case p.typ != typePEM && !p.password.IsSet():
		return nil, p.contradiction("ssl.keystore.location is set, and ssl.keystore.password is not")
	}
	if err := p.checkType(); err != nil {
		return nil, err
	}
	return p, nil
}

// trustPlace is keyPlace for the trust store.
func (s Spec) trustPlace() (*place, error) {
	p := &place{
		store: TrustStore, prefix: "ssl.truststore", typ: declared(s.TrustStoreType), path: s.TrustStoreLocation,
		password: s.TrustStorePassword, certificates: s.TrustStoreCertificates,
	}
	inline := p.certificates.IsSet()
	switch {
	case !inline && p.path == "" && p.password.IsSet():
		return nil, p.contradiction("ssl.truststore.password is set, and ssl.truststore.location is not")
	case !inline && p.path == "":
		return nil, nil
	case inline && p.typ != typePEM:
		return nil, p.contradiction("certificates in the settings need ssl.truststore.type=PEM")
	case inline && p.path != "":
		return nil, p.contradiction("ssl.truststore.location and ssl.truststore.certificates are both set")
	case p.typ == typePEM && p.password.IsSet():
		return nil, p.contradiction("ssl.truststore.password is not for PEM")
	}
	if err := p.checkType(); err != nil {
		return nil, err
	}
	return p, nil
}

func declared(typ string) string {
	if typ == "" {
		return typeJKS
	}
	return strings.ToUpper(typ)
}

func (p *place) checkType() error {
	switch p.typ {
	case typeJKS, typePKCS12, typePEM:
		return nil
	}
	return p.fail(ErrUnsupported, fmt.Sprintf("%s.type=%s is not supported, only JKS, PKCS12 and PEM are", p.prefix, p.typ),
		"convert it: "+p.importCommand(p.typ), nil)
}

func (p *place) contradiction(problem string) error { return p.fail(ErrSettings, problem, "", nil) }

func (p *place) fail(kind error, problem, remedy string, cause error) *Error {
	return &Error{
		Store: p.store, Source: p.source(), Type: p.typ, Problem: problem, Remedy: remedy, kind: kind, cause: cause,
	}
}

// source is where the store lies: a file, or the settings.
func (p *place) source() string {
	switch {
	case p.path != "":
		return p.path
	case p.key.IsSet() || p.certificates.IsSet():
		return "in the settings"
	default:
		return ""
	}
}

// importCommand lets keytool write the store anew.
func (p *place) importCommand(from string) string {
	return fmt.Sprintf("keytool -importkeystore -srckeystore %s -srcstoretype %s -destkeystore %s -deststoretype PKCS12",
		shellQuote(p.path), from, shellQuote(p.path+".new.p12"))
}

// content reads the file.
func (p *place) content() ([]byte, error) {
	unreadable := func(err error) error {
		var pathErr *os.PathError
		if errors.As(err, &pathErr) {
			return p.fail(ErrFile, pathErr.Err.Error(), "", err)
		}
		return p.fail(ErrFile, err.Error(), "", err)
	}
	f, err := os.Open(p.path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxStoreBytes+1))
	switch {
	case err != nil:
		return nil, unreadable(err)
	case len(data) > maxStoreBytes:
		return nil, p.fail(ErrFormat, fmt.Sprintf("more than %d MiB: this is no %s", maxStoreBytes>>20, p.store), "", nil)
	case len(data) == 0:
		return nil, p.fail(ErrFormat, "the file is empty", "", nil)
	}
	return data, nil
}

package keystore

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"fmt"
)

// read reads the store whose declaration the settings are. Java's types JKS and
// PKCS12 each read both formats (keystore.type.compat in java.security, true by
// default), so the content decides between them.
func (p *place) read(b *budget) (*contents, error) {
	if p.typ == typePEM {
		return p.readPEM()
	}
	data, err := p.content()
	if err != nil {
		return nil, err
	}
	return p.decode(data, b)
}

func (p *place) decode(data []byte, b *budget) (*contents, error) {
	switch found := sniff(data); found {
	case typeJKS:
		p.typ = found
		c, err := readJKS(data, p.password)
		return c, p.explain(err, p.prefix+".password does not open it, or the file was altered")
	case typePKCS12:
		p.typ = found
		if err := p.checkLength(data); err != nil {
			return nil, err
		}
		c, err := readPKCS12(data, p.password, b)
		return c, p.explain(err, p.prefix+".password does not open it, or the file was altered")
	case typePEM:
		return nil, p.fail(ErrFormat, fmt.Sprintf("the file is PEM, and %s.type is %s", p.prefix, p.typ),
			fmt.Sprintf("set %s.type=PEM and no %[1]s.password", p.prefix), nil)
	case typeJCEKS:
		return nil, p.fail(ErrUnsupported, "the file is a JCEKS store", "convert it: "+p.importCommand(found), nil)
	}
	if _, err := x509.ParseCertificate(data); err == nil {
		return nil, p.fail(ErrFormat, "the file is one bare certificate (DER), no store", fmt.Sprintf(
			"put it into one: keytool -importcert -noprompt -alias ca -file %s -keystore %s -storetype PKCS12",
			shellQuote(p.path), shellQuote(p.path+".p12")), nil)
	}
	return nil, p.fail(ErrFormat, "neither a JKS nor a PKCS12 store", "", nil)
}

// sniff tells the type by the first bytes; it is empty for none that is known. A
// PKCS12 file and a DER certificate are both an ASN.1 sequence; the one starts
// with a number, the other with a sequence.
func sniff(data []byte) string {
	if len(data) >= 4 {
		switch binary.BigEndian.Uint32(data) {
		case jksMagic:
			return typeJKS
		case jceksMagic:
			return typeJCEKS
		}
	}
	switch {
	case bytes.Contains(data, []byte("-----BEGIN ")):
		return typePEM
	case len(data) >= 2 && data[0] == asn1.TagSequence|0x20 && !holdsSequence(data):
		return typePKCS12
	default:
		return ""
	}
}

// holdsSequence reports whether the first element of the outer sequence is one,
// as in a certificate.
func holdsSequence(data []byte) bool {
	header := 2
	if data[1] > 0x80 {
		header += int(data[1] & 0x7f)
	}
	return header < len(data) && data[header] == asn1.TagSequence|0x20
}

// checkLength tells a file that is cut short, or is still being written, from
// other damage: an ASN.1 sequence says at its start how long it is, unless it
// leaves that open.
func (p *place) checkLength(data []byte) error {
	header, length := 2, int(data[1])
	if length > 0x80 {
		n := length & 0x7f
		if header += n; n > 4 || header > len(data) {
			return nil // the parser says what is wrong
		}
		length = 0
		for _, b := range data[2:header] {
			length = length<<8 | int(b)
		}
	}
	if data[1] != 0x80 && header+length > len(data) {
		return p.fail(ErrFormat, fmt.Sprintf("the file is cut short: %d bytes of %d", len(data), header+length), "", nil)
	}
	return nil
}

// explain makes an *Error of what a format's reader returned.
func (p *place) explain(err error, wrongPassword string) error {
	var unsupported *unsupportedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errWrongPassword):
		return p.fail(ErrPassword, "wrong password: "+wrongPassword, "", nil)
	case errors.As(err, &unsupported) && unsupported.key:
		return p.fail(ErrUnsupported, err.Error(), "use a key of RSA, of EC on P-256, P-384 or P-521, or of Ed25519", err)
	case errors.As(err, &unsupported) && p.typ == typePEM:
		return p.fail(ErrUnsupported, err.Error(), "convert the key: "+p.pkcs8Command(), err)
	case errors.As(err, &unsupported):
		return p.fail(ErrUnsupported, err.Error(), "convert the store: "+p.importCommand(p.typ), err)
	default:
		return p.fail(ErrFormat, err.Error(), "", err)
	}
}

// pkcs8Command lets OpenSSL write a key in the one form that Kafka reads.
func (p *place) pkcs8Command() string {
	path := p.path
	if path == "" {
		path = "key.pem"
	}
	return fmt.Sprintf("openssl pkcs8 -topk8 -v2 aes-256-cbc -in %s -out %s", shellQuote(path), shellQuote(path+".new"))
}

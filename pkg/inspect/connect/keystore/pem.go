package keystore

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// PEM as Kafka reads it: blocks anywhere in a text, whose lines may be joined by
// blanks, as they are in a properties file. The standard library wants each
// marker on a line of its own.

type pemBlock struct {
	label string
	// encrypted is OpenSSL's own encryption, declared in the block's header.
	encrypted bool
	der       []byte
}

const (
	pemBegin, pemEnd, pemDashes = "-----BEGIN ", "-----END ", "-----"
)

// parsePEM returns all blocks. A block that does not end is an error: the text is
// cut short.
func parsePEM(text string) ([]pemBlock, error) {
	var blocks []pemBlock
	for {
		_, rest, found := strings.Cut(text, pemBegin)
		if !found {
			return blocks, nil
		}
		if len(blocks) == maxParts {
			return nil, fmt.Errorf("%w: more than %d PEM blocks", errDamaged, maxParts)
		}
		label, rest, ok := strings.Cut(rest, pemDashes)
		body, rest, ok2 := strings.Cut(rest, pemEnd)
		_, rest, ok3 := strings.Cut(rest, pemDashes)
		if !ok || !ok2 || !ok3 || strings.Contains(body, pemBegin) {
			return nil, fmt.Errorf("%w: PEM block %d does not end, the text is cut short", errDamaged, len(blocks)+1)
		}
		block := pemBlock{label: strings.Join(strings.Fields(label), " ")}
		var b64 strings.Builder
		for line := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if strings.Contains(line, ":") {
				block.encrypted = block.encrypted || strings.Contains(line, "ENCRYPTED")
				continue
			}
			for word := range strings.FieldsSeq(line) {
				b64.WriteString(word)
			}
		}
		der, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(b64.String(), "="))
		if err != nil {
			return nil, fmt.Errorf("%w: PEM block %d is not base64", errDamaged, len(blocks)+1)
		}
		block.der = der
		blocks = append(blocks, block)
		text = rest
	}
}

func (b pemBlock) isCertificate() bool {
	// OpenSSL's TRUSTED CERTIFICATE is one with more behind it.
	return b.label == "CERTIFICATE" || b.label == "X509 CERTIFICATE" || b.label == "TRUSTED CERTIFICATE"
}

func (b pemBlock) isPrivateKey() bool { return strings.HasSuffix(b.label, "PRIVATE KEY") }

// printableLabels may stand in an error. Any other could be what a broken marker
// has swallowed, a key for instance.
var printableLabels = []string{
	"CERTIFICATE", "CERTIFICATE REQUEST", "DH PARAMETERS", "DSA PRIVATE KEY", "EC PARAMETERS", "EC PRIVATE KEY",
	"ENCRYPTED PRIVATE KEY", "NEW CERTIFICATE REQUEST", "OPENSSH PRIVATE KEY", "PKCS7", "PRIVATE KEY", "PUBLIC KEY",
	"RSA PRIVATE KEY", "TRUSTED CERTIFICATE", "X509 CERTIFICATE", "X509 CRL",
}

func (b pemBlock) printable() string {
	if slices.Contains(printableLabels, b.label) {
		return b.label
	}
	return "another kind"
}

// holding lists what there is in place of what was looked for.
func holding(blocks []pemBlock) string {
	var labels []string
	for _, b := range blocks {
		if l := b.printable(); !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	if labels == nil {
		return "no PEM block at all"
	}
	return "only " + strings.Join(labels, ", ")
}

// readPEM reads the file, or the settings. The aliases are those that Kafka gives.
func (p *place) readPEM() (*contents, error) {
	keyText, certText := p.key.text(), p.certificates.text()
	if p.path != "" {
		data, err := p.content()
		if err != nil {
			return nil, err
		}
		if found := sniff(data); found != typePEM && found != "" {
			return nil, p.fail(ErrFormat, fmt.Sprintf("the file is a %s store, and %s.type is PEM", found, p.prefix),
				fmt.Sprintf("set %s.type=%s", p.prefix, found), nil)
		}
		keyText, certText = string(data), string(data)
	}
	return p.decodePEM(keyText, certText)
}

func (p *place) decodePEM(keyText, certText string) (*contents, error) {
	blocks, err := parsePEM(certText)
	if err != nil {
		return nil, p.explain(err, "")
	}
	chain, err := p.pemCertificates(blocks)
	if err != nil {
		return nil, err
	}
	c := &contents{}
	if p.store == TrustStore {
		for i, der := range chain {
			c.entries = append(c.entries, entry{alias: fmt.Sprintf("kafka%d", i), chain: [][]byte{der}})
		}
		return c, nil
	}
	if blocks, err = parsePEM(keyText); err != nil {
		return nil, p.explain(err, "")
	}
	key, err := p.pemKey(blocks)
	if err != nil {
		return nil, err
	}
	if err := p.checkOrder(chain); err != nil {
		return nil, err
	}
	c.entries = []entry{{alias: "kafka", key: key, chain: chain}}
	return c, nil
}

func (p *place) pemCertificates(blocks []pemBlock) ([][]byte, error) {
	var chain [][]byte
	for _, b := range blocks {
		if !b.isCertificate() {
			continue
		}
		var first asn1.RawValue
		if _, err := asn1.Unmarshal(b.der, &first); err != nil {
			return nil, p.fail(ErrFormat, fmt.Sprintf("damaged: certificate %d is none: %v", len(chain)+1, err), "", err)
		}
		chain = append(chain, first.FullBytes)
	}
	if chain == nil {
		kind := ErrFormat
		if p.store == TrustStore {
			kind = ErrNoTrust
		}
		return nil, p.fail(kind, "no certificate in it, "+holding(blocks), "", nil)
	}
	return chain, nil
}

// checkOrder refuses what Kafka refuses: each certificate is issued by the next.
func (p *place) checkOrder(chain [][]byte) error {
	for i := range len(chain) - 1 {
		child, err1 := x509.ParseCertificate(chain[i])
		parent, err2 := x509.ParseCertificate(chain[i+1])
		// What cannot be parsed is reported, with its alias, where it is to be used.
		if err1 == nil && err2 == nil && !bytes.Equal(child.RawIssuer, parent.RawSubject) {
			return p.fail(ErrFormat, fmt.Sprintf("the certificates are out of order: %d was not issued by %d", i+1, i+2),
				"put the client's own certificate first and behind each one its issuer's", nil)
		}
	}
	return nil
}

// pemKey finds the one private key. Kafka takes PKCS#8 alone; the older forms of
// OpenSSL do no harm.
func (p *place) pemKey(blocks []pemBlock) (openKey, error) {
	var keys []pemBlock
	for _, b := range blocks {
		if b.isPrivateKey() {
			keys = append(keys, b)
		}
	}
	switch len(keys) {
	case 0:
		return nil, p.fail(ErrNoKey, "no private key in it, "+holding(blocks), "", nil)
	case 1:
		return func(pw passphrase, b *budget) (crypto.Signer, error) { return p.openPEMKey(keys[0], pw, b) }, nil
	default:
		return nil, p.fail(ErrFormat, fmt.Sprintf("%d private keys in it; Kafka takes one", len(keys)), "", nil)
	}
}

func (p *place) openPEMKey(block pemBlock, pw passphrase, b *budget) (crypto.Signer, error) {
	if block.encrypted {
		return nil, &unsupportedError{what: "a private key in OpenSSL's own encryption (Proc-Type: 4,ENCRYPTED)"}
	}
	if len(block.der) > maxKeyBytes {
		return nil, fmt.Errorf("%w: a private key of %d bytes", errDamaged, len(block.der))
	}
	switch block.label {
	case "PRIVATE KEY", "ENCRYPTED PRIVATE KEY":
		if len(block.der) < 2 || !holdsSequence(block.der) {
			return parsePKCS8(block.der)
		}
		if !p.keyPassword.IsSet() {
			return nil, p.fail(ErrPassword, "the private key is encrypted, and ssl.key.password is not set", "", nil)
		}
		return openSealedKey(block.der, pw, b)
	case "RSA PRIVATE KEY":
		key, err := x509.ParsePKCS1PrivateKey(block.der)
		if err != nil {
			return nil, fmt.Errorf("%w: not a PKCS#1 key", errDamaged)
		}
		return key, nil
	case "EC PRIVATE KEY":
		key, err := x509.ParseECPrivateKey(block.der)
		if err != nil {
			return nil, fmt.Errorf("%w: not a SEC 1 key, or on a curve that is not supported", errDamaged)
		}
		return key, nil
	default:
		return nil, &unsupportedError{what: "a PEM block of " + block.printable()}
	}
}

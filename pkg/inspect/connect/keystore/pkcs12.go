package keystore

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"hash"
)

// PKCS#12 (RFC 7292), as far as stores of keytool and OpenSSL go:
//
//	PFX            version 3, authSafe, macData over authSafe's bytes
//	authSafe       a list of safes, each in the clear or encrypted as a whole
//	safe           a list of bags, each with attributes
//	bag            an encrypted key (or one in the clear), a certificate, others
//	attributes     friendlyName: the alias; localKeyId: which key and certificate go
//	               together; Oracle's trustedKeyUsage: this certificate is trusted
//
// It is read here and not by software.sslmate.com/src/go-pkcs12, whose functions
// give one key without its alias, or trusted certificates if there is nothing
// else, want a password, and derive keys for as many iterations as a file says.

var (
	oidData          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidEncryptedData = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 6}

	oidKeyBag       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 1}
	oidSealedKeyBag = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 2}
	oidCertBag      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 3}

	oidX509Certificate = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 22, 1}

	oidFriendlyName    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 20}
	oidLocalKeyID      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 21}
	oidTrustedKeyUsage = asn1.ObjectIdentifier{2, 16, 840, 1, 113894, 746875, 1, 1}

	oidPBMAC1 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 14}
)

type pfx struct {
	Version  int
	AuthSafe contentInfo
	Mac      macData `asn1:"optional"`
}

type contentInfo struct {
	Type    asn1.ObjectIdentifier
	Content asn1.RawValue `asn1:"tag:0,explicit,optional"`
}

type macData struct {
	Digest struct {
		Algorithm pkix.AlgorithmIdentifier
		Digest    []byte
	}
	Salt       []byte
	Iterations int `asn1:"optional,default:1"`
}

type encryptedData struct {
	Version int
	Info    struct {
		Type      asn1.ObjectIdentifier
		Algorithm pkix.AlgorithmIdentifier
		// Content is an octet string under another tag, whose pieces toDER has left
		// as they are.
		Content asn1.RawValue `asn1:"tag:0,optional"`
	}
}

// sealed is what is encrypted.
func (e *encryptedData) sealed() []byte {
	content := e.Info.Content
	if !content.IsCompound {
		return content.Bytes
	}
	var whole []byte
	for rest := content.Bytes; len(rest) > 0; {
		var piece []byte
		var err error
		if rest, err = asn1.Unmarshal(rest, &piece); err != nil {
			return nil // which decrypts to nothing
		}
		whole = append(whole, piece...)
	}
	return whole
}

type safeBag struct {
	ID         asn1.ObjectIdentifier
	Value      asn1.RawValue  `asn1:"tag:0,explicit"`
	Attributes []bagAttribute `asn1:"set,optional"`
}

type bagAttribute struct {
	ID     asn1.ObjectIdentifier
	Values asn1.RawValue `asn1:"set"`
}

// readPKCS12 reads data. Without a password it takes what lies in the clear and
// checks no MAC, as Java does.
func readPKCS12(data []byte, password Secret, b *budget) (*contents, error) {
	var p pfx
	if err := unmarshal(data, &p, "the outer structure"); err != nil {
		return nil, err
	}
	if p.Version != 3 {
		return nil, fmt.Errorf("%w: PKCS#12 of version %d", errDamaged, p.Version)
	}
	if !p.AuthSafe.Type.Equal(oidData) {
		return nil, &unsupportedError{what: "a PKCS#12 store that a public key protects"}
	}
	var authSafe []byte
	if _, err := asn1.Unmarshal(p.AuthSafe.Content.Bytes, &authSafe); err != nil {
		return nil, malformed("the authenticated safe", err)
	}
	r := &pkcs12Reader{budget: b, contents: &contents{}}
	if password.IsSet() {
		pw, err := b.checkMAC(p.Mac, authSafe, password)
		if err != nil {
			return nil, err
		}
		r.password = &pw
	}
	var safes []contentInfo
	if err := unmarshal(authSafe, &safes, "the list of safes"); err != nil {
		return nil, err
	}
	for _, s := range safes {
		if err := r.safe(s); err != nil {
			return nil, err
		}
	}
	r.assemble()
	return r.contents, nil
}

// unmarshal reads what may be BER.
func unmarshal(data []byte, into any, what string) error {
	der, err := toDER(data)
	if err != nil {
		return malformed(what, err)
	}
	if _, err := asn1.Unmarshal(der, into); err != nil {
		return malformed(what, err)
	}
	return nil
}

func malformed(what string, err error) error { return fmt.Errorf("%w: %s: %w", errDamaged, what, err) }

// checkMAC returns the password in the shape that fits. A store without a MAC is
// taken as it is, as Java takes it.
func (b *budget) checkMAC(m macData, authSafe []byte, password Secret) (passphrase, error) {
	pw := passphrase{text: password.text()}
	if len(m.Digest.Algorithm.Algorithm) == 0 {
		return pw, nil
	}
	for {
		mac, err := b.mac(m, authSafe, pw)
		switch {
		case err != nil:
			return pw, err
		case hmac.Equal(mac, m.Digest.Digest):
			return pw, nil
		case pw.text != "" || pw.bare:
			return pw, errWrongPassword
		}
		pw.bare = true
	}
}

func (b *budget) mac(m macData, authSafe []byte, pw passphrase) ([]byte, error) {
	alg := m.Digest.Algorithm
	if alg.Algorithm.Equal(oidPBMAC1) {
		return b.pbmac1(alg, authSafe, pw)
	}
	newHash, ok := digests[alg.Algorithm.String()]
	if !ok {
		return nil, unsupportedOID("the MAC with", alg.Algorithm)
	}
	if err := b.spend(m.Iterations); err != nil {
		return nil, err
	}
	const macID = 3
	h := hmac.New(newHash, pkcs12KDF(newHash, macID, pw.bmp(), m.Salt, m.Iterations, newHash().Size()))
	h.Write(authSafe)
	return h.Sum(nil), nil
}

// digests are those of Java's MACs for PKCS#12.
var digests = map[string]func() hash.Hash{
	"1.3.14.3.2.26":          sha1.New,
	"2.16.840.1.101.3.4.2.4": sha256.New224,
	"2.16.840.1.101.3.4.2.1": sha256.New,
	"2.16.840.1.101.3.4.2.2": sha512.New384,
	"2.16.840.1.101.3.4.2.3": sha512.New,
	"2.16.840.1.101.3.4.2.5": sha512.New512_224,
	"2.16.840.1.101.3.4.2.6": sha512.New512_256,
}

// minPBMAC1KeyBytes keeps out keys so short that a MAC can be guessed (RFC 9879 §5).
const minPBMAC1KeyBytes = 20

// pbmac1 is the MAC of RFC 9879, which OpenSSL writes since 3.4 on demand.
func (b *budget) pbmac1(alg pkix.AlgorithmIdentifier, authSafe []byte, pw passphrase) ([]byte, error) {
	var params struct{ KDF, MAC pkix.AlgorithmIdentifier }
	if _, err := asn1.Unmarshal(alg.Parameters.FullBytes, &params); err != nil {
		return nil, malformed("parameters of PBMAC1", err)
	}
	newHash, err := hmacHash(params.MAC.Algorithm)
	if err != nil {
		return nil, err
	}
	key, err := b.pbkdf2(params.KDF, 0, pw)
	if err != nil {
		return nil, err
	}
	if len(key) < minPBMAC1KeyBytes {
		return nil, fmt.Errorf("%w: PBMAC1 with a key of %d bytes", errDamaged, len(key))
	}
	h := hmac.New(newHash, key)
	h.Write(authSafe)
	return h.Sum(nil), nil
}

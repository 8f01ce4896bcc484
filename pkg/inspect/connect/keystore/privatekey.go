package keystore

import (
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
)

// publicKey is what every public key of the standard library can do.
type publicKey interface {
	Equal(x crypto.PublicKey) bool
}

// openSealedKey decrypts an EncryptedPrivateKeyInfo (RFC 5958 §3).
func openSealedKey(der []byte, pw passphrase, b *budget) (crypto.Signer, error) {
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Sealed    []byte
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return nil, malformed("an encrypted key", err)
	}
	plain, err := b.decrypt(info.Algorithm, info.Sealed, pw)
	if err != nil {
		return nil, err
	}
	key, err := parsePKCS8(plain)
	if errors.Is(err, errDamaged) {
		// A wrong password leaves valid padding once in 256 times.
		return nil, errWrongPassword
	}
	return key, err
}

// maxKeyBytes is twice what an RSA key of 16384 bits takes. Larger numbers would
// be checked for a long time.
const maxKeyBytes = 20_000

// parsePKCS8 returns a key that can sign.
func parsePKCS8(der []byte) (crypto.Signer, error) {
	if len(der) > maxKeyBytes {
		return nil, fmt.Errorf("%w: a private key of %d bytes", errDamaged, len(der))
	}
	var outer struct {
		Version   int
		Algorithm pkix.AlgorithmIdentifier
		Key       []byte
	}
	if _, err := asn1.Unmarshal(der, &outer); err != nil {
		return nil, fmt.Errorf("%w: not a PKCS#8 key", errDamaged)
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if s, ok := key.(crypto.Signer); ok && err == nil {
		return s, nil
	}
	err = unsupportedOID("a private key of algorithm", outer.Algorithm.Algorithm)
	if name, ok := knownKeys[outer.Algorithm.Algorithm.String()]; ok {
		// Go knows the algorithm and refuses this key: the curve, or the numbers.
		err = &unsupportedError{what: "this " + name + " private key"}
	}
	var unsupported *unsupportedError
	if errors.As(err, &unsupported) {
		unsupported.key = true
	}
	return nil, err
}

var knownKeys = map[string]string{
	"1.2.840.113549.1.1.1": "RSA",
	"1.2.840.10045.2.1":    "EC",
	"1.3.101.112":          "Ed25519",
}

// belongs reports whether key is the private half of pub.
func belongs(key crypto.Signer, pub any) bool {
	p, ok := pub.(publicKey)
	return ok && p.Equal(key.Public())
}

// hiddenKey signs, and shows an address to every printer. That Material hides its
// keys would not do: fmt prints what lies behind an unexported pointer, without
// asking its methods, where the verb does not suit a pointer.
type hiddenKey struct{ signer func() crypto.Signer }

func hide(key crypto.Signer) hiddenKey { return hiddenKey{func() crypto.Signer { return key }} }

// Public implements crypto.Signer.
func (k hiddenKey) Public() crypto.PublicKey { return k.signer().Public() }

// Sign implements crypto.Signer.
func (k hiddenKey) Sign(rand io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return k.signer().Sign(rand, digest, opts)
}

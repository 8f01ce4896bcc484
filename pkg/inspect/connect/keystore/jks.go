package keystore

import (
	"crypto"
	"crypto/sha1"
	"crypto/subtle"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"fmt"
	"strings"
)

// JKS, all numbers big-endian:
//
//	file    magic 4 | version 4 (1 or 2) | count 4 | entries | digest 20
//	entry   tag 4 = 1 | alias | created 8 | length 4 | sealed key | count 4 | certificates
//	        tag 4 = 2 | alias | created 8 | certificate
//	alias   length 2 | modified UTF-8
//	cert    type as an alias, "X.509", only in version 2 | length 4 | DER
//	digest  SHA-1 of the password in UTF-16, "Mighty Aphrodite" and all before it
//
// A sealed key is an EncryptedPrivateKeyInfo of Sun's own algorithm:
//
//	salt 20 | key XOR stream | SHA-1 of password and key 20
//	stream  s1 | s2 | ... with s1 = SHA-1(password, salt), sn = SHA-1(password, sn-1)
//
// It is read here and not by github.com/pavlo-v-chernykh/keystore-go, which
// allocates what four bytes of a file happen to say, panics at a short key, takes
// passwords byte by byte, and always wants the one of the store, without which
// Kafka still reads a trust store.

const (
	jksMagic   = 0xfeedfeed
	jceksMagic = 0xcececece

	jksKeyTag  = 1
	jksCertTag = 2
)

var oidJKSKeyProtector = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 42, 2, 17, 1, 1}

// readJKS reads data. The digest is checked where there is a password; without
// one Java takes the store as it is.
func readJKS(data []byte, password Secret) (*contents, error) {
	r := &jksReader{rest: data}
	r.uint32() // the magic, by which the caller knew
	r.version = r.uint32()
	if r.version != 1 && r.version != 2 {
		r.fail("JKS of version %d", r.version)
	}
	c := &contents{}
	for i := r.uint32(); i > 0 && r.err == nil; i-- {
		e := r.entry()
		if r.err == nil {
			c.entries = append(c.entries, e)
		}
	}
	body := data[:len(data)-len(r.rest)]
	digest := r.bytes(sha1.Size)
	if r.err != nil {
		return nil, r.err
	}
	if password.IsSet() {
		h := sha1.New()
		h.Write(passphrase{text: password.text()}.utf16())
		h.Write([]byte("Mighty Aphrodite"))
		h.Write(body)
		if subtle.ConstantTimeCompare(h.Sum(nil), digest) != 1 {
			return nil, errWrongPassword
		}
	}
	c.settle()
	return c, nil
}

// jksReader takes bytes off the front. After its first error it gives zeros, and
// no length is believed before the bytes are there.
type jksReader struct {
	rest    []byte
	version uint32
	parts   int
	err     error
}

func (r *jksReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{errDamaged}, args...)...)
		r.rest = nil
	}
}

func (r *jksReader) part() {
	if r.parts++; r.parts > maxParts {
		r.fail("more than %d keys and certificates", maxParts)
	}
}

func (r *jksReader) bytes(n uint32) []byte {
	if r.err != nil {
		return nil
	}
	if uint64(n) > uint64(len(r.rest)) {
		r.fail("it ends where %d more bytes should be, after %d", n, len(r.rest))
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *jksReader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *jksReader) text() string {
	b := r.bytes(2)
	if b == nil {
		return ""
	}
	return strings.ToValidUTF8(string(r.bytes(uint32(binary.BigEndian.Uint16(b)))), "?")
}

func (r *jksReader) entry() entry {
	r.part()
	tag := r.uint32()
	e := entry{alias: r.text()}
	r.bytes(8) // when it was made
	switch tag {
	case jksKeyTag:
		sealed := r.bytes(r.uint32())
		e.key = func(pw passphrase, _ *budget) (crypto.Signer, error) { return openJKSKey(sealed, pw) }
		for n := r.uint32(); n > 0 && r.err == nil; n-- {
			e.chain = append(e.chain, r.certificate())
		}
	case jksCertTag:
		e.chain = [][]byte{r.certificate()}
	default:
		r.fail("an entry of kind %d", tag)
	}
	return e
}

func (r *jksReader) certificate() []byte {
	r.part()
	if r.version == 2 {
		if t := r.text(); r.err == nil && t != "X.509" && t != "X509" {
			r.fail("a certificate of type %q", t)
		}
	}
	return r.bytes(r.uint32())
}

// openJKSKey returns the PKCS#8 key within.
func openJKSKey(sealed []byte, pw passphrase) (crypto.Signer, error) {
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Sealed    []byte
	}
	if _, err := asn1.Unmarshal(sealed, &info); err != nil {
		return nil, fmt.Errorf("%w: sealed key: %w", errDamaged, err)
	}
	if !info.Algorithm.Algorithm.Equal(oidJKSKeyProtector) {
		return nil, unsupportedOID("the cipher", info.Algorithm.Algorithm)
	}
	n := len(info.Sealed) - 2*sha1.Size
	if n < 1 {
		return nil, fmt.Errorf("%w: sealed key of %d bytes", errDamaged, len(info.Sealed))
	}
	password := pw.utf16()
	salt, check := info.Sealed[:sha1.Size], info.Sealed[sha1.Size+n:]
	plain := make([]byte, 0, n+sha1.Size)
	for s := salt; len(plain) < n; plain = append(plain, s...) {
		s = sha1Of(password, s)
	}
	plain = plain[:n]
	subtle.XORBytes(plain, plain, info.Sealed[sha1.Size:sha1.Size+n])
	if subtle.ConstantTimeCompare(sha1Of(password, plain), check) != 1 {
		return nil, errWrongPassword
	}
	return parsePKCS8(plain)
}

func sha1Of(parts ...[]byte) []byte {
	h := sha1.New()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

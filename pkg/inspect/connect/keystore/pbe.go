package keystore

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"hash"
)

// Password based encryption as PKCS#12 stores and encrypted PKCS#8 keys name it.
// The schemes differ in how they see the password: PBES1 and PBES2 (PKCS#5, RFC
// 8018) take its UTF-8, PKCS#12's own (RFC 7292, appendix B) its UTF-16.

const (
	// maxIterations is Java's bound on one derivation; keytool writes 10,000.
	maxIterations = 5_000_000
	// maxIterationsPerStore bounds all of them together, some seconds of work: a
	// store may name a count for each of its keys.
	maxIterationsPerStore = 20_000_000
)

// budget is how many iterations of a hash a store may still cost.
type budget struct{ iterations int }

func newBudget() *budget { return &budget{maxIterationsPerStore} }

func (b *budget) spend(iterations int) error {
	if iterations < 1 || iterations > maxIterations {
		return fmt.Errorf("%w: %d iterations to derive a key", errDamaged, iterations)
	}
	if iterations > b.iterations {
		return fmt.Errorf("%w: the keys take more than %d iterations to derive", errDamaged, maxIterationsPerStore)
	}
	b.iterations -= iterations
	return nil
}

var (
	oidPBES2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
)

// oidNames are the ciphers and keys that are met and not read.
var oidNames = map[string]string{
	"1.2.840.113549.1.5.1":    "PBE-MD2-DES",
	"1.2.840.113549.1.5.4":    "PBE-MD2-RC2-64",
	"1.2.840.113549.1.5.6":    "PBE-MD5-RC2-64",
	"1.2.840.113549.1.5.11":   "PBE-SHA1-RC2-64",
	"1.2.840.113549.1.12.1.1": "PBE-SHA1-RC4-128",
	"1.2.840.113549.1.12.1.2": "PBE-SHA1-RC4-40",
	"1.2.840.113549.1.12.1.4": "PBE-SHA1-2DES",
	"1.3.6.1.4.1.11591.4.11":  "scrypt",
	"1.2.840.113549.3.2":      "RC2-CBC",
	"1.3.14.3.2.7":            "DES-CBC",
	"1.3.6.1.4.1.42.2.19.1":   "JCEKS' own cipher",
	"1.2.840.113549.2.5":      "MD5",
	"1.2.840.113549.1.1.10":   "RSASSA-PSS",
	"1.2.840.10040.4.1":       "DSA",
	"1.3.101.110":             "X25519",
	"1.3.101.111":             "X448",
	"1.3.101.113":             "Ed448",
}

func unsupportedOID(of string, oid asn1.ObjectIdentifier) error {
	what := oid.String()
	if name, ok := oidNames[what]; ok {
		what = name + " (" + what + ")"
	}
	return &unsupportedError{what: of + " " + what}
}

// decrypt undoes alg on data. It returns errWrongPassword where the padding does
// not come out, an *unsupportedError for a scheme that is not read, else errDamaged.
func (b *budget) decrypt(alg pkix.AlgorithmIdentifier, data []byte, pw passphrase) ([]byte, error) {
	block, iv, err := b.cipherOf(alg, pw)
	if err != nil {
		return nil, err
	}
	size := block.BlockSize()
	if len(iv) != size || len(data) == 0 || len(data)%size != 0 {
		return nil, fmt.Errorf("%w: %d encrypted bytes do not fill blocks of %d", errDamaged, len(data), size)
	}
	plain := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, data)
	pad := int(plain[len(plain)-1])
	if pad < 1 || pad > size {
		return nil, errWrongPassword
	}
	for _, p := range plain[len(plain)-pad:] {
		if int(p) != pad {
			return nil, errWrongPassword
		}
	}
	return plain[:len(plain)-pad], nil
}

func (b *budget) cipherOf(alg pkix.AlgorithmIdentifier, pw passphrase) (cipher.Block, []byte, error) {
	if alg.Algorithm.Equal(oidPBES2) {
		return b.pbes2(alg.Parameters.FullBytes, pw)
	}
	var params struct {
		Salt       []byte
		Iterations int
	}
	scheme := alg.Algorithm.String()
	switch scheme {
	case "1.2.840.113549.1.5.3", "1.2.840.113549.1.5.10",
		"1.2.840.113549.1.12.1.3", "1.2.840.113549.1.12.1.5", "1.2.840.113549.1.12.1.6":
		if _, err := asn1.Unmarshal(alg.Parameters.FullBytes, &params); err != nil {
			return nil, nil, fmt.Errorf("%w: parameters of the cipher: %w", errDamaged, err)
		}
	default:
		return nil, nil, unsupportedOID("the cipher", alg.Algorithm)
	}
	if err := b.spend(params.Iterations); err != nil {
		return nil, nil, err
	}
	derive := func(id byte, size int) []byte {
		return pkcs12KDF(sha1.New, id, pw.bmp(), params.Salt, params.Iterations, size)
	}
	const keyID, ivID = 1, 2
	switch scheme {
	case "1.2.840.113549.1.5.3":
		return pbes1(md5.New, params.Salt, params.Iterations, pw)
	case "1.2.840.113549.1.5.10":
		return pbes1(sha1.New, params.Salt, params.Iterations, pw)
	case "1.2.840.113549.1.12.1.3":
		block, err := des.NewTripleDESCipher(derive(keyID, 24))
		return block, derive(ivID, des.BlockSize), err
	case "1.2.840.113549.1.12.1.5":
		return newRC2(derive(keyID, 16)), derive(ivID, rc2BlockBytes), nil
	default:
		return newRC2(derive(keyID, 5)), derive(ivID, rc2BlockBytes), nil
	}
}

// pbes1 is DES with a key and an IV out of PBKDF1 (RFC 8018 §5.1 and §6.1).
func pbes1(newHash func() hash.Hash, salt []byte, iterations int, pw passphrase) (cipher.Block, []byte, error) {
	h := newHash()
	h.Write([]byte(pw.text))
	h.Write(salt)
	t := h.Sum(nil)
	for range iterations - 1 {
		h.Reset()
		h.Write(t)
		t = h.Sum(t[:0])
	}
	block, err := des.NewCipher(t[:8])
	return block, t[8:16], err
}

// pbes2Params and pbkdf2Params are RFC 8018, appendices A.4 and A.2. Java writes
// the key's length, OpenSSL leaves it out; the cipher decides it in any case.
type pbes2Params struct {
	KDF, Cipher pkix.AlgorithmIdentifier
}

type pbkdf2Params struct {
	Salt       []byte
	Iterations int
	KeyLength  int                      `asn1:"optional"`
	PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
}

func (b *budget) pbes2(der []byte, pw passphrase) (cipher.Block, []byte, error) {
	var params pbes2Params
	if _, err := asn1.Unmarshal(der, &params); err != nil {
		return nil, nil, fmt.Errorf("%w: parameters of PBES2: %w", errDamaged, err)
	}
	var size int
	newBlock := aes.NewCipher
	switch params.Cipher.Algorithm.String() {
	case "2.16.840.1.101.3.4.1.2":
		size = 16
	case "2.16.840.1.101.3.4.1.22":
		size = 24
	case "2.16.840.1.101.3.4.1.42":
		size = 32
	case "1.2.840.113549.3.7":
		size, newBlock = 24, des.NewTripleDESCipher
	default:
		return nil, nil, unsupportedOID("the cipher", params.Cipher.Algorithm)
	}
	key, err := b.pbkdf2(params.KDF, size, pw)
	if err != nil {
		return nil, nil, err
	}
	var iv []byte
	if _, err := asn1.Unmarshal(params.Cipher.Parameters.FullBytes, &iv); err != nil {
		return nil, nil, fmt.Errorf("%w: IV of PBES2: %w", errDamaged, err)
	}
	block, err := newBlock(key)
	return block, iv, err
}

// pbkdf2 derives a key of size bytes, or of the length that kdf names where size
// is 0 (RFC 8018 §5.2).
func (b *budget) pbkdf2(kdf pkix.AlgorithmIdentifier, size int, pw passphrase) ([]byte, error) {
	if !kdf.Algorithm.Equal(oidPBKDF2) {
		return nil, unsupportedOID("the key derivation", kdf.Algorithm)
	}
	var params pbkdf2Params
	if _, err := asn1.Unmarshal(kdf.Parameters.FullBytes, &params); err != nil {
		return nil, fmt.Errorf("%w: parameters of PBKDF2: %w", errDamaged, err)
	}
	newHash, err := hmacHash(params.PRF.Algorithm)
	if err != nil {
		return nil, err
	}
	if size == 0 {
		size = params.KeyLength
	}
	if size < 1 || size > sha512.Size {
		return nil, fmt.Errorf("%w: PBKDF2 for a key of %d bytes", errDamaged, size)
	}
	if err := b.spend(params.Iterations); err != nil {
		return nil, err
	}
	return pbkdf2.Key(newHash, pw.text, params.Salt, params.Iterations, size)
}

// hmacHash is the hash of an HMAC; none named is HMAC-SHA1.
func hmacHash(oid asn1.ObjectIdentifier) (func() hash.Hash, error) {
	switch oid.String() {
	case "", "1.2.840.113549.2.7":
		return sha1.New, nil
	case "1.2.840.113549.2.8":
		return sha256.New224, nil
	case "1.2.840.113549.2.9":
		return sha256.New, nil
	case "1.2.840.113549.2.10":
		return sha512.New384, nil
	case "1.2.840.113549.2.11":
		return sha512.New, nil
	default:
		return nil, unsupportedOID("the HMAC", oid)
	}
}

package keystore

import (
	"hash"
	"slices"
	"unicode/utf16"
)

// passphrase is a password in the shapes that the formats want it in. One beyond
// ASCII comes out right only if every scheme gets its own encoding: Java for JKS,
// and OpenSSL for PKCS12, where Java takes ASCII alone.
type passphrase struct {
	text string
	// bare leaves the two zero bytes out of an empty password's UTF-16. Some
	// writers do, and Java tries both.
	bare bool
}

// utf16 is big-endian without an end, as JKS takes it.
func (p passphrase) utf16() []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(p.text)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return b
}

// bmp is big-endian and ends in two zero bytes, as PKCS#12 takes it (RFC 7292,
// appendix B.1).
func (p passphrase) bmp() []byte {
	if p.bare {
		return nil
	}
	return append(p.utf16(), 0, 0)
}

// pkcs12KDF derives size bytes for a purpose: 1 is a key, 2 an IV, 3 the key of a
// MAC. The names and steps are those of RFC 7292, appendix B.2.
func pkcs12KDF(newHash func() hash.Hash, purpose byte, password, salt []byte, iterations, size int) []byte {
	h := newHash()
	v := h.BlockSize()
	d := slices.Repeat([]byte{purpose}, v)
	i := append(repeatTo(salt, v), repeatTo(password, v)...)
	var out []byte
	for {
		h.Reset()
		h.Write(d)
		h.Write(i)
		a := h.Sum(nil)
		for range iterations - 1 {
			h.Reset()
			h.Write(a)
			a = h.Sum(a[:0])
		}
		out = append(out, a...)
		if len(out) >= size {
			return out[:size]
		}
		b := repeatTo(a, v)
		for j := 0; j < len(i); j += v {
			addOne(i[j:j+v], b[:v])
		}
	}
}

// repeatTo repeats b until it fills whole blocks of v bytes; nothing stays nothing.
func repeatTo(b []byte, v int) []byte {
	if len(b) == 0 {
		return nil
	}
	size := (len(b) + v - 1) / v * v
	return slices.Repeat(b, (size+len(b)-1)/len(b))[:size]
}

// addOne sets x to (x + y + 1) mod 2^(8*len(x)).
func addOne(x, y []byte) {
	carry := 1
	for k := len(x) - 1; k >= 0; k-- {
		carry += int(x[k]) + int(y[k])
		x[k] = byte(carry)
		carry >>= 8
	}
}

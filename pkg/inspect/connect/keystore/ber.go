package keystore

import (
	"errors"
	"fmt"
)

// Bouncy Castle, and with it KeyStore Explorer, writes PKCS#12 in BER, and so does
// NSS: lengths are left open until two zero bytes, and octet strings come in
// pieces. The standard library reads DER alone (X.690 §8.1.3.6, §8.7.3, §10).

// maxBERDepth is more than PKCS#12 nests, a dozen levels.
const maxBERDepth = 40

const (
	berConstructed        = 0x20
	berLongTag            = 0x1f
	berOpenLength         = 0x80
	berOctets             = 0x04
	berOctetsInPieces     = berOctets | berConstructed
	berMaxBytesOfALength  = 4
	derMaxOneByteOfLength = 0x7f
)

// toDER rewrites the first element of data with all lengths closed and all octet
// strings whole. What lies within an octet string is left alone.
func toDER(data []byte) ([]byte, error) {
	der, _, err := berElement(data, 0)
	return der, err
}

func berElement(data []byte, depth int) (der, rest []byte, err error) {
	tag, length, body, err := berHeader(data)
	if err != nil {
		return nil, nil, err
	}
	open := length < 0
	if !open {
		body, rest = body[:length], body[length:]
	}
	if tag[0]&berConstructed == 0 {
		return derElement(tag, body), rest, nil
	}
	if depth == maxBERDepth {
		return nil, nil, fmt.Errorf("nested deeper than %d", maxBERDepth)
	}
	var content []byte
	for len(body) > 0 || open {
		if open && len(body) >= 2 && body[0] == 0 && body[1] == 0 {
			rest = body[2:]
			break
		}
		var child []byte
		if child, body, err = berElement(body, depth+1); err != nil {
			return nil, nil, err
		}
		if tag[0] == berOctetsInPieces {
			if child[0] != berOctets {
				return nil, nil, errors.New("an octet string in pieces holds something else")
			}
			_, _, child, _ = berHeader(child)
		}
		content = append(content, child...)
	}
	if tag[0] == berOctetsInPieces {
		tag = []byte{berOctets}
	}
	return derElement(tag, content), rest, nil
}

// berHeader takes a header off. The length is -1 where it is left open, and else
// not more than there is.
func berHeader(data []byte) (tag []byte, length int, body []byte, err error) {
	short := errors.New("it ends too early")
	n := 1
	if len(data) > 0 && data[0]&berLongTag == berLongTag {
		for n < len(data) && data[n]&0x80 != 0 {
			n++
		}
		n++
	}
	if n >= len(data) {
		return nil, 0, nil, short
	}
	tag, length, body = data[:n], int(data[n]), data[n+1:]
	switch {
	case length == berOpenLength && tag[0]&berConstructed != 0:
		return tag, -1, body, nil
	case length > derMaxOneByteOfLength:
		bytes := length & derMaxOneByteOfLength
		if bytes == 0 || bytes > berMaxBytesOfALength {
			return nil, 0, nil, fmt.Errorf("a length of %d bytes", bytes)
		}
		if bytes > len(body) {
			return nil, 0, nil, short
		}
		length = 0
		for _, b := range body[:bytes] {
			length = length<<8 | int(b)
		}
		body = body[bytes:]
	}
	if length > len(body) {
		return nil, 0, nil, short
	}
	return tag, length, body, nil
}

func derElement(tag, content []byte) []byte {
	der := append(make([]byte, 0, len(tag)+5+len(content)), tag...)
	if n := len(content); n <= derMaxOneByteOfLength {
		der = append(der, byte(n))
	} else {
		size := 1
		for n>>(8*size) > 0 {
			size++
		}
		der = append(der, berOpenLength|byte(size))
		for i := size - 1; i >= 0; i-- {
			der = append(der, byte(n>>(8*i)))
		}
	}
	return append(der, content...)
}

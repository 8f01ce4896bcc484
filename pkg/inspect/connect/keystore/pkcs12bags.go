package keystore

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// pkcs12Reader gathers the bags of all safes. Keys and certificates come in any
// order and refer to each other, so entries are made at the end.
type pkcs12Reader struct {
	budget   *budget
	password *passphrase // nil: none was given
	contents *contents

	keys    []pkcs12Key
	certs   []pkcs12Cert
	bags    int
	unnamed int
}

type pkcs12Key struct {
	entry int // in contents.entries
	alias string
	id    []byte
}

type pkcs12Cert struct {
	der     []byte
	cert    *x509.Certificate // nil where Go's parser refuses it
	alias   string
	id      []byte
	trusted bool
}

// onlyKeyID is the localKeyId that Java gives to the first key, and to the first
// certificate of a safe, where the file has none.
const onlyKeyID = "01"

// safe reads one safe of the authenticated safe.
func (r *pkcs12Reader) safe(s contentInfo) error {
	var data []byte
	switch {
	case s.Type.Equal(oidData):
		if _, err := asn1.Unmarshal(s.Content.Bytes, &data); err != nil {
			return malformed("a safe", err)
		}
	case s.Type.Equal(oidEncryptedData):
		if r.password == nil {
			r.contents.sealed = true
			return nil
		}
		var sealed encryptedData
		if _, err := asn1.Unmarshal(s.Content.Bytes, &sealed); err != nil {
			return malformed("an encrypted safe", err)
		}
		var err error
		if data, err = r.budget.decrypt(sealed.Info.Algorithm, sealed.sealed(), *r.password); err != nil {
			return err
		}
	default:
		return &unsupportedError{what: "a safe that a public key protects"}
	}
	var bags []safeBag
	if err := unmarshal(data, &bags, "the bags of a safe"); err != nil {
		return err
	}
	if r.bags += len(bags); r.bags > maxParts {
		return fmt.Errorf("%w: more than %d keys and certificates", errDamaged, maxParts)
	}
	for i, bag := range bags {
		if err := r.bag(bag, i == 0); err != nil {
			return err
		}
	}
	return nil
}

func (r *pkcs12Reader) bag(bag safeBag, first bool) error {
	alias, id, trusted := bag.attributes()
	value := bag.Value.Bytes
	switch {
	case bag.ID.Equal(oidSealedKeyBag):
		r.key(alias, id, func(pw passphrase, b *budget) (crypto.Signer, error) { return openSealedKey(value, pw, b) })
	case bag.ID.Equal(oidKeyBag):
		r.key(alias, id, func(passphrase, *budget) (crypto.Signer, error) { return parsePKCS8(value) })
	case bag.ID.Equal(oidCertBag):
		var cert struct {
			Type asn1.ObjectIdentifier
			Data []byte `asn1:"tag:0,explicit"`
		}
		if _, err := asn1.Unmarshal(value, &cert); err != nil {
			return malformed("a certificate's bag", err)
		}
		if !cert.Type.Equal(oidX509Certificate) {
			return nil
		}
		if id == nil && first && len(r.keys) == 1 {
			id = []byte(onlyKeyID)
		}
		r.certificate(pkcs12Cert{der: cert.Data, alias: alias, id: id, trusted: trusted})
	}
	// Secret keys, revocation lists and nested safes are nothing to a TLS client.
	return nil
}

func (r *pkcs12Reader) key(alias string, id []byte, open openKey) {
	if id == nil && len(r.keys) == 0 {
		id = []byte(onlyKeyID)
	}
	alias = r.name(alias)
	r.keys = append(r.keys, pkcs12Key{entry: len(r.contents.entries), alias: alias, id: id})
	r.contents.entries = append(r.contents.entries, entry{alias: alias, key: open})
}

func (r *pkcs12Reader) certificate(c pkcs12Cert) {
	if cert, err := x509.ParseCertificate(c.der); err == nil {
		c.cert = cert
	}
	if c.trusted {
		c.alias = r.name(c.alias)
		r.contents.entries = append(r.contents.entries, entry{alias: c.alias, chain: [][]byte{c.der}})
	} else {
		r.contents.loose++
	}
	r.certs = append(r.certs, c)
}

// name is the alias by which Java knows an entry: in small letters, or a number.
func (r *pkcs12Reader) name(alias string) string {
	if alias != "" {
		return alias
	}
	r.unnamed++
	return strconv.Itoa(r.unnamed)
}

// assemble gives each key its chain.
func (r *pkcs12Reader) assemble() {
	for _, k := range r.keys {
		if c := r.certOf(k); c != nil {
			r.contents.entries[k.entry].chain = r.chain(c)
		}
	}
	r.contents.chainOf = func(pub publicKey) [][]byte {
		for i, c := range r.certs {
			if c.cert != nil && pub.Equal(c.cert.PublicKey) {
				return r.chain(&r.certs[i])
			}
		}
		return nil
	}
	r.contents.settle()
}

// certOf finds a key's certificate as Java does: by localKeyId and alias, else by
// localKeyId, else by alias. Trusted certificates are not asked.
func (r *pkcs12Reader) certOf(k pkcs12Key) *pkcs12Cert {
	var byID, byAlias *pkcs12Cert
	for i := range r.certs {
		c := &r.certs[i]
		sameAlias := c.alias == k.alias
		switch {
		case c.trusted:
		case k.id != nil && bytes.Equal(c.id, k.id):
			if sameAlias {
				return c
			}
			byID = c
		case sameAlias:
			byAlias = c
		}
	}
	if byID != nil {
		return byID
	}
	return byAlias
}

// chain follows the issuers through the store, up to a self-signed one.
func (r *pkcs12Reader) chain(c *pkcs12Cert) [][]byte {
	var chain [][]byte
	for c != nil && len(chain) < maxChain {
		for _, der := range chain {
			if bytes.Equal(der, c.der) {
				return chain
			}
		}
		chain = append(chain, c.der)
		c = r.issuer(c.cert)
	}
	return chain
}

// issuer prefers the certificate whose key identifier the child names: a CA that
// changed its key is in the store twice under one name.
func (r *pkcs12Reader) issuer(child *x509.Certificate) *pkcs12Cert {
	if child == nil || bytes.Equal(child.RawIssuer, child.RawSubject) {
		return nil
	}
	var byName *pkcs12Cert
	for i := range r.certs {
		c := &r.certs[i]
		if c.cert == nil || !bytes.Equal(c.cert.RawSubject, child.RawIssuer) {
			continue
		}
		if len(child.AuthorityKeyId) > 0 && bytes.Equal(c.cert.SubjectKeyId, child.AuthorityKeyId) {
			return c
		}
		if byName == nil {
			byName = c
		}
	}
	return byName
}

// attributes returns the alias in small letters (Java does not tell case apart),
// the localKeyId, and whether Oracle's attribute makes a certificate trusted. One
// that cannot be read counts as missing.
func (b *safeBag) attributes() (alias string, id []byte, trusted bool) {
	for _, a := range b.Attributes {
		var value asn1.RawValue
		if _, err := asn1.Unmarshal(a.Values.Bytes, &value); err != nil {
			continue
		}
		switch {
		case a.ID.Equal(oidFriendlyName) && value.Tag == asn1.TagBMPString:
			units := make([]uint16, 0, len(value.Bytes)/2)
			for i := 0; i+1 < len(value.Bytes); i += 2 {
				units = append(units, uint16(value.Bytes[i])<<8|uint16(value.Bytes[i+1]))
			}
			alias = strings.ToLower(string(utf16.Decode(units)))
		case a.ID.Equal(oidLocalKeyID) && value.Tag == asn1.TagOctetString:
			id = value.Bytes
		case a.ID.Equal(oidTrustedKeyUsage):
			trusted = true
		}
	}
	return alias, id, trusted
}

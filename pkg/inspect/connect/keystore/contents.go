package keystore

import (
	"crypto"
	"crypto/x509"
	"slices"
	"strings"
)

const (
	// maxStoreBytes is more than any store takes: Java's own cacerts has 0.2 MB.
	maxStoreBytes = 16 << 20
	// maxParts bounds the keys and certificates of a store, with the work to match
	// them.
	maxParts = 10_000
	// maxChain bounds one chain; TLS peers take ten or so.
	maxChain = 100
)

// contents is what a store holds, before it is known what it is wanted for.
type contents struct {
	entries []entry
	// hidden are the aliases that more than one entry had.
	hidden []string
	// loose are certificates of a PKCS12 store that are no entry of their own. They
	// complete the chains of keys, and Java does not trust them.
	loose int
	// sealed: some part of the store is encrypted, and there was no password.
	sealed bool
	// chainOf looks among all certificates of a PKCS12 store for the one with this
	// public key, and its issuers. Nil for the other types.
	chainOf func(publicKey) [][]byte
}

// entry is what one alias stands for: a private key with its chain, or a trusted
// certificate.
type entry struct {
	alias string
	// key opens the private key; nil for a trusted certificate.
	key openKey
	// chain is DER, the entry's own certificate first; empty for a key without one.
	chain [][]byte
}

// chainFor returns the chain of key: its own, unless the attributes that should
// say which one that is are missing or wrong. Then the keys themselves say it.
func (c *contents) chainFor(key crypto.Signer, own [][]byte) [][]byte {
	if c.chainOf == nil {
		return own
	}
	if len(own) > 0 {
		if leaf, err := x509.ParseCertificate(own[0]); err != nil || belongs(key, leaf.PublicKey) {
			return own
		}
	}
	if pub, ok := key.Public().(publicKey); ok {
		if found := c.chainOf(pub); found != nil {
			return found
		}
	}
	return own
}

// openKey returns errWrongPassword, an *unsupportedError, errDamaged or an *Error
// where it cannot open the key.
type openKey func(passphrase, *budget) (crypto.Signer, error)

// settle sorts the entries by alias. Java finds an entry by its alias, so of two
// with the same one the later hides the earlier.
func (c *contents) settle() {
	last := make(map[string]int, len(c.entries))
	for i, e := range c.entries {
		if _, again := last[e.alias]; again {
			c.hidden = append(c.hidden, e.alias)
		}
		last[e.alias] = i
	}
	kept := c.entries[:0]
	for i, e := range c.entries {
		if last[e.alias] == i {
			kept = append(kept, e)
		}
	}
	c.entries = kept
	slices.SortFunc(c.entries, func(a, b entry) int { return strings.Compare(a.alias, b.alias) })
	slices.Sort(c.hidden)
	c.hidden = slices.Compact(c.hidden)
}

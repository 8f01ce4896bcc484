package keystore

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// WarningKind is a word for scripts.
type WarningKind string

// What may be odd about stores that can be used.
const (
	// WarnExpired: a certificate has expired. A broker refuses a client's; of a
	// trusted one Java does not look at the date.
	WarnExpired WarningKind = "expired"
	// WarnNotYetValid: a certificate's time has not come.
	WarnNotYetValid WarningKind = "not-yet-valid"
	// WarnNoKey: a key store without a private key. Java connects without a
	// certificate; where the broker wants one, this is why it closes the connection.
	WarnNoKey WarningKind = "no-private-key"
	// WarnHiddenAlias: of several entries under one alias Java sees the last.
	WarnHiddenAlias WarningKind = "hidden-alias"
	// WarnUnusable: an entry was left out, and others were not.
	WarnUnusable WarningKind = "unusable"
	// WarnIgnored: certificates of a PKCS12 trust store that are not marked as
	// trusted, beside others that are.
	WarnIgnored WarningKind = "ignored"
)

// Warning is something that a person may want to know of stores that can be used.
type Warning struct {
	Kind   WarningKind
	Store  Store
	Source string
	// Alias is empty where the store as a whole is meant.
	Alias string
	// NotBefore and NotAfter are those of the certificate where it is about time.
	NotBefore, NotAfter time.Time
	Text                string
}

// String says all of it in one line.
func (w Warning) String() string {
	if w.Alias == "" {
		return oneLine(fmt.Sprintf("%s %s: %s", w.Store, w.Source, w.Text))
	}
	return oneLine(fmt.Sprintf("%s %s, alias %q: %s", w.Store, w.Source, w.Alias, w.Text))
}

// Warnings lists what is odd at the time now, the key store's first.
func (m *Material) Warnings(now time.Time) []Warning {
	all := slices.Clone(m.warnings)
	for _, h := range m.held {
		w := Warning{
			Store: h.store, Source: h.source, Alias: h.alias, NotBefore: h.cert.NotBefore, NotAfter: h.cert.NotAfter,
		}
		switch {
		case now.After(h.cert.NotAfter):
			w.Kind = WarnExpired
			w.Text = fmt.Sprintf("%s expired on %s", h.cert.Subject, h.cert.NotAfter.UTC().Format(time.RFC3339))
		case now.Before(h.cert.NotBefore):
			w.Kind = WarnNotYetValid
			w.Text = fmt.Sprintf("%s is not valid before %s", h.cert.Subject, h.cert.NotBefore.UTC().Format(time.RFC3339))
		default:
			continue
		}
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Store, b.Store), cmp.Compare(a.Alias, b.Alias))
	})
	return all
}

func (m *Material) warn(p *place, kind WarningKind, alias, text string) {
	m.warnings = append(m.warnings, Warning{Kind: kind, Store: p.store, Source: p.source(), Alias: alias, Text: text})
}

func (m *Material) warnHidden(p *place, c *contents) {
	for _, alias := range c.hidden {
		m.warn(p, WarnHiddenAlias, alias, "several entries have this alias; Java sees the last one")
	}
}

package javaprops

import (
	"fmt"
	"io"
)

// hidden is what is shown for a secret, in the words of Kafka's Password type.
const hidden = "[hidden]"

// Secret is a string that is not printed: package fmt, encoding/json, log/slog
// and YAML show that there is one and nothing of it. The zero Secret is empty.
type Secret struct {
	// A pointer, because package fmt looks into fields that are not exported
	// without asking for methods: it then prints an address.
	text *string
}

// NewSecret hides a string.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal returns the string.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Equal reports whether two secrets are the same string; == compares where they
// are kept.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String returns [hidden].
func (s Secret) String() string { return hidden }

// Format writes [hidden], whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText returns [hidden]. JSON, YAML and slog's handlers use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

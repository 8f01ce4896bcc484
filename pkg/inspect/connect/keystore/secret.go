package keystore

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden is what stands for a secret, in the words of Kafka's own logs.
const hidden = "[hidden]"

// Secret is a setting that must not show: a password, or PEM that may hold a
// key. The zero value is a setting that was not made, which Kafka tells apart
// from an empty one.
//
// The text lies behind a function: a printer that walks a struct's unexported
// fields, where methods are not called, finds an address.
type Secret struct{ reveal func() string }

// NewSecret makes a secret of text, which may be empty.
func NewSecret(text string) Secret { return Secret{func() string { return text }} }

// IsSet reports whether the setting was made.
func (s Secret) IsSet() bool { return s.reveal != nil }

// Equal reports whether both hold the same, or neither holds anything.
func (s Secret) Equal(other Secret) bool {
	return s.IsSet() == other.IsSet() && s.text() == other.text()
}

// String hides the text.
func (s Secret) String() string {
	if s.IsSet() {
		return hidden
	}
	return ""
}

// GoString hides the text.
func (s Secret) GoString() string { return s.String() }

// Format hides the text from every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue hides the text.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON hides the text; a setting that was not made is null.
func (s Secret) MarshalJSON() ([]byte, error) {
	if s.IsSet() {
		return []byte(`"` + hidden + `"`), nil
	}
	return []byte("null"), nil
}

func (s Secret) text() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

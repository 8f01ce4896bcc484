package keystore

import (
	"errors"
	"strings"
	"unicode"
)

// What can be wrong, for errors.Is.
var (
	// ErrSettings: Kafka refuses this combination of settings.
	ErrSettings = errors.New("the settings do not go together")
	// ErrFile: there is no such file, or it may not be read.
	ErrFile = errors.New("the file cannot be read")
	// ErrFormat: not a store of the declared type, or a damaged one.
	ErrFormat = errors.New("not a readable store")
	// ErrPassword: a password is wrong or missing. A store whose bytes were altered
	// cannot be told from one that was given a wrong password.
	ErrPassword = errors.New("wrong password")
	// ErrNoKey: PEM without a private key. A JKS or PKCS12 key store without one is
	// a warning, since Java connects with it.
	ErrNoKey = errors.New("no private key")
	// ErrNoTrust: a trust store without a certificate that Java would trust.
	ErrNoTrust = errors.New("no trusted certificate")
	// ErrMismatch: a private key, and a certificate that is not its own.
	ErrMismatch = errors.New("private key and certificate do not belong together")
	// ErrUnsupported: a cipher, key or store type that this package does not read.
	ErrUnsupported = errors.New("not supported")
)

// Store names one of the two stores.
type Store string

// The two stores of a client.
const (
	KeyStore   Store = "key store"
	TrustStore Store = "trust store"
)

// Error is a store that cannot be used, and why. It holds no secret.
type Error struct {
	Store Store
	// Source is the file, or the setting that holds the PEM itself.
	Source string
	// Type is JKS, PKCS12 or PEM: of the content where that is known, else as declared.
	Type string
	// Problem says what is wrong, Remedy what to do about it; Remedy may be empty.
	Problem, Remedy string

	// kind is one of the Err… above, cause what lies beneath it, if anything.
	kind, cause error
}

// Error says all of it in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Store))
	if e.Source != "" {
		b.WriteString(" " + e.Source)
	}
	if e.Type != "" {
		b.WriteString(" (" + e.Type + ")")
	}
	b.WriteString(": " + e.Problem)
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return oneLine(b.String())
}

// oneLine keeps names out of certificates from writing lines of their own.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, s)
}

// Unwrap gives the kind, and the error beneath where there is one.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

// What the readers of the formats return. A place makes an *Error of them.
var (
	errWrongPassword = errors.New("the password does not fit")
	errDamaged       = errors.New("damaged")
)

// unsupportedError names what was met.
type unsupportedError struct {
	what string
	// key: it is the key itself, which no conversion helps.
	key bool
}

func (e *unsupportedError) Error() string { return e.what + " is not supported" }

// shellQuote makes a file's name safe to paste into a command.
func shellQuote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:@", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

package javaprops

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// MaxFileBytes is the size of the largest file that is read. A client.properties
// has a few KB; one with the certificates of all public authorities inside has
// a quarter of this.
const MaxFileBytes = 1 << 20

// maxWarnings bounds the warnings of one kind: a file that is no
// client.properties at all has as many unknown keys as lines.
const maxWarnings = 20

// File is what a client.properties says. It does not change.
type File struct {
	name    string
	entries []Entry        // in the order of their lines, each key once
	byKey   map[string]int // index in entries

	warnings []Warning
}

// Entry is one key with its value.
type Entry struct {
	Key string
	// Line is where the key begins, counted from 1.
	Line int

	value Secret
}

// Value returns the value as Java's Properties has it: blanks at the end
// included, which Kafka drops; see [File.Get].
func (e Entry) Value() string { return e.value.Reveal() }

// String names the key, if it looks like one, and the line.
func (e Entry) String() string { return fmt.Sprintf("%s=%s (line %d)", showKey(e.Key), hidden, e.Line) }

// Format writes what String returns, whatever the verb.
func (e Entry) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.String()) }

// MarshalText returns what String does.
func (e Entry) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Name returns the name that the file was given.
func (f *File) Name() string { return f.name }

// Entries returns every key once, in the order of the lines that count: of a
// key that is there twice the last one.
func (f *File) Entries() []Entry { return slices.Clone(f.entries) }

// Entry returns the entry of a key.
func (f *File) Entry(key string) (Entry, bool) {
	i, ok := f.byKey[key]
	if !ok {
		return Entry{}, false
	}
	return f.entries[i], true
}

// String names the file and says how much it holds.
func (f *File) String() string { return fmt.Sprintf("%s (%d keys)", f.name, len(f.entries)) }

// Format writes what String returns, whatever the verb.
func (f *File) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, f.String()) }

// MarshalText returns what String does.
func (f *File) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// Error is a problem that stops the reading of a file or of one setting.
type Error struct {
	File string
	// Line is 0 where there is none, such as for a setting that is missing.
	Line int
	// Key is empty where the line does not get as far.
	Key string
	// Problem holds no part of any value.
	Problem string
}

// Error returns "file:line: key: problem" without what is not known.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Key != "" {
		b.WriteString(": " + showKey(e.Key))
	}
	b.WriteString(": " + e.Problem)
	return b.String()
}

// Warning is a line that Java reads without complaint and that hardly says what
// its author meant.
type Warning struct {
	File string
	Line int
	Text string // holds no part of any value
}

// String returns "file:line: text".
func (w Warning) String() string { return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Text) }

// Warnings returns what is odd in the file: keys that are there twice, and text
// in UTF-8, which Java takes for ISO-8859-1. See also [File.Unknown].
func (f *File) Warnings() []Warning { return slices.Clone(f.warnings) }

// Unknown returns a warning for each key that known does not know.
func (f *File) Unknown(known func(key string) bool) []Warning {
	var warnings []Warning
	for _, e := range f.entries {
		if known(e.Key) {
			continue
		}
		text := showKey(e.Key) + ": unknown setting, ignored"
		if isLoginOption(e.Key) {
			text = e.Key + ": no setting but a login module's option: does the line before it lack a backslash at its end?"
		}
		warnings = append(warnings, Warning{f.name, e.Line, text})
	}
	return limit(warnings)
}

// limit keeps the first warnings and counts the rest.
func limit(warnings []Warning) []Warning {
	more := len(warnings) - maxWarnings
	if more <= 0 {
		return warnings
	}
	warnings = slices.Clip(warnings[:maxWarnings])
	last := warnings[maxWarnings-1]
	return append(warnings, Warning{last.File, last.Line, fmt.Sprintf("and %d more lines like it", more)})
}

// showKey returns a key that looks like a setting, and no other: where a
// backslash is lost, a part of a password or a line of a private key stands in
// its place. Settings are lower case with dots, tokens and base64 are not.
func showKey(key string) string {
	const longest = 100
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r)
	}
	switch {
	case isLoginOption(key), settingsWithoutDot[key]:
		return key
	case len(key) <= longest && strings.Contains(key, ".") && !strings.ContainsFunc(key, func(r rune) bool { return !plain(r) }):
		return key
	}
	return "a key that is not shown, because it does not look like one"
}

// settingsWithoutDot are the settings of Kafka's clients whose names have no dot.
var settingsWithoutDot = map[string]bool{"acks": true, "retries": true}

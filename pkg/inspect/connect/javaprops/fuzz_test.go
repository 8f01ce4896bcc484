package javaprops

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func quoteGo(s string) string { return strconv.Quote(s) }

// Whatever the bytes, reading ends, its errors show none of them, and what was
// read and written again is read the same.
func FuzzParse(f *testing.F) {
	for _, tt := range parseTests {
		f.Add([]byte(tt.file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f", data)
		if err != nil {
			if _, problem, _ := strings.Cut(err.Error(), ": "); !knownProblem(problem) {
				t.Fatalf("got error %q", err)
			}
			return
		}
		if lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 1; len(file.Entries()) > lines {
			t.Fatalf("%d entries of %d lines", len(file.Entries()), lines)
		}
		var b strings.Builder
		line := 0
		for _, e := range file.Entries() {
			if e.Line <= line {
				t.Fatalf("line %d behind line %d", e.Line, line)
			}
			line = e.Line
			b.WriteString(storeEscaped(e.Key) + "=" + storeEscaped(e.Value()) + "\n")
		}
		again, err := Parse("f", []byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := show(again), show(file); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		if len(again.Warnings()) > 0 {
			t.Fatalf("got %v", again.Warnings())
		}
	})
}

// knownProblem: a fixed text holds nothing of the data.
func knownProblem(problem string) bool {
	return problem == errEscape.Error() || problem == errSurrogate.Error() || strings.HasSuffix(problem, "are not read")
}

// storeEscaped writes a key or a value as Java's Properties.store does, and
// everything that might be special as \uXXXX.
func storeEscaped(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if r := rune(unit); r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, `\u%04X`, unit)
	}
	return b.String()
}

// Whatever the text, reading ends, and what was read and written again is read
// the same.
func FuzzParseJAAS(f *testing.F) {
	for _, tt := range jaasTests {
		f.Add(tt.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		login, err := ParseJAAS(text)
		if err != nil {
			return
		}
		var b strings.Builder
		b.WriteString(quoteJAAS(login.Module) + " " + string(login.Flag))
		for _, name := range login.Options() {
			value, ok := login.Option(name)
			if !ok {
				t.Fatalf("option %q is listed and not there", name)
			}
			b.WriteString(" " + quoteJAAS(name) + "=" + quoteJAAS(value.Reveal()))
		}
		again, err := ParseJAAS(b.String() + ";")
		if err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
		if got, want := showLogin(again), showLogin(login); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// quoteJAAS writes a string as JaasConfig reads it back.
func quoteJAAS(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(text) + `"`
}

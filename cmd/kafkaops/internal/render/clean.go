package render

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Clean makes text from a cluster safe to print: whatever is not printable (an
// escape byte, a tab, a line break, a bidirectional override, broken UTF-8) is
// replaced by its Go escape, such as \x1b. Without it, the name of a rack could
// drive the reader's terminal, or add a column to a row.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x`)
			const hex = "0123456789abcdef"
			b.WriteByte(hex[s[i]>>4])
			b.WriteByte(hex[s[i]&15])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

func isClean(s string) bool {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || !strconv.IsPrint(r) {
			return false
		}
		i += size
	}
	return true
}

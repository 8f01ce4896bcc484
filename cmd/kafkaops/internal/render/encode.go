package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// encode is the document as JSON (indented, or on one line in a stream) or YAML.
func encode(document any, v View) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // "->" in a text stays readable
	if v.Format == FormatJSON && !v.Stream {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(document); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	if v.Format == FormatYAML {
		return toYAML(buf.Bytes(), v.Stream)
	}
	return escapeUnprintable(buf.Bytes()), nil
}

// escapeUnprintable replaces what a terminal might act upon (DEL, the C1
// controls, bidirectional overrides) by its \u escape. encoding/json does that
// only below 0x20. Such runes can only be inside strings, so the values stay
// the same.
func escapeUnprintable(doc []byte) []byte {
	if isClean(string(bytes.ReplaceAll(doc, []byte("\n"), nil))) {
		return doc
	}
	out := make([]byte, 0, len(doc)+16)
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRune(doc[i:])
		switch {
		case r == '\n' || strconv.IsPrint(r):
			out = append(out, doc[i:i+size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out
}

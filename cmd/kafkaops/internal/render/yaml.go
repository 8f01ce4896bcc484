package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// toYAML turns a JSON document into block YAML with the same keys in the same
// order. It is ours because goccy/go-yaml (1.19) leaves strings such as "1e3",
// ".inf" or "12:30:45" plain, which others read as numbers, and writes control
// characters as they are; topics may be called so. Here every string that is
// not certainly a word is double-quoted, and numbers keep their digits.
func toYAML(doc []byte, stream bool) ([]byte, error) {
	y := yamlWriter{dec: json.NewDecoder(bytes.NewReader(doc))}
	y.dec.UseNumber()
	if stream {
		y.out.WriteString("---")
		y.begun = true
	}
	if err := y.value(0); err != nil {
		return nil, fmt.Errorf("encode YAML: %w", err)
	}
	y.out.WriteByte('\n')
	return y.out.Bytes(), nil
}

type yamlWriter struct {
	dec *json.Decoder
	out bytes.Buffer
	// begun: the pen is behind a key, a dash or a line, not at the very start.
	begun bool
	// dash: the pen is right behind "- ", where a mapping's first key goes.
	dash bool
}

// value writes the next value, whose own lines are indented by depth.
func (y *yamlWriter) value(depth int) error {
	tok, err := y.dec.Token()
	if err != nil {
		return err
	}
	switch tok := tok.(type) {
	case json.Delim:
		return y.container(tok, depth)
	case string:
		y.scalar(yamlString(tok))
	case json.Number:
		y.scalar(tok.String())
	case bool:
		y.scalar(strconv.FormatBool(tok))
	case nil:
		y.scalar("null")
	}
	return nil
}

func (y *yamlWriter) scalar(s string) {
	if y.begun && !y.dash {
		y.out.WriteByte(' ')
	}
	y.begun, y.dash = true, false
	y.out.WriteString(s)
}

func (y *yamlWriter) container(open json.Delim, depth int) error {
	if !y.dec.More() {
		y.scalar(map[json.Delim]string{'{': "{}", '[': "[]"}[open])
	}
	for y.dec.More() {
		y.line(depth)
		if open == '[' {
			y.out.WriteString("- ")
			y.begun, y.dash = true, true
			if err := y.value(depth + 1); err != nil {
				return err
			}
			y.dash = false
			continue
		}
		key, err := y.dec.Token()
		if err != nil {
			return err
		}
		y.out.WriteString(yamlString(key.(string)) + ":")
		if err := y.value(depth + 1); err != nil {
			return err
		}
	}
	_, err := y.dec.Token() // the closing bracket
	return err
}

// line starts a line, unless the pen is where the line may go on.
func (y *yamlWriter) line(depth int) {
	if y.begun && !y.dash {
		y.out.WriteByte('\n')
		y.out.WriteString(strings.Repeat("  ", depth))
	}
	y.begun, y.dash = true, false
}

// yamlWord matches strings that no YAML reader takes for anything else, save
// the words in yamlString.
var yamlWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]*$`)

func yamlString(s string) string {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf":
		return strconv.Quote(s)
	}
	if yamlWord.MatchString(s) {
		return s
	}
	return yamlQuote(s)
}

// yamlQuote is the string in double quotes. Go's escapes (\a \b \f \n \r \t \v
// \\ \" \xNN \uNNNN \UNNNNNNNN) are all YAML's; \xNN is a code point there, but
// strings from JSON have no bytes outside UTF-8, so it is one here too.
func yamlQuote(s string) string { return strconv.Quote(s) }

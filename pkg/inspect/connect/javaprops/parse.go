package javaprops

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Parse reads a client.properties. The name is for messages only. An error is
// an [*Error]: a malformed \uXXXX, as in Java, or what the package comment lists.
func Parse(name string, data []byte) (*File, error) {
	if len(data) > MaxFileBytes {
		return nil, &Error{File: name, Problem: fmt.Sprintf("has %d bytes, and more than %d are not read", len(data), MaxFileBytes)}
	}
	f := &File{name: name, byKey: map[string]int{}}
	lines := lineReader{data: data, line: 1}
	var all []Entry
	for lines.next() {
		entry, err := parseLine(lines.buf)
		if err != nil {
			return nil, &Error{File: name, Line: lines.start, Problem: err.Error()}
		}
		entry.Line = lines.start
		all = append(all, entry)
		if text := encodingWarning(lines.buf, lines.start); text != "" {
			f.warnings = append(f.warnings, Warning{name, entry.Line, text})
		}
	}
	f.warnings = limit(f.warnings)
	f.keepLast(all)
	return f, nil
}

// keepLast fills f with the last entry of each key, as a Java map has it.
func (f *File) keepLast(all []Entry) {
	last := make(map[string]int, len(all))
	for i, e := range all {
		last[e.Key] = i
	}
	var doubles []Warning
	for i, e := range all {
		if wins := last[e.Key]; wins != i {
			text := fmt.Sprintf("%s: set again in line %d, which counts", showKey(e.Key), all[wins].Line)
			doubles = append(doubles, Warning{f.name, e.Line, text})
			continue
		}
		f.byKey[e.Key] = len(f.entries)
		f.entries = append(f.entries, e)
	}
	f.warnings = append(f.warnings, limit(doubles)...)
}

// encodingWarning says what is odd about the bytes of a line.
func encodingWarning(line []byte, number int) string {
	switch {
	case number == 1 && bytes.HasPrefix(line, []byte("\uFEFF")):
		return "begins with a byte order mark, which Java reads as a part of the key: save the file without"
	case bytes.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) && utf8.Valid(line):
		return `holds UTF-8, which Java reads as ISO-8859-1, as other characters: write them as \uXXXX`
	}
	return ""
}

// parseLine splits a logical line. Its backslashes come in pairs or before
// another character.
func parseLine(line []byte) (Entry, error) {
	keyEnd := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++ // what it escapes separates nothing
		} else if isBlank(line[i]) || isSeparator(line[i]) {
			keyEnd = i
			break
		}
	}
	// One separator with any blanks around it, or blanks alone.
	valueStart := keyEnd
	for separated := false; valueStart < len(line); valueStart++ {
		c := line[valueStart]
		if !separated && isSeparator(c) {
			separated = true
		} else if !isBlank(c) {
			break
		}
	}
	key, err := unescape(line[:keyEnd])
	if err != nil {
		return Entry{}, err
	}
	value, err := unescape(line[valueStart:])
	if err != nil {
		return Entry{}, err
	}
	return Entry{Key: key, value: NewSecret(value)}, nil
}

var (
	errEscape    = errors.New(`malformed \uXXXX: it needs four hexadecimal digits (write \\u for a backslash and an u)`)
	errSurrogate = errors.New(`half a surrogate pair: characters beyond \uFFFF are written as two \uXXXX in a row`)
)

// unescape decodes ISO-8859-1 with escapes. A backslash before a character that
// needs none is dropped.
func unescape(text []byte) (string, error) {
	units := make([]uint16, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			units = append(units, uint16(text[i]))
			continue
		}
		i++ // there is one more: see parseLine
		switch c := text[i]; c {
		case 'u':
			digits := text[i+1 : min(i+5, len(text))]
			unit, err := strconv.ParseUint(string(digits), 16, 16)
			if err != nil || len(digits) < 4 {
				return "", errEscape
			}
			units = append(units, uint16(unit))
			i += 4
		case 't':
			units = append(units, '\t')
		case 'n':
			units = append(units, '\n')
		case 'r':
			units = append(units, '\r')
		case 'f':
			units = append(units, '\f')
		default:
			units = append(units, uint16(c))
		}
	}
	return decode(units)
}

// decode is utf16.Decode, but half a pair is an error: a password with a
// replacement character in it is another password.
func decode(units []uint16) (string, error) {
	out := make([]byte, 0, len(units))
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) {
			if i+1 == len(units) {
				return "", errSurrogate
			}
			i++
			if r = utf16.DecodeRune(r, rune(units[i])); r == utf8.RuneError {
				return "", errSurrogate
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out), nil
}

func isBlank(c byte) bool     { return c == ' ' || c == '\t' || c == '\f' }
func isSeparator(c byte) bool { return c == '=' || c == ':' }
func isLineEnd(c byte) bool   { return c == '\n' || c == '\r' }

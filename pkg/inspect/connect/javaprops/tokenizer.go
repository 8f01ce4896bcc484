package javaprops

import (
	"strings"
	"unicode/utf8"
)

// The kinds of tokens beside the characters = and ; themselves.
const (
	tokenEnd   rune = -1 - iota
	tokenText       // a word or a quoted string
	tokenOpen       // a quoted string that does not end in its line
	tokenOther      // a number, or a character that has no place in an entry
)

type token struct {
	kind   rune
	text   string
	quoted bool
}

// tokenizer is a java.io.StreamTokenizer as JaasConfig sets it up: comments as
// in Java and also from a single slash to the end of the line, words of letters,
// digits and "._-$", and numbers, which are all the same to JaasConfig: they
// are no text.
type tokenizer struct {
	text string // valid UTF-8
	off  int
}

// end is what read returns behind the text.
const end rune = -1

func (t *tokenizer) read() rune {
	if t.off == len(t.text) {
		return end
	}
	r, size := utf8.DecodeRuneInString(t.text[t.off:])
	t.off += size
	return r
}

func (t *tokenizer) peek() rune {
	ahead := *t
	return ahead.read()
}

// atBreak reports whether the token before it ends as its author meant: with
// a blank, a semicolon or the text.
func (t *tokenizer) atBreak() bool {
	c := t.peek()
	return c <= ' ' || c == ';'
}

func (t *tokenizer) next() token {
	for {
		start := t.off
		switch c := t.read(); {
		case c == end:
			return token{kind: tokenEnd}
		case c <= ' ':
		case isWordStart(c):
			for isWordPart(t.peek()) {
				t.read()
			}
			return token{kind: tokenText, text: t.text[start:t.off]}
		case c == '"' || c == '\'':
			return t.quoted(c)
		case c == '/':
			t.skipComment()
		case c == '=' || c == ';':
			return token{kind: c}
		default:
			return token{kind: tokenOther}
		}
	}
}

// skipComment skips what begins with the slash that was just read.
func (t *tokenizer) skipComment() {
	if t.read() == '*' {
		_, behind, _ := strings.Cut(t.text[t.off:], "*/")
		t.off = len(t.text) - len(behind)
		return
	}
	// The character behind a single slash is skipped unseen, as in Java, even if
	// it is the end of the line: the comment is then the whole next line.
	for c := t.read(); c != end && c != '\n' && c != '\r'; c = t.read() {
	}
}

// quoted reads a string whose opening quote was just read.
func (t *tokenizer) quoted(quote rune) token {
	var b strings.Builder
	for {
		switch c := t.read(); c {
		case quote:
			return token{kind: tokenText, text: b.String(), quoted: true}
		case end, '\n', '\r':
			return token{kind: tokenOpen}
		case '\\':
			if t.peek() == end {
				return token{kind: tokenOpen}
			}
			b.WriteRune(t.escape())
		default:
			b.WriteRune(c)
		}
	}
}

// escape reads what follows a backslash: up to three octal digits, one of
// abfnrtv, or any character, which stands for itself.
func (t *tokenizer) escape() rune {
	c := t.read()
	if isOctal(c) {
		digits := 1
		if c <= '3' { // \377 is the last
			digits = 2
		}
		value := c - '0'
		for ; digits > 0 && isOctal(t.peek()); digits-- {
			value = value<<3 | (t.read() - '0')
		}
		return value
	}
	if i := strings.IndexRune("abfnrtv", c); i >= 0 {
		return rune("\a\b\f\n\r\t\v"[i])
	}
	return c
}

func isOctal(c rune) bool { return '0' <= c && c <= '7' }

// isWordStart: what Java calls alphabetic is also everything from U+00A0 on.
func isWordStart(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c >= 0xA0
}

func isWordPart(c rune) bool { return isWordStart(c) || '0' <= c && c <= '9' || c == '.' || c == '-' }

package javaprops

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// What files are made of, the odd more often than in life.
var propertyPieces = []string{
	"a", "b", "key", "a.b.c", "value", "0041", "=", "=", ":", " ", "  ", "\t", "\f", "\n", "\n", "\r", "\r\n", "\r\n",
	"\\", "\\\\", "\\\n", "\\\r\n", "\\\r", "\\\n\\\n", "\\\n  ", "\\\n\n", "\\\r\n\t\f", "\\\n#", "#", "!", "# c\\\n",
	`\n`, `\t`, `\r`, `\f`, `\ `, `\=`, `\:`, `\#`, `\!`, `\q`, `\"`, `\\n`, `\u0041`, `\u00e9`, `\u20AC`, `\uD83D\uDE00`,
	`\\u0041`, `\u0020`, `\u003d`, `\u000a`, "${a}", "\x00", "\x0b", "\x1a", "\x85", "\xa0", "\xe9", "\xc3\xa9", "\xef\xbb\xbf", "\"", "'",
}

// Errors, rare: one of them is the end of a file.
var badPieces = []string{`\u`, `\u00`, `\uzzzz`, `\u004`, `\u00 41`, `\u+041`, `\U0041`, `\uD83D`, `\uDE00`, `\uDE00\uD83D`, "\\uD83D=\\uDE00", "\\uD83D\\\n\\uDE00", "\\u00\\\n41"}

// generateFile returns one file of the corpus.
func generateFile(r *rand.Rand) string {
	pieces := propertyPieces
	switch r.IntN(10) {
	case 0, 1:
		pieces = append(slices.Clone(pieces), badPieces...)
	case 2: // so that something odd falls on the end of Java's buffer
		const buffer = 8192
		padding := buffer - r.IntN(12)
		return "k=" + strings.Repeat("x", padding) + soup(r, 12, pieces)
	case 3: // lines that look like lines
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString(soup(r, 3, pieces) + "=" + soup(r, 6, pieces) + "\n")
		}
		return b.String()
	}
	return soup(r, 24, pieces)
}

func propertiesCorpus() ([]question, checker) {
	r := rand.New(rand.NewPCG(14, 1))
	var questions []question
	for _, tt := range parseTests {
		questions = append(questions, question{"properties", tt.file})
	}
	for range corpusSize {
		questions = append(questions, question{"properties", generateFile(r)})
	}
	return questions, checkProperties
}

func checkProperties(t *testing.T, questions []question, answers []answer) {
	seen := map[string]int{}
	for i, a := range answers {
		file := questions[i].text
		f, err := Parse("f", []byte(file))
		switch {
		case a.throws != "":
			seen["throws"]++
			if err == nil {
				t.Errorf("%q: Java throws %s, got\n%s", file, a.throws, show(f))
			}
		case a.half: // stricter, see the package comment
			seen["half a surrogate pair"]++
			if err == nil || !strings.Contains(err.Error(), errSurrogate.Error()) {
				t.Errorf("%q: half a surrogate pair: got error %v", file, err)
			}
		case err != nil:
			t.Errorf("%q: got error %v, Java reads\n%s", file, err, a.pairs())
		default:
			seen["read"]++
			if got, want := show(f), a.pairs(); got != want {
				t.Errorf("%q: got\n%s\nJava reads\n%s", file, got, want)
			}
		}
	}
	t.Logf("%v", seen)
	if seen["throws"] < 20 || seen["half a surrogate pair"] < 5 || seen["read"] < 300 {
		t.Errorf("the corpus has too few of a kind: %v", seen)
	}
}

// show returns what f holds as answer.pairs does.
func show(f *File) string {
	var lines []string
	for _, e := range f.Entries() {
		lines = append(lines, fmt.Sprintf("%q=%q", e.Key, e.Value()))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func valuesCorpus() ([]question, checker) {
	// What a value may hold once it comes out of a file.
	pieces := []string{
		"true", "TRUE", "False", "fal\u017fe", "yes", "1", "0", "-", "+", "12", "2147483647", "2147483648", "9223372036854775807",
		"9223372036854775808", "_", ".", "a", "b", ",", ",", " ", "\t", "\n", "\v", "\f", "\r", "\x00", "\x1f", "\x1c", "\x7f", "\u00a0", "\u2003", "\u00e9",
	}
	r := rand.New(rand.NewPCG(14, 2))
	var questions []question
	for range corpusSize {
		text := soup(r, 5, pieces)
		for _, kind := range valueKinds {
			questions = append(questions, question{kind, text})
		}
	}
	return questions, checkValues
}

var valueKinds = []string{"STRING", "PASSWORD", "LIST", "BOOLEAN", "INT", "LONG"}

func checkValues(t *testing.T, questions []question, answers []answer) {
	read := map[string]int{}
	for i, a := range answers {
		q := questions[i]
		got, err := readAs(q.kind, &File{entries: []Entry{{Key: "k", value: NewSecret(q.text)}}, byKey: map[string]int{"k": 0}})
		if (err != nil) != (a.throws != "") {
			t.Errorf("%s of %q: got %q, error %v, Java throws %q", q.kind, q.text, got, err, a.throws)
			continue
		}
		if a.throws != "" {
			continue
		}
		read[q.kind]++
		want := make([]string, len(a.strings))
		for i, s := range a.strings {
			want[i] = *s
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s of %q: got %q, Java reads %q", q.kind, q.text, got, want)
		}
	}
	for _, kind := range valueKinds {
		if read[kind] < 10 {
			t.Errorf("the corpus has %d values that are a %s", read[kind], kind)
		}
	}
}

// readAs reads the value of k as a type of ConfigDef.
func readAs(kind string, f *File) ([]string, error) {
	number := func(b Bounds) ([]string, error) {
		n, err := f.Int("k", 0, b)
		return []string{fmt.Sprint(n)}, err
	}
	switch kind {
	case "PASSWORD":
		s, _ := f.Secret("k")
		return []string{s.Reveal()}, nil
	case "LIST":
		list, _ := f.List("k")
		return list, nil
	case "BOOLEAN":
		b, err := f.Bool("k", false)
		return []string{fmt.Sprint(b)}, err
	case "INT":
		return number(Bounds{-1 << 31, 1<<31 - 1})
	case "LONG":
		return number(Bounds{-1 << 63, 1<<63 - 1})
	}
	s, _ := f.Get("k")
	return []string{s}, nil
}

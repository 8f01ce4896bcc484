package javaprops

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

// corpusSize is how many generated cases of each kind are compared with Java.
const corpusSize = 500

// A question is one case of testdata/Answers.java.
type question struct {
	kind string
	text string // bytes of a file, or UTF-8
}

// An answer is what Java says. A string is nil where Java has null.
type answer struct {
	throws  string
	strings []*string
	half    bool // a string holds half a surrogate pair
}

// A checker compares what we read with what Java says.
type checker func(*testing.T, []question, []answer)

func TestAgainstJava(t *testing.T) {
	t.Parallel()
	corpora := []struct {
		name string
		make func() ([]question, checker)
	}{
		{"properties", propertiesCorpus},
		{"values", valuesCorpus},
		{"jaas", jaasCorpus},
	}
	var all []question
	for _, c := range corpora {
		questions, _ := c.make()
		all = append(all, questions...)
	}
	answers := ask(t, all)
	for _, c := range corpora {
		questions, check := c.make()
		t.Run(c.name, func(t *testing.T) { check(t, questions, answers[:len(questions)]) })
		answers = answers[len(questions):]
	}
}

// ask runs one Java for all questions.
func ask(t *testing.T, questions []question) []answer {
	t.Helper()
	cmd := kafkatest.Program(t, kafkatest.DefaultVersion, filepath.Join("testdata", "Answers.java"))
	var in bytes.Buffer
	for _, q := range questions {
		data := []byte(q.text)
		if q.kind != "properties" {
			data = nil
			for _, unit := range utf16.Encode([]rune(q.text)) {
				data = binary.BigEndian.AppendUint16(data, unit)
			}
		}
		fmt.Fprintf(&in, "%s %s\n", q.kind, hex.EncodeToString(data))
	}
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.Bytes())
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(questions) {
		t.Fatalf("got %d answers, want %d\n%s", len(lines), len(questions), stderr.Bytes())
	}
	answers := make([]answer, len(lines))
	for i, line := range lines {
		answers[i] = parseAnswer(t, line)
	}
	return answers
}

func parseAnswer(t *testing.T, line string) answer {
	t.Helper()
	fields := strings.Split(line, " ")
	if fields[0] == "throws" {
		return answer{throws: fields[1]}
	}
	var a answer
	for _, field := range fields[1:] {
		if field == "-" {
			a.strings = append(a.strings, nil)
			continue
		}
		data, err := hex.DecodeString(strings.TrimPrefix(field, ":"))
		if err != nil || fields[0] != "ok" {
			t.Fatalf("answer %q: %v", line, err)
		}
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = binary.BigEndian.Uint16(data[2*i:])
		}
		runes := utf16.Decode(units)
		// Decode puts U+FFFD for half a pair.
		a.half = a.half || !slices.Equal(utf16.Encode(runes), units)
		text := string(runes)
		a.strings = append(a.strings, &text)
	}
	return a
}

// pairs returns strings that come as key and value as one text to compare.
func (a answer) pairs() string {
	var lines []string
	for pair := range slices.Chunk(a.strings, 2) {
		if pair[0] == nil {
			lines = append(lines, fmt.Sprintf("null=%q", *pair[1]))
			continue
		}
		lines = append(lines, fmt.Sprintf("%q=%q", *pair[0], *pair[1]))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// hasNull reports whether Java has an option without a name.
func (a answer) hasNull() bool { return slices.Contains(a.strings, nil) }

// soup returns up to n pieces, any of them in any order.
func soup(r *rand.Rand, n int, pieces []string) string {
	var b strings.Builder
	for range r.IntN(n) + 1 {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

package kraft

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

// kafkas are the versions that are asked: under KAFKAOPS_LONG one of the last
// with ZooKeeper too.
func kafkas() []string {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		return []string{kafkatest.DefaultVersion}
	}
	return []string{kafkatest.DefaultVersion, "3.9.1"}
}

// answer is what testdata/Oracle.java said to a question.
type answer struct {
	text   string
	throws bool
}

// ask puts the questions to Kafka's own classes, in one Java.
func ask(t *testing.T, version string, questions []string) []answer {
	t.Helper()
	cmd := kafkatest.Program(t, version, "testdata/Oracle.java")
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Join(questions, "\n")), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.Bytes())
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(questions) {
		t.Fatalf("got %d answers to %d questions\n%s", len(lines), len(questions), stderr.Bytes())
	}
	answers := make([]answer, len(lines))
	for i, line := range lines {
		verdict, text, _ := strings.Cut(line, "\t")
		answers[i] = answer{text: text, throws: verdict != "ok"}
	}
	return answers
}

// subject is one layout in one version.
type subject struct {
	name    string // of Kafka's schema
	typ     Type   // of a data record
	control ControlType
	version int16
	latest  int16
	secret  bool
	blank   func() layout
}

// layout is a data or a control record.
type layout interface{ fields() []field }

func (s subject) String() string { return fmt.Sprintf("%s v%d", s.name, s.version) }

// subjects are all versions of all records.
func subjects() (all []subject) {
	for typ := range Type(64) {
		k, ok := kindOf(typ)
		for v := int16(0); ok && v <= k.latest; v++ {
			all = append(all, subject{
				name: schemaName(k.name), typ: typ, version: v, latest: k.latest, secret: k.secret,
				blank: func() layout { k, _ := kindOf(typ); return k.blank },
			})
		}
	}
	for i, name := range []string{"LeaderChangeMessage", "SnapshotHeaderRecord", "SnapshotFooterRecord", "KRaftVersionRecord", "VotersRecord"} {
		typ := ControlLeaderChange + ControlType(i)
		_, latest := blankControl(typ)
		for v := int16(0); v <= latest; v++ {
			all = append(all, subject{
				name: name, control: typ, version: v, latest: latest,
				blank: func() layout { rec, _ := blankControl(typ); return rec },
			})
		}
	}
	return all
}

// schemaName turns CLEAR_ELR_RECORD into ClearElrRecord.
func schemaName(tool string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(tool, "_") {
		b.WriteString(word[:1] + strings.ToLower(word[1:]))
	}
	return b.String()
}

// append encodes rec in the subject's version.
func (s subject) append(rec layout) ([]byte, error) {
	if control, ok := rec.(ControlRecord); ok {
		return AppendControl(nil, control)
	}
	return Append(nil, rec.(Record), s.version)
}

func (s subject) decode(value []byte) (layout, error) {
	if s.control != 0 {
		return DecodeControl(AppendControlKey(nil, s.control), value)
	}
	return Decode(value)
}

// encodeQuestion asks for the bytes of what is described as JSON.
func (s subject) encodeQuestion(jsonText string) string {
	if s.control != 0 {
		return fmt.Sprintf("control\t%s\t%d\t%s", s.name, s.version, jsonText)
	}
	return fmt.Sprintf("encode\t%d\t%d\t%s", s.typ, s.version, jsonText)
}

// decodeQuestion asks for the JSON of bytes.
func (s subject) decodeQuestion(value []byte) string {
	if s.control != 0 {
		return fmt.Sprintf("uncontrol\t%s\t%d\t%x", s.name, s.version, value)
	}
	return fmt.Sprintf("decode\t%x", value)
}

// description is what decodeQuestion's answer must be, but for spaces and such.
func (s subject) description(rec layout) any {
	data := describe(rec.fields(), s.version)
	if s.control != 0 {
		return data
	}
	return map[string]any{"type": s.typ.String(), "version": s.version, "data": data}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// canonical reads JSON so that two texts of the same value are equal: Java and
// Go write numbers differently.
func canonical(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return plainNumbers(v)
}

func plainNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return v
		}
		if n := int64(f); float64(n) == f && max(n, -n) < 1<<53 {
			return n
		}
		return f
	}
	return v
}

// jsonOf returns v as canonical reads it.
func jsonOf(t *testing.T, v any) (text string, value any) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String()), canonical(t, b.String())
}

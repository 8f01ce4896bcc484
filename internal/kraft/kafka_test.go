package kraft

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// perSubject is how many records of each type and version are compared.
const perSubject = 100

// TestAgainstKafka encodes generated records here and there, byte for byte, and
// decodes the bytes here and there, value for value.
func TestAgainstKafka(t *testing.T) {
	t.Parallel()
	for _, kafka := range kafkas() {
		t.Run(kafka, func(t *testing.T) {
			t.Parallel()
			againstKafka(t, kafka)
		})
	}
}

func againstKafka(t *testing.T, kafka string) {
	schemas := schemasOf(t, kafka)
	type sample struct {
		subject
		record layout
		value  []byte
		err    error
	}
	var samples []sample
	var questions []string
	for _, s := range subjects() {
		if s.secret || s.version > schemas[s.name].latest(t) {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(s.typ)<<16|uint64(s.control), uint64(s.version)))
		for range perSubject {
			rec := s.blank()
			vary(r, rec.fields(), s.version)
			for _, f := range rec.fields() {
				if f.since > schemas[s.name].latest(t) {
					f.value.reset() // that Kafka does not refuse, but ignores it
				}
			}
			if s.control != 0 {
				setVersion(rec, s.version)
			}
			value, err := s.append(rec)
			samples = append(samples, sample{s, rec, value, err})
			text, _ := jsonOf(t, describe(rec.fields(), s.version))
			questions = append(questions, s.encodeQuestion(text), s.decodeQuestion(value))
		}
	}
	answers := ask(t, kafka, questions)
	refused := 0
	for i, s := range samples {
		encoded, decoded := answers[2*i], answers[2*i+1]
		if encoded.throws || s.err != nil {
			refused++
			if !encoded.throws || s.err == nil {
				t.Errorf("%s: %.300s: we: %v; Kafka: %s", s, questions[2*i], s.err, encoded.text)
			}
			continue
		}
		if want := unhex(t, encoded.text); !bytes.Equal(s.value, want) {
			t.Errorf("%s: %.300s:\n got %.300x\nwant %.300x", s, questions[2*i], s.value, want)
			continue
		}
		if decoded.throws {
			t.Errorf("%s: Kafka does not read what we wrote: %s", s, decoded.text)
			continue
		}
		rec, err := s.decode(s.value)
		if err != nil {
			t.Errorf("%s: %.300x: %v", s, s.value, err)
			continue
		}
		if diff := cmp.Diff(s.record, rec); diff != "" {
			t.Errorf("%s: %.300x: not what was encoded (-want +got):\n%s", s, s.value, diff)
		}
		_, got := jsonOf(t, s.description(rec))
		if diff := cmp.Diff(canonical(t, decoded.text), got); diff != "" {
			t.Errorf("%s: %.300x: (-Kafka +we):\n%s", s, s.value, diff)
		}
	}
	if refused == 0 || refused > len(samples)/4 {
		t.Errorf("%d of %d records were refused by both: want some, and not many", refused, len(samples))
	}
	t.Logf("%d records of %d types and versions, %d refused by both", len(samples), len(samples)/perSubject, refused)
}

// setVersion sets the first field of a control record.
func setVersion(rec layout, version int16) {
	*look(rec.fields()[0]).address().(*int16) = version
}

// schema is Kafka's own description of a message.
type schema struct {
	Name          string
	APIKey        *int16 `json:"apiKey"`
	ValidVersions string
	Fields        []schemaField
	CommonStructs []schemaField
}

type schemaField struct {
	Name             string
	Type             string
	Versions         string
	NullableVersions string
	TaggedVersions   string
	Tag              json.RawMessage // a number, or the same as a string
	Default          json.RawMessage // a number or a string
	Fields           []schemaField
}

func schemasOf(t *testing.T, kafka string) map[string]schema {
	t.Helper()
	a := ask(t, kafka, []string{"schemas"})[0]
	var all map[string]schema
	if err := json.Unmarshal([]byte(a.text), &all); err != nil || a.throws {
		t.Fatalf("%v: %.200s", err, a.text)
	}
	return all
}

// latest is the end of "0-3", "0" or, for a schema that there is not, −1.
func (s schema) latest(t *testing.T) (v int16) {
	t.Helper()
	if s.Name == "" {
		return -1
	}
	first, last, ranged := strings.Cut(s.ValidVersions, "-")
	if !ranged {
		last = first
	}
	if _, err := fmt.Sscan(last, &v); err != nil || first != "0" {
		t.Fatalf("%s: valid versions %q", s.Name, s.ValidVersions)
	}
	return v
}

// TestSchemas compares every layout, line by line, with the schemas that Kafka's
// jars hold.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, kafka := range kafkas() {
		schemas := schemasOf(t, kafka)
		ours := map[string]bool{}
		for _, s := range subjects() {
			their, ok := schemas[s.name]
			if s.version != s.latest || !ok && kafka != kafkas()[0] {
				continue // the newest Kafka knows them all
			}
			ours[s.name] = true
			if their.APIKey != nil && Type(*their.APIKey) != s.typ {
				t.Errorf("Kafka %s: %s: type %d: want %d", kafka, s.name, s.typ, *their.APIKey)
			}
			if latest := their.latest(t); latest > s.latest || latest < s.latest && kafka == kafkas()[0] {
				t.Errorf("Kafka %s: %s: our latest version is %d, Kafka's %d", kafka, s.name, s.latest, latest)
			}
			got := lines(s.blank().fields(), "", their.latest(t))
			want := their.lines(their.Fields, "")
			if s.secret {
				want = want[:len(got)]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Kafka %s: %s (-Kafka +we):\n%s", kafka, s.name, diff)
			}
		}
		for name, s := range schemas {
			if s.APIKey != nil && strings.HasSuffix(name, "Record") && !ours[name] {
				t.Errorf("Kafka %s: %s is missing here", kafka, name)
			}
		}
	}
}

// lines draws a layout up to a version: what has its place in order, then tags in
// order.
func lines(fields []field, indent string, latest int16) (all []string) {
	var tags []string
	for _, f := range fields {
		v := look(f)
		kind, nullable := v.schemaType()
		line := fmt.Sprintf("%s%s %s %d+ nullable=%v", indent, f.name, kind, f.since, nullable)
		switch {
		case f.since > latest:
			continue
		case f.tag != noTag:
			text, _ := json.Marshal(defaultOf(v))
			tags = append(tags, fmt.Sprintf("%s tag=%d default=%s", line, f.tag, text))
			continue
		}
		all = append(all, line)
		if e, ok := v.(interface{ element() []field }); ok {
			all = append(all, lines(e.element(), indent+"  ", latest)...)
		}
	}
	return append(all, tags...)
}

// defaultOf resets v and returns what it is then.
func defaultOf(v inspected) any {
	v.reset()
	return v.describe(0)
}

// lines draws the same of a schema.
func (s schema) lines(fields []schemaField, indent string) (all []string) {
	tags := map[string]string{}
	for _, f := range fields {
		kind, elements := f.Type, f.Fields
		for _, c := range s.CommonStructs {
			if kind == "[]"+c.Name {
				elements = c.Fields
			}
		}
		switch {
		case elements == nil:
		case strings.HasPrefix(kind, "[]"):
			kind = "[]struct"
		default:
			kind = "struct"
		}
		line := fmt.Sprintf("%s%s %s %s nullable=%v", indent, f.Name, kind, f.Versions, f.NullableVersions != "")
		if f.TaggedVersions != "" {
			def := strings.Trim(string(f.Default), `"`)
			switch {
			case def != "":
			case strings.HasPrefix(kind, "[]"):
				def = "[]"
			default:
				def = "0"
			}
			tag := strings.Trim(string(f.Tag), `"`)
			tags[tag] = fmt.Sprintf("%s tag=%s default=%s", line, tag, def)
			continue
		}
		all = append(all, line)
		all = append(all, s.lines(elements, indent+"  ")...)
	}
	for i := range 10 {
		if line, ok := tags[fmt.Sprint(i)]; ok {
			all = append(all, line)
		}
	}
	return all
}

// TestRecordVersion compares with Kafka at every level of metadata.version.
func TestRecordVersion(t *testing.T) {
	t.Parallel()
	for _, kafka := range kafkas() {
		text := ask(t, kafka, []string{"versions"})[0].text
		levels := strings.Split(strings.TrimSuffix(text, ";"), ";")
		for _, want := range levels {
			var level MetadataVersion
			if _, err := fmt.Sscan(want, &level); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			got := fmt.Sprint(level, level.RecordVersion(&RegisterBroker{}), level.RecordVersion(&Partition{}), level.RecordVersion(&PartitionChange{}))
			if got != want {
				t.Errorf("Kafka %s: got %s, want %s", kafka, got, want)
			}
		}
		if len(levels) < 20 {
			t.Errorf("Kafka %s: only %d levels", kafka, len(levels))
		}
	}
}

// TestLayouts checks that every field of every struct is bound once, to the line
// of its name, and that tags ascend.
func TestLayouts(t *testing.T) {
	t.Parallel()
	for _, s := range subjects() {
		rec := s.blank()
		checkBound(t, s.name, reflect.ValueOf(rec).Elem(), rec.fields())
	}
	checkBound(t, "Endpoint", reflect.ValueOf(&endpoint).Elem(), endpoint.fields())
	checkBound(t, "FeatureRange", reflect.ValueOf(&features).Elem(), features.fields())
	checkBound(t, "QuotaEntity", reflect.ValueOf(&entity).Elem(), entity.fields())
	checkBound(t, "LeaderChangeVoter", reflect.ValueOf(&voter).Elem(), voter.fields())
	checkBound(t, "KRaftVoter", reflect.ValueOf(&kraftVoter).Elem(), kraftVoter.fields())
	checkBound(t, "VoterEndpoint", reflect.ValueOf(&voterEndpoint).Elem(), voterEndpoint.fields())
}

var (
	endpoint      Endpoint
	features      FeatureRange
	entity        QuotaEntity
	voter         LeaderChangeVoter
	kraftVoter    KRaftVoter
	voterEndpoint VoterEndpoint
)

func checkBound(t *testing.T, name string, v reflect.Value, fields []field) {
	t.Helper()
	bound := map[any]string{}
	last := noTag
	var bind func(fields []field)
	bind = func(fields []field) {
		for _, f := range fields {
			if inner, ok := f.value.(single); ok {
				bind(inner)
				continue
			}
			if other, twice := bound[look(f).address()]; twice {
				t.Errorf("%s: %s and %s are the same field", name, other, f.name)
			}
			bound[look(f).address()] = f.name
			if f.tag != noTag && f.tag <= last {
				t.Errorf("%s: %s: tag %d after %d", name, f.name, f.tag, last)
			}
			last = max(last, f.tag)
		}
	}
	bind(fields)
	if len(bound) != v.NumField() {
		t.Errorf("%s: %d lines for %d fields", name, len(bound), v.NumField())
	}
	for i := range v.NumField() {
		field := v.Type().Field(i).Name
		if got := bound[v.Field(i).Addr().Interface()]; !strings.EqualFold(got, field) {
			t.Errorf("%s: field %s is bound to %q", name, field, got)
		}
	}
}

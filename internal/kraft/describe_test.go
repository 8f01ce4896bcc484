package kraft

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
)

// inspected is a value as tests see it, with Kafka's names for its type.
type inspected interface {
	value
	// schemaType is the type in Kafka's schema, nullable whether null is a value.
	schemaType() (name string, nullable bool)
	// describe is the JSON that Kafka's converters print.
	describe(version int16) any
	// vary sets it at random.
	vary(r *rand.Rand)
	// address is that of the struct's field, nil for a struct within.
	address() any
}

func look(f field) inspected { return f.value.(inspected) }

// describe is the JSON of a struct: what its version has, without tagged fields
// that are left out, but with what is set and would be lost.
func describe(fields []field, version int16) map[string]any {
	all := map[string]any{}
	for _, f := range fields {
		if f.tag == noTag && f.since <= version || !f.value.isDefault() {
			all[strings.ToLower(f.name[:1])+f.name[1:]] = look(f).describe(version)
		}
	}
	return all
}

// vary fills a record at random, sometimes with more than the version has.
func vary(r *rand.Rand, fields []field, version int16) {
	tooMuch := r.IntN(8) == 0
	for _, f := range fields {
		switch {
		case f.since > version && !tooMuch, f.tag != noTag && r.IntN(3) == 0:
			f.value.reset()
		default:
			look(f).vary(r)
		}
	}
}

func some[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// varyWord draws the values at which encodings differ more often than others.
func varyWord(r *rand.Rand, p any) {
	n := some(r, 0, 1, -1, -2, 127, 128, 255, math.MaxInt16, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, r.Int64())
	switch p := p.(type) {
	case *bool:
		*p = n&1 == 0
	case *int8:
		*p = int8(n)
	case *RecoveryState:
		*p = RecoveryState(n)
	case *int16:
		*p = int16(n)
	case *uint16:
		*p = uint16(n)
	case *int32:
		*p = int32(n)
	case *int64:
		*p = n
	case *float64:
		*p = some(r, 0, 1, -1, 0.1, math.MaxFloat64, math.SmallestNonzeroFloat64, r.NormFloat64(), float64(r.IntN(1e9)))
	case *UUID:
		*p = some(r, MigratingDirectory, UnassignedDirectory, LostDirectory, UUID{0: byte(n), 7: byte(n >> 8), 15: byte(r.IntN(256))})
	default:
		panic(fmt.Sprintf("%T", p))
	}
}

func describeWord(v any) any {
	switch v := v.(type) {
	case UUID:
		return v.String()
	case float64: // with an exponent: Kafka wants to see that it is one
		return json.RawMessage(strconv.FormatFloat(v, 'e', -1, 64))
	}
	return v
}

func schemaWord(v any) string {
	switch v.(type) {
	case UUID:
		return "uuid"
	case RecoveryState:
		return "int8"
	}
	return reflect.TypeOf(v).String() // Go's names and Kafka's agree
}

func (v word[T]) schemaType() (string, bool) { return schemaWord(*v.p), false }
func (v word[T]) describe(int16) any         { return describeWord(*v.p) }
func (v word[T]) vary(r *rand.Rand)          { varyWord(r, v.p) }
func (v word[T]) address() any               { return v.p }

func (v list[T]) schemaType() (string, bool) { return "[]" + schemaWord(*new(T)), v.nullable }
func (v list[T]) address() any               { return v.p }

func (v list[T]) describe(int16) any {
	if v.nullable && *v.p == nil {
		return nil
	}
	all := []any{}
	for _, e := range *v.p {
		all = append(all, describeWord(e))
	}
	return all
}

func (v list[T]) vary(r *rand.Rand) {
	*v.p = make([]T, some(r, 0, 0, 0, 1, 1, 2, 3, 3, 126, 127, 128))
	for i := range *v.p {
		varyWord(r, &(*v.p)[i])
	}
	if len(*v.p) == 0 && (!v.nullable || r.IntN(2) == 0) {
		*v.p = nil
	}
}

func (v text) schemaType() (string, bool) { return "string", false }
func (v text) describe(int16) any         { return *v.p }
func (v text) address() any               { return v.p }

func (v text) vary(r *rand.Rand) {
	*v.p = strings.Repeat(some(r, "a", "é", "\"\t\\", "日本", "😀", "\x00"), some(r, 0, 0, 1, 1, 1, 5, 5, 5, 5, 31, 62, 63, 126, 127, 128))
}

func (v nullText) schemaType() (string, bool) { return "string", true }
func (v nullText) address() any               { return v.p }

func (v nullText) describe(int16) any {
	if *v.p == nil {
		return nil
	}
	return **v.p
}

func (v nullText) vary(r *rand.Rand) {
	*v.p = nil
	if r.IntN(3) > 0 {
		*v.p = new(string)
		text{*v.p}.vary(r)
	}
}

func (v structs[T]) schemaType() (string, bool) { return "[]struct", false }
func (v structs[T]) address() any               { return v.p }

func (v structs[T]) describe(version int16) any {
	all := []any{}
	for i := range *v.p {
		all = append(all, describe(v.layout(&(*v.p)[i]), version))
	}
	return all
}

func (v structs[T]) vary(r *rand.Rand) {
	*v.p = nil
	for range some(r, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 127) {
		*v.p = append(*v.p, *new(T))
		// A version that the element may not have is tried by its record.
		vary(r, v.layout(&(*v.p)[len(*v.p)-1]), int16(r.IntN(2)))
	}
}

// element returns the layout of one of them.
func (v structs[T]) element() []field { return v.layout(new(T)) }

func (v single) schemaType() (string, bool) { return "struct", false }
func (v single) describe(version int16) any { return describe(v, version) }
func (v single) vary(r *rand.Rand)          { vary(r, v, 0) }
func (v single) address() any               { return nil }
func (v single) element() []field           { return v }

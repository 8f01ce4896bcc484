package inspect

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Opt is a value that may be unknown, because it was not asked for, not
// answered, or cannot be had from this cluster. The zero value is unknown.
// Unknown is null in JSON.
type Opt[T any] struct {
	value T
	known bool
}

// Known returns v as an observed value.
func Known[T any](v T) Opt[T] { return Opt[T]{value: v, known: true} }

// Unknown returns the unknown T; it says in the code what the zero value means.
func Unknown[T any]() Opt[T] { return Opt[T]{} }

// Get returns the value and whether it is known.
func (o Opt[T]) Get() (T, bool) { return o.value, o.known }

// IsKnown reports whether the value was observed.
func (o Opt[T]) IsKnown() bool { return o.known }

// Or returns the value, or other where it is unknown. Use it only where other
// is right for the unknown case too, such as an empty list to range over.
func (o Opt[T]) Or(other T) T {
	if o.known {
		return o.value
	}
	return other
}

// Equal reports whether both are unknown, or both are known and deeply equal.
func (o Opt[T]) Equal(other Opt[T]) bool {
	return o.known == other.known && reflect.DeepEqual(o.value, other.value)
}

// String is the value, or "-", which is how unknown looks in a table.
func (o Opt[T]) String() string {
	if !o.known {
		return "-"
	}
	return fmt.Sprint(o.value)
}

// MarshalJSON encodes unknown as null, and a nil list as an empty one.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.known {
		return []byte("null"), nil
	}
	if v := reflect.ValueOf(o.value); v.Kind() == reflect.Slice && v.IsNil() {
		return []byte("[]"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON decodes null as unknown.
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*o = Opt[T]{}
		return nil
	}
	o.known = true
	return json.Unmarshal(data, &o.value)
}

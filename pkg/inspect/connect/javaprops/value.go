package javaprops

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The types of Kafka's ConfigDef, whose rules these follow: every value is
// trimmed, and one that is there and empty is no default.

// Get returns the value of a key as Kafka takes a string or a password: without
// blanks and control characters at both ends.
func (f *File) Get(key string) (string, bool) {
	e, ok := f.Entry(key)
	return strings.TrimFunc(e.Value(), func(r rune) bool { return r <= ' ' }), ok
}

// Secret is Get for a value that must not be printed.
func (f *File) Secret(key string) (Secret, bool) {
	value, ok := f.Get(key)
	return NewSecret(value), ok
}

// List returns the parts of a value between commas. An empty value is an empty
// list; an empty part stays.
func (f *File) List(key string) ([]string, bool) {
	value, ok := f.Get(key)
	if value == "" {
		return nil, ok
	}
	parts := strings.Split(value, ",")
	for i := range parts {
		parts[i] = strings.Trim(parts[i], " \t\n\v\f\r")
	}
	return parts, ok
}

// Bool returns a value that is true or false, in any case; fallback if the key
// is not there.
func (f *File) Bool(key string, fallback bool) (bool, error) {
	value, ok := f.Get(key)
	switch {
	case !ok:
		return fallback, nil
	case strings.EqualFold(value, "true"):
		return true, nil
	case strings.EqualFold(value, "false"):
		return false, nil
	}
	return false, f.Errorf(key, "must be true or false")
}

// OneOf returns a value that is one of allowed; fallback if the key is not there.
func (f *File) OneOf(key, fallback string, allowed ...string) (string, error) {
	return f.oneOf(key, fallback, allowed, func(a, b string) bool { return a == b })
}

// OneOfFold is OneOf in any case. It returns the value as allowed has it.
func (f *File) OneOfFold(key, fallback string, allowed ...string) (string, error) {
	return f.oneOf(key, fallback, allowed, strings.EqualFold)
}

func (f *File) oneOf(key, fallback string, allowed []string, equal func(a, b string) bool) (string, error) {
	value, ok := f.Get(key)
	if !ok {
		return fallback, nil
	}
	i := slices.IndexFunc(allowed, func(a string) bool { return equal(a, value) })
	if i < 0 {
		return "", f.Errorf(key, "must be one of %s", strings.Join(allowed, ", "))
	}
	return allowed[i], nil
}

// Bounds are the smallest and the largest number that a setting takes.
type Bounds struct{ Min, Max int64 }

// Int returns a whole number; fallback if the key is not there. Kafka's type int
// ends at math.MaxInt32.
func (f *File) Int(key string, fallback int64, b Bounds) (int64, error) {
	value, ok := f.Get(key)
	if !ok {
		return fallback, nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < b.Min || n > b.Max {
		return 0, f.Errorf(key, "must be a whole number from %d to %d", b.Min, b.Max)
	}
	return n, nil
}

// Millis returns a duration that is given in milliseconds, as the bounds are;
// fallback if the key is not there. More than a Duration holds, which Kafka's
// "for ever" is, becomes the longest one.
func (f *File) Millis(key string, fallback time.Duration, b Bounds) (time.Duration, error) {
	if _, ok := f.Entry(key); !ok {
		return fallback, nil
	}
	n, err := f.Int(key, 0, b)
	if err != nil {
		return 0, err
	}
	const longest = int64(math.MaxInt64 / time.Millisecond)
	switch {
	case n > longest:
		return math.MaxInt64, nil
	case n < -longest:
		return math.MinInt64, nil
	}
	return time.Duration(n) * time.Millisecond, nil
}

// Errorf returns an [*Error] about the setting key. It must not be given any
// part of a value.
func (f *File) Errorf(key, format string, args ...any) error {
	e, _ := f.Entry(key) // line 0 if it is not there
	return &Error{File: f.name, Line: e.Line, Key: key, Problem: fmt.Sprintf(format, args...)}
}

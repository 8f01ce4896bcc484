package javaprops

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// valuesFile has one line for each kind of value. Wrong ones hold "secret": such
// is what a lost line end puts behind a number.
const valuesFile = `text = a\tb \u0000\

list = a , b,c,,\u00a0d
empty =
yes = tRUE
no = false
number = 42
big = 9223372036854775807
small = -9223372036854775808
edge = 9223372036854
beyond = 9223372036855
before = -9223372036855
wrong = 42secret
protocol = sasl_ssl
`

func parseValues(t *testing.T) *File {
	t.Helper()
	f, err := Parse("client.properties", []byte(valuesFile))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestGet(t *testing.T) {
	t.Parallel()
	f := parseValues(t)
	if got, ok := f.Get("text"); got != "a\tb" || !ok {
		t.Errorf("text: got %q, %v", got, ok)
	}
	if e, ok := f.Entry("text"); e.Value() != "a\tb \x00" || e.Line != 1 || !ok {
		t.Errorf("text: got %q in line %d, %v", e.Value(), e.Line, ok)
	}
	if got, ok := f.Secret("text"); got.Reveal() != "a\tb" || !ok {
		t.Errorf("text: got %q, %v", got.Reveal(), ok)
	}
	if got, ok := f.Get("empty"); got != "" || !ok {
		t.Errorf("empty: got %q, %v", got, ok)
	}
	if got, ok := f.Get("missing"); got != "" || ok {
		t.Errorf("missing: got %q, %v", got, ok)
	}
	if got, ok := f.Secret("missing"); got.Reveal() != "" || ok {
		t.Errorf("missing: got %q, %v", got.Reveal(), ok)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	f := parseValues(t)
	for key, want := range map[string][]string{"list": {"a", "b", "c", "", "\u00a0d"}, "empty": nil, "number": {"42"}} {
		got, ok := f.List(key)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %v, -want +got:\n%s", key, ok, diff)
		}
	}
	if got, ok := f.List("missing"); got != nil || ok {
		t.Errorf("missing: got %q, %v", got, ok)
	}
}

func TestBool(t *testing.T) {
	t.Parallel()
	f := parseValues(t)
	for key, want := range map[string]bool{"yes": true, "no": false, "missing": true} {
		if got, err := f.Bool(key, true); got != want || err != nil {
			t.Errorf("%s: got %v, %v", key, got, err)
		}
	}
	_, err := f.Bool("wrong", false)
	wantError(t, err, "client.properties:13: a key that is not shown, because it does not look like one: must be true or false")
	_, err = f.Bool("empty", false)
	wantError(t, err, "client.properties:4: a key that is not shown, because it does not look like one: must be true or false")
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	f := parseValues(t)
	all := Bounds{math.MinInt64, math.MaxInt64}
	for key, want := range map[string]int64{"number": 42, "big": math.MaxInt64, "small": math.MinInt64, "missing": 7} {
		if got, err := f.Int(key, 7, all); got != want || err != nil {
			t.Errorf("%s: got %d, %v", key, got, err)
		}
	}
	for key, want := range map[string]time.Duration{
		"number": 42 * time.Millisecond, "missing": time.Second,
		// What does not fit is as long as can be, and no wrap around.
		"edge": 9223372036854 * time.Millisecond, "beyond": math.MaxInt64, "big": math.MaxInt64,
		"before": math.MinInt64, "small": math.MinInt64,
	} {
		if got, err := f.Millis(key, time.Second, all); got != want || err != nil {
			t.Errorf("%s: got %v, %v", key, got, err)
		}
	}
	if got, err := f.Int("number", 0, Bounds{42, 42}); got != 42 || err != nil {
		t.Errorf("number: got %d, %v", got, err)
	}
	for _, b := range []Bounds{{0, 41}, {43, 99}} {
		if got, err := f.Int("number", 0, b); err == nil {
			t.Errorf("number from %d to %d: got %d", b.Min, b.Max, got)
		}
	}
}

func TestOneOf(t *testing.T) {
	t.Parallel()
	f := parseValues(t)
	if got, err := f.OneOfFold("protocol", "PLAINTEXT", "PLAINTEXT", "SASL_SSL"); got != "SASL_SSL" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := f.OneOf("protocol", "PLAINTEXT", "PLAINTEXT", "SASL_SSL"); err == nil {
		t.Errorf("got %q in another case", got)
	}
	if got, err := f.OneOf("protocol", "", "sasl_ssl"); got != "sasl_ssl" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := f.OneOf("missing", "PLAINTEXT", "SSL"); got != "PLAINTEXT" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// Messages name file, line, setting and what is allowed, and not the value.
func TestValueErrors(t *testing.T) {
	t.Parallel()
	f, err := Parse("client.properties", []byte("\na.bool=truesecret\na.number=3secret\na.word=secret\na.time=99\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Bool("a.bool", false)
	wantError(t, err, "client.properties:2: a.bool: must be true or false")
	_, err = f.Int("a.number", 0, Bounds{0, math.MaxInt32})
	wantError(t, err, "client.properties:3: a.number: must be a whole number from 0 to 2147483647")
	_, err = f.OneOf("a.word", "", "SSL", "PLAINTEXT")
	wantError(t, err, "client.properties:4: a.word: must be one of SSL, PLAINTEXT")
	_, err = f.Millis("a.time", 0, Bounds{100, 200})
	wantError(t, err, "client.properties:5: a.time: must be a whole number from 100 to 200")
	wantError(t, f.Errorf("a.missing", "is needed by %s", "SSL"), "client.properties: a.missing: is needed by SSL")
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

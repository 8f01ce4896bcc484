package kraft

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzDecode: whatever the bytes, there is a record or an error, and a record
// that was read comes back from being written, in fewer bytes or as many.
func FuzzDecode(f *testing.F) {
	for _, value := range goldenValues(f, false) {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		rec, err := Decode(value)
		if err != nil {
			return
		}
		if k, ok := kindOf(rec.Type()); !ok || k.secret {
			return
		}
		r := &reader{b: value}
		r.short("frame")
		r.short("type")
		version := r.short("version")
		if _, ok := rec.(*Unknown); ok {
			return
		}
		again, err := Append(nil, rec, version)
		if err != nil {
			t.Fatalf("%x: %+v: %v", value, rec, err)
		}
		checkAgain(t, value, again, rec, func(b []byte) (layout, error) { return Decode(b) })
	})
}

// FuzzDecodeControl: the same of control records.
func FuzzDecodeControl(f *testing.F) {
	for _, value := range goldenValues(f, true) {
		for typ := ControlLeaderChange; typ <= ControlKRaftVoters; typ++ {
			f.Add(int16(typ), value)
		}
	}
	f.Fuzz(func(t *testing.T, typ int16, value []byte) {
		key := AppendControlKey(nil, ControlType(typ))
		rec, err := DecodeControl(key, value)
		if err != nil {
			return
		}
		if _, ok := rec.(*UnknownControl); ok {
			return
		}
		again, err := AppendControl(nil, rec)
		if err != nil {
			t.Fatalf("%x: %+v: %v", value, rec, err)
		}
		checkAgain(t, value, again, rec, func(b []byte) (layout, error) { return DecodeControl(key, b) })
	})
}

func checkAgain(t *testing.T, value, again []byte, rec layout, decode func([]byte) (layout, error)) {
	t.Helper()
	if len(again) > len(value) {
		t.Errorf("%x is written as %x", value, again)
	}
	got, err := decode(again)
	if err != nil {
		t.Fatalf("%x, again %x: %v", value, again, err)
	}
	if bytes.Equal(value, again) {
		return // and cmp would only find that NaN is not NaN
	}
	if diff := cmp.Diff(rec, got, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); diff != "" {
		t.Errorf("%x, again %x: (-first +again):\n%s", value, again, diff)
	}
}

// goldenValues are the samples of the golden file, to start from.
func goldenValues(f *testing.F, control bool) (values [][]byte) {
	f.Helper()
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(line, "\t")
		if control == strings.Contains(fields[2], `"type":`) {
			continue
		}
		value, err := hex.DecodeString(fields[1])
		if err != nil {
			f.Fatal(err)
		}
		values = append(values, value)
	}
	return values
}

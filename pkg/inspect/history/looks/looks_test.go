package looks

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// filler makes values of any type, all fields of it: a field that somebody adds to a
// Snapshot is tried here without more ado.
type filler struct{ *rand.Rand }

func (f filler) fill(v reflect.Value) {
	if of, ok := optional(v); ok {
		if f.IntN(3) == 0 || of == reflect.TypeFor[inspect.Access]() { // which no look has
			v.SetZero()
			return
		}
		inner := reflect.New(of).Elem()
		f.fill(inner)
		text, err := json.Marshal(inner.Interface())
		if err == nil && string(text) != "null" {
			err = v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text)
		}
		if err != nil {
			panic(err)
		}
		return
	}
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMilli(f.Int64N(2e12)).UTC()))
		return
	case time.Duration:
		v.SetInt(f.Int64N(1e12) * 1000)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	case reflect.Pointer:
		v.SetZero()
		if f.IntN(5) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem())
		}
	case reflect.Slice:
		v.SetZero()
		for range f.IntN(4) {
			e := reflect.New(v.Type().Elem()).Elem()
			f.fill(e)
			v.Set(reflect.Append(v, e))
		}
	case reflect.Map:
		v.SetZero()
		for range f.IntN(3) {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(k)
			f.fill(e)
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(k, e)
		}
	case reflect.String:
		v.SetString([]string{"", "a", "<&>\u2028 ü", "Ω", fmt.Sprint(f.Int())}[f.IntN(5)])
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Float64:
		v.SetFloat(f.Float64())
	case reflect.Uint32:
		v.SetUint(uint64(f.Uint32()))
	default: // numbers with a sign
		v.SetInt(int64(f.Uint64()) >> f.IntN(64))
		if v.OverflowInt(v.Int()) {
			panic("unreachable: SetInt cuts off")
		}
	}
}

// optional is what an Opt holds.
func optional(v reflect.Value) (reflect.Type, bool) {
	if v.Kind() != reflect.Struct || !v.CanAddr() || v.Type().NumField() != 2 || v.Type().Field(1).Name != "known" {
		return nil, false
	}
	return v.Type().Field(0).Type, true
}

// tidy makes a Snapshot one that its documentation allows, and takes out what looks do
// not keep.
func tidy(s *inspect.Snapshot) {
	slices.SortFunc(s.Brokers, func(a, b inspect.Broker) int { return int(a.ID) - int(b.ID) })
	s.Brokers = slices.CompactFunc(s.Brokers, func(a, b inspect.Broker) bool { return a.ID == b.ID })
	for i := range s.Topics {
		t := &s.Topics[i]
		t.Name = fmt.Sprintf("t%d", i)
		t.Operations = inspect.Unknown[map[inspect.Operation]bool]()
		for j := range t.Partitions {
			t.Partitions[j].Topic, t.Partitions[j].Index = t.Name, int32(j)
		}
	}
	for i := range s.Groups {
		s.Groups[i].Name = fmt.Sprintf("g%d", i)
	}
	if q, ok := s.Quorum.Get(); ok {
		s.Quorum = inspect.Known(q)
	}
}

func (f filler) snapshot() *inspect.Snapshot {
	var s inspect.Snapshot
	f.fill(reflect.ValueOf(&s).Elem())
	for i := range s.Brokers {
		s.Brokers[i].ID = inspect.BrokerID(f.IntN(5))
	}
	tidy(&s)
	return &s
}

// later changes some of a Snapshot: whole subtrees, or only the numbers.
func (f filler) later(s *inspect.Snapshot) *inspect.Snapshot {
	next := clone(s)
	next.TakenAt = s.TakenAt.Add(time.Duration(f.IntN(5000)-10) * time.Millisecond)
	switch other := f.snapshot(); f.IntN(8) {
	case 0:
		next.Topics = other.Topics
	case 1:
		next.Brokers = other.Brokers
	case 2:
		next.Groups, next.Quorum = other.Groups, other.Quorum
	case 3:
		next.Failures, next.Transactions = other.Failures, other.Transactions
	case 4:
		if n := len(next.Topics); n > 0 {
			i := f.IntN(n)
			f.fill(reflect.ValueOf(&next.Topics[i].Partitions).Elem())
		}
	case 5: // nothing changes
		return next
	}
	for p := range next.Partitions {
		if p.Offsets != nil && f.IntN(2) == 0 {
			f.fill(reflect.ValueOf(&p.Offsets.HW).Elem())
			p.Offsets.LEOBefore = inspect.Known(p.Offsets.LEOBefore.Or(0) + inspect.Offset(f.IntN(300)))
			for i := range p.Offsets.Followers {
				p.Offsets.Followers[i].Late = f.IntN(4) == 0
			}
		}
	}
	tidy(next)
	return next
}

func clone(s *inspect.Snapshot) *inspect.Snapshot {
	var out inspect.Snapshot
	if err := json.Unmarshal([]byte(textOf(s)), &out); err != nil {
		panic(err)
	}
	return &out
}

// textOf is all that a Snapshot says, with lists of nothing alike.
func textOf(s *inspect.Snapshot) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(string(text), "[]", "null")
}

// TestWhatGoesInComesOut: for all that a Snapshot can hold, however it changes.
func TestWhatGoesInComesOut(t *testing.T) {
	t.Parallel()
	seeds := uint64(8)
	if os.Getenv("KAFKAOPS_LONG") != "" {
		seeds = 200
	}
	for seed := range seeds {
		f := filler{rand.New(rand.NewPCG(seed, 1))}
		var enc Encoder
		var dec Decoder
		s := f.snapshot()
		for i := range 12 {
			if f.IntN(6) == 0 {
				enc.Reset()
			}
			want := textOf(s)
			coded := enc.Append(nil, s)
			got, err := dec.Apply(coded)
			if err != nil {
				t.Fatalf("seed %d, look %d: %v", seed, i, err)
			}
			if text := textOf(got); text != want {
				t.Fatalf("seed %d, look %d: out came\n%s\nand in went\n%s", seed, i, text, want)
			}
			s = f.later(s)
		}
	}
}

// TestEveryFieldIsCompared: a partition in which one field alone has changed is told, be
// it one that somebody adds. What a Snapshot shares with the one before may change in it:
// lists are those of the caller.
func TestEveryFieldIsCompared(t *testing.T) {
	t.Parallel()
	f := filler{rand.New(rand.NewPCG(11, 1))}
	for _, of := range []reflect.Type{
		reflect.TypeFor[inspect.Partition](), reflect.TypeFor[inspect.Offsets](), reflect.TypeFor[inspect.FollowerOffset](), reflect.TypeFor[inspect.Onset](),
	} {
		for i := range of.NumField() {
			differed := false
			for range 6 {
				p := inspect.Partition{Offsets: &inspect.Offsets{Followers: make([]inspect.FollowerOffset, 1)}, Onset: &inspect.Onset{}}
				s := &inspect.Snapshot{Topics: []inspect.Topic{{Partitions: []inspect.Partition{p}}}}
				var enc Encoder
				var dec Decoder
				if _, err := dec.Apply(enc.Append(nil, s)); err != nil {
					t.Fatal(err)
				}
				before := textOf(s)
				at := &s.Topics[0].Partitions[0]
				for _, in := range []any{at, at.Offsets, &at.Offsets.Followers[0], at.Onset} {
					if v := reflect.ValueOf(in).Elem(); v.Type() == of {
						f.fill(v.Field(i))
					}
				}
				at.Topic, at.Index = "", 0
				want := textOf(s)
				differed = differed || want != before
				got, err := dec.Apply(enc.Append(nil, s))
				if err != nil || textOf(got) != want {
					t.Fatalf("%v.%s: %v: out came\n%s\nand in went\n%s", of, of.Field(i).Name, err, textOf(got), want)
				}
			}
			if name := of.Field(i).Name; !differed && name != "Topic" && name != "Index" {
				t.Errorf("%v.%s was never changed", of, name)
			}
		}
	}
}

// TestBeginning: a Decoder begins at whole looks alone, also after an error.
func TestBeginning(t *testing.T) {
	t.Parallel()
	f := filler{rand.New(rand.NewPCG(7, 1))}
	s := f.snapshot()
	var enc Encoder
	first, second := enc.Append(nil, s), enc.Append(nil, s)
	enc.Reset()
	third := enc.Append(nil, s)
	var dec Decoder
	if _, err := dec.Apply(second); !errors.Is(err, ErrNotWhole) {
		t.Errorf("it began with a look that is not whole: %v", err)
	}
	for _, look := range [][]byte{first, second, third, second} {
		if _, err := dec.Apply(look); err != nil {
			t.Error(err)
		}
	}
	if _, err := dec.Apply([]byte{0xff}); !errors.Is(err, ErrNotOurs) {
		t.Errorf("what is not ours: %v", err)
	}
	if _, err := dec.Apply(second); !errors.Is(err, ErrNotWhole) {
		t.Errorf("it went on after an error: %v", err)
	}
	if _, err := dec.Apply(third); err != nil {
		t.Error(err)
	}
}

// TestNothingMoved: a look at which all is as it was takes a few bytes.
func TestNothingMoved(t *testing.T) {
	t.Parallel()
	f := filler{rand.New(rand.NewPCG(3, 1))}
	s := f.snapshot()
	var enc Encoder
	enc.Append(nil, s)
	s.TakenAt = s.TakenAt.Add(time.Second)
	for i := range s.Brokers { // they answered as quickly as before
		for _, at := range []*inspect.Opt[time.Time]{&s.Brokers[i].LeaderLEOsAt, &s.Brokers[i].FollowerLEOsAt} {
			if t, ok := at.Get(); ok {
				*at = inspect.Known(t.Add(time.Second))
			}
		}
	}
	if coded := enc.Append(nil, s); len(coded) > 4 {
		t.Errorf("%d bytes: % x", len(coded), coded)
	}
}

// FuzzApply: whatever the bytes, there is an error or a Snapshot, and no more memory than
// they are worth.
func FuzzApply(f *testing.F) {
	fill := filler{rand.New(rand.NewPCG(5, 1))}
	var enc Encoder
	s := fill.snapshot()
	for range 8 {
		f.Add(enc.Append(nil, s), enc.Append(nil, fill.later(s)))
		s = fill.snapshot()
		enc.Reset()
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var dec Decoder
		for _, look := range [][]byte{first, second} {
			s, err := dec.Apply(look)
			if err != nil && !errors.Is(err, ErrNotOurs) && !errors.Is(err, ErrNotWhole) {
				t.Fatal(err)
			}
			if err == nil {
				textOf(s)
			}
		}
	})
}

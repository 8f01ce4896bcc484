package numbered_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kafkaops/kafkaops/internal/numbered"
)

// TestAgainstAMap: whatever numbers come, in whatever order, a List is what a map is.
func TestAgainstAMap(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, of := range []func() int32{
		func() int32 { return rng.Int32N(20) },
		func() int32 { return rng.Int32N(20) - 10 },
		func() int32 { return []int32{0, 1, 2, 7, math.MaxInt32, math.MinInt32, -1}[rng.IntN(7)] },
	} {
		var l numbered.List[int]
		m := map[int32]int{}
		for i := range 2000 {
			n := of()
			switch rng.IntN(10) {
			case 0:
				l.DeleteFunc(func(thing *int) bool { return *thing%3 == 0 })
				maps.DeleteFunc(m, func(_ int32, thing int) bool { return thing%3 == 0 })
			default:
				m[n] = i
				if at := l.Set(n, i); *at != i {
					t.Fatalf("Set(%d, %d) is where %d is", n, i, *at)
				}
			}
			if at, ok := l.At(n), slices.Contains(slices.Collect(maps.Keys(m)), n); (at != nil) != ok || ok && *at != m[n] {
				t.Fatalf("At(%d) is %v, and the map has %d, %t", n, at, m[n], ok)
			}
		}
		var numbers []int32
		for n, thing := range l.All {
			numbers = append(numbers, n)
			if *thing != m[n] {
				t.Errorf("%d is %d, and the map has %d", n, *thing, m[n])
			}
		}
		if want := slices.Sorted(maps.Keys(m)); !slices.Equal(numbers, want) || l.Len() != len(want) {
			t.Errorf("%d numbers %d, want %d", l.Len(), numbers, want)
		}
	}
}

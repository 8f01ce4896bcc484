package metadata

import (
	"iter"

	"github.com/benbjohnson/immutable"
)

// table is a map in the order of its keys. Changing it makes a new one that
// shares with the old what is the same.
type table[K, V any] struct{ m *immutable.SortedMap[K, V] }

// order compares keys.
type order[K any] func(a, b K) int

// Compare makes order what the library calls a comparer.
func (o order[K]) Compare(a, b K) int { return o(a, b) }

func newTable[K, V any](compare order[K]) table[K, V] {
	return table[K, V]{immutable.NewSortedMap[K, V](compare)}
}

func (t table[K, V]) get(key K) (V, bool)             { return t.m.Get(key) }
func (t table[K, V]) with(key K, value V) table[K, V] { return table[K, V]{t.m.Set(key, value)} }
func (t table[K, V]) without(key K) table[K, V]       { return table[K, V]{t.m.Delete(key)} }
func (t table[K, V]) len() int                        { return t.m.Len() }

func (t table[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for it := t.m.Iterator(); !it.Done(); {
			key, value, _ := it.Next()
			if !yield(key, value) {
				return
			}
		}
	}
}

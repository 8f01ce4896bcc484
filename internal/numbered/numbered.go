// Package numbered keeps things by numbers that nearly always are 0, 1, 2 and so on, as
// those of partitions are: found by one comparison, in the order of their numbers, and at
// no more room than they take, whatever numbers somebody makes up.
//
// Its door is [List]. It knows nothing of what the things are.
package numbered

import "slices"

// List is things by their numbers. The zero value has none.
type List[T any] struct {
	numbers []int32 // ascending
	things  []T
}

// find is where a number is, or would be.
func (l *List[T]) find(number int32) (int, bool) {
	if n := int(number); n >= 0 && n < len(l.numbers) && l.numbers[n] == number {
		return n, true
	}
	return slices.BinarySearch(l.numbers, number)
}

// At is the thing with this number, nil where there is none. It is good until another one
// is set or deleted.
func (l *List[T]) At(number int32) *T {
	if i, ok := l.find(number); ok {
		return &l.things[i]
	}
	return nil
}

// Set puts a thing in the place of this number, and returns where it is, as At does.
func (l *List[T]) Set(number int32, thing T) *T {
	i, ok := l.find(number)
	if !ok {
		l.numbers = slices.Insert(l.numbers, i, number)
		l.things = slices.Insert(l.things, i, thing)
	}
	l.things[i] = thing
	return &l.things[i]
}

// Grow makes room for so many more.
func (l *List[T]) Grow(n int) {
	l.numbers, l.things = slices.Grow(l.numbers, n), slices.Grow(l.things, n)
}

// DeleteFunc deletes what del says.
func (l *List[T]) DeleteFunc(del func(*T) bool) {
	kept := 0
	for i := range l.things {
		if del(&l.things[i]) {
			continue
		}
		l.numbers[kept], l.things[kept] = l.numbers[i], l.things[i]
		kept++
	}
	clear(l.things[kept:])
	l.numbers, l.things = l.numbers[:kept], l.things[:kept]
}

// Len is how many there are.
func (l *List[T]) Len() int { return len(l.numbers) }

// All yields them in the order of their numbers.
func (l *List[T]) All(yield func(int32, *T) bool) {
	for i := range l.things {
		if !yield(l.numbers[i], &l.things[i]) {
			return
		}
	}
}

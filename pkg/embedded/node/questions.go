package node

import "github.com/kafkaops/kafkaops/pkg/embedded/replica"

// questions are what replicas will settle, each once, by the token that they got.
type questions struct {
	produces slab[producePart]
	fetches  slab[fetchAsked]
	deletes  slab[deletePart]
}

func (q *questions) produce(t replica.Token) *producePart { return q.produces.at(t) }

// slab keeps values under tokens, and uses both again.
type slab[T any] struct {
	items []T
	free  []replica.Token
}

func (s *slab[T]) put(v T) replica.Token {
	if last := len(s.free) - 1; last >= 0 {
		t := s.free[last]
		s.free = s.free[:last]
		s.items[t] = v
		return t
	}
	s.items = append(s.items, v)
	return replica.Token(len(s.items) - 1)
}

// at is the value until the next put.
func (s *slab[T]) at(t replica.Token) *T { return &s.items[t] }

func (s *slab[T]) take(t replica.Token) T {
	v := s.items[t]
	var none T
	s.items[t] = none
	s.free = append(s.free, t)
	return v
}

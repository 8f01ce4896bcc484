package kraft

import (
	"math/rand/v2"
	"testing"
)

// TestDrawUUID: what is drawn is of version 4, and Kafka's tools can take it as an
// argument.
func TestDrawUUID(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	drawn := map[UUID]bool{}
	for range 10_000 { // one in 64 would begin with a dash
		u := DrawUUID(rng)
		if text := u.String(); text[0] == '-' || u[6]>>4 != 4 || u[8]>>6 != 2 || drawn[u] {
			t.Fatalf("drew %s (% x)", text, u[:])
		}
		drawn[u] = true
	}
}

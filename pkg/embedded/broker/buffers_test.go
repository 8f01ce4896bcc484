package broker

import (
	"bytes"
	"strings"
	"testing"
)

func TestBuffers(t *testing.T) {
	t.Parallel()
	var p buffers
	for _, n := range []int{0, 1, 1<<firstClass - 1, 1 << firstClass, 1<<firstClass + 1, 1 << 20, 1<<lastClass - 1, 1 << lastClass, 1<<lastClass + 1} {
		if b := p.have(n); b != nil {
			t.Errorf("%d bytes are there, of %d", n, cap(b))
		}
		if b := p.Get(n); len(b) != n {
			t.Errorf("got %d bytes, want %d", len(b), n)
		}
		p.Put(make([]byte, n))
	}
	// What was put is large enough for whom it is given to.
	for _, n := range []int{1 << firstClass, 1<<firstClass + 1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 1 << lastClass} {
		for _, size := range []int{n - 1, n, n + n/2} {
			p.Put(make([]byte, size))
		}
		for b := p.have(n); b != nil; b = p.have(n) {
			if len(b) != n {
				t.Fatalf("got %d bytes, want %d", len(b), n)
			}
		}
	}
}

// TestReadTowardsRoom: a frame is what came, also where the room for it held another.
func TestReadTowardsRoom(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, trustedBytes - 1, trustedBytes, trustedBytes + 1, trustGrows*trustedBytes + 1, 5 << 20} {
		want := strings.Repeat("frame", size/5+1)[:size]
		for range 3 {
			got, err := readTowards(strings.NewReader(want+"more"), size, trustedBytes)
			if err != nil || string(got) != want {
				t.Fatalf("%d bytes: got %d, %v", size, len(got), err)
			}
			for i := range got {
				got[i] = 'x'
			}
			pool.Put(got)
		}
		if size > 0 {
			if _, err := readTowards(bytes.NewReader(make([]byte, size-1)), size, trustedBytes); err == nil {
				t.Errorf("%d bytes of %d are a frame", size-1, size)
			}
		}
	}
}

package term

import "bytes"

// Double is a Terminal for tests that keeps what is written.
type Double struct {
	*Terminal
	Stdout, Stderr bytes.Buffer
	// Env is its environment; empty at first.
	Env map[string]string
}

// NewDouble is a terminal of the given size, or a pipe where width is 0.
func NewDouble(width, height int) *Double {
	d := &Double{Env: map[string]string{}}
	d.Terminal = &Terminal{
		Out: &d.Stdout, Err: &d.Stderr,
		IsTTY:  width > 0,
		getenv: func(key string) string { return d.Env[key] },
		size:   func() (int, int, error) { return width, height, nil },
	}
	d.Measure()
	return d
}

package term

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestConfirm: only a yes is one, and a question ends with the context.
func TestConfirm(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]bool{"y\n": true, "YES \n": true, "yes": true, "no\n": false, "\n": false, "": false, "yep\n": false} {
		d := NewDouble(80, 24)
		d.In = strings.NewReader(typed)
		if got, err := d.Confirm(t.Context(), "Do it?"); got != want || err != nil || d.Stderr.String() != "Do it? [y/N] " {
			t.Errorf("%q: %v, %v, %q", typed, got, err, d.Stderr.String())
		}
	}
	d := NewDouble(80, 24)
	in, w := io.Pipe()
	defer w.Close()
	d.In = in
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if yes, err := d.Confirm(ctx, "Do it?"); yes || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", yes, err)
	}
}

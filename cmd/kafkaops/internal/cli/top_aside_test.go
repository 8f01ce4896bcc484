package cli

import (
	"fmt"
	"strings"
	"testing"
)

// TestAside: what panics beside the looks panics in the next one, and says where it was.
func TestAside(t *testing.T) {
	t.Parallel()
	var a aside
	a.Go(func() {})
	a.Wait()
	a.check()
	a.Go(func() { panic("torn") })
	a.Wait()
	defer func() {
		if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "torn\n\nbeside the looks:\n") || !strings.Contains(text, "top_aside_test.go") {
			t.Errorf("got %.200s", text)
		}
	}()
	a.check()
	t.Error("nothing panicked")
}

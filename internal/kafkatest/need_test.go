package kafkatest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestMissing: a skip that does not say what to do is of no use.
func TestMissing(t *testing.T) {
	if !canSignal {
		t.Skip("needs a Unix")
	}
	t.Setenv(cacheEnv, t.TempDir())
	_, _, noJava := findJava(t.Context())
	if _, err := missing(t.Context(), DefaultVersion); noJava == nil && (err == nil || !strings.Contains(err.Error(), "run make deps")) {
		t.Errorf("without jars: %v, want it to say run make deps", err)
	}
	t.Setenv("PATH", "")
	t.Setenv("JAVA_HOME", "")
	if _, err := missing(t.Context(), DefaultVersion); err == nil || !strings.Contains(err.Error(), "Java 17") {
		t.Errorf("without Java: %v, want it to ask for Java 17", err)
	}
}

// TestLockHeld: who waits in vain learns for whom.
func TestLockHeld(t *testing.T) {
	if !canSignal {
		t.Skip("needs a Unix")
	}
	path := filepath.Join(t.TempDir(), "lock")
	held, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lockFile(ctx, path); err == nil || !strings.Contains(err.Error(), "kafkatest.test holds") {
		t.Errorf("a second lock: %v, want it to name the holder", err)
	}
	held.unlock()
	again, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatalf("after unlock: %v", err)
	}
	again.unlock()
}

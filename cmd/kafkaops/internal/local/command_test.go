package local_test

import (
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
)

func TestShellWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"orders": "orders", "127.0.0.1:9092,b:1": "127.0.0.1:9092,b:1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "*": "'*'",
	} {
		if got := local.ShellWord(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}

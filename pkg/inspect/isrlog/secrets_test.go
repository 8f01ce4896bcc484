package isrlog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

// TestSecrets plants records that hold secrets. Their bodies are not what their type
// says: nobody who looks into them comes through.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	w := newLog(0)
	w.records(t, story1)
	for _, key := range []kraft.Type{kraft.TypeUserScramCredential, kraft.TypeDelegationToken, kraft.TypeConfig} {
		w.values(0, nil, [][]byte{append([]byte{1, byte(key), 0, 0xff}, secret...)})
	}
	w.records(t, "change t/0 isr=1,3")
	w.noOp()
	h := readDir(t, metadataCopy(t, map[string][]byte{logName(0): w.bytes}), Span{})
	h.check(t, []string{created, "5 16:40 t-0 shrink replica-lag [2] isr [1 2 3]->[1 3] leader 1 epoch 0/1"}, nil)
	if all := fmt.Sprintf("%+v", h); strings.Contains(all, secret) || h.evidence.Gaps != (Gaps{}) {
		t.Errorf("what was told: %s", all)
	}
}

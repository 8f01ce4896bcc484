package cli

import (
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestQuorumBeside: who may not ask for the quorum loses nothing of an answer
// that does not show it, and is told. Where it is shown or judged it is missing.
func TestQuorumBeside(t *testing.T) {
	t.Parallel()
	refuses := accessCluster(t, deny(kmsg.DescribeQuorum))
	silent := accessCluster(t, func(*fakekafka.Model) {})
	for _, id := range []int32{1, 2, 3} {
		silent.Break(id, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.DescribeQuorum}})
	}
	beside := map[string]bool{
		"describe": false, "describe brokers": false, "describe quorum": false, "check health": false,
		"describe topics": true, "describe topics --exit-code": false, "lag": true, "lag --exit-code": false,
		"describe configs": true, "describe configs --exit-code": true, "describe log-dirs": true, "describe log-dirs --exit-code": true,
		"describe reassignments": true, "describe features": true, "describe features --exit-code": true,
		"describe transactions": true, "lag groups": true, "lag groups --min 1000000 --exit-code": true,
	}
	for words, beside := range beside {
		code, complete := exitFailed, `"complete": false`
		if beside {
			code, complete = exitOK, `"complete": true`
		}
		r := ask(t, refuses, words+" -o json")
		if r.code != code || !strings.Contains(r.stdout, complete) || !strings.Contains(r.stdout, `"controller": null`) ||
			strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "grant DESCRIBE on the cluster") {
			t.Errorf("%s: exit code %d, want %d and %s and a line: %s\n%s", words, r.code, code, complete, r.stderr, r.stdout)
		}
		if r := ask(t, silent, words); r.code != exitFailed {
			t.Errorf("%s, which nobody answers: exit code %d, want %d", words, r.code, exitFailed)
		}
	}
}

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

func TestReport(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in, out string
		ok            bool
	}{
		{
			name: "passed and skipped",
			in: `{"Action":"start","Package":"m/b"}
{"Action":"output","Package":"m/b","Test":"TestOne","Output":"=== RUN   TestOne\n"}
{"Action":"output","Package":"m/b","Test":"TestOne","Output":"    b_test.go:9: chatter\n"}
{"Action":"pass","Package":"m/b","Test":"TestOne"}
{"Action":"output","Package":"m/b","Test":"TestTwo","Output":"=== RUN   TestTwo\n"}
{"Action":"output","Package":"m/b","Test":"TestTwo","Output":"    b_test.go:12: needs Java\n"}
{"Action":"output","Package":"m/b","Test":"TestTwo","Output":"--- SKIP: TestTwo (0.00s)\n"}
{"Action":"skip","Package":"m/b","Test":"TestTwo"}
{"Action":"output","Package":"m/b","Test":"TestSix","Output":"    other-file_test.go:1: needs Java\n"}
{"Action":"skip","Package":"m/b","Test":"TestSix"}
{"Action":"output","Package":"m/b","Output":"PASS\n"}
{"Action":"output","Package":"m/b","Output":"ok  \tm/b\t0.1s\n"}
{"Action":"pass","Package":"m/b","Elapsed":0.1}
{"Action":"output","Package":"m/a","Output":"?   \tm/a\t[no test files]\n"}
{"Action":"skip","Package":"m/a"}
`,
			out: "\nskipped:\n  m/b: TestSix, TestTwo\n    needs Java\n\n?   \tm/a\t[no test files]\nok  \tm/b\t0.1s\n",
			ok:  true,
		},
		{
			name: "slow",
			in: `{"Action":"pass","Package":"m/b","Test":"TestOne","Elapsed":15}
{"Action":"pass","Package":"m/b","Test":"TestTwo/part","Elapsed":100}
{"Action":"pass","Package":"m/b","Test":"TestTwo","Elapsed":100.24}
{"Action":"pass","Package":"m/b","Test":"TestSix","Elapsed":14.9}
{"Action":"pass","Package":"m/b","Elapsed":116}
`,
			out: "\nslow:\n   100.2 s  m/b TestTwo\n    15.0 s  m/b TestOne\n\n",
			ok:  true,
		},
		{
			name: "turns with Kafka",
			in: `{"Action":"output","Package":"m/a","Output":"` + turn(20, 5) + `\n"}
{"Action":"pass","Package":"m/a","Elapsed":30}
{"Action":"output","Package":"m/b","Test":"TestOne","Output":"` + turn(1.5, 40) + `\n"}
{"Action":"output","Package":"m/b","Output":"` + turn(10, 2.25) + `\n"}
{"Action":"pass","Package":"m/b","Elapsed":60}
`,
			out: "\nturns with Kafka:\n    42.2 s  after 11.5 s  m/b\n     5.0 s  after 20.0 s  m/a\n    47.2 s in all\n\n",
			ok:  true,
		},
		{
			name: "failed",
			in: `{"Action":"output","Package":"m/b","Test":"TestOne","Output":"    b_test.go:9: got 1, want 2\n"}
{"Action":"output","Package":"m/b","Test":"TestOne","Output":"--- FAIL: TestOne (0.00s)\n"}
{"Action":"fail","Package":"m/b","Test":"TestOne"}
{"Action":"output","Package":"m/b","Output":"FAIL\n"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.1s\n"}
{"Action":"fail","Package":"m/b"}
`,
			out: "    b_test.go:9: got 1, want 2\n--- FAIL: TestOne (0.00s)\nFAIL\n\nFAIL\tm/b\t0.1s\n",
		},
		{
			name: "panicked in a test that never ended",
			in: `{"Action":"output","Package":"m/b","Test":"TestOne","Output":"panic: no\n"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.1s\n"}
{"Action":"fail","Package":"m/b"}
`,
			out: "panic: no\n\nFAIL\tm/b\t0.1s\n",
		},
		{
			name: "does not build",
			in: `{"ImportPath":"m/b","Action":"build-output","Output":"b.go:1: no\n"}
{"ImportPath":"m/b","Action":"build-fail"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b [build failed]\n"}
{"Action":"fail","Package":"m/b","FailedBuild":"m/b"}
`,
			out: "b.go:1: no\n\nFAIL\tm/b [build failed]\n",
		},
		{
			name: "no events",
			in:   "go: no such tool\n",
			out:  "go: no such tool\n\nFAIL\tno package was tested\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out, progress strings.Builder
			r := newReport(&out, &progress)
			if err := r.read(strings.NewReader(tt.in)); err != nil {
				t.Fatal(err)
			}
			if ok := r.finish(); ok != tt.ok {
				t.Errorf("finish = %v, want %v", ok, tt.ok)
			}
			if diff := cmp.Diff(tt.out, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// turn is the line of one, in seconds.
func turn(waited, held float64) string {
	second := float64(time.Second)
	return kafkatest.Turn{Waited: time.Duration(waited * second), Held: time.Duration(held * second)}.String()
}

func TestNames(t *testing.T) {
	t.Parallel()
	got := names([]string{"J", "I", "H", "G", "F", "E", "D", "C", "B", "A"})
	if want := "A, B, C, D, E, F, G, H and 2 more"; got != want {
		t.Errorf("names = %q, want %q", got, want)
	}
}

func TestSkipReason(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ output, want string }{
		{"", "without a reason"},
		{"=== RUN   TestX\n--- SKIP: TestX (0.00s)\n", "without a reason"},
		{"=== PAUSE TestX\n    x_test.go:1: two\n        lines\n", "two lines"},
	} {
		if got := skipReason(tt.output); got != tt.want {
			t.Errorf("skipReason(%q) = %q, want %q", tt.output, got, tt.want)
		}
	}
}

package kraft

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

var rewrite = flag.Bool("rewrite", false, "let Kafka write the golden file anew; read the diff")

const goldenFile = "testdata/records.txt"

// TestGolden reads and writes records as Kafka wrote them, where there is no
// Kafka to ask: one line each of schema, version, bytes and Kafka's JSON.
func TestGolden(t *testing.T) {
	t.Parallel()
	if *rewrite {
		rewriteGolden(t)
	}
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		samples[name] = append(samples[name], rest)
	}
	for _, s := range subjects() {
		if len(samples[s.String()]) == 0 && !s.secret {
			t.Errorf("no sample of %s", s)
		}
		for _, sample := range samples[s.String()] {
			text, want, _ := strings.Cut(sample, "\t")
			value := unhex(t, text)
			rec, err := s.decode(value)
			if err != nil {
				t.Errorf("%s: %v", s, err)
				continue
			}
			_, got := jsonOf(t, s.description(rec))
			if diff := cmp.Diff(canonical(t, want), got); diff != "" {
				t.Errorf("%s: (-want +got):\n%s", s, diff)
			}
			if again, err := s.append(rec); err != nil || !bytes.Equal(again, value) {
				t.Errorf("%s: %v\n got %x\nwant %x", s, err, again, value)
			}
		}
	}
}

// goldenSamples is how many there are of each type and version.
const goldenSamples = 2

func rewriteGolden(t *testing.T) {
	t.Helper()
	var names, questions []string
	for _, s := range subjects() {
		r := rand.New(rand.NewPCG(7, uint64(s.version)))
		for n := 0; n < goldenSamples && !s.secret; {
			rec := s.blank()
			vary(r, rec.fields(), s.version)
			if s.control != 0 {
				setVersion(rec, s.version)
			}
			if value, err := s.append(rec); err == nil && len(value) < 200 {
				names, questions = append(names, s.String()), append(questions, s.decodeQuestion(value))
				n++
			}
		}
	}
	var b strings.Builder
	for i, a := range ask(t, kafkatest.DefaultVersion, questions) {
		if a.throws || !json.Valid([]byte(a.text)) {
			t.Fatalf("%s: %s", names[i], a.text)
		}
		fields := strings.Split(questions[i], "\t")
		fmt.Fprintf(&b, "%s\t%s\t%s\n", names[i], fields[len(fields)-1], a.text)
	}
	if err := os.WriteFile(goldenFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

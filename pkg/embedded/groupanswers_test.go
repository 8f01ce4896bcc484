package embedded_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/embedded"
)

// groupAnswers is what Kafka 4.4.0 answers to the script.
const groupAnswers = "testdata/groups.golden"

var rewriteGroups = flag.Bool("groups.rewrite", false, "write down what a real Kafka answers about groups")

// TestGroupsAnswerAsKafka asks the engine what a real Kafka was asked.
func TestGroupsAnswerAsKafka(t *testing.T) {
	want, err := os.ReadFile(groupAnswers)
	if err != nil {
		t.Fatal(err)
	}
	c, err := embedded.Start(t.Context(), embedded.Options{Brokers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s := groupScript{tb: t, addr: c.Bootstrap()}
	if got := s.run(); got != string(want) {
		t.Errorf("not as Kafka (- Kafka, + engine):\n%s", lineDiff(string(want), got))
	}
}

// lineDiff shows the lines in which two texts of as many lines differ, with what was
// asked.
func lineDiff(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out strings.Builder
	for i := range max(len(a), len(b)) {
		at := func(lines []string, i int) string {
			if i < 0 || i >= len(lines) {
				return ""
			}
			return lines[i]
		}
		if at(a, i) != at(b, i) {
			fmt.Fprintf(&out, "%s\n- %s\n+ %s\n", at(a, i-1), at(a, i), at(b, i))
		}
	}
	return out.String()
}

// TestKafkaStillAnswersSo holds the file against the Kafka that it was written of.
func TestKafkaStillAnswersSo(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{})
	s := groupScript{tb: t, addr: c.BrokerAddr(1)}
	got := s.run()
	if *rewriteGroups {
		if err := os.WriteFile(groupAnswers, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(groupAnswers)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("Kafka answers otherwise than the file (- file, + Kafka):\n%s", lineDiff(string(want), got))
	}
}

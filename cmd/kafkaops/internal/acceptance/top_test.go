package acceptance

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/tmux"
)

// TestTop watches a follower freeze, in a terminal: the partition rises to the top, behind
// it are the replica and the cause, and all is well when it goes on.
func TestTop(t *testing.T) {
	if err := tmux.Available(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	c := shared.Get(t)
	const topic = "watched"
	// The last of them is the one that suffers: it does not come first by its name.
	createTopic(t, c, topic, [][]int32{{1, 3, 4}, {3, 1, 4}, {1, 2, 3}}, minISR(1))
	for p := range int32(3) {
		c.ProduceRecords(t, topic, p, 10, kafkatest.AcksAll, 100)
		awaitQuiet(t, c, topic, p)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "kafkaops")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/kafkaops/kafkaops/cmd/kafkaops").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s, err := tmux.Start(t.Context(), tmux.Options{
		Width: 130, Height: 40, Env: []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir},
		Script: program + " top " + topic + " --interval 500ms --timeout 3s -b " + servers(c, alive(c)...) + "; echo ended by $?; exec sleep 600",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	await := func(texts ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		if _, err := s.Await(ctx, func(screen string) bool {
			return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
		}); err != nil {
			t.Fatalf("%s: %v", strings.Join(texts, ", "), err)
		}
	}
	press := func(keys ...string) {
		t.Helper()
		if err := s.Keys(t.Context(), keys...); err != nil {
			t.Fatal(err)
		}
	}
	await(" OK ", "4 brokers", "3 partitions", ">watched-0")

	c.Pause(t, 2)
	c.ProduceRecords(t, topic, 2, 500, 1, 100)
	await(">watched-2") // it is silent, and in the ISR
	await(">watched-2", "under-replicated", "2 no answer")
	press("Enter")
	await("› watched-2", "replica 2 is", "ISR history", "replica-lag", "cause: broker 2")

	c.Resume(t, 2)
	c.AwaitISR(t, topic, 2, 1, 2, 3)
	press("1")
	await(" OK ", "all in sync", "2 up")
	press("q")
	await("ended by 0")
}

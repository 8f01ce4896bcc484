package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/embedded"
)

// firstOffset is what the tool says of every segment but a log's first.
var firstOffset = regexp.MustCompile(`err Non-consecutive offsets in .*\nerr   -1 is followed by \d+\n`)

// TestDumpedFiles: Kafka's kafka-dump-log reads every file of a cluster that was stopped,
// and finds nothing wrong with it.
func TestDumpedFiles(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	c, err := embedded.Start(ctx, embedded.Options{Dir: dir, Config: map[string]string{"log.index.interval.bytes": "100"}})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	end := func() {
		if err := c.Close(); err != nil && !closed {
			t.Errorf("close: %v", err)
		}
		closed = true
	}
	t.Cleanup(end)
	b := newToolbox(t, c.Bootstrap())
	b.run(step{}, kafkatest.TopicCommand, "--create", "--topic", "orders", "--partitions", "2", "--replication-factor", "3", "--config", "segment.bytes=1048576")
	b.with(step{}, producerPerformance, "--topic", "orders", "--num-records", "20000", "--record-size", "100", "--throughput", "-1",
		"--bootstrap-server", c.Bootstrap(), "--command-property", "acks=all")
	end()

	kinds := map[string]int{}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		kind := filepath.Ext(path)
		metadata := strings.Contains(path, "__cluster_metadata")
		switch {
		case err != nil || e.IsDir():
			return err
		case kind != ".log" && kind != ".index" && kind != ".timeindex" && kind != ".snapshot" && kind != ".checkpoint", metadata && kind == ".snapshot":
			return nil
		}
		args := []string{"--files", path}
		switch {
		case metadata && (kind == ".log" || kind == ".checkpoint"):
			args = append(args, "--cluster-metadata-decoder")
		case kind == ".log":
			args = append(args, "--deep-iteration")
		}
		said := firstOffset.ReplaceAllString(b.once(step{}, kafkatest.DumpLogSegments, args...), "")
		if !strings.Contains(said, "exit 0") || strings.Contains(said, "isvalid: false") || strings.Contains(said, "ismatch") || strings.Contains(said, "err ") {
			t.Errorf("%s: …%s", path, said[max(0, len(said)-2000):])
		}
		kinds[kind]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(kinds[".log"] > 6, kinds[".index"] > 6, kinds[".timeindex"] > 6, kinds[".snapshot"] > 0, kinds[".checkpoint"] > 0) != "true true true true true" {
		t.Errorf("looked at %v", kinds)
	}
}

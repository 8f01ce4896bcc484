package metadata

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kraft"
)

var rewrite = flag.Bool("rewrite", false, "record the logs in testdata anew, with KAFKAOPS_LONG=1")

// TestRecorded replays logs that real controllers wrote, up to each of their
// snapshots, and compares with the snapshot. TestLive recorded them.
func TestRecorded(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("testdata/kafka-*")
	if err != nil || len(dirs) < 2 {
		t.Fatalf("recordings %v, %v", dirs, err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			compareSnapshots(t, dir)
		})
	}
}

// TestLive does the same with clusters that live now.
func TestLive(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: two clusters lose and find brokers; set KAFKAOPS_LONG=1")
	}
	for _, version := range []string{kafkatest.DefaultVersion, "3.9.1"} {
		t.Run(version, func(t *testing.T) {
			c := kafkatest.Start(t, kafkatest.Options{
				Version: version, Brokers: 3, LogDirs: 2,
				Properties: map[string]string{
					"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500",
					"metadata.log.max.snapshot.interval.ms": "3000",
				},
			})
			live(t, c)
			dir := t.TempDir()
			if *rewrite {
				dir = filepath.Join("testdata", "kafka-"+version)
			}
			record(t, filepath.Join(c.LogDirs(kafkatest.FirstController)[0], "__cluster_metadata-0"), dir)
			compareSnapshots(t, dir)
		})
	}
}

// live is a life in which partitions lose replicas, leaders and ELRs in every way.
func live(t *testing.T, c *kafkatest.Cluster) {
	t.Helper()
	strict := map[string]string{"min.insync.replicas": "2"}
	c.CreateTopic(t, "orders", [][]int32{{1, 2, 3}, {2, 3, 1}}, strict)
	c.CreateTopic(t, "unclean", [][]int32{{2, 3}}, map[string]string{"unclean.leader.election.enable": "true"})
	c.CreateTopic(t, "dead", [][]int32{{1}, {2}}, strict)
	c.ProduceRecords(t, "orders", 0, 10, kafkatest.AcksAll, 100)
	producer := kmsg.NewPtrInitProducerIDRequest()
	deletion := kmsg.NewPtrDeleteTopicsRequest()
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = kmsg.StringPtr("dead")
	deletion.Topics, deletion.TimeoutMillis = append(deletion.Topics, topic), 5000
	for _, req := range []kmsg.Request{producer, deletion} {
		if _, err := c.Ask(t.Context(), 1, req); err != nil {
			t.Fatal(err)
		}
	}
	c.Stop(t, 1)
	c.Kill(t, 2)
	c.AwaitFenced(t, 2)
	c.Kill(t, 3)
	c.Heal(t)
	c.Pause(t, 3)
	c.AwaitFenced(t, 3)
	c.AlterConfig(t, "orders", "min.insync.replicas", "1")
	c.AlterConfig(t, "orders", "retention.ms", "100000")
	c.AlterConfig(t, "orders", "retention.ms", "")
	c.Heal(t)
	c.Reassign(t, "orders", 0, []int32{3, 1})
	c.AwaitISR(t, "orders", 0, 1, 3)
	c.Reassign(t, "orders", 1, []int32{1})
	c.AwaitISR(t, "orders", 1, 1)
}

// record copies the log and its snapshots. The log is copied last, so no snapshot
// ends behind it.
func record(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	snapshots, err := filepath.Glob(filepath.Join(from, "*.checkpoint"))
	if err != nil || len(snapshots) < 2 {
		t.Fatalf("snapshots %v, %v", snapshots, err)
	}
	for _, file := range append(snapshots, filepath.Join(from, "00000000000000000000.log")) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func compareSnapshots(t *testing.T, dir string) {
	t.Helper()
	log := readLog(t, filepath.Join(dir, "00000000000000000000.log"))
	snapshots, err := filepath.Glob(filepath.Join(dir, "*.checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	compared, changes := 0, 0
	for _, file := range snapshots {
		var end, epoch int64
		if _, err := fmt.Sscanf(filepath.Base(file), "%d-%d", &end, &epoch); err != nil {
			t.Fatal(err)
		}
		if end == 0 {
			continue // what the cluster was formatted with: in the log too
		}
		want := NewReplay(Empty())
		for _, e := range readLog(t, file) {
			apply(t, want, e)
		}
		got := NewReplay(Empty())
		for _, e := range log {
			if e.offset < end {
				apply(t, got, e)
				if _, ok := e.rec.(*kraft.PartitionChange); ok {
					changes++
				}
			}
		}
		if diff := cmp.Diff(sorted(want.Image().Records()), sorted(got.Image().Records())); diff != "" {
			t.Errorf("%s: (-Kafka's snapshot +replayed):\n%s", file, diff)
		}
		for typ, n := range got.Image().Skipped() {
			t.Errorf("%s: %d of %s skipped", file, n, typ)
		}
		compared++
	}
	if compared < 3 || changes < 20 {
		t.Errorf("%s: only %d snapshots and %d changes of partitions", dir, compared, changes)
	}
}

func apply(t *testing.T, r *Replay, e entry) {
	t.Helper()
	if err := r.Apply(e.rec); err != nil {
		t.Fatalf("offset %d: %v", e.offset, err)
	}
}

// sorted brings lists to one order that Kafka keeps in none.
func sorted(records []kraft.Record) []kraft.Record {
	byName := func(a, b kraft.FeatureRange) int { return strings.Compare(a.Name, b.Name) }
	for _, rec := range records {
		switch rec := rec.(type) {
		case *kraft.RegisterBroker:
			rec.Features = slices.SortedFunc(slices.Values(rec.Features), byName)
		case *kraft.RegisterController:
			rec.Features = slices.SortedFunc(slices.Values(rec.Features), byName)
		}
	}
	return records
}

// entry is a data record of a log.
type entry struct {
	offset int64
	rec    kraft.Record
}

func readLog(t *testing.T, file string) (all []entry) {
	t.Helper()
	for _, r := range kafkatest.StoredRecords(t, file) {
		if r.Control {
			continue
		}
		decoded, err := kraft.Decode(r.Value)
		if err != nil {
			t.Fatalf("%s: offset %d: %v", file, r.Offset, err)
		}
		all = append(all, entry{r.Offset, decoded})
	}
	return all
}

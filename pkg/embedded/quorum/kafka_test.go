package quorum

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// recorded are logs of real controllers, with their snapshots.
func recorded(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("../metadata/testdata/kafka-*")
	must(t, err)
	if len(dirs) < 2 {
		t.Fatalf("recordings: %v", dirs)
	}
	return dirs
}

// load copies files of a directory into a disk's.
func load(t *testing.T, disk vfs.FS, from, to string, want func(name string) bool) {
	t.Helper()
	must(t, disk.MkdirAll(to))
	must(t, fs.WalkDir(os.DirFS(from), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !want(name) {
			return err
		}
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		return vfs.WriteFile(disk, path.Join(to, name), data)
	}))
}

// replayed is the image of a log's file.
func replayed(t *testing.T, file string) (metadata.Image, int64) {
	t.Helper()
	r := metadata.NewReplay(metadata.Empty())
	var end int64
	for _, stored := range kafkatest.StoredRecords(t, file) {
		end = stored.Offset + 1
		if stored.Control {
			continue
		}
		rec, err := kraft.Decode(stored.Value)
		must(t, err)
		must(t, r.Apply(rec))
	}
	return r.Image(), end
}

// records are an image's, in one order, without those of this controller.
func records(im metadata.Image, node int32) []kraft.Record {
	var all []kraft.Record
	byName := func(a, b kraft.FeatureRange) int { return strings.Compare(a.Name, b.Name) }
	for _, rec := range im.Records() {
		switch rec := rec.(type) {
		case *kraft.RegisterBroker:
			rec.Features = slices.SortedFunc(slices.Values(rec.Features), byName)
		case *kraft.RegisterController:
			if rec.ControllerID == node {
				continue
			}
		}
		all = append(all, rec)
	}
	return all
}

// A log that a real controller wrote is opened, with its snapshots and without,
// and goes on: in the next epoch, at the next offset.
func TestOpensRecorded(t *testing.T) {
	t.Parallel()
	for _, dir := range recorded(t) {
		want, end := replayed(t, filepath.Join(dir, "00000000000000000000.log"))
		for _, tc := range []struct {
			name string
			want func(name string) bool
		}{
			{"all", func(string) bool { return true }},
			{"no snapshots", func(name string) bool { return path.Ext(name) == ".log" }},
		} {
			t.Run(filepath.Base(dir)+" "+tc.name, func(t *testing.T) {
				t.Parallel()
				disk := vfs.NewMem(vfs.MemOptions{})
				load(t, disk, dir, "__cluster_metadata-0", tc.want)
				opts := testOptions(disk)
				opts.Controller.NodeID = kafkatest.FirstController
				w := newWorld(t, opts)
				if diff := cmp.Diff(records(want, kafkatest.FirstController), records(w.n.Image(), kafkatest.FirstController)); diff != "" {
					t.Errorf("(-Kafka's +opened):\n%s", diff)
				}
				// LeaderChange and RegisterController.
				if w.n.DurableOffset() != end+2 || w.n.epoch != 2 {
					t.Errorf("offset %d after %d, epoch %d", w.n.DurableOffset(), end, w.n.epoch)
				}
				if resp := ask[*kmsg.CreateTopicsResponse](w, creation("more", 1, -1)); resp.Topics[0].ErrorCode != 0 {
					t.Errorf("create a topic: error %d", resp.Topics[0].ErrorCode)
				}
			})
		}
	}
}

// A log of a quorum with other voters is refused: they could go on without us.
func TestRefusesOtherVoters(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	load(t, disk, recorded(t)[0], "__cluster_metadata-0", func(name string) bool { return path.Ext(name) == ".log" })
	_, err := Open(testOptions(disk), machine.Time{}) // the voter is another node
	if err == nil || !strings.Contains(err.Error(), "a quorum of one") {
		t.Fatal(err)
	}
	// Nothing was changed, and nothing is held.
	if _, err := vfs.ReadFile(disk, "__cluster_metadata-0/quorum-state"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	_, err = Open(testOptions(disk), machine.Time{})
	if err == nil || errors.Is(err, vfs.ErrLocked) {
		t.Fatal(err)
	}
}

// longLife is a directory with segments, snapshots and two epochs.
func longLife(tb testing.TB, fsys vfs.FS) *world {
	tb.Helper()
	opts := testOptions(fsys)
	opts.SnapshotBytes, opts.SegmentBytes = 3000, 5000
	w := newWorld(tb, opts)
	epochs := w.brokers(3)
	for _, name := range []string{"a", "b", "c"} {
		ask[*kmsg.CreateTopicsResponse](w, creation(name, 8, 3))
		w.advance(3000)
		for id, epoch := range epochs {
			ask[*kmsg.BrokerHeartbeatResponse](w, heartbeat(id, epoch, w.n.DurableOffset()))
		}
	}
	w.take(w.n.Shutdown(w.now, nil))
	w.open()
	w.advance(20_000) // all brokers are fenced
	w.take(w.n.Shutdown(w.now, nil))
	return w
}

// kafka-dump-log decodes all that we write, and has nothing to say against it.
func TestDumpLogReadsOurs(t *testing.T) {
	kafkatest.Need(t)
	root := t.TempDir()
	longLife(t, vfs.NewReal(root))
	var args []string
	for suffix, atLeast := range map[string]int{".log": 2, ".checkpoint": 3} {
		files, err := filepath.Glob(filepath.Join(root, "__cluster_metadata-0", "*"+suffix))
		must(t, err)
		if len(files) < atLeast {
			t.Fatalf("%d files %s", len(files), suffix)
		}
		args = append(args, "--cluster-metadata-decoder", "--files", strings.Join(files, ","), "--")
	}
	out, err := dump(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := string(out)
	for _, bad := range []string{"isvalid: false", "ismatch", "Error", "Exception", "rror at", "corrupt", "Could not", "Skipping", "not found"} {
		if i := strings.Index(text, bad); i >= 0 {
			t.Errorf("kafka-dump-log complains (%s):\n%s", bad, text[max(0, i-2000):min(len(text), i+2000)])
		}
	}
	for _, wanted := range []string{
		"LeaderChange", `"leaderId":3000`, "SnapshotHeader", "SnapshotFooter", "REGISTER_BROKER_RECORD", "PARTITION_RECORD", "PARTITION_CHANGE_RECORD",
		"BROKER_REGISTRATION_CHANGE_RECORD", "NO_OP_RECORD", "FEATURE_LEVEL_RECORD", "REGISTER_CONTROLLER_RECORD", "BEGIN_TRANSACTION_RECORD", "CONFIG_RECORD",
	} {
		if !strings.Contains(text, wanted) {
			t.Errorf("kafka-dump-log does not print %s", wanted)
		}
	}
	if t.Failed() {
		t.Logf("%s", text[:min(len(text), 6000)])
	}
}

func dump(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return kafkatest.Program(t, kafkatest.DefaultVersion, "../storage/testdata/Dump.java", args...)
}

// A real controller's directory is taken over in place, and given back: Kafka
// goes on where we ended, from our snapshot and our log.
func TestTakesTurnsWithKafka(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{Properties: map[string]string{
		"metadata.log.max.snapshot.interval.ms": "1000", "broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500",
	}})
	c.CreateTopic(t, "orders", [][]int32{{1}, {1}}, map[string]string{"retention.ms": "100000"})
	c.Stop(t, 1)
	c.Stop(t, kafkatest.FirstController)
	root := c.LogDirs(kafkatest.FirstController)[0]
	log := filepath.Join(root, "__cluster_metadata-0", "00000000000000000000.log")
	want, end := replayed(t, log)

	opts := testOptions(vfs.NewReal(root))
	opts.Controller.ClusterID, opts.Controller.NodeID = c.ClusterID(), kafkatest.FirstController
	opts.SnapshotMs = 1000
	w := newWorld(t, opts)
	if diff := cmp.Diff(records(want, kafkatest.FirstController), records(w.n.Image(), kafkatest.FirstController)); diff != "" {
		t.Errorf("(-Kafka's +opened):\n%s", diff)
	}
	if w.n.DurableOffset() != end+2 {
		t.Errorf("offset %d after %d", w.n.DurableOffset(), end)
	}
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	alter.Version = 1
	alter.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{
		ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "orders",
		Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "retention.ms", Value: kmsg.StringPtr("7654321")}},
	}}
	if r := ask[*kmsg.IncrementalAlterConfigsResponse](w, alter).Resources[0]; r.ErrorCode != 0 {
		t.Fatalf("%+v", r)
	}
	// A broker that Kafka never saw, and a topic on it: after our snapshot, so in the
	// log alone.
	w.advance(1500)
	if r := ask[*kmsg.BrokerRegistrationResponse](w, kafkaRegistration(c)); r.ErrorCode != 0 {
		t.Fatalf("registration: error %d", r.ErrorCode)
	}
	b, _ := w.n.Image().Broker(7)
	ask[*kmsg.BrokerHeartbeatResponse](w, heartbeat(7, b.BrokerEpoch, w.n.DurableOffset()))
	ours := creation("ours", -1, -1)
	ours.Topics[0].ReplicaAssignment = []kmsg.CreateTopicsRequestTopicReplicaAssignment{{Partition: 0, Replicas: []int32{7, 1}}}
	if r := ask[*kmsg.CreateTopicsResponse](w, ours).Topics[0]; r.ErrorCode != 0 {
		t.Fatalf("create: error %d %v", r.ErrorCode, *r.ErrorMessage)
	}
	epoch, taken, image := w.n.epoch, w.n.newestSnapshot(), w.n.Image()
	w.take(w.n.Shutdown(w.now, nil))
	if taken.epoch != epoch {
		t.Fatalf("no snapshot of ours: %+v", taken)
	}

	c.StartNode(t, kafkatest.FirstController)
	c.StartNode(t, 1)
	c.AwaitRegistered(t)
	describe := kmsg.NewPtrDescribeConfigsRequest()
	describe.Resources = []kmsg.DescribeConfigsRequestResource{{
		ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "orders", ConfigNames: []string{"retention.ms"},
	}}
	resp, err := c.Ask(t.Context(), 1, describe)
	must(t, err)
	if v := resp.(*kmsg.DescribeConfigsResponse).Resources[0].Configs[0].Value; *v != "7654321" {
		t.Errorf("retention.ms is %s", *v)
	}
	p, err := c.Partition(t.Context(), "ours", 0)
	must(t, err)
	t.Logf("Kafka says of ours-0: %+v", p)
	c.Stop(t, 1)
	c.Stop(t, kafkatest.FirstController)

	// And back: what Kafka wrote on top of ours.
	now, _ := replayed(t, log)
	before, _ := image.Topic("ours")
	after, ok := now.Topic("ours")
	if !ok || before.ID != after.ID {
		t.Fatalf("topic ours is %v", after)
	}
	w.open()
	if w.n.epoch <= epoch+1 {
		t.Errorf("epoch %d, ours was %d and Kafka's after it", w.n.epoch, epoch)
	}
	if diff := cmp.Diff(records(now, kafkatest.FirstController), records(w.n.Image(), kafkatest.FirstController)); diff != "" {
		t.Errorf("(-Kafka's +opened):\n%s", diff)
	}
	w.n.Abandon()
}

// kafkaRegistration is a broker that can live at all levels of Kafka's cluster.
func kafkaRegistration(c *kafkatest.Cluster) *kmsg.BrokerRegistrationRequest {
	req := registration(7)
	req.ClusterID = c.ClusterID()
	req.Features = nil
	for _, name := range []string{
		"metadata.version", "eligible.leader.replicas.version", "group.version", "transaction.version", "share.version", "streams.version", "kraft.version",
	} {
		req.Features = append(req.Features, kmsg.BrokerRegistrationRequestFeature{Name: name, MaxSupportedVersion: 99})
	}
	return req
}

// A directory that Kafka's tool has formatted and nobody has used: its levels are
// the cluster's.
func TestOpensFormatted(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	load(t, disk, "../metadata/testdata/kafka-4.4.0", "__cluster_metadata-0", func(name string) bool { return strings.HasPrefix(name, "00000000000000000000-") })
	opts := testOptions(disk)
	w := newWorld(t, opts)
	want := newReplay()
	must(t, want.snapshot(disk, "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"))
	levels := func(im metadata.Image) string {
		var all []string
		for name, level := range im.Features() {
			all = append(all, fmt.Sprintf("%s=%d", name, level))
		}
		return strings.Join(all, " ")
	}
	if got, kafkas := levels(w.n.Image()), levels(want.Image()); got != kafkas || !strings.Contains(got, "group.version=1") {
		t.Fatalf("%s, formatted %s", got, kafkas)
	}
	w.n.Abandon()
	w.open()
	if got := levels(w.n.Image()); got != levels(want.Image()) || w.n.epoch != 2 {
		t.Fatalf("%s in epoch %d", got, w.n.epoch)
	}
}

package kraft

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

// TestRealLog reads the logs and snapshots of a cluster with a life behind it,
// record by record, as Kafka's own dump tool does.
func TestRealLog(t *testing.T) {
	tools := map[string]string{kafkatest.DefaultVersion: kafkatest.DumpLogSegments, "3.9.1": "kafka.tools.DumpLogSegments"}
	for _, kafka := range kafkas() {
		t.Run(kafka, func(t *testing.T) { realLog(t, kafka, tools[kafka]) })
	}
}

func realLog(t *testing.T, kafka, tool string) {
	c := kafkatest.Start(t, kafkatest.Options{
		Version: kafka, Brokers: 3, Authorizer: true, LogDirs: 2,
		Properties: map[string]string{
			"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500",
			"metadata.log.max.snapshot.interval.ms": "5000",
		},
	})
	live(t, c)
	var files []string
	for _, node := range []int32{1, kafkatest.FirstController} {
		dir := filepath.Join(c.LogDirs(node)[0], "__cluster_metadata-0")
		for _, pattern := range []string{"*.log", "*.checkpoint"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range found {
				files = append(files, copyOf(t, file))
			}
		}
	}
	seen := compareFiles(t, c, tool, files)
	t.Logf("%d files: %v", len(files), seen)
	for _, want := range []string{
		"REGISTER_BROKER_RECORD", "BROKER_REGISTRATION_CHANGE_RECORD", "TOPIC_RECORD", "PARTITION_RECORD", "PARTITION_CHANGE_RECORD",
		"CONFIG_RECORD", "FEATURE_LEVEL_RECORD", "REMOVE_TOPIC_RECORD", "USER_SCRAM_CREDENTIAL_RECORD", "CLIENT_QUOTA_RECORD",
		"PRODUCER_IDS_RECORD", "ACCESS_CONTROL_ENTRY_RECORD", "NO_OP_RECORD", "BEGIN_TRANSACTION_RECORD", "END_TRANSACTION_RECORD",
		"REGISTER_CONTROLLER_RECORD", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER",
	} {
		if seen[want] == 0 {
			t.Errorf("the logs have no %s: the cluster did not live as it should", want)
		}
	}
}

// live has the controller write records of many types.
func live(t *testing.T, c *kafkatest.Cluster) {
	t.Helper()
	c.CreateTopic(t, "life", [][]int32{{1, 2, 3}, {2, 3, 1}}, map[string]string{"min.insync.replicas": "2"})
	c.CreateTopic(t, "death", [][]int32{{1}}, nil)
	c.AlterConfig(t, "life", "retention.ms", "1000000")
	c.AlterConfig(t, "life", "retention.ms", "")
	c.Allow(t, kafkatest.ACL{
		Principal: "User:alice", Type: kmsg.ACLResourceTypeTopic, Name: "life",
		Operations: []kmsg.ACLOperation{kmsg.ACLOperationRead},
	})

	scram := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	upsertion := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
	upsertion.Name, upsertion.Mechanism, upsertion.Iterations = "alice", 1, 4096
	upsertion.Salt, upsertion.SaltedPassword = []byte("salt"), make([]byte, 32)
	scram.Upsertions = append(scram.Upsertions, upsertion)

	quota := kmsg.NewPtrAlterClientQuotasRequest()
	entry := kmsg.NewAlterClientQuotasRequestEntry()
	entity := kmsg.NewAlterClientQuotasRequestEntryEntity()
	entity.Type, entity.Name = "user", nil
	op := kmsg.NewAlterClientQuotasRequestEntryOp()
	op.Key, op.Value = "request_percentage", 12.5
	entry.Entity, entry.Ops = append(entry.Entity, entity), append(entry.Ops, op)
	quota.Entries = append(quota.Entries, entry)

	deletion := kmsg.NewPtrDeleteTopicsRequest()
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = kmsg.StringPtr("death")
	deletion.Topics, deletion.TimeoutMillis = append(deletion.Topics, topic), 5000

	producer := kmsg.NewPtrInitProducerIDRequest()
	for _, req := range []kmsg.Request{scram, quota, deletion, producer} {
		if _, err := c.Ask(t.Context(), 1, req); err != nil {
			t.Fatal(err)
		}
	}
	c.Kill(t, 2)
	c.Kill(t, 3)
	c.AwaitFenced(t, 2)
	c.AwaitFenced(t, 3)
	c.AlterConfig(t, "life", "min.insync.replicas", "1")
	c.Heal(t)
	c.Reassign(t, "life", 0, []int32{3, 1})
	c.AwaitISR(t, "life", 0, 1, 3)
}

// copyOf takes a copy, for the cluster goes on writing.
func copyOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// dumped is a line of the dump tool about a record.
type dumped struct {
	offset  int64
	control bool
	text    string // JSON, or a name and JSON, or like controlType: LEADER_CHANGE(2)
}

var (
	dataLine    = regexp.MustCompile(`^\| offset: (\d+) .*payload: (.*)$`)
	controlLine = regexp.MustCompile(`^\| offset: (\d+) .*headerKeys: \[\] (\w.*)$`)
)

// compareFiles returns how many records of each type they hold.
func compareFiles(t *testing.T, c *kafkatest.Cluster, tool string, files []string) (seen map[string]int) {
	t.Helper()
	stdout, stderr, exit, err := c.Tool(t.Context(), tool, "--cluster-metadata-decoder", "--files", strings.Join(files, ","))
	if err != nil || exit != 0 {
		t.Fatalf("%s: exit %d, %v\n%s%s", tool, exit, err, stderr, stdout)
	}
	want := map[string][]dumped{}
	var file string
	for line := range strings.Lines(stdout) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "Dumping "); ok {
			file = name
		} else if m := dataLine.FindStringSubmatch(line); m != nil {
			want[file] = append(want[file], dumped{number(t, m[1]), false, m[2]})
		} else if m := controlLine.FindStringSubmatch(line); m != nil {
			want[file] = append(want[file], dumped{number(t, m[1]), true, m[2]})
		}
	}
	seen = map[string]int{}
	for _, file := range files {
		got := kafkatest.StoredRecords(t, file)
		// The tool ends before a batch that was not whole when the file was copied.
		if len(got) != len(want[file]) || len(got) == 0 {
			t.Errorf("%s: we cut %d records, Kafka %d", file, len(got), len(want[file]))
			continue
		}
		for i, rec := range got {
			seen[compareRecord(t, rec, want[file][i])]++
		}
	}
	return seen
}

// compareRecord returns the record's type. A record is written again, too, to
// the bytes that Kafka wrote.
func compareRecord(t *testing.T, rec kafkatest.StoredRecord, want dumped) string {
	t.Helper()
	if rec.Offset != want.offset || rec.Control != want.control {
		t.Fatalf("offset %d, control %v: want %d, %v", rec.Offset, rec.Control, want.offset, want.control)
	}
	if rec.Control {
		got, err := DecodeControl(rec.Key, rec.Value)
		if err != nil {
			t.Fatalf("offset %d: %v", rec.Offset, err)
		}
		_, ours := jsonOf(t, describe(got.fields(), 0))
		if i := strings.Index(want.text, "{"); i >= 0 {
			if diff := cmp.Diff(canonical(t, want.text[i:]), ours); diff != "" {
				t.Errorf("offset %d: (-Kafka +we):\n%s", rec.Offset, diff)
			}
		} else if !strings.Contains(want.text, got.ControlType().String()) {
			t.Errorf("offset %d: got %s, want %s", rec.Offset, got.ControlType(), want.text)
		}
		again, err := AppendControl(nil, got)
		if key := AppendControlKey(nil, got.ControlType()); err != nil || !bytes.Equal(again, rec.Value) || !bytes.Equal(key, rec.Key) {
			t.Errorf("offset %d: %v: %x %x is written as %x %x", rec.Offset, err, rec.Key, rec.Value, key, again)
		}
		return got.ControlType().String()
	}
	got, err := Decode(rec.Value)
	if err != nil {
		t.Fatalf("offset %d: %v", rec.Offset, err)
	}
	version := int16(rec.Value[2]) // behind two other numbers below 128
	k, known := kindOf(got.Type())
	theirs := canonical(t, want.text)
	if k.secret { // of which Kafka prints all
		name := look(got.fields()[0]).describe(0)
		theirs = map[string]any{"type": k.name, "version": int64(version), "data": map[string]any{"name": name}}
		if !strings.Contains(want.text, fmt.Sprintf("%q", name)) {
			t.Errorf("offset %d: %s of %q: Kafka names another", rec.Offset, k.name, name)
		}
	}
	_, ours := jsonOf(t, map[string]any{"type": k.name, "version": version, "data": describe(got.fields(), version)})
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("offset %d: (-Kafka +we):\n%s", rec.Offset, diff)
	}
	if again, err := Append(nil, got, version); known && !k.secret && (err != nil || !bytes.Equal(again, rec.Value)) {
		t.Errorf("offset %d: %v: %x is written as %x", rec.Offset, err, rec.Value, again)
	}
	return got.Type().String()
}

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

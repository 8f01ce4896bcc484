package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

var kafka = kafkatest.Share(kafkatest.Options{})

func TestMain(m *testing.M) { os.Exit(kafka.Main(m)) }

// segments returns the bytes of a partition's segments on broker 1. There may be
// several: old timestamps make Kafka roll.
func segments(tb testing.TB, c *kafkatest.Cluster, topic string) []byte {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(c.LogDirs(1)[0], topic+"-0", "*.log")) // sorted
	if err != nil || len(paths) == 0 {
		tb.Fatalf("segments of %s: %v, %v", topic, paths, err)
	}
	var out []byte
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, b...)
	}
	return out
}

// unique returns a topic's name that no earlier run of the test has used.
func unique(name string) string { return fmt.Sprintf("%s-%d", name, time.Now().UnixNano()) }

// topicID asks for it, which Produce 13 names a topic by.
func topicID(tb testing.TB, c *kafkatest.Cluster, topic string) [16]byte {
	tb.Helper()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{{Topic: &topic}}
	resp, err := c.Ask(tb.Context(), 1, req)
	if err != nil {
		tb.Fatal(err)
	}
	return resp.(*kmsg.MetadataResponse).Topics[0].TopicID
}

func produce(tb testing.TB, c *kafkatest.Cluster, topic string, id [16]byte, records []byte) kmsg.ProduceResponseTopicPartition {
	tb.Helper()
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = 1, 5000
	req.Topics = []kmsg.ProduceRequestTopic{{
		Topic: topic, TopicID: id, Partitions: []kmsg.ProduceRequestTopicPartition{{Records: records}},
	}}
	resp, err := c.Ask(tb.Context(), 1, req)
	if err != nil {
		tb.Fatal(err)
	}
	return resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
}

// Kafka is asked about every case of cases_test.go: its code must be the one
// there, and what it stored must be what Assign made of the same bytes.
func TestVerdictsOfKafka(t *testing.T) {
	c := kafka.Get(t)
	ids, names := map[string][16]byte{}, map[string]string{}
	for setting, topic := range caseTopics {
		name := unique(setting)
		c.CreateTopic(t, name, [][]int32{{1}}, topic.configs)
		ids[setting], names[setting] = topicID(t, c, name), name
	}
	v := NewValidator(DefaultInflateLimit)
	for _, tc := range cases() {
		t.Run(tc.name, func(t *testing.T) {
			nowMs := time.Now().UnixMilli()
			sent := tc.make(t, nowMs)
			before := len(segments(t, c, names[tc.topic]))
			got := produce(t, c, names[tc.topic], ids[tc.topic], bytes.Clone(sent))
			if got.ErrorCode != tc.code {
				t.Fatalf("Kafka answers %d (%s), want %d", got.ErrorCode, deref(got.ErrorMessage), tc.code)
			}
			stored := Batch(segments(t, c, names[tc.topic])[before:])
			if tc.code != 0 {
				if len(stored) > 0 {
					t.Errorf("Kafka refused it and stored %d bytes", len(stored))
				}
				return
			}
			rules := DefaultRules()
			caseTopics[tc.topic].rules(&rules)
			stamp := Stamp{Offset: got.BaseOffset, LeaderEpoch: 0, NowMs: nowMs}
			if rules.LogAppendTime {
				stamp.NowMs = stored.MaxTimestampMs()
			}
			res, err := v.Assign(sent, rules, stamp)
			if err != nil {
				t.Fatal(err)
			}
			if res.Rebuilt != tc.rebuilt {
				t.Errorf("rebuilt: %v, want %v", res.Rebuilt, tc.rebuilt)
			}
			// Compressed by another library, the same records are other bytes.
			if tc.rebuilt && rules.Codec != None || tc.rebuilt && rules.KeepCodec {
				compareHeaders(t, res.Bytes, stored)
				if diff := cmp.Diff(readAll(t, res.Bytes), readAll(t, stored)); diff != "" {
					t.Errorf("records (-ours +Kafka's):\n%s", diff)
				}
			} else if !bytes.Equal(res.Bytes, stored) {
				t.Errorf("we store\n% x\nKafka stores\n% x", res.Bytes, stored)
			}
		})
	}
}

func deref(s *string) string {
	if s == nil {
		return "no message"
	}
	return *s
}

// compareHeaders compares all of two headers but length and CRC.
func compareHeaders(tb testing.TB, ours, kafkas Batch) {
	tb.Helper()
	for _, b := range []Batch{ours, kafkas} {
		if err := b.CheckCRC(); err != nil {
			tb.Error(err)
		}
	}
	mask := func(b Batch) []byte {
		h := bytes.Clone(b[:HeaderSize])
		clear(h[atLength:atLeaderEpoch])
		clear(h[atCRC:atAttributes])
		return h
	}
	if !bytes.Equal(mask(ours), mask(kafkas)) {
		tb.Errorf("header without length and CRC: ours % x, Kafka's % x", mask(ours), mask(kafkas))
	}
}

// dump runs kafka-dump-log and returns its lines about batches and records.
func dump(tb testing.TB, c *kafkatest.Cluster, path string, args ...string) []string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	args = append([]string{"--files", path, "--deep-iteration", "--print-data-log"}, args...)
	out, stderr, exit, err := c.Tool(ctx, kafkatest.DumpLogSegments, args...)
	if err != nil || exit != 0 {
		tb.Fatalf("kafka-dump-log: exit %d, %v\n%s\n%s", exit, err, stderr, out)
	}
	for _, bad := range []string{"isvalid: false", "Found non-consecutive", "Non-consecutive", "Error", "Exception"} {
		if strings.Contains(out, bad) || strings.Contains(stderr, bad) {
			tb.Errorf("kafka-dump-log complains:\n%s\n%s", stderr, out)
			break
		}
	}
	var lines []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "baseOffset:") || strings.HasPrefix(line, "|") {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines
}

// dumpOurs prints batches as kafka-dump-log does.
func dumpOurs(tb testing.TB, buf []byte) []string {
	tb.Helper()
	in := NewInflater(DefaultInflateLimit)
	var lines []string
	s := Scan(buf)
	for s.Next() {
		b := s.Batch()
		kind := "CreateTime"
		if b.LogAppendTime() {
			kind = "LogAppendTime"
		}
		horizon := "OptionalLong.empty"
		if ms, ok := b.DeleteHorizonMs(); ok {
			horizon = fmt.Sprintf("OptionalLong[%d]", ms)
		}
		lines = append(lines, fmt.Sprintf("baseOffset: %d lastOffset: %d count: %d baseSequence: %d lastSequence: %d "+
			"producerId: %d producerEpoch: %d partitionLeaderEpoch: %d isTransactional: %v isControl: %v "+
			"deleteHorizonMs: %s position: %d %s: %d size: %d magic: %d compresscodec: %s crc: %d isvalid: %v",
			b.BaseOffset(), b.LastOffset(), b.Count(), b.BaseSequence(), b.LastSequence(),
			b.ProducerID(), b.ProducerEpoch(), b.LeaderEpoch(), b.Transactional(), b.Control(),
			horizon, s.At(), kind, b.MaxTimestampMs(), len(b), b[atMagic], b.Codec(), b.CRC(), b.CheckCRC() == nil))
		rs, err := b.Records(in)
		if err != nil {
			tb.Fatal(err)
		}
		for rs.Next() {
			lines = append(lines, dumpRecord(tb, b, rs.Record(), kind))
		}
		if rs.Err() != nil {
			tb.Fatal(rs.Err())
		}
	}
	if s.Err() != nil || s.End() != len(buf) {
		tb.Errorf("batches end at %d of %d: %v", s.End(), len(buf), s.Err())
	}
	return lines
}

func dumpRecord(tb testing.TB, b Batch, r Record, kind string) string {
	tb.Helper()
	var keys []string
	for k := range r.Headers() {
		keys = append(keys, string(k))
	}
	size := func(v []byte) int {
		if v == nil {
			return -1
		}
		return len(v)
	}
	line := fmt.Sprintf("| offset: %d %s: %d keySize: %d valueSize: %d sequence: %d headerKeys: [%s]",
		r.Offset, kind, r.TimestampMs, size(r.Key), size(r.Value), r.Sequence, strings.Join(keys, ","))
	if b.Control() {
		c, err := ParseControl(r)
		if err != nil {
			tb.Fatal(err)
		}
		return line + dumpControl(c)
	}
	if r.Key != nil {
		line += " key: " + string(r.Key)
	}
	if r.Value != nil {
		line += " payload: " + string(r.Value)
	}
	return line
}

func dumpControl(c Control) string {
	voters := func(vs []Voter) string {
		var out []string
		for _, v := range vs {
			out = append(out, fmt.Sprintf(`{"voterId":%d}`, v.ID))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	switch c := c.(type) {
	case EndTxn:
		kind := "ABORT"
		if c.Commit {
			kind = "COMMIT"
		}
		return fmt.Sprintf(" endTxnMarker: %s coordinatorEpoch: %d", kind, c.CoordinatorEpoch)
	case LeaderChange:
		return fmt.Sprintf(` LeaderChange: {"version":0,"leaderId":%d,"voters":%s,"grantingVoters":%s}`,
			c.LeaderID, voters(c.Voters), voters(c.GrantingVoters))
	case SnapshotHeader:
		return fmt.Sprintf(` SnapshotHeader {"version":0,"lastContainedLogTimestamp":%d}`, c.LastContainedLogTimestampMs)
	case SnapshotFooter:
		return ` SnapshotFooter {"version":0}`
	case KRaftVersion:
		return fmt.Sprintf(` KRaftVersion {"version":0,"kRaftVersion":%d}`, c.Version)
	default:
		return fmt.Sprintf(" controlType: %v", c)
	}
}

// What Kafka's own producer wrote reads as kafka-dump-log reads it.
func TestReadsKafkasProducer(t *testing.T) {
	c := kafka.Get(t)
	for _, codec := range codecs {
		t.Run(codec.String(), func(t *testing.T) {
			topic := unique("produced-" + codec.String())
			c.CreateTopic(t, topic, [][]int32{{1}}, nil)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := c.ToolCommand(ctx, "org.apache.kafka.tools.ConsoleProducer",
				"--bootstrap-server", c.BootstrapServer(), "--topic", topic, "--compression-codec", codec.String(),
				"--property", "parse.key=true", "--property", "parse.headers=true", "--property", "null.marker=NULL")
			var in strings.Builder
			for i := range 3000 {
				fmt.Fprintf(&in, "h1:v1,h2:v%d\tkey-%d\t%s\n", i, i, strings.Repeat("value ", i%20))
			}
			fmt.Fprint(&in, "NULL\tNULL\tNULL\n")
			cmd.Stdin = strings.NewReader(in.String())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			buf := segments(t, c, topic)
			if got := Batch(buf).Codec(); got != codec {
				t.Fatalf("the first batch is %v, want %v", got, codec)
			}
			compareDumps(t, dumpOurs(t, buf), dump(t, c, filepath.Join(c.LogDirs(1)[0], topic+"-0", "00000000000000000000.log")))
		})
	}
}

func compareDumps(tb testing.TB, ours, kafkas []string) {
	tb.Helper()
	if len(kafkas) == 0 {
		tb.Fatal("kafka-dump-log printed nothing")
	}
	if diff := cmp.Diff(kafkas, ours); diff != "" {
		tb.Errorf("dump (-Kafka's +ours):\n%.4000s", diff)
	}
}

// What our Builder wrote reads with kafka-dump-log as we read it.
func TestKafkaReadsBuilder(t *testing.T) {
	c := kafka.Get(t)
	dir := filepath.Join(t.TempDir(), "built-0")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var buf []byte
	next := int64(0)
	add := func(b Batch) {
		buf = append(buf, b...)
		next = b.NextOffset()
	}
	producer := &Producer{ID: 9, Epoch: 2, BaseSequence: 1<<31 - 3}
	appendMs := int64(1_700_000_000_000)
	for _, codec := range codecs {
		add(build(t, Options{BaseOffset: next, LeaderEpoch: 3, Codec: codec}, entries(400, 1_690_000_000_000)...))
		add(build(t, Options{BaseOffset: next, LeaderEpoch: 3, Codec: codec, Producer: producer, Transactional: true}, entries(5, 5)...))
		add(build(t, Options{BaseOffset: next, LeaderEpoch: 4, Codec: codec, LogAppendTimeMs: &appendMs}, Entry{Value: []byte("v")}))
	}
	for _, commit := range []bool{true, false} {
		b, err := AppendControl(nil, Options{
			BaseOffset: next, LeaderEpoch: 4, Transactional: true, Producer: &Producer{ID: 9, Epoch: 2, BaseSequence: NoSequence},
		}, appendMs, EndTxn{Commit: commit, CoordinatorEpoch: 6})
		if err != nil {
			t.Fatal(err)
		}
		add(b)
	}
	path := filepath.Join(dir, "00000000000000000000.log")
	if err := os.WriteFile(path, buf, 0o644); err != nil {
		t.Fatal(err)
	}
	compareDumps(t, dumpOurs(t, buf), dump(t, c, path))
}

// Control records of a metadata log and its snapshot, as Kafka's decoder prints
// them; and those that the running controller has written.
func TestKafkaReadsKRaftControl(t *testing.T) {
	c := kafka.Get(t)
	dir := filepath.Join(t.TempDir(), "__cluster_metadata-0")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	uuid := [16]byte{1, 2, 3}
	controls := []Control{
		SnapshotHeader{LastContainedLogTimestampMs: 1_700_000_000_000},
		LeaderChange{LeaderID: 100, Voters: []Voter{{ID: 100}, {ID: 101}}, GrantingVoters: []Voter{{ID: 100}}},
		KRaftVersion{Version: 1},
		KRaftVoters{Voters: []VoterNode{{
			Voter:     Voter{ID: 100, DirectoryID: uuid},
			Endpoints: []Endpoint{{Name: "CONTROLLER", Host: "localhost", Port: 50000}}, MaxVersion: 1,
		}}},
		SnapshotFooter{},
	}
	buf, err := AppendControl(nil, Options{LeaderEpoch: 1}, 1_700_000_000_000, controls...)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "00000000000000000000.log")
	if err := os.WriteFile(path, buf, 0o644); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(dump(t, c, path, "--cluster-metadata-decoder"), "\n")
	for _, want := range []string{
		`SnapshotHeader {"version":0,"lastContainedLogTimestamp":1700000000000}`,
		`LeaderChange: {"version":0,"leaderId":100,"voters":[{"voterId":100},{"voterId":101}],"grantingVoters":[{"voterId":100}]}`,
		`KRaftVersion {"version":0,"kRaftVersion":1}`,
		`"voterId":100,"voterDirectoryId":"AQIDAAAAAAAAAAAAAAAAAA","endpoints":[{"name":"CONTROLLER","host":"localhost","port":50000}],"kRaftVersionFeature":{"minSupportedVersion":0,"maxSupportedVersion":1}`,
		`SnapshotFooter {"version":0}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("kafka-dump-log does not print %s; it prints\n%s", want, got)
		}
	}

	// The controller's own log: its first batches hold a LeaderChange.
	log, err := os.ReadFile(filepath.Join(c.LogDirs(kafkatest.FirstController)[0], "__cluster_metadata-0", "00000000000000000000.log"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for s := Scan(log); s.Next(); {
		if !s.Batch().Control() {
			continue
		}
		rs, err := s.Batch().Records(nil)
		if err != nil {
			t.Fatal(err)
		}
		for rs.Next() {
			ctl, err := ParseControl(rs.Record())
			if err != nil {
				t.Fatal(err)
			}
			if lc, ok := ctl.(LeaderChange); ok && lc.LeaderID != kafkatest.FirstController {
				t.Errorf("leader %d, want %d", lc.LeaderID, kafkatest.FirstController)
			}
			// Written again it must be the same bytes.
			if again := ctl.appendValue(nil); !bytes.Equal(again, rs.Record().Value) {
				t.Errorf("%T: wrote % x, Kafka wrote % x", ctl, again, rs.Record().Value)
			}
			found = append(found, fmt.Sprintf("%T", ctl))
		}
		if errors.Join(rs.Err(), s.Err()) != nil {
			t.Fatal(rs.Err(), s.Err())
		}
	}
	if !slices.Contains(found, "record.LeaderChange") {
		t.Errorf("control records in the controller's log: %v, want a LeaderChange", found)
	}
}

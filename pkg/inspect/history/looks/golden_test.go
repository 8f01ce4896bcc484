package looks

import (
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

var rewrite = flag.Bool("rewrite", false, "write the golden file anew; only where a field is new")

type ids = []inspect.BrokerID

func has[T any](v T) inspect.Opt[T] { return inspect.Known(v) }

// story is what the golden file holds: two looks, with something of each kind.
func story() []*inspect.Snapshot {
	at := time.UnixMilli(1_700_000_000_123).UTC()
	part := inspect.Partition{
		Topic: "orders", TopicID: has("AAAA"), Index: 3, Leader: 1, LeaderEpoch: has(inspect.Epoch(7)), Replicas: ids{1, 2}, ISR: ids{1},
		ELR: has(ids{2}), Offline: ids{2}, Adding: has(ids{4}), MinInsyncReplicas: has(int32(2)),
		Offsets: &inspect.Offsets{
			LEOBefore: has(inspect.Offset(1000)), LEOAfter: has(inspect.Offset(1007)), HW: has(inspect.Offset(900)), LSO: has(inspect.Offset(890)),
			LogStart: has(inspect.Offset(10)), Followers: []inspect.FollowerOffset{{Broker: 2, Error: "broker 2 did not answer"}},
		},
	}
	first := &inspect.Snapshot{
		ClusterID: has("c"), Controller: has(inspect.BrokerID(100)), KeepsELR: has(true), TakenAt: at, ToldBy: "10.0.0.1:9092",
		Asked: inspect.PartOffsets | inspect.PartReachable, UnkeptTopics: 1, Gone: ids{9},
		Quorum: has(inspect.Quorum{
			Leader: 100, Epoch: has(inspect.Epoch(2)), HW: has(inspect.Offset(77)),
			Voters: []inspect.QuorumReplica{{ID: 100, LEO: has(inspect.Offset(78)), LastFetch: has(at), LastCaughtUp: has(at)}},
		}),
		Transactions: has(inspect.Transactions{Complete: true}),
		Brokers: []inspect.Broker{{
			ID: 1, Host: "10.0.0.1", Port: 9092, Rack: has("r1"), Fenced: has(false), Reachable: has(true), RoundTrip: has(350 * time.Microsecond),
			LeaderLEOsAt: has(at.Add(4 * time.Millisecond)), FollowerLEOsAt: has(at.Add(904 * time.Millisecond)),
			VersionRange: has("4.4"), LogDirs: has([]inspect.LogDir{{Path: "/d", UsableBytes: has(int64(5)), ReplicasBytes: has(int64(3))}}),
			Features: has(inspect.BrokerFeatures{Levels: map[string]int16{"metadata.version": 29}}),
			Configs:  has([]inspect.Config{{Name: "num.replica.fetchers", Value: has("1"), Source: inspect.SourceDefault}}),
		}},
		Topics: []inspect.Topic{{
			Name: "orders", ID: has("AAAA"), MinInsyncReplicas: has(int32(2)), UncleanElection: has(false),
			Configs: has([]inspect.Config{{Name: "retention.ms", Value: has("1000"), Source: inspect.SourceTopic}}), Partitions: []inspect.Partition{part},
		}},
		Groups: []inspect.Group{{
			Name: "billing", Type: has(inspect.GroupClassic), Protocol: "consumer", State: has("Stable"), Coordinator: 1,
			Commits: has([]inspect.Commit{{
				TopicPartition: inspect.TopicPartition{Topic: "orders", Partition: 3}, Offset: has(inspect.Offset(800)), UnreadSinceMs: has(at.UnixMilli() - 5000),
			}}),
		}},
		Failures: []inspect.Failure{{Broker: has(inspect.BrokerID(2)), Address: "10.0.0.2:9092", Request: "ListOffsets", Phase: inspect.PhaseDial, Error: "refused"}},
	}
	second := clone(first)
	second.TakenAt = at.Add(2 * time.Second)
	second.Failures = nil
	second.Brokers[0].RoundTrip = inspect.Unknown[time.Duration]()
	second.Brokers[0].LeaderLEOsAt = has(at.Add(2*time.Second + 4*time.Millisecond))
	o := second.Topics[0].Partitions[0].Offsets
	o.LEOBefore, o.HW = has(inspect.Offset(1100)), inspect.Unknown[inspect.Offset]()
	o.Followers[0] = inspect.FollowerOffset{Broker: 2, LEO: has(inspect.Offset(1050)), Late: true}
	return []*inspect.Snapshot{first, second}
}

// TestGolden: looks as they are in files out there stay readable. A field of package
// inspect that is renamed has to be read under its old name as well.
func TestGolden(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "story.looks")
	if *rewrite {
		var enc Encoder
		var out []byte
		for _, s := range story() {
			look := enc.Append(nil, s)
			out = append(binary.AppendUvarint(out, uint64(len(look))), look...)
		}
		if err := os.WriteFile(golden, out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read(t, golden, story())
}

// TestBeforeTimes: files from before looks had the times of the brokers' answers.
func TestBeforeTimes(t *testing.T) {
	t.Parallel()
	want := story()
	for _, s := range want {
		s.Brokers[0].LeaderLEOsAt, s.Brokers[0].FollowerLEOsAt = inspect.Unknown[time.Time](), inspect.Unknown[time.Time]()
	}
	read(t, filepath.Join("testdata", "before-times.looks"), want)
}

func read(t *testing.T, file string, want []*inspect.Snapshot) {
	t.Helper()
	in, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var dec Decoder
	for i, want := range want {
		size, n := binary.Uvarint(in)
		got, err := dec.Apply(in[n : n+int(size)])
		in = in[n+int(size):]
		if err != nil || textOf(got) != textOf(want) {
			t.Fatalf("look %d: %v: it reads\n%s\nand was\n%s", i, err, textOf(got), textOf(want))
		}
	}
	if len(in) > 0 {
		t.Errorf("%d bytes are left", len(in))
	}
}

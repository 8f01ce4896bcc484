package inspect

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// cluster is a Snapshot of one topic with these partitions on brokers 1 to 3.
func cluster(parts ...*Partition) *Snapshot {
	s := &Snapshot{ClusterID: Known("c")}
	for id := BrokerID(1); id <= 3; id++ {
		s.Brokers = append(s.Brokers, Broker{ID: id, Host: "h", Port: 9092, Reachable: Known(true)})
	}
	topic := Topic{Name: "t"}
	for i, p := range parts {
		p.Index = int32(i)
		topic.Partitions = append(topic.Partitions, *p)
	}
	s.Topics = []Topic{topic}
	return s
}

func (s *Snapshot) with(change func(*Snapshot)) *Snapshot {
	change(s)
	return s
}

// since is a partition with an onset that many seconds after 1970 began.
func since(p *Partition, second int64, cause IsrCause) *Partition {
	p.Onset = &Onset{Since: Known(time.Unix(second, 0)), Cause: Known(cause)}
	return p
}

// TestSinceUntold: what is not known of each, or of one broker alone, is not said.
func TestSinceUntold(t *testing.T) {
	t.Parallel()
	short := func() *Partition { return part(1, "123", "12", 1) }
	for name, s := range map[string]*Snapshot{
		"one is not known":      cluster(since(short(), 31, CauseReplicaLag), short()),
		"one is older":          cluster(since(short(), 31, CauseReplicaLag), short()).with(func(s *Snapshot) { s.Topics[0].Partitions[1].Onset = &Onset{Before: Known(time.Unix(1, 0))} }),
		"another cause":         cluster(since(short(), 31, CauseReplicaLag), since(short(), 31, CauseBrokerFenced)),
		"two brokers":           cluster(since(part(1, "123", "1", 1), 31, CauseReplicaLag)),
		"a broker of each":      cluster(since(short(), 31, CauseReplicaLag), since(part(1, "123", "13", 1), 31, CauseReplicaLag)),
		"min ISR unknown, none": cluster(part(1, "123", "123", 0)),
	} {
		if reasons := strings.Join(s.Verdict().Reasons, "\n"); strings.Contains(reasons, "since") || strings.Contains(reasons, "replica-lag") {
			t.Errorf("%s: %s", name, reasons)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	healthy := func() *Partition { return part(1, "123", "123", 2) }
	silent3 := func(s *Snapshot) {
		s.Brokers[2].Reachable = Known(false)
		s.Failures = append(s.Failures, Failure{Broker: Known(BrokerID(3)), Request: "ApiVersions", Error: "no reply to ApiVersions within 3s"})
	}
	for _, tt := range []struct {
		name    string
		s       *Snapshot
		want    Level
		reasons string // each must appear, ; between
	}{
		{"ok", cluster(healthy()), LevelOK, ""},
		{"no topics", cluster(), LevelOK, ""},
		{"no brokers", &Snapshot{}, LevelUnknown, "no live broker is listed"},
		{"offline", cluster(healthy(), part(NoBroker, "123", "", 2)), LevelUnavailable, "1 partition has no leader"},
		{"under min", cluster(part(1, "123", "1", 2)), LevelAtRisk, "1 partition accepts no acks=all write;1 partition has one in-sync copy left"},
		{"one copy left, min 1", cluster(part(1, "123", "1", 1)), LevelAtRisk, "one in-sync copy left"},
		{"RF 1 has one copy by construction", cluster(part(1, "1", "1", 1)), LevelOK, ""},
		{"under-replicated", cluster(part(1, "123", "12", 1), healthy()), LevelDegraded, "1 partition has lost a replica: broker 3 is out of it"},
		{"since when", cluster(since(part(1, "123", "12", 1), 31, CauseReplicaLag), healthy(), since(part(1, "123", "12", 1), 31, CauseReplicaLag)), LevelDegraded, "broker 3 is out of all of them since 1970-01-01 00:00:31Z, replica-lag"},
		{"since several times", cluster(since(part(1, "123", "12", 1), 38, CauseReplicaLag), since(part(1, "123", "12", 1), 31, CauseReplicaLag)), LevelDegraded, "broker 3 is out of all of them since 1970-01-01 00:00:31Z (of the last since 1970-01-01 00:00:38Z), replica-lag"},
		{"at min", cluster(part(1, "123", "12", 2)), LevelDegraded, "the next loss refuses acks=all"},
		{"silent broker", cluster(healthy()).with(silent3), LevelDegraded, "broker 3 (h:9092) does not answer: no reply to ApiVersions within 3s;broker 3 is still in the ISR of 1 partition"},
		{"silent leader", cluster(part(3, "312", "312", 1)).with(silent3), LevelDegraded, "broker 3 still leads 1 partition"},
		{"min unknown", cluster(part(1, "123", "123", 0)), LevelUnknown, "min.insync.replicas of 1 partition is unknown, so it is not known whether it has enough in-sync replicas"},
		{"min unknown and something worse", cluster(part(1, "123", "123", 0), part(1, "123", "12", 1)), LevelDegraded, "lost a replica;unknown"},
		{
			"topic not described", cluster(healthy()).with(func(s *Snapshot) {
				s.Failures = []Failure{{Topic: "secret", Request: "Metadata", Error: "TOPIC_AUTHORIZATION_FAILED"}}
			}), LevelUnknown, "topic secret",
		},
		{
			"a notice costs nothing", cluster(healthy()).with(func(s *Snapshot) {
				s.Failures = []Failure{{Address: "h:1", Request: "ApiVersions", Error: "refused", Notice: true}}
			}), LevelOK, "",
		},
		{"wrong leader", cluster(part(2, "123", "123", 2)), LevelOK, ""},
		{"reassigning", cluster(part(1, "1234", "123", 2).moving("4", "1")).with(func(s *Snapshot) {
			s.Brokers = append(s.Brokers, Broker{ID: 4, Reachable: Known(true)})
		}), LevelOK, ""},
		{"no headroom", cluster(part(1, "12", "12", 2)), LevelOK, ""},
		{"fenced broker", cluster(part(1, "123", "12", 1)).with(func(s *Snapshot) {
			s.Brokers[2].Fenced, s.Brokers[2].Reachable = Known(true), Unknown[bool]()
		}), LevelDegraded, "broker 3 (h:9092) is fenced"},
		{"absent broker", cluster(part(1, "123", "12", 1)).with(func(s *Snapshot) {
			s.Brokers = s.Brokers[:2]
		}), LevelDegraded, "broker 3 is not among the live brokers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := tt.s.Verdict()
			if v.Level != tt.want {
				t.Errorf("level = %s, want %s (reasons %q)", v.Level, tt.want, v.Reasons)
			}
			all := strings.Join(v.Reasons, "\n")
			if tt.reasons == "" && all != "" {
				t.Errorf("reasons = %q, want none", v.Reasons)
			}
			for want := range strings.SplitSeq(tt.reasons, ";") {
				if !strings.Contains(all, want) {
					t.Errorf("reasons = %q, want one with %q", v.Reasons, want)
				}
			}
		})
	}
}

func TestVerdictNamesWhoIsOut(t *testing.T) {
	t.Parallel()
	s := cluster(part(1, "123", "12", 1), part(1, "123", "12", 1), part(3, "312", "31", 1))
	got := s.Verdict().Reasons[0]
	want := "3 partitions have lost a replica: broker 3 is out of 2 of them, broker 2 is out of 1 of them"
	if got != want {
		t.Errorf("reason = %q, want %q", got, want)
	}
}

func TestVerdictNamesSeveralTogether(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want  string
		parts []*Partition
	}{
		{"1 partition has lost replicas: brokers 2 and 3 are out of it", []*Partition{part(1, "123", "1", 1)}},
		{
			"2 partitions have lost replicas: brokers 2, 3 and 4 are out of all of them",
			[]*Partition{part(1, "1234", "1", 1), part(1, "1234", "1", 1)},
		},
		{
			"2 partitions have lost a replica: brokers 2 and 3 are out of 1 of them each",
			[]*Partition{part(1, "123", "12", 1), part(1, "123", "13", 1)},
		},
	} {
		reasons := cluster(tt.parts...).Verdict().Reasons
		if !slices.Contains(reasons, tt.want) {
			t.Errorf("reasons = %q, want %q", reasons, tt.want)
		}
	}
}

func TestVerdictCountsFenced(t *testing.T) {
	t.Parallel()
	s := cluster(part(1, "12", "12", 1))
	if got := s.Verdict().Counts.BrokersFenced; got.IsKnown() {
		t.Errorf("fenced = %s where no broker tells, want unknown", got)
	}
	for i := range s.Brokers {
		s.Brokers[i].Fenced = Known(i == 2)
	}
	if c := s.Verdict().Counts; c.BrokersFenced != Known(1) || c.BrokersRegistered != 2 {
		t.Errorf("fenced = %s beside %d, want 1 beside 2", c.BrokersFenced, c.BrokersRegistered)
	}
}

func TestVerdictUnhealthyIsSorted(t *testing.T) {
	t.Parallel()
	s := cluster(part(1, "123", "12", 1), part(1, "123", "123", 1), part(NoBroker, "123", "", 1))
	v := s.Verdict()
	if len(v.Unhealthy) != 2 || v.Unhealthy[0].Index != 0 || v.Unhealthy[1].Index != 2 {
		t.Errorf("unhealthy = %v, want partitions 0 and 2", v.Unhealthy)
	}
}

func TestFindingsNameTopics(t *testing.T) {
	t.Parallel()
	v := cluster(part(2, "2", "2", 2)).Verdict()
	if v.Level != LevelOK || len(v.Findings) != 2 {
		t.Fatalf("level %s, findings %v; want ok with two findings", v.Level, v.Findings)
	}
	if f := v.Findings[1]; f.ID != FindingSingleReplica || len(f.Topics) != 1 {
		t.Errorf("finding = %v, want %s", f, FindingSingleReplica)
	}
	if f := v.Findings[0]; f.ID != FindingMinISRExceedsRF || len(f.Topics) != 1 || f.Topics[0] != "t" {
		t.Errorf("finding = %v, want %s on t", f, FindingMinISRExceedsRF)
	}
}

func TestOptJSON(t *testing.T) {
	t.Parallel()
	type doc struct {
		N    Opt[int64]      `json:"n"`
		None Opt[int64]      `json:"none"`
		L    Opt[[]BrokerID] `json:"l"`
	}
	in := doc{N: Known[int64](9007199254740993), L: Known[[]BrokerID](nil)}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"n":9007199254740993,"none":null,"l":[]}`; string(b) != want {
		t.Errorf("JSON = %s, want %s", b, want)
	}
	var back doc
	if err := json.Unmarshal(b, &back); err != nil || back.N != in.N || back.None.IsKnown() || !back.L.IsKnown() {
		t.Errorf("back = %+v (%v), want %+v", back, err, in)
	}
}

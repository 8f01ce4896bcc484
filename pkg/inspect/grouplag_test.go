package inspect

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// ends are a partition's offsets: log start, LSO, HW, LEO; a negative one is
// unknown.
func ends(start, lso, hw, leo int64) *Partition {
	return &Partition{Leader: 1, Offsets: &Offsets{LogStart: at(start), LSO: at(lso), HW: at(hw), LEOBefore: at(leo)}}
}

// groupSnapshot has one topic "t" with these partitions.
func groupSnapshot(parts ...*Partition) *Snapshot {
	t := Topic{Name: "t"}
	for i, p := range parts {
		p.Topic, p.Index = "t", int32(i)
		t.Partitions = append(t.Partitions, *p)
	}
	return &Snapshot{Topics: []Topic{t}}
}

// commits of partitions 0 and on of "t"; a negative one is Kafka's "no commit".
func commits(offsets ...int64) Opt[[]Commit] {
	out := []Commit{}
	for i, n := range offsets {
		out = append(out, Commit{TopicPartition: TopicPartition{"t", int32(i)}, Offset: at(n)})
	}
	return Known(out)
}

func groupText(l *GroupLag) string {
	var b strings.Builder
	fmt.Fprintf(&b, "lag %s known %s unknown %s", l.Lag, l.LagKnown, l.UnknownPartitions)
	for _, p := range l.Partitions {
		member := "-"
		if p.Member != nil {
			member = p.Member.ID
		}
		fmt.Fprintf(&b, " | %s-%d at %s lag %s/%s ahead %s below %s %s %q",
			p.Topic, p.Partition, p.Committed, p.Lag, p.LagReadCommitted, p.Ahead, p.BelowStart, member, p.Note)
	}
	return b.String()
}

func TestGroupLag(t *testing.T) {
	t.Parallel()
	leaderless := &Partition{Leader: NoBroker, Offsets: &Offsets{}}
	silent := &Partition{Leader: 1, Offsets: &Offsets{Error: "no reply to ListOffsets within 3s"}}
	members := Known([]Member{{ID: "m1", Assigned: []TopicPartition{{"t", 0}, {"t", 1}}}, {ID: "m2"}})
	for _, tt := range []struct {
		name  string
		s     *Snapshot
		group Group
		want  string
	}{
		{
			"behind", groupSnapshot(ends(0, 90, 100, 120)),
			Group{Commits: commits(60)},
			`lag 40 known 40 unknown 0 | t-0 at 60 lag 40/30 ahead 0 below 0 - ""`,
		},
		{ // https://github.com/fgeller/kt/issues/103: lag 2472 was shown.
			"no commit is no lag (fgeller/kt#103)", groupSnapshot(ends(0, 2471, 2471, 2471)),
			Group{Commits: commits(-1)},
			`lag - known 0 unknown 0 | t-0 at - lag -/- ahead - below - - "nothing committed"`,
		},
		{
			"no commit and no end (fgeller/kt#103)", groupSnapshot(silent),
			Group{Commits: commits(-1)},
			`lag - known 0 unknown 0 | t-0 at - lag -/- ahead - below - - "nothing committed; no reply to ListOffsets within 3s"`,
		},
		{
			"no commit is no part of the sum", groupSnapshot(ends(0, 50, 50, 50), ends(0, 9, 9, 9)),
			Group{Commits: commits(40, -1)},
			`lag 10 known 10 unknown 0 | t-0 at 40 lag 10/10 ahead 0 below 0 - "" | t-1 at - lag -/- ahead - below - - "nothing committed"`,
		},
		{ // ktea adds MinInt64 to the total.
			"an unknown end makes the sum unknown", groupSnapshot(ends(0, 50, 50, 50), silent),
			Group{Commits: commits(40, 7)},
			`lag - known 10 unknown 1 | t-0 at 40 lag 10/10 ahead 0 below 0 - "" | t-1 at 7 lag -/- ahead - below - - "no reply to ListOffsets within 3s"`,
		},
		{ // https://github.com/apache/kafka/pull/20064
			"leaderless (apache/kafka#20064)", groupSnapshot(ends(0, 50, 50, 50), leaderless),
			Group{Commits: commits(40, 7)},
			`lag - known 10 unknown 1 | t-0 at 40 lag 10/10 ahead 0 below 0 - "" | t-1 at 7 lag -/- ahead - below - - "no leader"`,
		},
		{ // https://github.com/birdayz/kaf/issues/303: the total was −56.
			"ahead is not set off (kaf#303, kafka_exporter#437)", groupSnapshot(ends(0, 300, 300, 300), ends(0, 150, 150, 150)),
			Group{Commits: commits(500, 50)},
			`lag 100 known 100 unknown 0 | t-0 at 500 lag 0/0 ahead 200 below 0 - "" | t-1 at 50 lag 100/100 ahead 0 below 0 - ""`,
		},
		{
			"below the log's start", groupSnapshot(ends(70, 100, 100, 100)),
			Group{Commits: commits(13)},
			`lag 30 known 30 unknown 0 | t-0 at 13 lag 30/30 ahead 0 below 57 - ""`,
		},
		{ // An open transaction holds the LSO; the group has read what it may.
			"at the LSO", groupSnapshot(ends(0, 60, 100, 100)),
			Group{Commits: commits(60)},
			`lag 40 known 40 unknown 0 | t-0 at 60 lag 40/0 ahead 0 below 0 - ""`,
		},
		{
			"log start unknown: only at the end is certain", groupSnapshot(ends(-1, 100, 100, 100), ends(-1, 100, 100, 100)),
			Group{Commits: commits(60, 100)},
			`lag - known 0 unknown 1 | t-0 at 60 lag -/- ahead 0 below - - "" | t-1 at 100 lag 0/0 ahead 0 below - - ""`,
		},
		{
			"topic and partition deleted", &Snapshot{Topics: groupSnapshot(ends(0, 5, 5, 5)).Topics},
			Group{Commits: Known([]Commit{
				{TopicPartition: TopicPartition{"gone", 0}, Offset: at(9)}, {TopicPartition: TopicPartition{"t", 0}, Offset: at(1)}, {TopicPartition: TopicPartition{"t", 7}, Offset: at(1)},
			})},
			`lag 4 known 4 unknown 0 | gone-0 at 9 lag -/- ahead - below - - "no such topic" | t-0 at 1 lag 4/4 ahead 0 below 0 - "" | t-7 at 1 lag -/- ahead - below - - "no such partition"`,
		},
		{
			"assigned without a commit", groupSnapshot(ends(0, 5, 5, 5), ends(0, 8, 8, 8)),
			Group{Members: members, Commits: commits(5)},
			`lag 0 known 0 unknown 0 | t-0 at 5 lag 0/0 ahead 0 below 0 m1 "" | t-1 at - lag -/- ahead - below - m1 "nothing committed"`,
		},
		{
			"commits not told", groupSnapshot(ends(0, 5, 5, 5), ends(0, 8, 8, 8)),
			Group{Members: members, Error: "NOT_COORDINATOR"},
			`lag - known - unknown - | t-0 at - lag -/- ahead - below - m1 "NOT_COORDINATOR" | t-1 at - lag -/- ahead - below - m1 "NOT_COORDINATOR"`,
		},
		{
			"a commit that was refused", groupSnapshot(ends(0, 5, 5, 5)),
			Group{Commits: Known([]Commit{{TopicPartition: TopicPartition{"t", 0}, Error: "TOPIC_AUTHORIZATION_FAILED"}})},
			`lag - known 0 unknown 1 | t-0 at - lag -/- ahead - below - - "TOPIC_AUTHORIZATION_FAILED"`,
		},
		{"nothing at all", groupSnapshot(), Group{Commits: commits()}, `lag - known 0 unknown 0`},
		{"state only", groupSnapshot(), Group{Type: Known(GroupShare)}, `lag - known - unknown -`},
	} {
		tt.s.Groups = []Group{tt.group}
		if got := groupText(&tt.s.GroupLags()[0]); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	s := groupSnapshot(ends(0, 5, 5, 5))
	for _, tt := range []struct {
		group Group
		want  Opt[int]
	}{
		{Group{Type: Known(GroupConsumer), State: Known("Reconciling")}, Known(1)},
		{Group{Protocol: "consumer", State: Known("Stable")}, Known(1)},
		{Group{Protocol: "consumer", State: Known("PreparingRebalance")}, Unknown[int]()},
		{Group{Protocol: "connect", State: Known("Stable")}, Unknown[int]()},
	} {
		s.Groups = []Group{tt.group}
		s.Groups[0].Members = members
		if idle := s.GroupLags()[0].IdleMembers; idle != tt.want {
			t.Errorf("%+v: idle members %s, want %s: m2 has nothing assigned", tt.group, idle, tt.want)
		}
	}
}

// TestGroupLagAddsUp: whatever was observed, the groups' sums are those of the
// partitions, none is negative, and no commit goes missing, with members or
// without (https://github.com/birdayz/kaf/issues/303).
func TestGroupLagAddsUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := func() int64 { return r.Int64N(12) - 1 }
		var parts []*Partition
		for range 4 {
			parts = append(parts, ends(n(), n(), n(), n()))
		}
		s := groupSnapshot(parts...)
		for g := range 3 {
			s.Groups = append(s.Groups, Group{Name: fmt.Sprint(g), Commits: commits(n(), n(), n(), n(), n())})
		}
		byGroup, byTopic := int64(0), int64(0)
		for _, l := range s.GroupLags() {
			byGroup += l.LagKnown.Or(-1_000_000)
			committed, counted := 0, l.UnknownPartitions.Or(-100)
			for _, c := range l.Commits.Or(nil) {
				if c.Offset.IsKnown() {
					committed++
				}
			}
			for _, p := range l.Partitions {
				byTopic += p.Lag.Or(0)
				if p.Lag.Or(0) < 0 || p.LagReadCommitted.Or(0) < 0 || p.Ahead.Or(0) < 0 || p.BelowStart.Or(0) < 0 {
					t.Fatalf("seed %d: negative: %s", seed, groupText(&l))
				}
				if p.Lag.IsKnown() || p.Gone && p.Committed.IsKnown() {
					counted++
				}
			}
			if counted != committed {
				t.Fatalf("seed %d: %d of %d commits in the answer: %s", seed, counted, committed, groupText(&l))
			}
		}
		if byGroup != byTopic {
			t.Fatalf("seed %d: sum over groups %d, over partitions %d", seed, byGroup, byTopic)
		}
	}
}

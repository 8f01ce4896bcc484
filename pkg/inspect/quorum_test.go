package inspect

import (
	"strings"
	"testing"
	"time"
)

var leaderClock = time.Date(2026, 11, 29, 20, 15, 57, 0, time.UTC)

// voters builds a quorum led by 1, of voters who fetched that long ago; negative
// is never. The leader is not among the arguments.
func voters(silentFor ...time.Duration) *Quorum {
	q := &Quorum{Leader: 1, HW: Known[Offset](1000)}
	add := func(id BrokerID, ago time.Duration) {
		r := QuorumReplica{ID: id, LEO: Known[Offset](1000), Never: ago < 0}
		if !r.Never {
			r.LastFetch, r.LastCaughtUp = Known(leaderClock.Add(-ago)), Known(leaderClock.Add(-ago))
		}
		q.Voters = append(q.Voters, r)
	}
	add(1, 0)
	for i, ago := range silentFor {
		add(BrokerID(i+2), ago)
	}
	return q
}

func TestQuorumRisk(t *testing.T) {
	t.Parallel()
	const well, never, long = 400 * time.Millisecond, -1, time.Minute
	behind := voters(well, well)
	behind.Voters[1].LastCaughtUp = Known(leaderClock.Add(-long))
	behind.Voters[1].LEO = Known[Offset](200)
	old := voters(well, well) // Kafka 3.2 tells no times
	for i := range old.Voters {
		old.Voters[i].LastFetch, old.Voters[i].LastCaughtUp = Unknown[time.Time](), Unknown[time.Time]()
	}
	for _, tt := range []struct {
		name    string
		q       *Quorum
		level   Level
		reason  string
		finding FindingID
		left    string
	}{
		{"three well", voters(well, well), LevelOK, "", "", "1"},
		{"three, one at the edge of patience", voters(well, QuorumPatience), LevelOK, "", "", "1"},
		{"three, one silent", voters(well, QuorumPatience+time.Millisecond), LevelAtRisk, "lost 1 of 3 voters: 3 (silent for 6s); after the next loss", "", "0"},
		{"three, one never since the election", voters(well, never), LevelAtRisk, "3 (not once since 1 leads)", "", "0"},
		{"three, one behind", behind, LevelAtRisk, "2 (800 records behind)", "", "0"},
		{"three, two silent", voters(long, long), LevelAtRisk, "lost 2 of 3 voters: 2 (silent for 1m0s), 3 (silent for 1m0s); that leaves no majority", "", "-1"},
		{"four, one silent", voters(well, well, long), LevelAtRisk, "lost 1 of 4", "", "0"},
		{"five, one silent", voters(well, well, well, long), LevelOK, "", FindingVoterLost, "1"},
		{"five, two silent", voters(well, well, long, never), LevelAtRisk, "lost 2 of 5", "", "0"},
		{"one voter", voters(), LevelOK, "", FindingSmallQuorum, "0"},
		{"two voters", voters(well), LevelOK, "", FindingSmallQuorum, "0"},
		{"two voters, one silent", voters(long), LevelOK, "", FindingSmallQuorum, "-1"},
		{"no leader", &Quorum{Leader: NoBroker, Silent: []BrokerID{2, 1}}, LevelAtRisk, "no active controller answers (asked through brokers 1, 2)", "", "-"},
		{"no times", old, LevelOK, "", "", "-"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := cluster(part(1, "123", "123", 2))
			s.Quorum = Known(*tt.q)
			v := s.Verdict()
			if v.Level != tt.level || s.QuorumAtRisk() != (tt.level == LevelAtRisk) {
				t.Errorf("level = %s, want %s (reasons %q)", v.Level, tt.level, v.Reasons)
			}
			if got := strings.Join(v.Reasons, "\n"); !strings.Contains(got, tt.reason) || tt.reason == "" && got != "" {
				t.Errorf("reasons = %q, want %q", got, tt.reason)
			}
			var finding FindingID
			for _, f := range v.Findings {
				finding = f.ID
			}
			if finding != tt.finding {
				t.Errorf("finding = %q, want %q", finding, tt.finding)
			}
			if got := tt.q.Tolerates().String(); got != tt.left {
				t.Errorf("tolerates = %s, want %s", got, tt.left)
			}
		})
	}
}

// A quorum that was asked and not told makes the verdict unknown; one that was
// not asked, or that the cluster has not, changes nothing.
func TestQuorumMissing(t *testing.T) {
	t.Parallel()
	s := cluster(part(1, "123", "123", 2))
	if v := s.Verdict(); v.Level != LevelOK {
		t.Errorf("not asked: level = %s, want ok", v.Level)
	}
	s.Failures = []Failure{{Request: "DescribeQuorum", Error: "CLUSTER_AUTHORIZATION_FAILED"}}
	if v := s.Verdict(); v.Level != LevelUnknown {
		t.Errorf("refused: level = %s, want unknown", v.Level)
	}
}

// Where the leader does not give its own time, ages come out too small.
func TestQuorumClock(t *testing.T) {
	t.Parallel()
	q := voters(time.Second, time.Minute)
	q.Voters[0].LastFetch = Unknown[time.Time]()
	if got, want := q.Age(q.Voters[2].LastFetch), Known(59*time.Second); got != want {
		t.Errorf("age = %s, want %s", got, want)
	}
	if got := q.State(&q.Voters[1]); got != VoterOK {
		t.Errorf("state = %s, want ok", got)
	}
}

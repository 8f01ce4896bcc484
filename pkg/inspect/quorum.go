package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// PartQuorum asks DescribeQuorum once for the controllers.
const PartQuorum Parts = 1 << 8

// Quorum is the controllers' own replication (KRaft): who leads, who votes, and
// how far each node has replicated the metadata log. Everything in it is by the
// leader's account and its clock.
type Quorum struct {
	// Leader is the active controller; [NoBroker] where there is none: then
	// nothing else but Silent is known.
	Leader BrokerID
	Epoch  Opt[Epoch]
	HW     Opt[Offset]
	// Voters and Observers are sorted by id. Brokers are observers; the leader
	// forgets one that has been silent for five minutes.
	Voters, Observers []QuorumReplica
	// Silent are the brokers that answered other requests while nobody behind
	// them answered for the controllers; set where Leader is NoBroker.
	Silent []BrokerID
}

// QuorumReplica is one node's copy of the metadata log.
type QuorumReplica struct {
	ID BrokerID
	// DirectoryID is unknown where the quorum has none (kraft.version 0), in
	// Kafka's unpadded URL-safe base64.
	DirectoryID Opt[string]
	// LEO is where the node fetched last.
	LEO Opt[Offset]
	// LastFetch is when the node fetched last, and LastCaughtUp when it had all
	// that the leader had. Unknown before Kafka 3.3, and where that has never been
	// since this leader took over: Never then says so.
	LastFetch, LastCaughtUp Opt[time.Time]
	// Never: it has not fetched once since this leader took over.
	Never bool
	// Endpoints are where it listens, known of voters from Kafka 3.9 on.
	Endpoints []Endpoint
}

// Endpoint is a listener with its address.
type Endpoint struct {
	Name, Host string
	Port       int32
}

// VoterState is one word about a node of the quorum.
type VoterState string

// The states.
const (
	// VoterLeading: the active controller.
	VoterLeading VoterState = "leader"
	// VoterOK: it fetches, and lately had everything.
	VoterOK VoterState = "ok"
	// VoterBehind: it fetches, and has not had everything for [QuorumPatience].
	VoterBehind VoterState = "behind"
	// VoterLost: it has not fetched for [QuorumPatience], or not once since this
	// leader took over.
	VoterLost VoterState = "lost"
	// VoterUnknown: the leader does not say when it fetched (before Kafka 3.3).
	VoterUnknown VoterState = "unknown"
)

// QuorumPatience is how long a node may be silent, or behind, before it counts as
// lost. A node that is well fetches at least every 500 ms whatever is configured
// (KafkaRaftClient waits no longer), and the leader itself resigns when a
// majority has been silent for 1.5 times controller.quorum.fetch.timeout.ms, 3 s
// by default. This is twice that: a pause in which the quorum would still trust
// a voter is no loss.
const QuorumPatience = 6 * time.Second

// now is the leader's clock when it answered. The leader gives its own times as
// now; where it does not, the latest time of any node is a lower bound of it, so
// that ages come out too small rather than too large.
func (q *Quorum) now() (time.Time, bool) {
	var latest time.Time
	for _, replicas := range [][]QuorumReplica{q.Voters, q.Observers} {
		for i := range replicas {
			at, ok := replicas[i].LastFetch.Get()
			if ok && replicas[i].ID == q.Leader {
				return at, true
			}
			if ok && at.After(latest) {
				latest = at
			}
		}
	}
	return latest, !latest.IsZero()
}

// Age is how long before the leader's answer t was.
func (q *Quorum) Age(t Opt[time.Time]) Opt[time.Duration] {
	at, known := t.Get()
	now, ok := q.now()
	if !known || !ok {
		return Unknown[time.Duration]()
	}
	return Known(max(0, now.Sub(at)))
}

// State judges one of the quorum's voters or observers. Never to have fetched
// counts as lost: a controller that was killed while it led looks like that to
// its successor for ever.
func (q *Quorum) State(r *QuorumReplica) VoterState {
	if r.ID == q.Leader {
		return VoterLeading
	}
	if r.Never {
		return VoterLost
	}
	silent, known := q.Age(r.LastFetch).Get()
	switch {
	case !known:
		return VoterUnknown
	case silent > QuorumPatience:
		return VoterLost
	}
	if behind, known := q.Age(r.LastCaughtUp).Get(); !known || behind > QuorumPatience {
		return VoterBehind
	}
	return VoterOK
}

// Lag is how many records of the metadata log the node is behind the leader.
func (q *Quorum) Lag(r *QuorumReplica) Opt[int64] {
	leo, known := r.LEO.Get()
	end, ok := q.leaderLEO()
	if !known || !ok {
		return Unknown[int64]()
	}
	return Known(max(0, int64(end-leo)))
}

func (q *Quorum) leaderLEO() (Offset, bool) {
	for i := range q.Voters {
		if q.Voters[i].ID == q.Leader {
			return q.Voters[i].LEO.Get()
		}
	}
	return 0, false
}

// Tolerates is how many more voters may be lost before the quorum cannot commit:
// those that are caught up beyond a majority. It is negative where there is no
// majority of them already, and unknown where a voter's state is.
func (q *Quorum) Tolerates() Opt[int] {
	if len(q.Voters) == 0 {
		return Unknown[int]()
	}
	able := 0
	for i := range q.Voters {
		switch q.State(&q.Voters[i]) {
		case VoterLeading, VoterOK:
			able++
		case VoterUnknown:
			return Unknown[int]()
		}
	}
	return Known(able - len(q.Voters)/2 - 1)
}

// missing are the voters that the quorum cannot count on now, with the word why.
func (q *Quorum) missing() []string {
	var out []string
	for i := range q.Voters {
		v := &q.Voters[i]
		switch q.State(v) {
		case VoterLost:
			out = append(out, fmt.Sprintf("%d (%s)", v.ID, q.silence(v)))
		case VoterBehind:
			out = append(out, fmt.Sprintf("%d (%d records behind)", v.ID, q.Lag(v).Or(0)))
		}
	}
	return out
}

func (q *Quorum) silence(v *QuorumReplica) string {
	age, known := q.Age(v.LastFetch).Get()
	if !known {
		return "not once since " + strconv.Itoa(int(q.Leader)) + " leads"
	}
	return "silent for " + age.Round(time.Second).String()
}

// The findings about the controllers.
const (
	// FindingSmallQuorum: one or two voters, of which none may be lost.
	FindingSmallQuorum FindingID = "small-quorum"
	// FindingVoterLost: a voter is lost, and another may be.
	FindingVoterLost FindingID = "voter-lost"
)

// QuorumAtRisk reports whether the controllers alone put the cluster at risk; see
// [Snapshot.Verdict].
func (s *Snapshot) QuorumAtRisk() bool { return s.quorumRisk() != "" }

// quorumRisk is why the controllers put the cluster at risk, or empty.
//
// A quorum is at risk when it has no leader, or when it has three voters or more,
// some of them are lost or behind, and the loss of one more leaves no majority
// that is caught up: from then on no leader is elected and no ISR changes.
func (s *Snapshot) quorumRisk() string {
	const stuck = "no leader can be elected and no ISR can change"
	q, ok := s.Quorum.Get()
	if !ok {
		return ""
	}
	if q.Leader == NoBroker {
		return fmt.Sprintf("no active controller answers%s: %s", q.asked(), stuck)
	}
	left, known := q.Tolerates().Get()
	missing := q.missing()
	if !known || len(q.Voters) < 3 || len(missing) == 0 || left > 0 {
		return ""
	}
	what := fmt.Sprintf("the controller quorum has lost %d of %d voters: %s", len(missing), len(q.Voters), strings.Join(missing, ", "))
	if left < 0 {
		return what + "; that leaves no majority: " + stuck
	}
	return what + "; after the next loss " + stuck
}

// quorumFindings are weaknesses of the quorum that are no risk by themselves.
func (s *Snapshot) quorumFindings() []Finding {
	q, ok := s.Quorum.Get()
	if !ok || q.Leader == NoBroker {
		return nil
	}
	missing := q.missing()
	switch n := len(q.Voters); {
	case n == 1:
		return []Finding{{ID: FindingSmallQuorum, Title: "the controller quorum has 1 voter: while it is down no leader can be elected and no ISR can change"}}
	case n == 2 && len(missing) > 0:
		return []Finding{{ID: FindingSmallQuorum, Title: "the controller quorum has 2 voters and has lost one: " + missing[0]}}
	case n == 2:
		return []Finding{{ID: FindingSmallQuorum, Title: "the controller quorum has 2 voters: while either is down no leader can be elected and no ISR can change"}}
	case len(missing) > 0 && q.Tolerates().Or(0) > 0:
		return []Finding{{ID: FindingVoterLost, Title: fmt.Sprintf(
			"the controller quorum has lost %d of %d voters: %s; it can lose %d more", len(missing), n, strings.Join(missing, ", "), q.Tolerates().Or(0))}}
	}
	return nil
}

// asked says through whom nobody answered, as a suffix.
func (q *Quorum) asked() string {
	if len(q.Silent) == 0 {
		return ""
	}
	parts := make([]string, 0, len(q.Silent))
	for _, id := range slices.Sorted(slices.Values(q.Silent)) {
		parts = append(parts, strconv.Itoa(int(id)))
	}
	return " (asked through brokers " + strings.Join(parts, ", ") + ")"
}

package render

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// KindQuorum is describe quorum: one QuorumItem, or none where the cluster has no
// quorum that can be asked (ZooKeeper) or the answer is missing.
const KindQuorum Kind = "Quorum"

// QuorumItem is the controllers' replication of the metadata log, by the account
// and the clock of the active one.
type QuorumItem struct {
	// Leader is the active controller; null where there is none. Then everything
	// else is unknown and the lists are empty.
	Leader        inspect.Opt[inspect.BrokerID] `json:"leader"`
	LeaderEpoch   inspect.Opt[inspect.Epoch]    `json:"leaderEpoch"`
	HighWatermark inspect.Opt[inspect.Offset]   `json:"highWatermark"`
	// Tolerates is how many more voters may be lost before nothing can be
	// committed; negative where no majority is left, null before Kafka 3.3.
	Tolerates inspect.Opt[int] `json:"tolerates"`
	// MaxFollowerLag is the most that a voter is behind, in records, and
	// MaxFollowerLagMs the longest that one has not had everything; null where one
	// of them is unknown.
	MaxFollowerLag   inspect.Opt[int64] `json:"maxFollowerLag"`
	MaxFollowerLagMs inspect.Opt[int64] `json:"maxFollowerLagMs"`
	// Voters and Observers are sorted by id. Brokers are observers.
	Voters    []QuorumReplicaItem `json:"voters"`
	Observers []QuorumReplicaItem `json:"observers"`
}

// QuorumReplicaItem is one node's copy of the metadata log.
type QuorumReplicaItem struct {
	ID inspect.BrokerID `json:"id"`
	// DirectoryID is null where the quorum has none (kraft.version 0).
	DirectoryID inspect.Opt[string] `json:"directoryId"`
	// State is leader, ok, behind (it fetches, and has not had everything for 6 s),
	// lost (it has not fetched for 6 s, or not once since this leader took over) or
	// unknown (before Kafka 3.3).
	State        inspect.VoterState          `json:"state"`
	LogEndOffset inspect.Opt[inspect.Offset] `json:"logEndOffset"`
	// Lag is in records, against the leader's log end offset.
	Lag inspect.Opt[int64] `json:"lag"`
	// LastFetch and LastCaughtUp are times by the leader's clock, and the Ms how
	// long that was before its answer; null where never.
	LastFetch      inspect.Opt[Time]  `json:"lastFetch"`
	LastFetchMs    inspect.Opt[int64] `json:"lastFetchMs"`
	LastCaughtUp   inspect.Opt[Time]  `json:"lastCaughtUp"`
	LastCaughtUpMs inspect.Opt[int64] `json:"lastCaughtUpMs"`
	// Endpoints are where a voter listens; empty for observers, and before Kafka
	// 3.9.
	Endpoints []EndpointItem `json:"endpoints"`
}

// EndpointItem is a listener.
type EndpointItem struct {
	Name string `json:"name"`
	Host string `json:"host"`
	Port int32  `json:"port"`
}

// QuorumItems is the item of describe quorum, if there is one.
func QuorumItems(s *inspect.Snapshot) []QuorumItem {
	q, ok := s.Quorum.Get()
	if !ok {
		return nil
	}
	item := QuorumItem{
		LeaderEpoch: q.Epoch, HighWatermark: q.HW, Tolerates: q.Tolerates(),
		Voters: quorumReplicaItems(&q, q.Voters), Observers: quorumReplicaItems(&q, q.Observers),
	}
	if q.Leader == inspect.NoBroker {
		return []QuorumItem{item}
	}
	item.Leader = inspect.Known(q.Leader)
	item.MaxFollowerLag, item.MaxFollowerLagMs = inspect.Known[int64](0), inspect.Known[int64](0)
	for i := range item.Voters {
		v := &item.Voters[i]
		item.MaxFollowerLag = most(item.MaxFollowerLag, v.Lag)
		item.MaxFollowerLagMs = most(item.MaxFollowerLagMs, v.LastCaughtUpMs)
	}
	return []QuorumItem{item}
}

// most is the larger; with an unknown part it is unknown.
func most(a, b inspect.Opt[int64]) inspect.Opt[int64] {
	x, knownX := a.Get()
	y, knownY := b.Get()
	if !knownX || !knownY {
		return inspect.Unknown[int64]()
	}
	return inspect.Known(max(x, y))
}

func quorumReplicaItems(q *inspect.Quorum, replicas []inspect.QuorumReplica) []QuorumReplicaItem {
	out := make([]QuorumReplicaItem, 0, len(replicas))
	for i := range replicas {
		r := &replicas[i]
		item := QuorumReplicaItem{
			ID: r.ID, DirectoryID: r.DirectoryID, State: q.State(r), LogEndOffset: r.LEO, Lag: q.Lag(r),
			LastFetch: optTime(r.LastFetch), LastFetchMs: millis(q.Age(r.LastFetch)),
			LastCaughtUp: optTime(r.LastCaughtUp), LastCaughtUpMs: millis(q.Age(r.LastCaughtUp)),
			Endpoints: []EndpointItem{},
		}
		for _, e := range r.Endpoints {
			item.Endpoints = append(item.Endpoints, EndpointItem(e))
		}
		out = append(out, item)
	}
	return out
}

func optTime(t inspect.Opt[time.Time]) inspect.Opt[Time] {
	at, ok := t.Get()
	if !ok {
		return inspect.Unknown[Time]()
	}
	return inspect.Known(Time{at})
}

func millis(d inspect.Opt[time.Duration]) inspect.Opt[int64] {
	age, ok := d.Get()
	if !ok {
		return inspect.Unknown[int64]()
	}
	return inspect.Known(age.Milliseconds())
}

package render

import (
	"io"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func quorumReplica(id inspect.BrokerID, leo inspect.Offset, ago time.Duration) inspect.QuorumReplica {
	at := inspect.Known(takenAt.Add(-ago))
	return inspect.QuorumReplica{ID: id, LEO: inspect.Known(leo), LastFetch: at, LastCaughtUp: at}
}

// quorum has controller 101 silent for three minutes and 102 leading.
func quorum() *inspect.Snapshot {
	s := healthy()
	q := inspect.Quorum{
		Leader: 102, Epoch: inspect.Known[inspect.Epoch](7), HW: inspect.Known[inspect.Offset](81_220),
		Voters: []inspect.QuorumReplica{
			quorumReplica(101, 80_100, 3*time.Minute), quorumReplica(102, 81_221, 0), quorumReplica(103, 81_221, 310*time.Millisecond),
		},
		Observers: []inspect.QuorumReplica{
			quorumReplica(1, 81_221, 250*time.Millisecond), quorumReplica(2, 81_221, 12*time.Millisecond), {ID: 3, Never: true},
		},
	}
	for i := range q.Voters {
		q.Voters[i].DirectoryID = inspect.Known("Jkdv0pVGRq2ZJ2NZ6c9Vbg")
		q.Voters[i].Endpoints = []inspect.Endpoint{{Name: "CONTROLLER", Host: "10.0.1.1", Port: 9093}}
	}
	s.Quorum, s.Controller = inspect.Known(q), inspect.Known(q.Leader)
	return s
}

func TestQuorumScreens(t *testing.T) {
	t.Parallel()
	leaderlessQuorum := healthy()
	leaderlessQuorum.Quorum = inspect.Known(inspect.Quorum{Leader: inspect.NoBroker, Silent: ids(1, 2, 3)})
	checkFacets(
		t, "quorum.txtar",
		facet{"one lost", quorum(), Quorum},
		facet{"no leader", leaderlessQuorum, Quorum},
		facet{"none", healthy(), Quorum},
	)
}

func TestOverviewOfQuorum(t *testing.T) {
	t.Parallel()
	f := facet{"describe", quorum(), func(w io.Writer, v View, s *inspect.Snapshot) error {
		verdict := s.Verdict()
		return Overview(w, v, s, &verdict)
	}}
	want := `AT RISK   64bNKcnqSLylJY2lNVGf3g   3 brokers, all answering   2 topics, 3 partitions   2026-11-29 20:15:57Z

  the controller quorum has lost 1 of 3 voters: 101 (silent for 3m0s); after the next loss no leader can be elected and
    no ISR can change

next: kafkaops describe quorum
`
	if got := f.text(t, View{Terminal: true, Width: 120}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

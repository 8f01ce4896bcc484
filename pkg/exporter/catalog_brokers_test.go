package exporter

import (
	"testing"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
)

// TestBrokerDown: one that is fenced is down though nobody asked it, and its address is
// still told.
func TestBrokerDown(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) {
		m.Brokers[2].Fenced = true
		m.Brokers = append(m.Brokers, &fakekafka.Broker{ID: 7}) // hosts nothing
		for _, p := range m.Topic("t").Partitions {
			p.ISR = []int32{0, 1}
		}
		m.Topic("t").Partitions[2].Leader = 0
	})
	r := newRig(t, c, patience, nil)
	r.collectNow()
	s := r.scrape()
	s.is(t,
		`kafka_brokers 3`,
		`kafka_broker_up{broker="0"} 1`, `kafka_broker_fenced{broker="0"} 0`,
		`kafka_broker_up{broker="2"} 0`, `kafka_broker_fenced{broker="2"} 1`,
		`kafka_broker_up{broker="7"} 1`,
		`kafka_broker_info{id="2",address="`+c.Addr(2)+`",broker="2"} 1`,
		`kafka_cluster_info{cluster_id="ZmFrZWthZmthY2x1c3Rlcg"} 1`,
	)
	s.count(t, 4, `kafka_broker_up.*`)
}

// TestQuorumVoters: which of them is lost, and which behind.
func TestQuorumVoters(t *testing.T) {
	t.Parallel()
	const long = 60_000
	c := startS0(t, func(m *fakekafka.Model) {
		m.Quorum = fakekafka.NewQuorum(5)
		v := m.Quorum.Voters
		v[1].LastFetchMs -= long
		v[1].LastCaughtUpMs -= long
		v[2].LastCaughtUpMs -= long
		v[3].LastFetchMs, v[3].LastCaughtUpMs = -1, -1
	})
	r := newRig(t, c, patience, nil)
	r.collectNow()
	r.scrape().is(t,
		`kafka_cluster_quorum_voters 5`,
		`kafka_cluster_quorum_voter_caught_up{node="101"} 1`, // leads
		`kafka_cluster_quorum_voter_caught_up{node="102"} 0`, // silent
		`kafka_cluster_quorum_voter_caught_up{node="103"} 0`, // fetches, and is behind
		`kafka_cluster_quorum_voter_caught_up{node="104"} 0`, // never fetched
		`kafka_cluster_quorum_voter_caught_up{node="105"} 1`,
	)
}

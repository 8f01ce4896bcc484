package exporter

import (
	"strconv"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func clusterMetrics() []metric[*view] {
	return append(countMetrics(), quorumMetrics()...)
}

func countMetrics() []metric[*view] {
	return []metric[*view]{
		{
			name: "kafka_cluster_info", kind: gauge, labels: []string{"cluster_id"}, unit: "1", since: first,
			help:   "The cluster's id.",
			absent: "nothing was observed, or the cluster does not tell its id",
			use:    "To see which cluster an exporter has found.",
			draw: func(v *view, add addFunc) {
				if id, ok := v.snap.ClusterID.Get(); ok {
					add(1, id, "", "")
				}
			},
		},
		{
			name: "kafka_brokers", kind: gauge, unit: "brokers", since: first,
			help:   "Brokers that the cluster lists as alive: registered and not fenced, whether they answer this exporter or not.",
			absent: "nothing was observed",
			use:    "A broker is gone, where it falls: kafka_broker_up says which.",
			draw:   func(v *view, add addFunc) { add(float64(v.counts.live), "", "", "") },
		},
		{
			name: "kafka_cluster_under_replicated_partitions", kind: gauge, unit: "partitions", since: first,
			help:   "Partitions of which a replica, not counting those that a reassignment is adding, is not in the ISR; leaderless ones included.",
			absent: "nothing was observed",
			use:    "The one figure to page on when it stays above 0.",
			draw:   func(v *view, add addFunc) { add(float64(v.counts.underReplicated), "", "", "") },
		},
		{
			name: "kafka_cluster_under_min_isr_partitions", kind: gauge, unit: "partitions", since: first,
			help:   "Partitions with fewer in-sync replicas than the effective minimum: acks=all writes are refused.",
			absent: "min.insync.replicas of some partition is not known (DESCRIBE_CONFIGS refused, or not answered)",
			use:    "Producers with acks=all fail now.",
			draw: func(v *view, add addFunc) {
				if !v.counts.underMinUnknown {
					add(float64(v.counts.underMin), "", "", "")
				}
			},
		},
		{
			name: "kafka_cluster_offline_partitions", kind: gauge, unit: "partitions", since: first,
			help:   "Partitions without a leader: nothing can be written or read.",
			absent: "nothing was observed",
			use:    "Data is unavailable now.",
			draw:   func(v *view, add addFunc) { add(float64(v.counts.offline), "", "", "") },
		},
		{
			name: "kafka_cluster_wrong_leader_partitions", kind: gauge, unit: "partitions", since: first,
			help:   "Partitions that are led by another replica than the first of their assignment.",
			absent: "nothing was observed",
			use:    "By sum(kafka_topic_partitions): how far leadership is out of balance.",
			draw:   func(v *view, add addFunc) { add(float64(v.counts.wrongLeader), "", "", "") },
		},
		{
			name: "kafka_cluster_unclean_elections_total", kind: counter, unit: "elections", since: first,
			help:   "Leaders elected since the exporter started that were in neither the ISR nor the ELR, the last leader that there was included: committed records may be lost. All by source metadata-log, a lower bound by metadata-diff (kafkaops_isr_source).",
			absent: "nothing was observed",
			use:    "Data may have been lost: compare with consumers.",
			draw:   func(v *view, add addFunc) { add(v.unclean, "", "", "") },
		},
	}
}

func quorumMetrics() []metric[*view] {
	return []metric[*view]{
		{
			name: "kafka_cluster_active_controllers", kind: gauge, unit: "controllers", since: first,
			help:   "1 where the controller quorum has an active controller that answers, 0 where it has none.",
			absent: "nobody told who the controllers are: refused (DESCRIBE on the cluster), not answered, or there are none (ZooKeeper)",
			use:    "Without one no leader can be elected and no ISR can change.",
			draw: func(v *view, add addFunc) {
				if q, ok := v.snap.Quorum.Get(); ok {
					add(truth(q.Leader != inspect.NoBroker), "", "", "")
				}
			},
		},
		{
			name: "kafka_cluster_quorum_voters", kind: gauge, unit: "voters", since: first,
			help:   "Voters of the controller quorum.",
			absent: "as kafka_cluster_active_controllers, and where there is no active controller",
			use:    "Beside the voters' lag: how many may be lost.",
			draw: func(v *view, add addFunc) {
				if q, ok := v.snap.Quorum.Get(); ok && q.Leader != inspect.NoBroker {
					add(float64(len(q.Voters)), "", "", "")
				}
			},
		},
		{
			name: "kafka_cluster_quorum_voter_caught_up", kind: gauge, labels: []string{"node"}, unit: zeroOrOneUnit, since: first,
			help:   "Whether the voter leads, or fetches and lately had all of the metadata log: 0 where it has not for " + inspect.QuorumPatience.String() + ", or not once since this active controller took over.",
			absent: "as kafka_cluster_quorum_voters, and before Kafka 3.3",
			use:    "Which controller is lost. A majority has to be caught up: sum(kafka_cluster_quorum_voter_caught_up) less that is how many more may be lost.",
			draw: func(v *view, add addFunc) {
				q, ok := v.snap.Quorum.Get()
				if !ok || q.Leader == inspect.NoBroker {
					return
				}
				for i := range q.Voters {
					if state := q.State(&q.Voters[i]); state != inspect.VoterUnknown {
						well := state == inspect.VoterLeading || state == inspect.VoterOK
						add(truth(well), strconv.Itoa(int(q.Voters[i].ID)), "", "")
					}
				}
			},
		},
		{
			name: "kafka_cluster_quorum_voter_lag_records", kind: gauge, labels: []string{"node"}, unit: "records of the metadata log", since: first,
			help:   "Records of the metadata log that a voter has yet to fetch from the active controller, as that one says.",
			absent: "as kafka_cluster_quorum_voters",
			use:    "A voter that is lost or behind cannot take over.",
			draw: func(v *view, add addFunc) {
				q, ok := v.snap.Quorum.Get()
				if !ok || q.Leader == inspect.NoBroker {
					return
				}
				for i := range q.Voters {
					known(add, q.Lag(&q.Voters[i]), strconv.Itoa(int(q.Voters[i].ID)), "", "")
				}
			},
		},
	}
}

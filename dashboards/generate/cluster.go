package main

// clusterBoard is the first one to look at.
func clusterBoard() board {
	return board{
		name: "cluster", title: "Kafka / Cluster health",
		about: "Is anything wrong, since when, and where to look next. From kafkaops export, without JMX.",
		rows: []row{
			clusterNow(),
			clusterWrong(),
			clusterLoad(),
			clusterControllers(),
			clusterExporter(),
		},
	}
}

func clusterNow() row {
	return row{"Now", []panel{
		{
			title: "Offline partitions", draw: number, width: 4, height: 4, runbook: "KafkaOfflinePartitions", steps: noneIsFine(bad),
			about: "Partitions without a leader: nothing can be written to them or read from them.", none: "not observed",
			queries: []query{{"sum(kafka_cluster_offline_partitions)", "offline"}},
		},
		{
			title: "Under min ISR", draw: number, width: 4, height: 4, runbook: "KafkaUnderMinISR", steps: noneIsFine(bad),
			about: "Partitions with fewer replicas in sync than min.insync.replicas: acks=all writes are refused.", none: "not observed",
			queries: []query{{"sum(kafka_cluster_under_min_isr_partitions)", "under min ISR"}},
		},
		{
			title: "Under-replicated", draw: number, width: 4, height: 4, runbook: "KafkaUnderReplicated", steps: noneIsFine(warning),
			about: "Partitions of which a replica is not in the ISR, those that a reassignment adds left out.", none: "not observed",
			queries: []query{{"sum(kafka_cluster_under_replicated_partitions)", "under-replicated"}},
		},
		{
			title: "Brokers out of service", draw: number, width: 4, height: 4, runbook: "KafkaBrokerDown", steps: noneIsFine(bad),
			about: "Brokers that are fenced, gone, or did not answer.", none: "not observed",
			queries: []query{{"count(kafka_broker_up) - sum(kafka_broker_up)", "out of service"}},
		},
		{
			title: "Active controllers", draw: number, width: 4, height: 4, runbook: "KafkaNoActiveController", steps: []step{{color: bad}, {1, fine}},
			about: "By the quorum's own answer: 1 where it has an active controller, 0 where it has none.", none: "not told",
			queries: []query{{"sum(kafka_cluster_active_controllers)", "controllers"}},
		},
		{
			title: "Unclean elections", draw: number, width: 4, height: 4, runbook: "KafkaUncleanElection", steps: noneIsFine(bad),
			about: "Leaders in the time shown that were in neither the ISR nor the ELR: committed records may be lost.", none: "not observed",
			queries: []query{{"sum(increase(kafka_cluster_unclean_elections_total[$__range]))", "unclean"}},
		},
	}}
}

func clusterWrong() row {
	return row{"What is wrong", []panel{
		{
			title: "Firing alerts", draw: grid, width: 12, runbook: "KafkaClusterUnreachable", none: "no alert fires",
			about:   "The alerts of kafkaops' rules, where Prometheus has them loaded.",
			queries: []query{{`sort_desc(ALERTS{alertstate="firing",alertname=~"Kafka.+"})`, ""}},
		},
		{
			title: "Partitions in trouble", draw: lines, width: 12, runbook: "KafkaUnderReplicated",
			about: "How many partitions are in which state.",
			queries: []query{
				{"sum(kafka_cluster_offline_partitions)", "offline"},
				{"sum(kafka_cluster_under_min_isr_partitions)", "under min ISR"},
				{"sum(kafka_cluster_under_replicated_partitions)", "under-replicated"},
			},
		},
		{
			title: "Brokers in service", draw: timeline, width: 12, runbook: "KafkaBrokerDown",
			about:   "Alive to the cluster and answering this exporter, each broker over time.",
			queries: []query{{"kafka_broker_up", "broker {{broker}}"}},
			states:  map[string]state{"0": {"out of service", bad}, "1": {"up", fine}},
		},
		{
			title: "LEO − HW, for how long", draw: lines, width: 12, unit: "s", runbook: "KafkaUncommittedGrowing", steps: []step{{color: calm}, {10, warning}},
			about:   "How long the oldest record that is written and not committed has been waiting, by the broker that leads. The earliest sign of a slow follower: acks=all producers wait so long.",
			queries: []query{{"max by (cluster, broker) (kafka_broker_uncommitted_max_age_seconds)", "led by broker {{broker}}"}},
		},
	}}
}

func clusterLoad() row {
	return row{"Load and balance", []panel{
		{
			title: "Records written", draw: stacked, width: 8, unit: "cps", runbook: "KafkaUncommittedGrowing",
			about:   "Records that producers write a second, committed or not, the ten largest topics.",
			queries: []query{{"topk(10, sum by (cluster, topic) (rate(kafka_topic_partition_log_end_offset[$__rate_interval])))", "{{topic}}"}},
		},
		{
			title: "Leaders not preferred", draw: lines, width: 8, unit: "percentunit", runbook: "KafkaPreferredLeadersLost",
			about:   "The share of partitions that another replica leads than the first of their assignment: leadership is out of balance.",
			queries: []query{{"sum(kafka_cluster_wrong_leader_partitions) / sum(kafka_topic_partitions)", "not preferred"}},
		},
		{
			title: "Reassigning", draw: lines, width: 8, runbook: "KafkaReplicaLagging",
			about:   "Partitions that are being moved: their lag and load are excused.",
			queries: []query{{"sum(kafka_topic_partition_reassigning)", "reassigning"}},
		},
	}}
}

func clusterControllers() row {
	return row{"Controllers", []panel{
		{
			title: "Voters caught up", draw: timeline, width: 12, runbook: "KafkaQuorumAtLastMajority",
			about:   "Which controllers have all of the metadata log. A majority must.",
			queries: []query{{"kafka_cluster_quorum_voter_caught_up", "controller {{node}}"}},
			states:  map[string]state{"0": {"behind", bad}, "1": {"caught up", fine}},
		},
		{
			title: "Metadata log lag", draw: lines, width: 12, runbook: "KafkaQuorumAtLastMajority",
			about:   "Records of the metadata log that a voter has yet to fetch.",
			queries: []query{{"max by (cluster, node) (kafka_cluster_quorum_voter_lag_records)", "controller {{node}}"}},
		},
	}}
}

func clusterExporter() row {
	return row{"The exporter itself", []panel{
		{
			title: "Collections", draw: lines, width: 8, unit: "s", runbook: "KafkaopsCollectionFailing",
			about:   "How long a collection takes, and how old what is served is.",
			queries: []query{{"max by (instance) (kafkaops_collection_duration_seconds)", "{{instance}} takes"}, {"max by (instance) (kafkaops_collection_age_seconds)", "{{instance}} is old"}},
		},
		{
			title: "What was not answered", draw: bars, width: 8, runbook: "KafkaopsCollectionFailing",
			about:   "Requests that failed, by broker and kind, in each five minutes.",
			queries: []query{{"sum by (cluster, broker, kind) (increase(kafkaops_collection_errors_total[5m]))", "broker {{broker}}: {{kind}}"}},
		},
		{
			title: "Source of ISR changes", draw: timeline, width: 8, runbook: "KafkaISRShrinking",
			about:   "metadata-log knows every change with its cause; metadata-diff compares samples, and misses what heals in between.",
			queries: []query{{"kafkaops_isr_source", "{{source}}"}},
			states:  map[string]state{"0": {"not used", quiet}, "1": {"used", fine}},
		},
	}}
}

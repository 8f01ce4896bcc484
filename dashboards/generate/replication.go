package main

// replicationBoard is about who lags, by how much, and who leaves the ISR why.
func replicationBoard() board {
	return board{
		name: "replication", title: "Kafka / Replication",
		about: "LEO − HW, lag of every replica, ISR changes with their causes, headroom. From kafkaops export, without JMX.",
		rows: []row{
			replicationUncommitted(),
			replicationLag(),
			replicationChanges(),
			replicationHeadroom(),
		},
	}
}

func replicationUncommitted() row {
	return row{"LEO − HW: what is written and not committed", []panel{
		{
			title: "Waiting to be committed", draw: lines, width: 12, unit: "s", runbook: "KafkaUncommittedGrowing", steps: []step{{color: calm}, {10, warning}},
			about:   "How long the oldest uncommitted record has been waiting, by the broker that leads. It grows where a follower in the ISR is stuck or slow; partitions under min ISR are left out.",
			queries: []query{{"max by (cluster, broker) (kafka_broker_uncommitted_max_age_seconds)", "led by broker {{broker}}"}},
		},
		{
			title: "Uncommitted records by leader", draw: lines, width: 12, unit: "short", runbook: "KafkaUncommittedGrowing",
			about:   "LEO − HW, summed over the partitions that a broker leads.",
			queries: []query{{"sum by (cluster, broker) (kafka_broker_uncommitted_records)", "led by broker {{broker}}"}},
		},
		{
			title: "The ten worst partitions", draw: lines, width: 24, unit: "short", runbook: "KafkaUncommittedGrowing",
			about:   "LEO − HW of single partitions.",
			queries: []query{{"topk(10, kafka_topic_partition_uncommitted_records)", "{{topic}}-{{partition}}"}},
		},
	}}
}

func replicationLag() row {
	return row{"Lag of followers", []panel{
		{
			title: "Lag in time by broker", draw: lines, width: 12, unit: "s", runbook: "KafkaReplicaLagging", steps: []step{{color: calm}, {15, warning}, {30, bad}},
			about:   "The largest lag among a broker's followers that are in the ISR. At replica.lag.time.max.ms (30 s by default) a follower is removed.",
			queries: []query{{"max by (cluster, broker) (kafka_broker_in_sync_replica_max_lag_seconds)", "broker {{broker}}"}},
		},
		{
			title: "Lag in records by broker", draw: lines, width: 12, unit: "short", runbook: "KafkaReplicaLagging",
			about:   "The largest lag among a broker's followers, those that are out of the ISR included.",
			queries: []query{{"max by (cluster, broker) (kafka_broker_replica_max_lag_records)", "broker {{broker}}"}},
		},
		{
			title: "Time lag of all replicas", draw: heat, width: 12, unit: "s", runbook: "KafkaReplicaLagging",
			about:   "How many replicas lag by how much. A band that climbs is a broker, a haze is the network or the load.",
			queries: []query{{"kafka_topic_partition_replica_lag_seconds", ""}},
		},
		{
			title: "The ten replicas furthest behind", draw: lines, width: 12, unit: "short", runbook: "KafkaReplicaLagging",
			about:   "Lag in records of single replicas.",
			queries: []query{{"topk(10, kafka_topic_partition_replica_lag_records)", "{{topic}}-{{partition}} on {{broker}}"}},
		},
	}}
}

func replicationChanges() row {
	return row{"Changes of the ISR", []panel{
		{
			title: "Shrinks by broker and cause", draw: bars, width: 12, runbook: "KafkaISRShrinking",
			about:   "Replicas that left an ISR, in each five minutes.",
			queries: []query{{"sum by (cluster, broker, cause) (increase(kafka_broker_isr_shrinks_total[5m])) > 0", "broker {{broker}}: {{cause}}"}},
		},
		{
			title: "Expands by broker and cause", draw: bars, width: 12, runbook: "KafkaISRFlapping",
			about:   "Replicas that came back into an ISR, in each five minutes. Who comes and goes flaps.",
			queries: []query{{"sum by (cluster, broker, cause) (increase(kafka_broker_isr_expands_total[5m])) > 0", "broker {{broker}}: {{cause}}"}},
		},
		{
			title: "Out of sync replicas by broker", draw: stacked, width: 12, runbook: "KafkaUnderReplicated",
			about:   "Replicas on each broker that are not in the ISR: which broker everybody else waits for.",
			queries: []query{{"sum by (cluster, broker) (kafka_broker_out_of_sync_replicas)", "broker {{broker}}"}},
		},
		{
			title: "Partitions that change most", draw: lines, width: 12, runbook: "KafkaISRFlapping",
			about:   "Shrinks of single partitions, in each five minutes.",
			queries: []query{{"topk(10, increase(kafka_topic_partition_isr_shrinks_total[5m]) > 0)", "{{topic}}-{{partition}}"}},
		},
	}}
}

func replicationHeadroom() row {
	return row{"Headroom: how many replicas may still leave", []panel{
		{
			title: "Partitions by headroom", draw: stacked, width: 12, runbook: "KafkaAtMinISR",
			about:   "ISR less the minimum in force. At 0 the next loss refuses acks=all; below it is refused now.",
			queries: []query{{`count_values("headroom", kafka_topic_partition_isr_headroom)`, "headroom {{headroom}}"}},
		},
		{
			title: "Least headroom by topic", draw: grid, width: 12, runbook: "KafkaAtMinISR", none: "not observed",
			about:   "The twenty topics nearest to refusing acks=all.",
			queries: []query{{"sort(bottomk(20, min by (cluster, topic) (kafka_topic_partition_isr_headroom)))", ""}},
		},
		{
			title: "At and under min ISR", draw: lines, width: 24, runbook: "KafkaUnderMinISR",
			about: "Partitions that have lost a replica and cannot lose another, and those that refuse acks=all.",
			queries: []query{
				{"sum(kafka_topic_partition_at_min_isr)", "at min ISR"}, {"sum(kafka_topic_partition_under_min_isr)", "under min ISR"},
			},
		},
	}}
}

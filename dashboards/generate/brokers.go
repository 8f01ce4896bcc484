package main

// brokersBoard is about single brokers and their disks.
func brokersBoard() board {
	return board{
		name: "brokers", title: "Kafka / Brokers and disks",
		about: "Which broker is it: in service, fenced, leaders, out of sync replicas, lag, disks. From kafkaops export, without JMX.",
		rows: []row{
			brokersThemselves(),
			brokersDisks(),
		},
	}
}

func brokersThemselves() row {
	return row{"Brokers", []panel{
		{
			title: "In service", draw: timeline, width: 12, runbook: "KafkaBrokerDown",
			about:   "Alive to the cluster and answering this exporter.",
			queries: []query{{"kafka_broker_up", "broker {{broker}}"}},
			states:  map[string]state{"0": {"out of service", bad}, "1": {"up", fine}},
		},
		{
			title: "Fenced", draw: timeline, width: 12, runbook: "KafkaBrokerFenced",
			about:   "Registered, but its heartbeats do not reach the controller, or it is starting: it leads nothing and is in no ISR.",
			queries: []query{{"kafka_broker_fenced", "broker {{broker}}"}},
			states:  map[string]state{"0": {"no", fine}, "1": {"fenced", bad}},
		},
		{
			title: "Leaders", draw: stacked, width: 12, runbook: "KafkaPreferredLeadersLost",
			about:   "Partitions that each broker leads.",
			queries: []query{{`count_values("broker", kafka_topic_partition_leader)`, "broker {{broker}}"}},
		},
		{
			title: "Out of sync replicas", draw: stacked, width: 12, runbook: "KafkaUnderReplicated",
			about:   "Replicas on a broker that are not in the ISR.",
			queries: []query{{"sum by (cluster, broker) (kafka_broker_out_of_sync_replicas)", "broker {{broker}}"}},
		},
		{
			title: "As a follower: lag in time", draw: lines, width: 8, unit: "s", runbook: "KafkaReplicaLagging",
			about:   "The largest lag among the replicas that a broker follows with.",
			queries: []query{{"max by (cluster, broker) (kafka_broker_replica_max_lag_seconds)", "broker {{broker}}"}},
		},
		{
			title: "As a leader: LEO − HW", draw: lines, width: 8, unit: "short", runbook: "KafkaUncommittedGrowing",
			about:   "Records that are written and not committed in the partitions that a broker leads.",
			queries: []query{{"sum by (cluster, broker) (kafka_broker_uncommitted_records)", "broker {{broker}}"}},
		},
		{
			title: "As a leader: partitions in trouble", draw: lines, width: 8, runbook: "KafkaUnderReplicated",
			about: "Under-replicated and under-min-ISR partitions that a broker leads, as its own JMX figures have them.",
			queries: []query{
				{"sum by (cluster, broker) (kafka_broker_under_replicated_partitions)", "broker {{broker}}: under-replicated"},
				{"sum by (cluster, broker) (kafka_broker_under_min_isr_partitions)", "broker {{broker}}: under min ISR"},
			},
		},
		{
			title: "Not answered", draw: bars, width: 12, runbook: "KafkaBrokerNotAnswering",
			about:   "Requests of the exporter that failed, in each five minutes.",
			queries: []query{{"sum by (cluster, broker, kind) (increase(kafkaops_collection_errors_total[5m]))", "broker {{broker}}: {{kind}}"}},
		},
		{
			title: "Addresses", draw: grid, width: 12, runbook: "KafkaBrokerDown", none: "not observed",
			about:   "The brokers that the cluster lists, with the addresses that they advertise.",
			queries: []query{{"sort(sum by (cluster, broker, address) (kafka_broker_info))", ""}},
		},
	}}
}

func brokersDisks() row {
	return row{"Disks", []panel{
		{
			title: "Used", draw: lines, width: 12, unit: "percentunit", runbook: "KafkaDiskAlmostFull", steps: []step{{color: calm}, {0.9, bad}},
			about:   "How full the volume of each log directory is.",
			queries: []query{{"1 - kafka_broker_log_dir_usable_bytes / kafka_broker_log_dir_total_bytes", "broker {{broker}} {{dir}}"}},
		},
		{
			title: "Left", draw: lines, width: 12, unit: "bytes", runbook: "KafkaDiskFilling",
			about:   "Space that is left on the volume of each log directory.",
			queries: []query{{"kafka_broker_log_dir_usable_bytes", "broker {{broker}} {{dir}}"}},
		},
		{
			title: "Left in a day, if it goes on so", draw: lines, width: 12, unit: "bytes", runbook: "KafkaDiskFilling",
			about:   "The space of each log directory by the trend of the last six hours; 0 is full.",
			queries: []query{{"clamp_min(predict_linear(kafka_broker_log_dir_usable_bytes[6h], 86400), 0)", "broker {{broker}} {{dir}}"}},
		},
		{
			title: "Offline log directories", draw: timeline, width: 12, runbook: "KafkaLogDirOffline",
			about:   "Disks that have failed: their replicas are offline.",
			queries: []query{{"kafka_broker_log_dir_offline", "broker {{broker}} {{dir}}"}},
			states:  map[string]state{"0": {"online", fine}, "1": {"OFFLINE", bad}},
		},
		{
			title: "Largest topics", draw: stacked, width: 24, unit: "bytes", runbook: "KafkaDiskFilling",
			about:   "What fills the disks: the leaders' logs, the ten largest topics.",
			queries: []query{{"topk(10, sum by (cluster, topic) (kafka_topic_partition_size_bytes))", "{{topic}}"}},
		},
	}}
}

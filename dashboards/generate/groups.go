package main

// groupsBoard is about consumers.
func groupsBoard() board {
	return board{
		name: "groups", title: "Kafka / Consumer groups",
		about: "Who is behind, by how much and how long, and whether it gets better. From kafkaops export.",
		rows: []row{
			groupsLag(),
			groupsThemselves(),
		},
	}
}

func groupsLag() row {
	return row{"Lag", []panel{
		{
			title: "Lag in time", draw: lines, width: 12, unit: "s", runbook: "KafkaConsumerGroupFallingBehind", steps: []step{{color: calm}, {300, warning}},
			about:   "How long ago the record was written that a group reads next, its worst partition.",
			queries: []query{{"topk(20, max by (cluster, consumergroup, topic) (kafka_consumergroup_lag_seconds))", "{{consumergroup}}: {{topic}}"}},
		},
		{
			title: "Lag in records", draw: lines, width: 12, unit: "short", runbook: "KafkaConsumerGroupFallingBehind",
			about:   "Records that a group has yet to read; only where every partition's lag is known.",
			queries: []query{{"topk(20, sum by (cluster, consumergroup, topic) (kafka_consumergroup_lag_sum))", "{{consumergroup}}: {{topic}}"}},
		},
		{
			title: "Read", draw: lines, width: 12, unit: "cps", runbook: "KafkaConsumerGroupStalled",
			about:   "Records that a group commits a second.",
			queries: []query{{"topk(20, sum by (cluster, consumergroup, topic) (rate(kafka_consumergroup_current_offset_sum[$__rate_interval])))", "{{consumergroup}}: {{topic}}"}},
		},
		{
			title: "Written", draw: lines, width: 12, unit: "cps", runbook: "KafkaConsumerGroupFallingBehind",
			about:   "Records that become readable a second, by topic: a group that reads less falls behind.",
			queries: []query{{"topk(20, sum by (cluster, topic) (rate(kafka_topic_partition_current_offset[$__rate_interval])))", "{{topic}}"}},
		},
	}}
}

func groupsThemselves() row {
	return row{"Groups", []panel{
		{
			title: "Members", draw: lines, width: 12, runbook: "KafkaConsumerGroupStalled",
			about:   "Members of each group. 0 with a lag: nobody reads.",
			queries: []query{{"topk(20, sum by (cluster, consumergroup) (kafka_consumergroup_members))", "{{consumergroup}}"}},
		},
		{
			title: "States", draw: grid, width: 12, runbook: "KafkaConsumerGroupStalled", none: "no group",
			about:   "Each group's type and state now.",
			queries: []query{{"sum by (cluster, consumergroup, type, state) (kafka_consumergroup_info)", ""}},
		},
		{
			title: "Partitions that stand still", draw: lines, width: 12, runbook: "KafkaConsumerGroupStalled",
			about:   "Partitions with a lag whose committed offset has not moved for five minutes.",
			queries: []query{{"count by (cluster, consumergroup, topic) (kafka_consumergroup_lag > 0 and changes(kafka_consumergroup_current_offset[5m]) == 0)", "{{consumergroup}}: {{topic}}"}},
		},
		{
			title: "Waiting for open transactions", draw: lines, width: 12, unit: "short", runbook: "KafkaConsumerGroupStalled",
			about:   "How many records of the lag a read_committed consumer cannot read yet: behind the last stable offset.",
			queries: []query{{"sum by (cluster, consumergroup, topic) (kafka_consumergroup_lag - kafka_consumergroup_lag_read_committed)", "{{consumergroup}}: {{topic}}"}},
		},
		{
			title: "Offsets out of range", draw: lines, width: 24, runbook: "KafkaConsumerGroupOffsetOutOfRange",
			about: "Partitions whose committed offset is past the log's end (records were lost, or the topic was made anew), or below its start (retention was faster than the group).",
			queries: []query{
				{"sum by (cluster, consumergroup, topic) (kafka_consumergroup_committed_beyond_end)", "{{consumergroup}}: {{topic}} past the end"},
				{"sum by (cluster, consumergroup, topic) (kafka_consumergroup_committed_below_start)", "{{consumergroup}}: {{topic}} below the start"},
			},
		},
	}}
}

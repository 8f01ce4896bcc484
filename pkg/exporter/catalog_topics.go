package exporter

// partitionMetric is one that every partition with series of its own may have.
func partitionMetric(m metric[*view], draw func(p *partitionRow, add addFunc)) metric[*view] {
	m.labels, m.since = []string{"topic", "partition"}, first
	m.draw = func(v *view, add addFunc) {
		for i := range v.partitions {
			if p := &v.partitions[i]; p.own {
				draw(p, add)
			}
		}
	}
	return m
}

const (
	leftOut       = "left out by --partition-metrics"
	leaderSilent  = "there is no leader, or it did not tell: it does not answer, or is new and does not know the high watermark yet (OFFSET_NOT_AVAILABLE), which lasts where the ISR is under its minimum; " + leftOut
	minNotKnown   = "min.insync.replicas is not known (DESCRIBE_CONFIGS refused, or not answered); " + leftOut
	noReplicaLEO  = "; a service that does not tell replicas' own log end offsets"
	zeroOrOneUnit = "0 or 1"
)

func topicMetrics() []metric[*view] {
	all := []metric[*view]{{
		name: "kafka_topic_partitions", kind: gauge, labels: []string{"topic"}, unit: "partitions", since: first,
		help:   "Partitions of the topic.",
		absent: "the topic could not be described",
		use:    "Sizing.",
		draw: func(v *view, add addFunc) {
			for i := range v.snap.Topics {
				if t := &v.snap.Topics[i]; t.Error == "" {
					add(float64(len(t.Partitions)), t.Name, "", "")
				}
			}
		},
	}}
	return append(append(all, offsetMetrics()...), healthMetrics()...)
}

func offsetMetrics() []metric[*view] {
	return []metric[*view]{
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_current_offset", kind: gauge, unit: "offset",
			help:   "High watermark: the first offset that is not yet committed, which consumers cannot read.",
			absent: leaderSilent,
			use:    "rate() is what becomes readable a second.",
		}, func(p *partitionRow, add addFunc) { known(add, p.hw, p.Topic, p.index, "") }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_oldest_offset", kind: gauge, unit: "offset",
			help:   "Log start offset: the first record that is still there.",
			absent: leaderSilent,
			use:    "current_offset less this is how many records are kept.",
		}, func(p *partitionRow, add addFunc) { known(add, p.logStart, p.Topic, p.index, "") }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_log_end_offset", kind: gauge, unit: "offset",
			help:   "The leader's log end offset: the one that the next record will get.",
			absent: leaderSilent + noReplicaLEO,
			use:    "rate() is what producers write a second, committed or not.",
		}, func(p *partitionRow, add addFunc) { known(add, p.leo, p.Topic, p.index, "") }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_uncommitted_records", kind: gauge, unit: "records",
			help:   "Log end offset less high watermark, at the least: records that are written and that no consumer sees yet.",
			absent: leaderSilent + noReplicaLEO,
			use:    "Grows where a follower in the ISR is stuck: acks=all producers wait.",
		}, func(p *partitionRow, add addFunc) { known(add, p.uncommitted, p.Topic, p.index, "") }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_size_bytes", kind: gauge, unit: "bytes",
			help:   "Size of the leader's log on disk.",
			absent: "the leader did not tell its log directories (DESCRIBE on the cluster refused), or there is none; " + leftOut,
			use:    "Which topic fills the disks.",
		}, func(p *partitionRow, add addFunc) { known(add, p.sizeBytes, p.Topic, p.index, "") }),
	}
}

func healthMetrics() []metric[*view] {
	return []metric[*view]{
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_leader", kind: gauge, unit: "broker id",
			help:   "Broker that leads the partition.",
			absent: "there is no leader; " + leftOut,
			use:    "changes() counts elections that were seen.",
		}, func(p *partitionRow, add addFunc) {
			if !p.offline {
				add(float64(p.Leader), p.Topic, p.index, "")
			}
		}),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_leader_is_preferred", kind: gauge, unit: zeroOrOneUnit,
			help:   "Whether the first replica of the assignment leads.",
			absent: "there is no leader; " + leftOut,
			use:    "Whether leadership is balanced.",
		}, func(p *partitionRow, add addFunc) {
			if !p.offline {
				add(truth(p.Leader == p.PreferredLeader()), p.Topic, p.index, "")
			}
		}),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_replicas", kind: gauge, unit: "replicas",
			help:   "Replicas that are assigned, those that a reassignment adds or removes included.",
			absent: leftOut, use: "Beside in_sync_replica.",
		}, func(p *partitionRow, add addFunc) { add(float64(len(p.Replicas)), p.Topic, p.index, "") }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_in_sync_replica", kind: gauge, unit: "replicas",
			help:   "Replicas in the ISR.",
			absent: leftOut, use: "How many copies have everything that is committed.",
		}, func(p *partitionRow, add addFunc) { add(float64(len(p.ISR)), p.Topic, p.index, "") }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_under_replicated_partition", kind: gauge, unit: zeroOrOneUnit,
			help:   "Whether a replica is not in the ISR that no reassignment is adding (KIP-352). Where the cluster does not tell its reassignments (DESCRIBE refused), replicas that are being added count as well.",
			absent: leftOut, use: "Which partitions have lost a copy.",
		}, func(p *partitionRow, add addFunc) { add(truth(p.underReplicated), p.Topic, p.index, "") }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_min_insync_replicas", kind: gauge, unit: "replicas",
			help:   "The minimum in force: min.insync.replicas, or the number of replicas where that is less.",
			absent: minNotKnown, use: "What headroom is measured against.",
		}, func(p *partitionRow, add addFunc) { known(add, p.effectiveMin, p.Topic, p.index, "") }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_isr_headroom", kind: gauge, unit: "replicas",
			help:   "How many more replicas may leave the ISR before acks=all is refused; negative where it is refused now.",
			absent: minNotKnown, use: "Alert on < 0; < 1 is the last warning.",
		}, func(p *partitionRow, add addFunc) { known(add, p.headroom, p.Topic, p.index, "") }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_under_min_isr", kind: gauge, unit: zeroOrOneUnit,
			help:   "Whether there are fewer in-sync replicas than the minimum in force: acks=all is refused.",
			absent: minNotKnown, use: "Which producers fail now.",
		}, func(p *partitionRow, add addFunc) { knownTruth(add, p.underMin, p.Topic, p.index) }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_at_min_isr", kind: gauge, unit: zeroOrOneUnit,
			help:   "Whether a replica is lost and the next loss refuses acks=all.",
			absent: minNotKnown, use: "The last warning, without the partitions that are built without headroom.",
		}, func(p *partitionRow, add addFunc) { knownTruth(add, p.atMin, p.Topic, p.index) }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_offline", kind: gauge, unit: zeroOrOneUnit,
			help:   "Whether the partition has no leader.",
			absent: leftOut, use: "Which partitions are unavailable.",
		}, func(p *partitionRow, add addFunc) { add(truth(p.offline), p.Topic, p.index, "") }),
		partitionMetric(metric[*view]{
			name: "kafka_topic_partition_reassigning", kind: gauge, unit: zeroOrOneUnit,
			help:   "Whether replicas are being added or removed.",
			absent: "the cluster did not tell its reassignments (DESCRIBE on the cluster refused, or no active controller); " + leftOut,
			use:    "To excuse lag and load while data moves.",
		}, func(p *partitionRow, add addFunc) { knownTruth(add, p.reassigning, p.Topic, p.index) }),
	}
}

func replicaMetrics() []metric[*view] {
	labels := []string{"topic", "partition", "broker"}
	each := func(draw func(p *partitionRow, r *replicaRow, add addFunc)) func(*view, addFunc) {
		return func(v *view, add addFunc) {
			for i := range v.partitions {
				p := &v.partitions[i]
				if !p.replicasOwn {
					continue
				}
				for j := range p.replicas {
					draw(p, &p.replicas[j], add)
				}
			}
		}
	}
	const left = "left out by --replica-metrics"
	const silent = "its broker, or for lags the leader, did not tell; " + left + noReplicaLEO
	return []metric[*view]{
		{
			name: "kafka_topic_partition_replica_log_end_offset", kind: gauge, labels: labels, unit: "offset", since: first,
			help:   "The replica's own log end offset, told by the broker that hosts it; of leaderless partitions too.",
			absent: silent, use: "Which replica of a leaderless partition has most.",
			draw: each(func(p *partitionRow, r *replicaRow, add addFunc) { known(add, r.leo, p.Topic, p.index, r.broker) }),
		},
		{
			name: "kafka_topic_partition_replica_lag_records", kind: gauge, labels: labels, unit: "records", since: first,
			help:   "Records that the replica lacks, at the least: what its leader already had before the replica was asked. 0 for the leader.",
			absent: silent + "; there is no leader", use: "How far behind which replica is.",
			draw: each(func(p *partitionRow, r *replicaRow, add addFunc) { known(add, r.lag, p.Topic, p.index, r.broker) }),
		},
		{
			name: "kafka_topic_partition_replica_lag_seconds", kind: gauge, labels: labels, unit: "seconds", since: first,
			help:   "How long ago the leader's log ended where the replica's ends now; 0 where it lacks nothing. " + sharpness,
			absent: silent + "; there is no leader; behind since before the exporter started, for a minute", use: "Compare with replica.lag.time.max.ms.",
			draw: each(func(p *partitionRow, r *replicaRow, add addFunc) { known(add, r.seconds, p.Topic, p.index, r.broker) }),
		},
		{
			name: "kafka_topic_partition_replica_in_sync", kind: gauge, labels: labels, unit: zeroOrOneUnit, since: first,
			help:   "Whether the replica is in the ISR.",
			absent: left, use: "Which broker is out of which ISR.",
			draw: each(func(p *partitionRow, r *replicaRow, add addFunc) {
				add(truth(r.inSync), p.Topic, p.index, r.broker)
			}),
		},
	}
}

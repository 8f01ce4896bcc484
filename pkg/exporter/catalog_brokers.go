package exporter

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func brokerMetrics() []metric[*view] {
	return slices.Concat(brokerStateMetrics(), ledMetrics(), hostedMetrics(), dirMetrics())
}

func brokerLabels() []string { return []string{"broker"} }

// eachBroker draws of every broker, those included that are in replica lists only.
func eachBroker(draw func(b *brokerRow, add addFunc)) func(*view, addFunc) {
	return func(v *view, add addFunc) {
		for i := range v.brokers {
			draw(&v.brokers[i], add)
		}
	}
}

// eachListed draws of every broker that the cluster lists.
func eachListed(draw func(b *brokerRow, add addFunc)) func(*view, addFunc) {
	return eachBroker(func(b *brokerRow, add addFunc) {
		if b.info != nil {
			draw(b, add)
		}
	})
}

func brokerStateMetrics() []metric[*view] {
	return []metric[*view]{
		{
			name: "kafka_broker_info", kind: gauge, labels: []string{"id", "address", "broker"}, unit: "1", since: first,
			help:   "A broker that the cluster lists, fenced or not, with the address that it advertises.",
			absent: "the broker is not listed; before Kafka 4.0 one that is fenced is not",
			use:    "Addresses beside ids: `kafka_broker_up * on (instance, broker) group_left (address) kafka_broker_info`. The label id is kafka_exporter's, and the same.",
			draw:   eachListed(func(b *brokerRow, add addFunc) { add(1, b.id, b.info.Address(), b.id) }),
		},
		{
			name: "kafka_broker_up", kind: gauge, labels: brokerLabels(), unit: "0 or 1", since: first,
			help:   "Whether the broker is in service: the cluster counts it as alive, and it answered this exporter in the last collection. 0 where it is fenced, hosts replicas and is not listed, or did not answer.",
			absent: "the broker is not listed and hosts no replica of any topic shown",
			use:    "0 and kafka_broker_fenced 1, or no kafka_broker_info: dead, to the cluster too. 0 otherwise: hung, or not reachable from here. What only it could tell is absent then.",
			draw:   eachBroker(func(b *brokerRow, add addFunc) { knownTruth(add, b.up(), b.id, "") }),
		},
		{
			name: "kafka_broker_fenced", kind: gauge, labels: brokerLabels(), unit: "0 or 1", since: first,
			help:   "Whether the broker is registered but fenced: its heartbeats do not reach the controller, or it is starting.",
			absent: "the cluster does not tell (before Kafka 4.0; DESCRIBE on the cluster refused)",
			use:    "A fenced broker leads nothing and is in no ISR. One that is stopped is fenced once its session has ended.",
			draw:   eachListed(func(b *brokerRow, add addFunc) { knownTruth(add, b.info.Fenced, b.id, "") }),
		},
	}
}

// ledMetrics are of the partitions that a broker leads.
func ledMetrics() []metric[*view] {
	return []metric[*view]{
		{
			name: "kafka_broker_under_replicated_partitions", kind: gauge, labels: brokerLabels(), unit: "partitions", since: first,
			help:   "Under-replicated partitions that the broker leads.",
			absent: "nothing was observed",
			use:    "As a broker's own UnderReplicatedPartitions, without JMX.",
			draw:   eachListed(func(b *brokerRow, add addFunc) { add(float64(b.led.underReplicated), b.id, "", "") }),
		},
		{
			name: "kafka_broker_under_min_isr_partitions", kind: gauge, labels: brokerLabels(), unit: "partitions", since: first,
			help:   "Partitions that the broker leads with fewer in-sync replicas than the effective minimum: acks=all writes are refused.",
			absent: "min.insync.replicas of a partition that it leads is not known (DESCRIBE_CONFIGS refused, or not answered)",
			use:    "As a broker's own UnderMinIsrPartitionCount, without JMX: those without a leader are not in it.",
			draw: eachListed(func(b *brokerRow, add addFunc) {
				if !b.led.underMinUnknown {
					add(float64(b.led.underMin), b.id, "", "")
				}
			}),
		},
		{
			name: "kafka_broker_uncommitted_records", kind: gauge, labels: brokerLabels(), unit: "records", since: first,
			help:   "Log end offset less high watermark, at the least, summed over the partitions that the broker leads.",
			absent: "of a partition that it leads it is not known" + noReplicaLEO,
			use:    "kafka_topic_partition_uncommitted_records, whatever --partition-metrics is.",
			draw: eachListed(func(b *brokerRow, add addFunc) {
				if !b.led.uncommittedUnknown {
					add(float64(b.led.uncommitted), b.id, "", "")
				}
			}),
		},
		{
			name: "kafka_broker_uncommitted_max_age_seconds", kind: gauge, labels: brokerLabels(), unit: "seconds", since: first,
			help:   "How long, at the least, the oldest record that is written and not committed has been waiting in a partition that the broker leads; 0 where none is. Partitions under min ISR are not counted: there the high watermark stands by rule.",
			absent: "it is not known of any partition that it leads; for one sample after the exporter has started" + noReplicaLEO,
			use:    "LEO − HW that grows, in time: a follower in the ISR is stuck or slow, and acks=all producers wait for it.",
			draw:   eachListed(func(b *brokerRow, add addFunc) { known(add, b.led.oldestSeconds(), b.id, "", "") }),
		},
	}
}

// hostedMetrics are of the replicas on a broker.
func hostedMetrics() []metric[*view] {
	return []metric[*view]{
		{
			name: "kafka_broker_out_of_sync_replicas", kind: gauge, labels: brokerLabels(), unit: "replicas", since: first,
			help:   "Replicas assigned to the broker that are not in the ISR, not counting those that a reassignment is adding. Brokers that are fenced or no longer registered have this series too.",
			absent: "nothing was observed",
			use:    "Which broker it is that everybody else waits for.",
			draw:   eachBroker(func(b *brokerRow, add addFunc) { add(float64(b.hosted.outOfSync), b.id, "", "") }),
		},
		{
			name: "kafka_broker_replica_max_lag_records", kind: gauge, labels: brokerLabels(), unit: "records", since: first,
			help:   "The largest lag (kafka_topic_partition_replica_lag_records) among the followers on this broker, as far as lags are known.",
			absent: "no lag of its followers is known",
			use:    "One series a broker where --replica-metrics leaves the replicas out.",
			draw:   eachBroker(func(b *brokerRow, add addFunc) { known(add, b.hosted.maxLag, b.id, "", "") }),
		},
		{
			name: "kafka_broker_replica_max_lag_seconds", kind: gauge, labels: brokerLabels(), unit: "seconds", since: first,
			help:   "The largest lag in time among the followers on this broker, as far as lags are known.",
			absent: "no lag in time of its followers is known",
			use:    "How old a copy the broker would be.",
			draw:   eachBroker(func(b *brokerRow, add addFunc) { known(add, b.hosted.maxSeconds, b.id, "", "") }),
		},
		{
			name: "kafka_broker_in_sync_replica_max_lag_seconds", kind: gauge, labels: brokerLabels(), unit: "seconds", since: first,
			help:   "The largest lag in time, at the least, among those of the broker's followers that are in their ISR, as far as it is known.",
			absent: "it is known of no follower in an ISR",
			use:    "Compare with replica.lag.time.max.ms: followers that are out, or catch up after a restart, are not in it.",
			draw:   eachBroker(func(b *brokerRow, add addFunc) { known(add, b.hosted.inSyncSeconds, b.id, "", "") }),
		},
	}
}

// up is unknown where the broker is alive and was not asked.
func (b *brokerRow) up() inspect.Opt[bool] {
	if b.info == nil || b.info.Fenced.Or(false) {
		return inspect.Known(false)
	}
	return b.info.Reachable
}

func dirMetrics() []metric[*view] {
	labels := []string{"broker", "dir"}
	each := func(draw func(b *brokerRow, d *inspect.LogDir, add addFunc)) func(*view, addFunc) {
		return func(v *view, add addFunc) {
			for i := range v.brokers {
				b := &v.brokers[i]
				if b.info == nil {
					continue
				}
				dirs := b.info.LogDirs.Or(nil)
				for j := range dirs {
					draw(b, &dirs[j], add)
				}
			}
		}
	}
	const refused = "the broker did not tell its directories (it is fenced or does not answer; DESCRIBE on the cluster refused)"
	return []metric[*view]{
		{
			name: "kafka_broker_log_dir_total_bytes", kind: gauge, labels: labels, unit: "bytes", since: first,
			help:   "Size of the volume that the log directory lies on.",
			absent: refused + ", before Kafka 3.3, or the directory is offline",
			use:    "How full a disk is; two directories may share one.",
			draw: each(func(b *brokerRow, d *inspect.LogDir, add addFunc) {
				known(add, d.TotalBytes, b.id, d.Path, "")
			}),
		},
		{
			name: "kafka_broker_log_dir_usable_bytes", kind: gauge, labels: labels, unit: "bytes", since: first,
			help:   "Space that is left on the volume that the log directory lies on.",
			absent: refused + ", before Kafka 3.3, or the directory is offline",
			use:    "When a disk will be full: predict_linear over it.",
			draw: each(func(b *brokerRow, d *inspect.LogDir, add addFunc) {
				known(add, d.UsableBytes, b.id, d.Path, "")
			}),
		},
		{
			name: "kafka_broker_log_dir_offline", kind: gauge, labels: labels, unit: "0 or 1", since: first,
			help:   "Whether the log directory has failed: its replicas are offline.",
			absent: refused,
			use:    "A disk has failed.",
			draw: each(func(b *brokerRow, d *inspect.LogDir, add addFunc) {
				add(truth(d.Error != ""), b.id, d.Path, "")
			}),
		},
	}
}

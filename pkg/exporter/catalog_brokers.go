package exporter

import "github.com/kafkaops/kafkaops/pkg/inspect"

func brokerMetrics() []metric[*view] {
	broker := []string{"broker"}
	each := func(draw func(b *brokerRow, add addFunc)) func(*view, addFunc) {
		return func(v *view, add addFunc) {
			for i := range v.brokers {
				draw(&v.brokers[i], add)
			}
		}
	}
	listed := func(draw func(b *brokerRow, add addFunc)) func(*view, addFunc) {
		return each(func(b *brokerRow, add addFunc) {
			if b.info != nil {
				draw(b, add)
			}
		})
	}
	return append([]metric[*view]{
		{
			name: "kafka_broker_info", kind: gauge, labels: []string{"id", "address"}, unit: "1", since: first,
			help:   "A broker that the cluster lists, with the address that it advertises.",
			absent: "the broker is not listed",
			use:    "Names for ids.",
			draw:   listed(func(b *brokerRow, add addFunc) { add(1, b.id, b.info.Address(), "") }),
		},
		{
			name: "kafka_broker_up", kind: gauge, labels: broker, unit: "0 or 1", since: first,
			help:   "Whether the broker answered this exporter in the last collection.",
			absent: "the broker is fenced or not listed: it was not asked",
			use:    "0 while kafka_brokers counts it: hung, or not reachable from here. What only it could tell is absent then.",
			draw:   listed(func(b *brokerRow, add addFunc) { knownTruth(add, b.info.Reachable, b.id, "") }),
		},
		{
			name: "kafka_broker_fenced", kind: gauge, labels: broker, unit: "0 or 1", since: first,
			help:   "Whether the broker is registered but fenced: its heartbeats do not reach the controller, or it is starting.",
			absent: "the cluster does not tell (before Kafka 4.0; DESCRIBE on the cluster refused)",
			use:    "A fenced broker leads nothing and is in no ISR.",
			draw:   listed(func(b *brokerRow, add addFunc) { knownTruth(add, b.info.Fenced, b.id, "") }),
		},
		{
			name: "kafka_broker_under_replicated_partitions", kind: gauge, labels: broker, unit: "partitions", since: first,
			help:   "Under-replicated partitions that the broker leads.",
			absent: "nothing was observed",
			use:    "As a broker's own UnderReplicatedPartitions, without JMX.",
			draw:   listed(func(b *brokerRow, add addFunc) { add(float64(b.underReplicated), b.id, "", "") }),
		},
		{
			name: "kafka_broker_out_of_sync_replicas", kind: gauge, labels: broker, unit: "replicas", since: first,
			help:   "Replicas assigned to the broker that are not in the ISR, not counting those that a reassignment is adding. Of brokers that are gone too.",
			absent: "nothing was observed",
			use:    "Which broker it is that everybody else waits for.",
			draw:   each(func(b *brokerRow, add addFunc) { add(float64(b.outOfSync), b.id, "", "") }),
		},
		{
			name: "kafka_broker_replica_max_lag_records", kind: gauge, labels: broker, unit: "records", since: first,
			help:   "The largest certain lag among the broker's followers, as far as it is known.",
			absent: "no lag of its followers is known",
			use:    "One series a broker where --replica-metrics leaves the replicas out.",
			draw:   each(func(b *brokerRow, add addFunc) { known(add, b.maxLag, b.id, "", "") }),
		},
		{
			name: "kafka_broker_replica_max_lag_seconds", kind: gauge, labels: broker, unit: "seconds", since: first,
			help:   "The largest lag in time among the broker's followers, as far as it is known.",
			absent: "no lag in time of its followers is known",
			use:    "Compare with replica.lag.time.max.ms.",
			draw:   each(func(b *brokerRow, add addFunc) { known(add, b.maxSeconds, b.id, "", "") }),
		},
	}, dirMetrics()...)
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
	const refused = "the broker did not tell its directories (DESCRIBE on the cluster refused)"
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

package exporter

import "github.com/kafkaops/kafkaops/pkg/inspect"

// isrMetrics are counters that begin with the process, and how far to trust them.
func isrMetrics() []metric[*view] {
	return append(isrCounters(), isrEvidence()...)
}

func isrCounters() []metric[*view] {
	const since = " since the exporter started: all by source metadata-log, a lower bound by metadata-diff (kafkaops_isr_source)."
	const counted = "left out by --partition-metrics and never counted"
	const seldom = "; a pair that is not listed here and has not been"
	counters := func(draw func(p *partitionRow, add addFunc)) func(*view, addFunc) {
		return func(v *view, add addFunc) {
			for i := range v.partitions {
				if p := &v.partitions[i]; p.countersOwn {
					draw(p, add)
				}
			}
		}
	}
	brokers := func(of func(v *view) []causeCount) func(*view, addFunc) {
		return func(v *view, add addFunc) {
			for _, b := range of(v) {
				add(b.n, b.broker, b.cause, "")
			}
		}
	}
	partition, broker := []string{"topic", "partition"}, []string{"broker", "cause"}
	return []metric[*view]{
		{
			name: "kafka_topic_partition_isr_shrinks_total", kind: counter, labels: partition, unit: "events", since: first,
			help:   "Times that replicas left the partition's ISR" + since + " Who is taken out of the assignment is not counted.",
			absent: counted, use: "Which partitions flap.",
			draw: counters(func(p *partitionRow, add addFunc) { add(p.shrinks, p.Topic, p.index, "") }),
		},
		{
			name: "kafka_topic_partition_isr_expands_total", kind: counter, labels: partition, unit: "events", since: first,
			help:   "Times that replicas came into the partition's ISR" + since + " Those that a reassignment adds are among them.",
			absent: counted, use: "Shrinks that healed.",
			draw: counters(func(p *partitionRow, add addFunc) { add(p.expands, p.Topic, p.index, "") }),
		},
		{
			name: "kafka_broker_isr_shrinks_total", kind: counter, labels: broker, unit: "replicas", since: first,
			help: "Replicas of this broker that left an ISR" + since + " Causes: " + causeList(shrinkCauses) +
				". By looks it is broker-fenced or unknown.",
			absent: "nothing was observed" + seldom, use: "Which broker flaps, and why: replica-lag is a broker or a disk that is too slow, controlled-shutdown a restart that was meant.",
			draw: brokers(func(v *view) []causeCount { return v.shrinks }),
		},
		{
			name: "kafka_broker_isr_expands_total", kind: counter, labels: broker, unit: "replicas", since: first,
			help: "Replicas of this broker that came into an ISR" + since + " Causes: " + causeList(expandCauses) +
				". What a reassignment adds has not been there before; caught-up came back.",
			absent: "nothing was observed" + seldom, use: "Beside the shrinks.",
			draw: brokers(func(v *view) []causeCount { return v.expands }),
		},
	}
}

func causeList(of []inspect.IsrCause) string {
	out := ""
	for i, c := range of {
		switch {
		case i == len(of)-1:
			out += " or "
		case i > 0:
			out += ", "
		}
		out += string(c)
	}
	return out
}

func isrEvidence() []metric[*view] {
	return []metric[*view]{
		{
			name: "kafkaops_isr_source", kind: gauge, labels: []string{"source"}, unit: zeroOrOneUnit, since: first,
			help: "Where the ISR counters come from now: metadata-log is the active controller's log, with every change and its cause; " +
				"metadata-diff compares what stands at each sample, so that a shrink that heals in between is not counted, and most causes are unknown. " +
				"The log needs a controller that can be reached and CLUSTER_ACTION.",
			absent: "nothing was observed", use: "How far to trust the ISR counters.",
			draw: func(v *view, add addFunc) {
				for _, source := range []inspect.IsrSource{inspect.SourceMetadataDiff, inspect.SourceMetadataLog} {
					add(truth(v.isrSource == source), string(source), "", "")
				}
			},
		},
		{
			name: "kafkaops_isr_gaps_total", kind: counter, unit: "gaps", since: first,
			help: "Times that what the ISR counters come from was interrupted, so that changes may be missing from them: " +
				"the metadata log could not be read any more and looks took its place, which tell what is different and not what was undone meanwhile; " +
				"the log had been cut before it was read; " +
				"by source metadata-diff, nobody looked for five sample intervals and more, for nobody answered or a collection waited for a broker; " +
				"what brokers tell has gone back for good, and counting began anew.",
			absent: "nothing was observed", use: "How far to trust the ISR counters.",
			draw: func(v *view, add addFunc) {
				gaps := 0.0
				for _, reason := range gapReasons() {
					gaps += v.gaps[reason]
				}
				add(gaps, "", "", "")
			},
		},
	}
}

package exporter

import "github.com/kafkaops/kafkaops/pkg/inspect"

// catalog is every metric that is drawn from a collection, in the order in which it
// is shown. The names of kafka_exporter come first in each group: they are kept
// where they mean the same.
func catalog() []metric[*view] {
	var all []metric[*view]
	for _, some := range [][]metric[*view]{
		clusterMetrics(), brokerMetrics(), topicMetrics(), isrMetrics(), replicaMetrics(), groupMetrics(), omittedMetrics(),
	} {
		all = append(all, some...)
	}
	return all
}

// number is any of the types that values of series come in.
type number interface {
	~int | ~int32 | ~int64 | ~float64
}

// known adds the value where it is one.
func known[T number](add addFunc, v inspect.Opt[T], l1, l2, l3 string) {
	if n, ok := v.Get(); ok {
		add(float64(n), l1, l2, l3)
	}
}

// knownTruth is known for a yes or no.
func knownTruth(add addFunc, v inspect.Opt[bool], l1, l2 string) {
	if yes, ok := v.Get(); ok {
		add(truth(yes), l1, l2, "")
	}
}

func omittedMetrics() []metric[*view] {
	return []metric[*view]{{
		name: "kafkaops_series_omitted", kind: gauge, labels: []string{"kind"}, unit: "partitions, replicas or groups", since: first,
		help:   "Partitions, replicas and groups that have no series of their own because of --partition-metrics, --replica-metrics or --group-metrics.",
		absent: "never, once something was observed",
		use:    "To see that a missing series was left out on purpose.",
		draw: func(v *view, add addFunc) {
			for _, kind := range []string{"group", "partition", "replica"} {
				add(v.omitted[kind], kind, "", "")
			}
		},
	}, {
		name: "kafkaops_filtered_out", kind: gauge, labels: []string{"kind"}, unit: "topics or groups", since: first,
		help:   "Topics and groups of the cluster that --topics, --topics-exclude, --groups or --groups-exclude leave out of everything here, counts over brokers and the cluster included.",
		absent: "never, once something was observed",
		use:    "To see that a filter leaves what it is meant to: expressions match the whole name.",
		draw: func(v *view, add addFunc) {
			add(float64(v.snap.UnkeptGroups), "group", "", "")
			add(float64(v.snap.UnkeptTopics), "topic", "", "")
		},
	}}
}

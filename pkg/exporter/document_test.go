package exporter

import (
	"fmt"
	"strings"
)

// document is METRICS.md. A test writes it, and holds it current.
func document() string {
	var b strings.Builder
	b.WriteString(`# The metrics of kafkaops export

Generated from the catalog; change it there and run ` + "`go test ./pkg/exporter -rewrite`" + `.

What was not observed is absent: no −1, no 0 in place of "unknown", nothing older than ` + "`--max-age`" + `. So
ask for absence too: ` + "`kafkaops_up == 0 or absent(kafkaops_up)`" + `.

Every series has a label ` + "`cluster`" + ` where ` + "`--cluster-label`" + ` is given, and none else. ` + "`--topics`" + `, ` + "`--topics-exclude`" + `, ` + "`--groups`" + ` and
` + "`--groups-exclude`" + ` bound all that is here, counts over brokers and the cluster included. ` + "`--partition-metrics`" + `,
` + "`--replica-metrics`" + ` and ` + "`--group-metrics`" + ` bound how many series there are, and no count. With ` + "`unhealthy`" + `, a partition keeps its ISR counters
once they have counted, and a group its series for five minutes after it has become well.

The names that danielqsj/kafka_exporter has too mean the same here, without its sentinels; sums are whole, or absent.
Two of them are named against Prometheus' custom, ` + "`_current_offset_sum` and `_lag_sum`" + `: they are gauges.

ISR counters begin at 0 with the process; history is never replayed into them. They come from the active controller's metadata log, where it can
be read: every change, with its cause. Else, and until it can be, what stands at each sample is compared: a shrink that heals in between is not
counted, nor is an unclean election whose circumstances are not certain (an ELR that was not told), and most causes are unknown.
` + "`kafkaops_isr_source`" + ` says which it is, ` + "`kafkaops_isr_gaps_total`" + ` how often either was interrupted. No change is counted by both.
With ` + "`--isr-store FILE`" + ` all events are kept besides, those of before the process too, which nothing counts: ` + "`kafkaops isr --store FILE`" + ` has them.

Beside these are client_golang's ` + "`go_*` and `process_*`" + ` of the exporter itself.

`)
	section(&b, "Cluster", clusterMetrics())
	section(&b, "Brokers", brokerMetrics())
	section(&b, "Topics and partitions", topicMetrics())
	section(&b, "ISR changes", isrMetrics())
	section(&b, "Replicas", replicaMetrics())
	section(&b, "Consumer groups", groupMetrics())
	section(&b, "What was left out", omittedMetrics())
	section(&b, "The exporter itself", selfMetrics())
	return strings.TrimSuffix(b.String(), "\n")
}

func section[V any](b *strings.Builder, title string, metrics []metric[V]) {
	fmt.Fprintf(b, "## %s\n\n", title)
	for i := range metrics {
		m := &metrics[i]
		labels := ""
		if len(m.labels) > 0 {
			labels = "{" + strings.Join(m.labels, ",") + "}"
		}
		fmt.Fprintf(b, "### `%s%s`\n\n%s\n\n", m.name, labels, m.help)
		fmt.Fprintf(b, "- %s, in %s; since %s\n- absent: %s\n- for: %s\n\n", m.kind, m.unit, m.since, m.absent, m.use)
	}
}

package exporter

import "github.com/prometheus/client_golang/prometheus"

// Collector returns the same metrics for a registry, for programs that expose
// others beside them; without those of the Go process. While there is one, the
// last Snapshot is kept in memory; of one that was taken before, it knows nothing, and
// says so in kafkaops_up.
func (e *Exporter) Collector() prometheus.Collector {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keepView = true
	return &collector{e}
}

type collector struct{ exporter *Exporter }

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	cluster := c.exporter.options.ClusterLabel
	for _, m := range catalog() {
		out <- descOf(m, cluster)
	}
	for _, m := range selfMetrics() {
		out <- descOf(m, cluster)
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	p, s := c.exporter.now()
	cluster := c.exporter.options.ClusterLabel
	switch {
	case p != nil && p.view != nil:
		collect(out, catalog(), p.view, cluster)
	default: // also of a collection from before there was a Collector
		s.up = false
	}
	collect(out, selfMetrics(), s, cluster)
}

func collect[V any](out chan<- prometheus.Metric, metrics []metric[V], v V, cluster string) {
	for _, m := range metrics {
		desc, kind := descOf(m, cluster), prometheus.GaugeValue
		if m.kind == counter {
			kind = prometheus.CounterValue
		}
		m.draw(v, func(value float64, l1, l2, l3 string) {
			values := []string{labelValue(l1), labelValue(l2), labelValue(l3)}[:len(m.labels)]
			out <- prometheus.MustNewConstMetric(desc, kind, value, values...)
		})
	}
}

func descOf[V any](m metric[V], cluster string) *prometheus.Desc {
	var always prometheus.Labels
	if cluster != "" {
		always = prometheus.Labels{clusterLabel: cluster}
	}
	return prometheus.NewDesc(m.name, m.help, m.labels, always)
}

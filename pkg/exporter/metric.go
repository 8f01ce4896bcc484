package exporter

// metric is one metric of the catalog: what METRICS.md says of it, and how it is
// drawn. V is what it is drawn from: a *view, or a *self for the exporter's own.
type metric[V any] struct {
	name string
	kind kind
	// labels are at most three.
	labels []string
	// help is HELP; unit and absent and use are for METRICS.md.
	help, unit, absent, use string
	// since is the version of kafkaops that had it first.
	since string
	// draw adds every series.
	draw func(v V, add addFunc)
}

// kind is a metric's TYPE.
type kind int

const (
	gauge kind = iota
	counter
)

func (k kind) String() string {
	if k == counter {
		return "counter"
	}
	return "gauge"
}

// addFunc takes the value of one series and those of its labels, empty where the
// metric has fewer.
type addFunc func(value float64, l1, l2, l3 string)

const first = "0.1"

// truth is how a yes or no is told.
func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

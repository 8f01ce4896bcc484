package exporter

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// encoder writes metrics in Prometheus' text format by client_golang's encoder. The
// series go through a fixed number of that encoder's own structs, so that a million
// of them take no more memory than their text.
type encoder struct {
	out     io.Writer
	cluster string

	family  dto.MetricFamily
	help    string
	kind    dto.MetricType
	begun   bool
	slab    []slot
	metrics []*dto.Metric
	text    bytes.Buffer
}

// labelValue is a text as Prometheus takes it: one label that is no UTF-8 would cost
// the whole scrape. Kafka's names are UTF-8; whoever plays Kafka may send others.
// Their bytes stay visible, so that no two names become one.
func labelValue(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&out, `\x%02x`, s[0])
		} else {
			out.WriteString(s[:n])
		}
		s = s[n:]
	}
	return out.String()
}

// slot is one series of the encoder's structs, which point into it.
type slot struct {
	metric  dto.Metric
	value   float64
	gauge   dto.Gauge
	counter dto.Counter
	labels  [maxLabels + 1]dto.LabelPair // one for the cluster
	pairs   [maxLabels + 1]*dto.LabelPair
	values  [maxLabels]string
}

const (
	maxLabels = 3
	// slabSize is how many series are handed to the encoder at once.
	slabSize  = 1024
	smallSlab = 32
)

const clusterLabel = "cluster"

func newEncoder(out io.Writer, cluster string) *encoder {
	return newEncoderOf(out, cluster, slabSize)
}

func newEncoderOf(out io.Writer, cluster string, size int) *encoder {
	return &encoder{out: out, cluster: cluster, slab: make([]slot, size), metrics: make([]*dto.Metric, 0, size)}
}

// write encodes metrics drawn from v.
func write[V any](e *encoder, metrics []metric[V], v V) {
	for i := range metrics {
		m := &metrics[i]
		e.begin(m.name, m.help, m.kind, m.labels)
		m.draw(v, e.add)
		e.flush()
	}
}

// begin sets all that the family's series have in common.
func (e *encoder) begin(name, help string, k kind, labels []string) {
	e.kind, e.help, e.begun = dto.MetricType_GAUGE, help, false
	if k == counter {
		e.kind = dto.MetricType_COUNTER
	}
	e.family.Name, e.family.Type = &name, &e.kind
	cluster := clusterLabel
	for i := range e.slab {
		s := &e.slab[i]
		n := 0
		if e.cluster != "" {
			s.labels[maxLabels].Name, s.labels[maxLabels].Value = &cluster, &e.cluster
			s.pairs[n] = &s.labels[maxLabels]
			n++
		}
		for j := range labels {
			s.labels[j].Name, s.labels[j].Value = &labels[j], &s.values[j]
			s.pairs[n] = &s.labels[j]
			n++
		}
		s.metric.Label = s.pairs[:n]
		s.metric.Gauge, s.metric.Counter = nil, nil
		if k == counter {
			s.counter.Value, s.metric.Counter = &s.value, &s.counter
		} else {
			s.gauge.Value, s.metric.Gauge = &s.value, &s.gauge
		}
	}
}

func (e *encoder) add(value float64, l1, l2, l3 string) {
	s := &e.slab[len(e.metrics)]
	s.value, s.values = value, [maxLabels]string{labelValue(l1), labelValue(l2), labelValue(l3)}
	e.metrics = append(e.metrics, &s.metric)
	if len(e.metrics) == len(e.slab) {
		e.flush()
	}
}

// flush hands over what there is. The encoder writes HELP and TYPE each time; they
// have to stand once.
func (e *encoder) flush() {
	if len(e.metrics) == 0 {
		return
	}
	e.family.Metric = e.metrics
	e.family.Help = nil
	if !e.begun {
		e.family.Help = &e.help
	}
	e.text.Reset()
	// A buffer takes all; what is encoded is ours, and valid.
	_, _ = expfmt.MetricFamilyToText(&e.text, &e.family)
	text := e.text.Bytes()
	if e.begun {
		_, text, _ = bytes.Cut(text, []byte("\n")) // TYPE
	}
	e.begun = true
	e.metrics = e.metrics[:0]
	_, _ = e.out.Write(text) // buffers take all
}

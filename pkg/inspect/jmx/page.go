package jmx

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	// maxLine is far more than a metric with its labels has.
	maxLine = 64 << 10
	// maxKept bounds what of a page is parsed: a few lines are wanted.
	maxKept = 1 << 20
)

// errNoPage: neither an agent's JSON nor a page of metrics.
var errNoPage = errors.New("answers with neither Jolokia's JSON nor a page of Prometheus metrics")

// readPage reads the text format of Prometheus. Of a page no more is kept than the
// lines that are wanted.
func readPage(in io.Reader, m *Meters) error {
	var kept bytes.Buffer
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for first := true; lines.Scan(); {
		line := lines.Bytes()
		if first && len(bytes.TrimSpace(line)) > 0 {
			if first = false; !isMetric(line) {
				return errNoPage
			}
		}
		if len(line) == 0 || bytes.HasPrefix(line, []byte("#")) || !isWanted(string(line), m) {
			continue
		}
		kept.Write(line)
		kept.WriteByte('\n')
		if kept.Len() > maxKept {
			return errors.New("has more of the meters that are wanted than a node has")
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return errNoPage
	} else if err != nil {
		return err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&kept)
	if err != nil {
		return fmt.Errorf("answers with a page of metrics that is damaged: %w", err)
	}
	for name, family := range families {
		for _, metric := range family.GetMetric() {
			m.take(name, metric)
		}
	}
	return nil
}

// isMetric reports whether a line may be of a page of metrics: a comment, or a name with
// labels and a value.
func isMetric(line []byte) bool {
	c := line[0]
	return c == '#' || bytes.ContainsRune(line, ' ') && (c == '_' || c == ':' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') &&
		bytes.IndexByte(line, '_') > 0
}

func isWanted(line string, m *Meters) bool {
	return wanted(line, m) != nil || wantedLoad(line) || strings.Contains(strings.ToLower(line), "app_info")
}

// take takes a metric, if it is a count that is wanted.
func (m *Meters) take(name string, metric *dto.Metric) {
	labels := map[string]string{}
	for _, l := range metric.GetLabel() {
		labels[strings.ToLower(l.GetName())] = l.GetValue()
	}
	lower := strings.ToLower(name)
	if strings.Contains(lower, "app_info") {
		if id := nodeID(labels["id"]); id.IsKnown() {
			m.Broker = id
		}
		return
	}
	takeLoad(&m.Load, strings.Join([]string{labels["name"], name, labels["attribute"], percentile(labels["quantile"])}, "_"), metric.GetUntyped().GetValue())
	if !strings.HasSuffix(lower, "_count") && !strings.HasSuffix(lower, "_total") && !strings.EqualFold(labels["attribute"], "count") {
		return
	}
	of := wanted(name+"_"+labels["name"], m)
	value := metric.GetUntyped().GetValue()
	if of == nil || value < 0 || value > math.MaxInt64/2 || value != math.Trunc(value) {
		return
	}
	*of = inspect.Known(max(of.Or(0), int64(value))) // a rule may give it a second name
}

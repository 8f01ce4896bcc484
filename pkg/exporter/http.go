package exporter

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/exporter/status"
	"github.com/prometheus/common/expfmt"
)

// documentURL has every metric.
const documentURL = "https://github.com/kafkaops/kafkaops/blob/main/pkg/exporter/METRICS.md"

// Handler serves /metrics, /healthz, /readyz and, at /, the page for people: what goes with
// it is beside it (/status, /status.css, /status.js), so that all of them may be served
// below any path.
func (e *Exporter) Handler() (http.Handler, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", e.serveMetrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", e.serveReady)
	mux.HandleFunc("GET /{$}", e.servePage)
	mux.HandleFunc("GET /status", e.serveStatus)
	mux.HandleFunc("GET /status.css", asset("text/css; charset=utf-8", status.Style()))
	mux.HandleFunc("GET /status.js", asset("text/javascript; charset=utf-8", status.Script()))
	return mux, nil
}

func (e *Exporter) serveReady(w http.ResponseWriter, _ *http.Request) {
	if e.ready() {
		answer(w, http.StatusOK, "ready")
		return
	}
	answer(w, http.StatusServiceUnavailable, e.standing())
}

// standing says in a line how the cluster answers, and why it does not.
func (e *Exporter) standing() string {
	p, s := e.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	why := ""
	if e.lastError != nil {
		why = ": " + e.lastError.Error()
	}
	age, answered := s.age.Get()
	switch {
	case p != nil:
		return fmt.Sprintf("cluster %s answered %s ago", e.clusterID, age.Round(time.Second))
	case answered:
		return fmt.Sprintf("cluster %s has not answered within %s%s", e.clusterID, e.options.MaxAge, why)
	}
	return "the cluster has not answered yet" + why
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, text) // whoever asked has gone
}

// serveMetrics sends the page, and behind it what the exporter tells of itself now.
func (e *Exporter) serveMetrics(w http.ResponseWriter, r *http.Request) {
	p, s := e.now()
	own, err := e.ownText(s)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	h.Set("Vary", "Accept-Encoding")
	if !takesGzip(r.Header) {
		if p == nil || p.writePlain(w) == nil {
			_, _ = w.Write(own) // whoever asked may have gone
		}
		return
	}
	h.Set("Content-Encoding", "gzip")
	var body []byte
	if p != nil {
		body = p.zipped
	}
	own = zip(own)
	h.Set("Content-Length", strconv.Itoa(len(body)+len(own)))
	_, _ = w.Write(body)
	_, _ = w.Write(own)
}

// takesGzip reads Accept-Encoding (RFC 9110, 12.5.3): gzip by its names, or *, with
// no weight or one above 0.
func takesGzip(h http.Header) bool {
	wildcard := false
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		coding, weight, _ := strings.Cut(part, ";")
		q, hasQ := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(weight, " ", "")), "q=")
		n, err := strconv.ParseFloat(q, 64)
		wanted := !hasQ || err == nil && n > 0
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip":
			return wanted
		case "*":
			wildcard = wanted
		}
	}
	return wildcard
}

// ownText encodes the exporter's metrics and those of the process.
func (e *Exporter) ownText(s *self) ([]byte, error) {
	var out bytes.Buffer
	write(newEncoderOf(&out, e.options.ClusterLabel, smallSlab), selfMetrics(), s)
	families, err := e.runtime.Gather()
	if err != nil {
		return nil, fmt.Errorf("gather the process's metrics: %w", err)
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&out, f); err != nil {
			return nil, fmt.Errorf("encode %s: %w", f.GetName(), err)
		}
	}
	return out.Bytes(), nil
}

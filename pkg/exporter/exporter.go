package exporter

import (
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Exporter collects in [Exporter.Run] and serves what was collected.
type Exporter struct {
	options Options
	// runtime are client_golang's own metrics of this process.
	runtime *prometheus.Registry

	mu sync.Mutex // guards what follows: written by Run, read by scrapes
	// page is nil until something was observed.
	page           *page
	lastAnswered   bool
	clusterID      string // of the page
	lastError      error  // why the last collection was not answered
	duration       inspect.Opt[time.Duration]
	sampleInterval time.Duration
	tally          tally
	// keepView: a Collector draws from it.
	keepView bool
	keep     *isrKeep // of Run, nil for none

	people people
}

// New returns an Exporter that does nothing until Run is called.
func New(o Options) *Exporter {
	o = o.withDefaults()
	e := &Exporter{options: o, runtime: prometheus.NewRegistry(), sampleInterval: o.SampleInterval}
	var always prometheus.Labels
	if o.ClusterLabel != "" {
		always = prometheus.Labels{clusterLabel: o.ClusterLabel}
	}
	prometheus.WrapRegistererWith(always, e.runtime).MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return e
}

// now returns the page that may be served, or nil, and what the exporter tells of
// itself at this moment.
func (e *Exporter) now() (*page, *self) {
	at := e.options.Clock.Now()
	requests := e.options.Requests()
	keeps := e.keeping().keeps()
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &self{
		duration: e.duration, sampleInterval: e.sampleInterval, tally: e.tally.clone(),
		requests: requests, version: e.options.Version, keeps: keeps,
	}
	if e.page == nil {
		return nil, s
	}
	age := max(0, at.Sub(e.page.takenAt))
	s.age = inspect.Known(age)
	if age > e.options.MaxAge {
		return nil, s
	}
	s.up = e.lastAnswered
	return e.page, s
}

func (e *Exporter) keeping() *isrKeep {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.keep
}

func (e *Exporter) lastSampleInterval() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sampleInterval
}

// ready reports whether the cluster has answered within MaxAge.
func (e *Exporter) ready() bool {
	p, _ := e.now()
	return p != nil
}

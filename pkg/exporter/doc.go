// Package exporter tells Prometheus of a Kafka cluster's replication: what was
// observed, no older than it says, and nothing else.
//
// A program that is an exporter starts from [New] and [Serve]; one that has
// metrics of its own registers [Exporter.Collector] and calls [Exporter.Run].
//
//	e := exporter.New(exporter.Options{Collect: source, Sample: sampler})
//	err := exporter.Serve(ctx, e, exporter.Web{Listen: []string{":9308"}})
//
// METRICS.md lists every metric: what it is for, its unit, when it is absent.
//
// # How it works
//
//	Run (loop.go)        a clock and two sources, both injected
//	 │  every 10 s a collection: one whole Snapshot
//	 │  every 1 s a sample: partitions, and their leaders' LEO and HW
//	 │  isrwatch.go      beside them: the metadata log, as far as it was read meanwhile
//	 │  isrkeep.go       and a reading of its own, which ends in the file of ISRStore
//	 ▼
//	state (state.go)     pure; what one look does not tell:
//	 │  isr.go           which of log and looks counts, so that no change is counted twice
//	 │  isrcounts.go     counters, by [inspect.IsrEvent]s; which there are is isrlog's to say
//	 │  timelag.go       the age of a lag, from the leaders' offsets of the last hour
//	 │  grouphealth.go   which groups are unhealthy
//	 ▼
//	view (view_*.go)     pure; a Snapshot and the state, judged, counted and filtered,
//	 │                   of one collection; never changed again
//	 ▼
//	catalog (catalog_*.go)   pure; every metric and how it is drawn from a view
//	 ▼
//	page (page.go)       the bytes, plain and gzip, made once a collection
//	 ▼
//	handlers (http.go)   the page, if it is young enough, and the exporter's own
//	                     metrics as they are now
//
// people.go keeps what the page for people is made of, which package status draws: the last
// collection, and while somebody looks the last sample.
//
// Beside them journal.go logs what begins and what is over.
//
// A scrape asks no broker and waits for nothing. A collection that lacks a
// broker's answer is served without what that broker was to tell, and counted; one
// that had no answer at all changes nothing but kafkaops_up, and when what was
// observed last is older than MaxAge, it is served no more.
//
// # What it does not do
//
// Where the metadata log cannot be had its ISR counters see only what stands when they
// look, see [Options].SampleInterval. It reads no JMX.
package exporter

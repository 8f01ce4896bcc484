package exporter

import (
	"cmp"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// self is what the exporter tells of itself, as it is at a scrape.
type self struct {
	// up: the last collection was answered, and what is served is young enough.
	up bool
	// age is of what was observed last; unknown before the first collection.
	age            inspect.Opt[time.Duration]
	duration       inspect.Opt[time.Duration]
	sampleInterval time.Duration
	tally
	requests map[string]int64
	version  string
	// keeps: the history of the ISR is being recorded; unknown where it is not asked for.
	keeps inspect.Opt[bool]
}

// tally are the counters of the loop.
type tally struct {
	errors                    map[errorKey]float64
	complete, partial, failed float64
}

type errorKey struct{ broker, kind string }

// count counts the failures of one pass, and groups on two coordinators.
func (t *tally) count(failures []inspect.Failure, groups []inspect.Group) {
	if t.errors == nil {
		t.errors = map[errorKey]float64{}
	}
	for i := range failures {
		if f := &failures[i]; !f.Notice {
			t.errors[errorKey{brokerLabel(f.Broker), failureKind(f)}]++
		}
	}
	for i := range groups {
		for _, id := range groups[i].AlsoListedBy {
			t.errors[errorKey{strconv.Itoa(int(id)), "duplicate-group"}]++
		}
	}
}

// snapshotFailed counts a pass that nobody answered, with what came of each address,
// or whose answer is too old.
func (t *tally) snapshotFailed(err error) {
	t.count(failuresOf(err), nil)
	t.failed++
	if !errors.Is(err, errOlder) {
		t.errors[errorKey{"", "bootstrap"}]++
	}
}

func (t *tally) clone() tally {
	c := *t
	c.errors = maps.Clone(t.errors)
	return c
}

func brokerLabel(id inspect.Opt[inspect.BrokerID]) string {
	if n, ok := id.Get(); ok {
		return strconv.Itoa(int(n))
	}
	return ""
}

// failureKind is one of a few words: dial, tls, sasl, timeout, authorization,
// request.
func failureKind(f *inspect.Failure) string {
	switch {
	case f.Error == errOlder.Error():
		return "older"
	case strings.HasPrefix(f.Error, "no reply to "), strings.HasPrefix(f.Error, "no connection within "):
		return "timeout"
	case strings.HasSuffix(f.Error, "_AUTHORIZATION_FAILED"):
		return "authorization"
	}
	return strings.ToLower(string(f.Phase))
}

// selfMetrics are drawn at each scrape.
func selfMetrics() []metric[*self] { return append(ownMetrics(), storeMetrics()...) }

// storeMetrics are of --isr-store.
func storeMetrics() []metric[*self] {
	return []metric[*self]{
		{
			name: "kafkaops_isr_store_up", kind: gauge, unit: zeroOrOneUnit, since: first,
			help: "Whether what happens to ISRs is being kept in the file of --isr-store: not, where that cannot be written, or nothing has been read yet. " +
				"It is tried again, and what the metadata log still has then is no gap.",
			absent: "without --isr-store", use: "0 for minutes: the disk is full, say. The log says what is wrong.",
			draw: func(s *self, add addFunc) {
				if keeps, ok := s.keeps.Get(); ok {
					add(truth(keeps), "", "", "")
				}
			},
		},
	}
}

func ownMetrics() []metric[*self] {
	return []metric[*self]{
		{
			name: "kafkaops_up", kind: gauge, unit: zeroOrOneUnit, since: first,
			help:   "Whether the last collection was answered, if only in part, and what is served is no older than --max-age.",
			absent: "never", use: "0: nothing else here is to be believed to be well.",
			draw: func(s *self, add addFunc) { add(truth(s.up), "", "", "") },
		},
		{
			name: "kafkaops_collection_age_seconds", kind: gauge, unit: "seconds", since: first,
			help:   "Time since the collection that was answered last began. Older than --max-age, what it observed is no longer served.",
			absent: "before the first collection", use: "How old every other figure is.",
			draw: func(s *self, add addFunc) {
				if age, ok := s.age.Get(); ok {
					add(age.Seconds(), "", "", "")
				}
			},
		},
		{
			name: "kafkaops_collection_duration_seconds", kind: gauge, unit: "seconds", since: first,
			help:   "How long the last collection took, answered or not.",
			absent: "before the first collection", use: "Near --timeout: a broker is waited for.",
			draw: func(s *self, add addFunc) {
				if d, ok := s.duration.Get(); ok {
					add(d.Seconds(), "", "", "")
				}
			},
		},
		{
			name: "kafkaops_collections_total", kind: counter, labels: []string{"result"}, unit: "collections", since: first,
			help:   "Collections by result: complete, partial (something was refused or not answered), failed (nobody answered, or tells only an older state than was seen before).",
			absent: "never", use: "Whether the figures are whole.",
			draw: func(s *self, add addFunc) {
				add(s.complete, "complete", "", "")
				add(s.failed, "failed", "", "")
				add(s.partial, "partial", "", "")
			},
		},
		{
			name: "kafkaops_collection_errors_total", kind: counter, labels: []string{"broker", "kind"}, unit: "errors", since: first,
			help:   "What was asked and not answered, by broker (empty: the cluster as a whole) and kind: dial, tls, sasl, timeout, authorization, request, bootstrap (nobody answered; what came of each address is counted too), older (who answered tells an older state than was seen before), duplicate-group (a group that this broker lists and another one too).",
			absent: "a broker and kind that has not been", use: "Which fault makes a collection partial.",
			draw: func(s *self, add addFunc) {
				for _, k := range slices.SortedFunc(maps.Keys(s.errors), errorKey.compare) {
					add(s.errors[k], k.broker, k.kind, "")
				}
			},
		},
		{
			name: "kafkaops_requests_total", kind: counter, labels: []string{"request"}, unit: "requests", since: first,
			help:   "Requests sent to the cluster, by API.",
			absent: "an API that has not been asked", use: "What the exporter costs.",
			draw: func(s *self, add addFunc) {
				for _, name := range slices.Sorted(maps.Keys(s.requests)) {
					add(float64(s.requests[name]), name, "", "")
				}
			},
		},
		{
			name: "kafkaops_sample_interval_seconds", kind: gauge, unit: "seconds", since: first,
			help:   "Time between samples, which is how sharp lags in time are: --sample-interval, longer on a large cluster.",
			absent: "never", use: "How far to trust lags in time.",
			draw: func(s *self, add addFunc) { add(s.sampleInterval.Seconds(), "", "", "") },
		},
		{
			name: "kafkaops_build_info", kind: gauge, labels: []string{"version", "goversion"}, unit: "1", since: first,
			help:   "The exporter's version.",
			absent: "never", use: "Which version runs where.",
			draw: func(s *self, add addFunc) { add(1, s.version, runtime.Version(), "") },
		},
	}
}

func (k errorKey) compare(other errorKey) int {
	return cmp.Or(strings.Compare(k.broker, other.broker), strings.Compare(k.kind, other.kind))
}

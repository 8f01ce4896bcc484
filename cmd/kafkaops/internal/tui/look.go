package tui

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/advise"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
)

// Look is one look at a cluster with all that the screens say of it. Nobody changes it.
type Look struct {
	Snap    *inspect.Snapshot
	Verdict inspect.Verdict
	// Rows are all partitions, by topic and number.
	Rows []render.LagRow
	// keys are what Rows are sorted by.
	keys    []partitionKey
	Brokers []render.TopBroker
	// Groups are of the look at GroupsAt, which is seldom this one.
	Groups   []render.GroupRow
	GroupsAt time.Time
	// Report is the diagnosis at ReportAt; nil before the first.
	Report   *diagnose.Report
	ReportAt time.Time
	// Advice is what tune would say of what was seen so far; made with Report.
	Advice advise.Result
	// Slipping is what is in sync and does not keep up.
	Slipping slipping
	// Known are the stretches of which all changes of ISRs were told by then.
	Known []advise.Span
	// Looked is for how long and how often was looked.
	Looked time.Duration
	Looks  int
	// Trail are figures of the looks up to this one, the oldest first.
	Trail []point
	// Span is the scale of the bars of all rows.
	Span int64
	// NameWidth is that of the longest name.
	NameWidth int
}

// point is what one look adds to the sparklines; NaN is unknown.
type point struct {
	at                        time.Time
	appends, lag, uncommitted float64
	outOfSync, unhealthy      float64
}

const (
	// trailMost is how many points are kept: as many as the widest sparkline has cells.
	trailMost = 120
	// trendMs is over how long rates and trends go: what happens now.
	trendMs = 10_000
	// diagnoseEvery bounds what the rules cost: causes do not change faster.
	diagnoseEvery = 5 * time.Second
	// diagnoseLooks is over how many looks they are applied, and up to twice as many: two
	// cases take turns, so that what is over is forgotten. Both ask the one History.
	diagnoseLooks = 30
	// eventsBefore is how far back changes of ISRs count for a diagnosis, as for kafkaops
	// diagnose.
	eventsBefore = time.Hour
	// manyPartitions are so many that less is remembered of each: see history.DefaultSamples
	// for what a sample takes.
	manyPartitions = 5000
	fewSamples     = 24
)

// digest makes Looks of what a Source tells. It is one goroutine's at a time: that of the
// command that asks for the next look.
type digest struct {
	interval time.Duration
	past     *history.History
	cases    [2]*diagnose.Case
	advice   *advise.Collector
	// events are the changes of ISRs of the last eventsBefore, and known of which
	// stretches all are known.
	events []inspect.IsrEvent
	known  []advise.Span
	// loads are what brokers' own meters told last.
	loads map[inspect.BrokerID]loadSeen
	last  *Look
	began time.Time
	looks int
}

func newDigest(interval time.Duration) *digest { return &digest{interval: interval} }

// begin forgets all: the next look follows none.
func (d *digest) begin(s *inspect.Snapshot) {
	samples := 0
	if countPartitions(s) > manyPartitions {
		samples = fewSamples
	}
	*d = digest{
		interval: d.interval, past: history.New(samples), began: s.TakenAt,
		advice: advise.NewCollector(advise.Options{Interval: d.interval}),
	}
	d.cases[0] = d.newCase()
}

func countPartitions(s *inspect.Snapshot) (n int) {
	for i := range s.Topics {
		n += len(s.Topics[i].Partitions)
	}
	return n
}

func (d *digest) newCase() *diagnose.Case {
	return diagnose.New(diagnose.Options{Interval: d.interval, Past: d.past})
}

// look takes in the next one.
func (d *digest) look(seen *Seen) *Look {
	s := seen.Snap
	if d.past == nil || seen.Anew || d.last != nil && !d.last.Snap.ClusterID.Equal(s.ClusterID) {
		d.begin(s)
	}
	d.looks++
	d.past.Add(s)
	d.advice.Look(s)
	d.takeEvents(seen)
	if d.looks%diagnoseLooks == 0 && d.cases[1] == nil {
		d.cases[1] = d.newCase()
	}
	for _, c := range d.cases {
		if c != nil {
			c.Look(s)
		}
	}
	if c := d.cases[1]; c != nil && c.Looks() >= diagnoseLooks {
		d.cases[0], d.cases[1] = c, nil
	}
	l := &Look{Snap: s, Verdict: s.Verdict(), Looked: s.TakenAt.Sub(d.began), Looks: d.looks, Known: d.known}
	l.Rows = make([]render.LagRow, 0, countPartitions(s))
	for p := range s.Partitions {
		l.Rows = append(l.Rows, render.NewLagRow(p))
	}
	render.AddTimings(l.Rows, d.past, max(trendMs, 3*d.interval.Milliseconds()))
	l.keys = make([]partitionKey, len(l.Rows))
	for i := range l.Rows {
		l.keys[i] = newPartitionKey(&l.Rows[i])
		l.NameWidth = max(l.NameWidth, width(l.Rows[i].Name()))
	}
	l.Span = render.TopSpan(l.Rows)
	l.Brokers = render.TopBrokers(s, l.Rows)
	d.addLoads(l)
	l.Slipping = slippingOf(l.Rows, d.interval)
	d.groups(l)
	d.diagnose(l)
	d.trail(l)
	d.last = l
	return l
}

// loadSeen is what a broker's own meters told, and when.
type loadSeen struct {
	inspect.Load
	at time.Time
}

// loadGood is for how long that is shown: meters are read less often than looks are taken.
const loadGood = 30 * time.Second

// addLoads gives brokers what their meters told last. A look has only what is new.
func (d *digest) addLoads(l *Look) {
	if d.loads == nil {
		d.loads = map[inspect.BrokerID]loadSeen{}
	}
	for i := range l.Snap.Brokers {
		b := &l.Snap.Brokers[i]
		if load, ok := b.Load.Get(); ok {
			d.loads[b.ID] = loadSeen{load, l.Snap.TakenAt}
		}
	}
	for i := range l.Brokers {
		b := &l.Brokers[i]
		if seen, ok := d.loads[b.ID]; ok && l.Snap.TakenAt.Sub(seen.at) <= loadGood {
			b.Load = inspect.Known(seen.Load)
		}
	}
}

// groups are new where they were asked for, by the offsets of this very look: a commit
// beside offsets of later would look like a lag.
func (d *digest) groups(l *Look) {
	if !l.Snap.Asked.Has(inspect.PartGroups) {
		if d.last != nil {
			l.Groups, l.GroupsAt = d.last.Groups, d.last.GroupsAt
		}
		return
	}
	l.GroupsAt = l.Snap.TakenAt
	for _, lag := range l.Snap.GroupLags() {
		row := render.GroupRow{GroupLag: lag}
		row.AddTimes(d.past)
		l.Groups = append(l.Groups, row)
	}
}

// takeEvents takes in the changes of ISRs, behind the look: those of topics that it has not
// are of no use.
func (d *digest) takeEvents(seen *Seen) {
	for i := range seen.Events {
		d.advice.Event(&seen.Events[i])
	}
	d.known = seen.Known
	d.events = append(d.events, seen.Events...)
	first, from := 0, seen.Snap.TakenAt.Add(-eventsBefore)
	for first < len(d.events) && (d.events[first].Time.Before(from) || len(d.events)-first > eventsMost) {
		first++
	}
	d.events = append(d.events[:0], d.events[first:]...)
}

// tellEvents gives the case whose turn it is what it has to know of the changes before it
// began, and advice of which stretches none is missing.
func (d *digest) tellEvents(at time.Time) {
	d.advice.Known(d.known)
	if len(d.known) == 0 {
		return
	}
	last := d.known[len(d.known)-1]
	since := at.Add(-eventsBefore)
	if last.Since.After(since) {
		since = last.Since
	}
	if len(d.events) > 0 && len(d.events) >= eventsMost {
		since = d.events[0].Time // those before it were let go
	}
	events := d.events
	for len(events) > 0 && events[0].Time.Before(since) {
		events = events[1:]
	}
	d.cases[0].Events(events, since, last.Until)
}

// diagnose applies the rules, from time to time.
func (d *digest) diagnose(l *Look) {
	if d.last != nil && d.last.Report != nil && l.Snap.TakenAt.Sub(d.last.ReportAt) < diagnoseEvery {
		l.Report, l.ReportAt, l.Advice = d.last.Report, d.last.ReportAt, d.last.Advice
		return
	}
	d.tellEvents(l.Snap.TakenAt)
	others := append(advise.Findings(l.Snap, func(string, bool) bool { return true }), d.advice.FetchFindings()...)
	report := d.cases[0].Diagnose(others...)
	l.Report, l.ReportAt, l.Advice = &report, l.Snap.TakenAt, d.advice.Result()
}

// trail adds this look's figures to those before.
func (d *digest) trail(l *Look) {
	p := point{at: l.Snap.TakenAt, appends: math.NaN()}
	for i := range l.Rows {
		r := &l.Rows[i]
		p.uncommitted += float64(r.Lag.Uncommitted.Or(0))
		p.outOfSync += float64(len(r.Health.OutOfSync))
		for j := range r.Lag.Replicas {
			p.lag += float64(r.Lag.Replicas[j].Lag.Or(0))
		}
	}
	p.unhealthy = float64(len(l.Verdict.Unhealthy))
	if d.last != nil {
		p.appends = appended(d.last, l)
		l.Trail = d.last.Trail[max(0, len(d.last.Trail)+1-trailMost):]
	}
	l.Trail = append(slices.Clip(l.Trail), p)
}

// appended is how many records a second all leaders appended between two looks, as far as
// is known; NaN where of none.
func appended(before, after *Look) float64 {
	seconds := after.Snap.TakenAt.Sub(before.Snap.TakenAt).Seconds()
	if seconds <= 0 {
		return math.NaN()
	}
	sum, known := 0.0, false
	i := 0
	for j := range after.Rows {
		b := &after.Rows[j]
		for i < len(before.Rows) && compareRows(&before.Rows[i], b) < 0 {
			i++
		}
		if i == len(before.Rows) || compareRows(&before.Rows[i], b) != 0 {
			continue
		}
		from, ok := before.Rows[i].Lag.LEO.Get()
		to, also := b.Lag.LEO.Get()
		if ok && also && to >= from {
			sum, known = sum+float64(to-from), true
		}
	}
	if !known {
		return math.NaN()
	}
	return sum / seconds
}

func compareRows(a, b *render.LagRow) int {
	return cmp.Or(strings.Compare(a.Partition.Topic, b.Partition.Topic), cmp.Compare(a.Partition.Index, b.Partition.Index))
}

// row returns the row of a partition, or nil.
func (l *Look) row(tp inspect.TopicPartition) *render.LagRow {
	i, found := slices.BinarySearchFunc(l.Rows, tp, func(r render.LagRow, tp inspect.TopicPartition) int {
		return cmp.Or(strings.Compare(r.Partition.Topic, tp.Topic), cmp.Compare(r.Partition.Index, tp.Partition))
	})
	if !found {
		return nil
	}
	return &l.Rows[i]
}

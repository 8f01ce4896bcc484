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
	Rows    []render.LagRow
	Brokers []render.TopBroker
	// Groups are of the look at GroupsAt, which is seldom this one.
	Groups   []render.GroupRow
	GroupsAt time.Time
	// Report is the diagnosis at ReportAt; nil before the first.
	Report   *diagnose.Report
	ReportAt time.Time
	// Advice is what tune would say of what was seen so far; made with Report.
	Advice advise.Result
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
	last     *Look
	began    time.Time
	looks    int
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
	l := &Look{Snap: s, Verdict: s.Verdict(), Looked: s.TakenAt.Sub(d.began), Looks: d.looks}
	l.Rows = make([]render.LagRow, 0, countPartitions(s))
	for p := range s.Partitions {
		l.Rows = append(l.Rows, render.NewLagRow(p))
	}
	render.AddTimings(l.Rows, d.past, max(trendMs, 3*d.interval.Milliseconds()))
	for i := range l.Rows {
		l.NameWidth = max(l.NameWidth, width(l.Rows[i].Name()))
	}
	l.Span = render.TopSpan(l.Rows)
	l.Brokers = render.TopBrokers(s, l.Rows)
	d.groups(l)
	d.diagnose(l)
	d.trail(l)
	d.last = l
	return l
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

// diagnose applies the rules, from time to time.
func (d *digest) diagnose(l *Look) {
	if d.last != nil && d.last.Report != nil && l.Snap.TakenAt.Sub(d.last.ReportAt) < diagnoseEvery {
		l.Report, l.ReportAt, l.Advice = d.last.Report, d.last.ReportAt, d.last.Advice
		return
	}
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

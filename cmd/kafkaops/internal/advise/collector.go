package advise

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// Options say what to advise for.
type Options struct {
	// Interval is the time between two looks.
	Interval time.Duration
	Goal     tuning.Goal
	Budget   tuning.Budget
	// Keep picks topics; nil keeps all.
	Keep func(topic string, internal bool) bool
}

// Collector takes in what was seen.
type Collector struct {
	opts     Options
	replay   *tuning.LagReplay
	settings tuning.Settings
	racks    map[int32]string
	topics   map[string]*topic
	elr      bool
	// first and last are the times of the looks, gaps what lies between two that are too
	// far apart, ms.
	first, last int64
	looks       int
	gaps        []tuning.Span
	// known are the stretches of which all events are here; none where there are looks
	// alone.
	known []Span
	links links
	// times are those of the brokers' answers in this look.
	times []answered
	// fetching and session are settings beside those in settings: what followers fetch
	// with, and the name of the session timeout.
	fetching tuning.FetchHistory
	session  string
	// brokers are those that were there, controller the active one.
	brokers    []int32
	controller inspect.Opt[inspect.BrokerID]
	// told are the fencings by events, seen those by looks.
	told, seen fencings
	canary     *tuning.Canary
}

// Span is a stretch of time.
type Span struct{ Since, Until time.Time }

// topic is one, as it was last seen.
type topic struct {
	id         inspect.Opt[string]
	settings   tuning.TopicSettings
	partitions []partition
	changes    []change // by events
	acks       tuning.AcksEvidence
}

// change is an event's partition before and after it.
type change struct {
	created       bool
	before, after tuning.ISRState
}

// partition is one, as the last look had it, and how its ISR changed from look to look.
type partition struct {
	atMs   int64
	epoch  inspect.Opt[inspect.Epoch]
	acks   history.WeakAcks
	states []tuning.ISRState
	pace   pace
	track  *tuning.Track
}

// maxGap is how many intervals may lie between two looks of one stretch.
const maxGap = 5

// NewCollector begins.
func NewCollector(o Options) *Collector {
	return &Collector{
		opts: o, topics: map[string]*topic{}, racks: map[int32]string{},
		replay: tuning.NewLagReplay(tuning.LagOptions{IntervalMs: o.Interval.Milliseconds()}),
	}
}

// Look takes in a look, which it does not keep. They come in the order of their times.
func (c *Collector) Look(s *inspect.Snapshot) {
	at := s.TakenAt.UnixMilli()
	if c.looks == 0 {
		c.first, c.links.fromMs = at, at
	} else if at-c.last > maxGap*c.opts.Interval.Milliseconds() {
		c.gaps = append(c.gaps, tuning.Span{FromMs: c.last, ToMs: at})
	}
	dt := at - c.last
	c.last = at
	c.looks++
	c.seen.look(s, at)
	c.takeTimes(s)
	whole := c.looks == 1 || s.Asked.Has(inspect.PartConfigs)
	if whole {
		c.takeSettings(s)
	}
	for i := range s.Topics {
		t := &s.Topics[i]
		if c.opts.Keep != nil && !c.opts.Keep(t.Name, t.Internal) {
			continue
		}
		mine := c.topics[t.Name]
		if mine == nil || mine.id != t.ID {
			mine = &topic{id: t.ID, acks: tuning.AcksEvidence{Topic: t.Name}}
			c.topics[t.Name] = mine
			mine.take(t)
		} else if whole {
			mine.take(t)
		}
		for j := range t.Partitions {
			c.lookAt(mine, &t.Partitions[j], at)
		}
	}
	c.links.endLook(dt)
	c.endStretch(at)
}

func (t *topic) take(in *inspect.Topic) {
	t.settings = tuning.TopicSettings{Topic: in.Name, MinISR: int(in.MinInsyncReplicas.Or(0)), Unclean: in.UncleanElection.Or(false)}
	for _, c := range in.Configs.Or(nil) {
		if c.Name == "min.insync.replicas" && c.Source == inspect.SourceTopic {
			t.settings.OfTopic = true
		}
	}
}

// answered is when a broker told the log end offsets of what it leads, and of what it
// follows, ms; 0 where it did not, or the look does not say.
type answered struct {
	broker               inspect.BrokerID
	leaderMs, followerMs int64
}

func (c *Collector) takeTimes(s *inspect.Snapshot) {
	c.times = c.times[:0]
	for i := range s.Brokers {
		b := &s.Brokers[i]
		c.times = append(c.times, answered{b.ID, ms(b.LeaderLEOsAt), ms(b.FollowerLEOsAt)})
	}
}

// answered is by a search from the beginning: brokers are few, and it is asked for each
// replica of each look.
func (c *Collector) answered(id inspect.BrokerID) answered {
	for _, a := range c.times {
		if a.broker == id {
			return a
		}
	}
	return answered{}
}

func ms(t inspect.Opt[time.Time]) int64 {
	at, ok := t.Get()
	if !ok {
		return 0
	}
	return at.UnixMilli()
}

func (c *Collector) lookAt(t *topic, in *inspect.Partition, at int64) {
	for int(in.Index) >= len(t.partitions) {
		t.partitions = append(t.partitions, partition{})
	}
	p := &t.partitions[in.Index]
	if now := (tuning.ISRState{AtMs: at, Partition: in.Index, Leader: int32(in.Leader)}); len(p.states) == 0 || !p.is(in) {
		now.Replicas, now.ISR = ids(in.Replicas), ids(in.ISR)
		p.states = append(p.states, now)
	}
	if in.Offsets == nil {
		return
	}
	// One that stands still holds up who is asked after it: a look is not of the moment at
	// which it began.
	ledAt := cmp.Or(c.answered(in.Leader).leaderMs, at)
	look := tuning.Look{
		AtMs: ledAt, BeganMs: at, Leader: int32(in.Leader), LeaderEpoch: tuning.Unknown,
		LEO: int64(in.Offsets.LEOBefore.Or(tuning.Unknown)), HW: int64(in.Offsets.HW.Or(tuning.Unknown)),
	}
	if epoch, ok := in.LeaderEpoch.Get(); ok {
		look.LeaderEpoch = int32(epoch)
	}
	var room [8]tuning.FollowerLook
	look.Followers = room[:0]
	for i := range in.Offsets.Followers {
		f := &in.Offsets.Followers[i]
		look.Followers = append(look.Followers, tuning.FollowerLook{
			Broker: int32(f.Broker), LEO: int64(f.LEO.Or(tuning.Unknown)), AtMs: c.answered(f.Broker).followerMs, InISR: slices.Contains(in.ISR, f.Broker),
		})
	}
	if p.track == nil {
		p.track = c.replay.Track(tuning.Partition{Topic: in.Topic, Index: in.Index})
	}
	p.track.Add(&look)
	c.weighAcks(t, p, in, at)
	c.follow(&p.pace, in, ledAt)
}

// weighAcks counts for how long the ISR was below its minimum, and what proves weak acks.
func (c *Collector) weighAcks(t *topic, p *partition, in *inspect.Partition, at int64) {
	least, ok := in.MinInsyncReplicas.Get()
	appended := p.acks.Add(history.WeakAcksLook{
		Under:  ok && in.Leader != inspect.NoBroker && len(in.ISR) < min(int(least), len(in.Replicas)),
		GoesOn: p.epoch == in.LeaderEpoch && at-p.atMs <= maxGap*c.opts.Interval.Milliseconds(),
		Looks:  1, LEO: in.Offsets.LEOBefore,
	})
	t.acks.AppendedUnderMinISR += appended
	if p.acks.Certain() {
		t.acks.UnderMinISRMs += at - p.atMs
	}
	p.atMs, p.epoch = at, in.LeaderEpoch
}

// is reports whether the ISR and who decides about it are as in the last state.
func (p *partition) is(in *inspect.Partition) bool {
	last := &p.states[len(p.states)-1]
	return last.Leader == int32(in.Leader) && same(last.ISR, in.ISR) && same(last.Replicas, in.Replicas)
}

func same(a []int32, b []inspect.BrokerID) bool {
	return slices.EqualFunc(a, b, func(a int32, b inspect.BrokerID) bool { return a == int32(b) })
}

func ids(in []inspect.BrokerID) []int32 {
	out := make([]int32, len(in))
	for i, id := range in {
		out[i] = int32(id)
	}
	return out
}

// Event takes in a change of an ISR. They come in their order, all of those that lie in
// what Known names.
func (c *Collector) Event(e *inspect.IsrEvent) {
	c.told.event(e)
	t := c.topics[e.Topic]
	if t == nil {
		return // it is gone, or was not asked for
	}
	at := e.Time.UnixMilli()
	ch := change{
		created: e.Type == inspect.IsrCreate,
		before:  tuning.ISRState{AtMs: at, Partition: e.Partition, Leader: int32(e.Leader), Replicas: ids(e.Replicas), ISR: ids(e.ISRBefore)},
		after:   tuning.ISRState{AtMs: at, Partition: e.Partition, Leader: int32(e.Leader), Replicas: ids(e.Replicas), ISR: ids(e.ISR)},
	}
	if e.Type == inspect.IsrLeader && len(e.Brokers) > 0 {
		ch.before.Leader = int32(e.Brokers[0])
	}
	t.changes = append(t.changes, ch)
}

// Known says for which stretches of time all events were told. Call it once, when the
// looks and the events are in.
func (c *Collector) Known(spans []Span) { c.known = spans }

// Canary takes in what was measured by writing.
func (c *Collector) Canary(m *tuning.Canary) { c.canary = m }

// Looks is how many there were.
func (c *Collector) Looks() int { return c.looks }

// Last is when the last look was.
func (c *Collector) Last() time.Time { return time.UnixMilli(c.last).UTC() }

// Result is what there is to say.
type Result struct {
	Advice   []tuning.Advice
	Findings []tuning.Finding
}

// Result advises on what was taken in so far.
func (c *Collector) Result() Result {
	var r Result
	lag := c.replay.Result()
	fetch := c.fetchHistory()
	r.Advice = append(r.Advice, tuning.AdviseLagTime(&lag, c.settings, c.opts.Goal, c.opts.Budget),
		tuning.AdviseSession(c.fencingHistory(), c.opts.Budget), tuning.AdviseFetchers(fetch), tuning.AdviseFetchBytes(fetch))
	acks := 0
	for _, name := range slices.Sorted(maps.Keys(c.topics)) {
		t := c.topics[name]
		h := c.history(t)
		s := t.settings
		s.ELR = c.elr
		r.Advice = append(r.Advice, tuning.AdviseMinISR(h, s, c.opts.Budget))
		replay := h.Replay()
		r.Findings = append(r.Findings, tuning.FindTopic(s, replay.MinRF, replay.AssignedRacks)...)
		if t.acks.UnderMinISRMs > 0 {
			acks++
			t.acks.WindowMs = c.last - c.first
			r.Advice = append(r.Advice, tuning.AdviseAcks(t.acks))
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b tuning.Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Title, b.Title), cmp.Compare(a.Topic, b.Topic))
	})
	if acks == 0 || c.canary != nil {
		r.Advice = append(r.Advice, tuning.AdviseAcks(tuning.AcksEvidence{WindowMs: c.last - c.first, Canary: c.canary}))
	}
	return r
}

// history is the topic's, by its events where they are known, else from look to look.
func (c *Collector) history(t *topic) *tuning.ISRHistory {
	h := &tuning.ISRHistory{Topic: t.settings.Topic, FromMs: c.first, ToMs: c.last, Gaps: c.gaps, Racks: c.racks}
	if len(c.known) == 0 {
		for i := range t.partitions {
			h.States = append(h.States, t.partitions[i].states...)
		}
		sortStates(h.States)
		return h
	}
	h.FromMs, h.Gaps = c.known[0].Since.UnixMilli(), nil
	until := h.FromMs
	for _, k := range c.known {
		if since := k.Since.UnixMilli(); since > until {
			h.Gaps = append(h.Gaps, tuning.Span{FromMs: until, ToMs: since})
		}
		until = max(until, k.Until.UnixMilli())
	}
	h.ToMs = max(until, c.last) // a log in which nothing happens has no newer record
	h.States = t.statesFrom(h.FromMs)
	return h
}

// statesFrom are the partitions' states by their events; before the first one, and where
// there is none, a partition was as that or the first look says.
func (t *topic) statesFrom(fromMs int64) []tuning.ISRState {
	by := make([][]tuning.ISRState, len(t.partitions))
	for _, ch := range t.changes {
		i := int(ch.after.Partition)
		if i >= len(by) {
			continue
		}
		switch {
		case ch.created:
			by[i] = nil // what was before had only its name
		case len(by[i]) == 0:
			before := ch.before
			before.AtMs = fromMs
			by[i] = append(by[i], before)
		}
		by[i] = append(by[i], ch.after)
	}
	var all []tuning.ISRState
	for i := range by {
		if len(by[i]) == 0 && len(t.partitions[i].states) > 0 {
			first := t.partitions[i].states[0]
			first.AtMs = min(first.AtMs, fromMs)
			by[i] = append(by[i], first)
		}
		all = append(all, by[i]...)
	}
	sortStates(all)
	return all
}

func sortStates(s []tuning.ISRState) {
	slices.SortStableFunc(s, func(a, b tuning.ISRState) int { return cmp.Compare(a.AtMs, b.AtMs) })
}

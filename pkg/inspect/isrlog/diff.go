package isrlog

import (
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Diff compares one look at a cluster's metadata with the one before, and tells what
// must have happened in between: a lower bound, for what was undone in between is not
// seen. It is pure.
//
// The first look at a partition tells nothing. Brokers do not all know the same: one
// that was paused or cut off tells an older state than the one that was asked before
// it. A look with a leader epoch below one that was seen is older as a whole, and is
// passed over. Where another address tells than before, and no epoch says that it is
// newer, a change has to stand in two looks. A look that nobody is said to have told is
// the controller's own ([Replay.Look]).
type Diff struct {
	topics map[string]*lookedTopic
	// looked is when the last look was, toldBy who told it, and older how many in a
	// row were older.
	looked   time.Time
	toldBy   string
	older    int
	restarts int
}

type lookedTopic struct {
	id         inspect.Opt[string]
	partitions []*looked
	minISR     inspect.Opt[int32]
	at         time.Time
	// missing: it was not in the last look.
	missing bool
}

// looked is a partition at the last look.
type looked struct {
	state
	epoch            inspect.Opt[inspect.Epoch]
	elrKnown, moving bool // moving: adding and removing are known
	// joining are replicas that have been assigned since the first look, and have not been
	// in the ISR since: no look need tell that they are being added.
	joining []inspect.BrokerID
	// clean are those whose election loses nothing that was committed: the ISR and
	// the ELR. Where sure, there are no others; with an ELR it can be empty.
	clean []inspect.BrokerID
	sure  bool
	// least is the effective min ISR of the last whole look, 0 where unknown;
	// neverUnclean: by it unclean.leader.election.enable is false.
	least        int
	neverUnclean bool
	out          []absence
}

const (
	// forgetAfter is how long a topic that is not told of any more is remembered: a
	// look that missed it is no deletion.
	forgetAfter = 5 * time.Minute
	// maxOlder is for how many looks in a row an older state is passed over. One that
	// goes on for longer is what there is: a cluster that was restored from a copy.
	maxOlder = 60
)

// NewDiff returns one that has seen nothing yet.
func NewDiff() *Diff { return &Diff{topics: map[string]*lookedTopic{}} }

// Look takes a look, and returns what must have happened since the one before, by
// topic and partition. whole says that all topics there are were asked for, so that one
// that is missing is gone.
func (d *Diff) Look(s *inspect.Snapshot, whole bool) []inspect.IsrEvent {
	if d.passOver(s) {
		return nil
	}
	l := &look{diff: d, snap: s, another: s.ToldBy != "" && d.toldBy != s.ToldBy, first: d.looked.IsZero()}
	for i := range s.Topics {
		if t := &s.Topics[i]; t.Error == "" {
			l.topic(t, whole)
		}
	}
	if whole {
		l.missing()
	}
	d.looked, d.toldBy = s.TakenAt, s.ToldBy
	for name, t := range d.topics {
		if s.TakenAt.Sub(t.at) > forgetAfter {
			delete(d.topics, name)
		}
	}
	return l.events
}

// Rebase makes s the last look, whatever it is older or newer than, and tells nothing:
// up to there somebody else has told. What the next look has otherwise has to stand in
// two, for a broker may be behind.
func (d *Diff) Rebase(s *inspect.Snapshot) {
	l := &look{diff: d, snap: s}
	for i := range s.Topics {
		t := &s.Topics[i]
		seen := d.topics[t.Name]
		if seen == nil || seen.id.IsKnown() && t.ID.IsKnown() && seen.id != t.ID {
			seen = &lookedTopic{}
			d.topics[t.Name] = seen
		}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			was := seen.partition(p.Index)
			now := l.lookAt(p, t, was)
			if was != nil {
				now.absences(was, s.TakenAt)
			}
			seen.set(p.Index, now)
		}
		seen.id, seen.at, seen.missing = t.ID, s.TakenAt, false
	}
	d.looked, d.toldBy, d.older = s.TakenAt, s.ToldBy, 0
}

// IsOlder reports a look that [Diff.Look] would pass over: it is older than one before.
func (d *Diff) IsOlder(s *inspect.Snapshot) bool { return d.older < maxOlder && d.isOlder(s) }

// passOver reports whether the look is older than one before, and forgets what was
// seen where that lasts.
func (d *Diff) passOver(s *inspect.Snapshot) bool {
	if !d.isOlder(s) {
		d.older = 0
		return false
	}
	d.older++
	if d.older <= maxOlder {
		return true
	}
	restarts := d.restarts + 1
	*d = *NewDiff()
	d.restarts = restarts
	return false
}

// Restarts is how often everything that was seen was forgotten, for what was told was
// older for so long that it must be what there is: a cluster was restored from a copy.
func (d *Diff) Restarts() int { return d.restarts }

func (d *Diff) isOlder(s *inspect.Snapshot) bool {
	for i := range s.Topics {
		t := &s.Topics[i]
		seen := d.topics[t.Name]
		if seen == nil || !t.ID.IsKnown() || seen.id != t.ID {
			continue
		}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			if was := seen.partition(p.Index); was != nil && below(p.LeaderEpoch, was.epoch) {
				return true
			}
		}
	}
	return false
}

// below reports a < b, where both are known.
func below(a, b inspect.Opt[inspect.Epoch]) bool {
	x, known := a.Get()
	y, too := b.Get()
	return known && too && x < y
}

func (t *lookedTopic) partition(index int32) *looked {
	if int(index) >= len(t.partitions) {
		return nil
	}
	return t.partitions[index]
}

// set keeps p in place of what was there: there is a look every second, and nothing
// has changed in most.
func (t *lookedTopic) set(index int32, p looked) {
	if n := int(index) + 1; n > len(t.partitions) {
		t.partitions = append(t.partitions, make([]*looked, n-len(t.partitions))...)
	}
	if t.partitions[index] == nil {
		t.partitions[index] = &looked{}
	}
	*t.partitions[index] = p
}

// look is one look in the making.
type look struct {
	diff    *Diff
	snap    *inspect.Snapshot
	another bool // told by another than the one before
	first   bool
	events  []inspect.IsrEvent
}

func (l *look) topic(t *inspect.Topic, whole bool) {
	seen := l.diff.topics[t.Name]
	if seen != nil && seen.id.IsKnown() && t.ID.IsKnown() && seen.id != t.ID { // created anew
		l.deleted(t.Name, seen)
		seen = nil
	}
	created := seen == nil && whole && !l.first
	if seen == nil {
		seen = &lookedTopic{}
		l.diff.topics[t.Name] = seen
	}
	// A topic's other partitions were there before this one came.
	grown := created || len(seen.partitions) > 0
	changed := seen.minISR.IsKnown() && t.MinInsyncReplicas.IsKnown() && seen.minISR != t.MinInsyncReplicas
	for i := range t.Partitions {
		p := &t.Partitions[i]
		was := seen.partition(p.Index)
		now := l.lookAt(p, t, was)
		switch {
		case was == nil && grown:
			l.tell(p.Topic, p.Index, &looked{state: state{leader: inspect.NoBroker}}, &now, inspect.IsrCreate, inspect.CauseTopicCreated, now.replicas)
		case was == nil:
		case was.same(&now):
			now.out = was.out
		case l.another && was.differs(&now):
			continue // it has to stand in the next look too
		default:
			l.compare(p, was, &now, changed)
		}
		seen.set(p.Index, now)
	}
	seen.id, seen.at, seen.missing = t.ID, l.snap.TakenAt, false
	if t.MinInsyncReplicas.IsKnown() {
		seen.minISR = t.MinInsyncReplicas
	}
}

// same reports a state of which nothing is to be told.
func (p *looked) same(now *looked) bool {
	return p.leader == now.leader && p.epoch == now.epoch && p.elrKnown == now.elrKnown && p.moving == now.moving &&
		slices.Equal(p.isr, now.isr) && slices.Equal(p.replicas, now.replicas) &&
		slices.Equal(p.elr, now.elr) && slices.Equal(p.lastKnown, now.lastKnown) &&
		slices.Equal(p.adding, now.adding) && slices.Equal(p.removing, now.removing)
}

// differs reports a state that is not that of the last look, and that no leader epoch
// says is newer.
func (p *looked) differs(now *looked) bool {
	return !below(p.epoch, now.epoch) && (p.leader != now.leader || !slices.Equal(p.isr, now.isr))
}

// missing tells of topics that two looks in a row have not seen.
func (l *look) missing() {
	var gone []string
	for name, t := range l.diff.topics {
		if t.at.Equal(l.snap.TakenAt) {
			continue
		}
		if t.missing {
			gone = append(gone, name)
		}
		t.missing = true
	}
	slices.Sort(gone)
	for _, name := range gone {
		l.deleted(name, l.diff.topics[name])
		delete(l.diff.topics, name)
	}
}

func (l *look) deleted(name string, t *lookedTopic) {
	for i, was := range t.partitions {
		if was == nil {
			continue
		}
		gone := &looked{state: state{leader: inspect.NoBroker}, epoch: was.epoch}
		l.tell(name, int32(i), was, gone, inspect.IsrDelete, inspect.CauseTopicDeleted, was.replicas)
	}
}

// lookAt is the partition as this look has it, and what the last one knew better.
func (l *look) lookAt(p *inspect.Partition, t *inspect.Topic, was *looked) looked {
	now := looked{
		state: state{replicas: p.Replicas, isr: p.ISR, leader: p.Leader}, epoch: p.LeaderEpoch,
	}
	if was != nil {
		now.joining = minus(append(minus(was.joining, minus(was.joining, p.Replicas)), minus(p.Replicas, was.replicas)...), p.ISR)
		now.adding, now.removing, now.moving = was.adding, was.removing, was.moving
		now.least, now.neverUnclean = was.least, was.neverUnclean
	}
	now.elr, now.elrKnown = p.ELR.Get()
	now.lastKnown = p.LastKnownELR.Or(nil)
	adding, known := p.Adding.Get()
	removing, too := p.Removing.Get()
	if known && too {
		now.adding, now.removing, now.moving = adding, removing, true
	}
	if least, ok := p.MinInsyncReplicas.Get(); ok {
		now.least = min(int(least), len(p.Replicas))
	}
	if may, told := t.UncleanElection.Get(); told {
		now.neverUnclean = !may
	}
	now.rememberClean(was, l.snap.KeepsELR.Or(false))
	return now
}

// rememberClean: a look that an election falls into tells a leaderless partition and
// not its ELR, for that is asked a moment later: what was told before stands. Within a
// leader epoch without a leader replicas leave the ISR and the ELR, and none comes.
func (p *looked) rememberClean(was *looked, keepsELR bool) {
	switch {
	case p.leader != inspect.NoBroker:
		p.clean, p.sure = p.isr, len(p.isr) > 0
	case p.elrKnown:
		p.clean, p.sure = union(p.isr, p.elr), true
	case keepsELR && was != nil:
		p.clean = was.clean
		p.sure = was.sure && was.leader == inspect.NoBroker && p.epoch.IsKnown() && p.epoch == was.epoch
	case len(p.isr) > 0 && !keepsELR:
		p.clean, p.sure = p.isr, true
	}
}

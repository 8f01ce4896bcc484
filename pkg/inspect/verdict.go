package inspect

import "slices"

// Level is the verdict over a cluster, in one word.
type Level string

// The levels, worst first.
const (
	// LevelUnavailable: some partition has no leader.
	LevelUnavailable Level = "unavailable"
	// LevelAtRisk: some partition refuses acks=all, or has one in-sync copy left
	// of several, or the controllers cannot lose another voter or have no leader.
	LevelAtRisk Level = "at-risk"
	// LevelDegraded: a replica is missing somewhere, or a broker does not answer.
	LevelDegraded Level = "degraded"
	// LevelUnknown: an answer that the verdict needs is missing, and nothing
	// worse was seen.
	LevelUnknown Level = "unknown"
	// LevelOK: none of the above.
	LevelOK Level = "ok"
)

// Verdict is the answer to "is anything at risk right now?".
type Verdict struct {
	Level Level
	// Reasons are sentences without a full stop, the worst first; empty when ok.
	Reasons []string
	Counts  Counts
	// Unhealthy are the partitions with offline, under-min-isr, at-min-isr,
	// under-replicated or unknown among their words, sorted by topic and index.
	Unhealthy []Judged
	// Findings are weaknesses that are built in; they never change the level.
	Findings []Finding
}

// levelOrder is the order of the levels, worst first.
var levelOrder = [...]Level{LevelUnavailable, LevelAtRisk, LevelDegraded, LevelUnknown, LevelOK}

// Worsen adds a reason from outside the Snapshot's own rules, such as a limit
// that was asked for, and lowers the level to at most l.
func (v *Verdict) Worsen(l Level, reason string) {
	v.Reasons = append(v.Reasons, reason)
	if slices.Index(levelOrder[:], l) < slices.Index(levelOrder[:], v.Level) {
		v.Level = l
	}
}

// Judged is a partition beside its health.
type Judged struct {
	*Partition
	Health Health
}

// Counts counts partitions by status word. A partition counts under every word
// it has.
type Counts struct {
	Topics, Partitions             int
	Offline, UnderMinISR, AtMinISR int
	UnderReplicated, Unknown       int
	WrongLeader, Reassigning       int
	// Copying counts replicas that are being added and not in the ISR yet.
	Copying                                       int
	OneCopyLeft                                   int
	SingleReplica, NoHeadroom, MinISRExceedsRF    int
	BrokersRegistered, BrokersSilent, BrokersGone int
	// BrokersFenced are registered too and not among BrokersRegistered; unknown
	// where the cluster does not tell (before Kafka 4.0).
	BrokersFenced Opt[int]
}

// Finding is a weakness by construction, with the topics that have it.
type Finding struct {
	ID    FindingID `json:"id"`
	Title string    `json:"title"`
	// Topics is sorted by name; empty where it is not of topics.
	Topics []string `json:"topics"`
}

// Verdict judges the whole Snapshot by the words of [Partition.Health].
// Leadership away from the preferred leader, reassignments and missing headroom
// never change the level.
func (s *Snapshot) Verdict() Verdict {
	e := evidence{s: s, outOf: map[BrokerID]int{}, inISR: map[BrokerID]int{}, leads: map[BrokerID]int{}}
	for p := range s.Partitions {
		e.add(p)
	}
	e.addBrokers()
	e.counts.Topics = len(s.Topics)
	level, reasons := e.reasons()
	return Verdict{
		Level: level, Reasons: reasons, Counts: e.counts,
		Unhealthy: e.unhealthy, Findings: e.findings(),
	}
}

// evidence is what the verdict is drawn from, collected in one walk.
type evidence struct {
	s         *Snapshot
	counts    Counts
	unhealthy []Judged
	// outOf, inISR and leads count, for each broker, the partitions whose ISR it is
	// missing from, those in whose ISR it follows another, and those that it leads.
	outOf, inISR, leads map[BrokerID]int
	// outs is the sum of outOf.
	outs                         int
	single, noHeadroom, minAbove topicNames
	silent                       []*Broker
	gone                         []BrokerID
	// noMin and noMoves count partitions whose min.insync.replicas or reassignment
	// is unknown.
	noMin, noMoves int
}

// topicNames collects names that arrive sorted, each once.
type topicNames []string

func (t *topicNames) add(name string) {
	if n := len(*t); n == 0 || (*t)[n-1] != name {
		*t = append(*t, name)
	}
}

func (e *evidence) add(p *Partition) {
	h := p.Health()
	c := &e.counts
	c.Partitions++
	for _, word := range h.Status {
		switch word {
		case StatusOffline:
			c.Offline++
		case StatusUnderMinISR:
			c.UnderMinISR++
		case StatusAtMinISR:
			c.AtMinISR++
		case StatusUnderReplicated:
			c.UnderReplicated++
		case StatusUnknown:
			c.Unknown++
		case StatusWrongLeader:
			c.WrongLeader++
		case StatusReassigning:
			c.Reassigning++
		}
	}
	if p.Reassigning() {
		for _, id := range p.Adding.Or(nil) {
			if !slices.Contains(p.ISR, id) {
				c.Copying++
			}
		}
	}
	if !p.MinInsyncReplicas.IsKnown() {
		e.noMin++
	}
	if !p.Adding.IsKnown() {
		e.noMoves++
	}
	if p.OneCopyLeft() {
		c.OneCopyLeft++
	}
	for _, id := range h.OutOfSync {
		e.outOf[id]++
		e.outs++
	}
	e.leads[p.Leader]++
	for _, id := range p.ISR {
		if id != p.Leader {
			e.inISR[id]++
		}
	}
	for _, f := range h.Findings {
		switch f {
		case FindingSingleReplica:
			c.SingleReplica++
			e.single.add(p.Topic)
		case FindingNoHeadroom:
			if len(p.Replicas) == 1 {
				continue // said, and worse, as a single replica
			}
			c.NoHeadroom++
			e.noHeadroom.add(p.Topic)
		case FindingMinISRExceedsRF:
			c.MinISRExceedsRF++
			e.minAbove.add(p.Topic)
		}
	}
	if h.Unhealthy() {
		e.unhealthy = append(e.unhealthy, Judged{p, h})
	}
}

func (e *evidence) addBrokers() {
	hosts := map[BrokerID]bool{}
	for i := range e.s.Brokers {
		b := &e.s.Brokers[i]
		if fenced, told := b.Fenced.Get(); told {
			n := e.counts.BrokersFenced.Or(0)
			if fenced {
				n++
			}
			e.counts.BrokersFenced = Known(n)
		}
		if b.Fenced.Or(false) {
			continue
		}
		hosts[b.ID] = true
		e.counts.BrokersRegistered++
		if up, asked := b.Reachable.Get(); asked && !up {
			e.silent = append(e.silent, b)
			e.counts.BrokersSilent++
		}
	}
	e.gone = e.s.missingHosts(hosts)
	e.counts.BrokersGone = len(e.gone)
}

// missingHosts are brokers that replicas are assigned to and that the cluster
// does not list as alive: stopped, fenced or never started. Sorted.
func (s *Snapshot) missingHosts(alive map[BrokerID]bool) []BrokerID {
	seen := map[BrokerID]bool{}
	var gone []BrokerID
	for p := range s.Partitions {
		for _, id := range p.Replicas {
			if !alive[id] && !seen[id] {
				seen[id] = true
				gone = insertSorted(gone, id)
			}
		}
	}
	return gone
}

func insertSorted(ids []BrokerID, id BrokerID) []BrokerID {
	at := len(ids)
	for at > 0 && ids[at-1] > id {
		at--
	}
	ids = append(ids, id)
	copy(ids[at+1:], ids[at:])
	ids[at] = id
	return ids
}

package status

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// State is what the page says of one look.
type State struct {
	// Cluster is its id, TakenAt when the look began.
	Cluster string
	TakenAt time.Time
	Level   inspect.Level
	Reasons []string
	Counts  inspect.Counts
	// Partitions are the unhealthy ones, the worst first.
	Partitions []Partition
	Brokers    []Broker
	// Uncommitted is LEO − HW of all partitions, as far as it is known.
	Uncommitted int64
}

// Partition is one that is unhealthy.
type Partition struct {
	Name     string
	Status   []inspect.Status
	Leader   string
	ISR, Out []inspect.BrokerID
	Loss
	// Uncommitted is LEO − HW in records.
	Uncommitted inspect.Opt[int64]
}

// Broker is one that is registered, or that replicas are assigned to.
type Broker struct {
	ID      inspect.BrokerID
	Address string
	// State is up, fenced, silent or gone.
	State string
	// Leads are the partitions that it leads, Out its replicas that are not in the ISR.
	Leads, Out int
	// Uncommitted is LEO − HW of what it leads, Lag the largest of the replicas that it
	// follows with, at the last look that read them.
	Uncommitted int64
	Lag         inspect.Opt[int64]
	Dirs        []Dir
	Timeline    []Cell
}

// Dir is a log directory. Used is a share, 0 to 1.
type Dir struct {
	Path    string
	Offline bool
	Used    inspect.Opt[float64]
	Usable  inspect.Opt[int64]
}

// The states of a broker.
const (
	stateUp, stateFenced, stateSilent, stateGone = "up", "fenced", "does not answer", "gone"
)

// New judges a look; m may be nil.
func New(s *inspect.Snapshot, m *Memory) *State {
	if m == nil {
		m = &Memory{}
	}
	v := s.Verdict()
	out := &State{Cluster: s.ClusterID.Or("without an id"), TakenAt: s.TakenAt, Level: v.Level, Reasons: v.Reasons, Counts: v.Counts}
	brokers := map[inspect.BrokerID]*Broker{}
	of := func(id inspect.BrokerID) *Broker {
		if brokers[id] == nil {
			brokers[id] = &Broker{ID: id, State: stateGone, Lag: m.lag(id), Timeline: m.timeline(id, s.TakenAt)}
		}
		return brokers[id]
	}
	for i := range s.Brokers {
		of(s.Brokers[i].ID).take(&s.Brokers[i])
	}
	for p := range s.Partitions {
		lag := p.Lag()
		uncommitted := lag.Uncommitted.Or(0)
		out.Uncommitted += uncommitted
		if p.Leader != inspect.NoBroker {
			b := of(p.Leader)
			b.Leads++
			b.Uncommitted += uncommitted
		}
		for _, id := range p.Replicas {
			of(id)
		}
		if len(p.ISR) < len(p.Replicas) {
			for _, id := range p.Health().OutOfSync {
				of(id).Out++
			}
		}
	}
	for i := range v.Unhealthy {
		j := &v.Unhealthy[i]
		p := Partition{
			Name: j.Topic + "-" + strconv.Itoa(int(j.Index)), Status: j.Health.Status, Leader: "none",
			ISR: j.ISR, Out: j.Health.OutOfSync, Loss: m.lost[inspect.TopicPartition{Topic: j.Topic, Partition: j.Index}], Uncommitted: j.Lag().Uncommitted,
		}
		if j.Leader != inspect.NoBroker {
			p.Leader = strconv.Itoa(int(j.Leader))
		}
		out.Partitions = append(out.Partitions, p)
	}
	slices.SortStableFunc(out.Partitions, func(a, b Partition) int { return cmp.Compare(a.rank(), b.rank()) })
	for _, b := range brokers {
		out.Brokers = append(out.Brokers, *b)
	}
	slices.SortFunc(out.Brokers, func(a, b Broker) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// rank is where a partition stands, 0 for the worst.
func (p *Partition) rank() int {
	worst := []inspect.Status{inspect.StatusOffline, inspect.StatusUnderMinISR, inspect.StatusAtMinISR, inspect.StatusUnderReplicated}
	for i, s := range worst {
		if slices.Contains(p.Status, s) {
			return i
		}
	}
	return len(worst)
}

func (b *Broker) take(in *inspect.Broker) {
	b.Address = in.Address()
	switch reachable, asked := in.Reachable.Get(); {
	case in.Fenced.Or(false):
		b.State = stateFenced
	case asked && !reachable:
		b.State = stateSilent
	default:
		b.State = stateUp
	}
	for _, d := range in.LogDirs.Or(nil) {
		dir := Dir{Path: d.Path, Offline: d.Error != "", Usable: d.UsableBytes}
		total, known := d.TotalBytes.Get()
		usable, told := d.UsableBytes.Get()
		if known && told && total > 0 {
			dir.Used = inspect.Known(1 - float64(usable)/float64(total))
		}
		b.Dirs = append(b.Dirs, dir)
	}
}

// Filter picks partitions: by a regular expression, or by what is contained where it is
// none.
func (s *State) filter(query string) []Partition {
	if query == "" {
		return s.Partitions
	}
	match := func(text string) bool { return strings.Contains(text, query) }
	if re, err := regexp.Compile(query); err == nil {
		match = re.MatchString
	}
	var out []Partition
	for i := range s.Partitions {
		p := &s.Partitions[i]
		if match(p.Name) || slices.ContainsFunc(p.Status, func(s inspect.Status) bool { return match(string(s)) }) || match(string(p.Cause)) {
			out = append(out, *p)
		}
	}
	return out
}

package history

import (
	"time"

	"github.com/kafkaops/kafkaops/internal/numbered"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// DefaultSamples is how many distinct samples of a partition are kept. At one
// second they cover the 45 s that a follower can be stuck by default before it
// leaves the ISR (1.5 times replica.lag.time.max.ms of 30 s), with some time
// before it. A sample of a partition with three replicas takes 56 bytes, so that
// 50,000 partitions take 3 MiB a sample, and 170 MiB at the limit if no two
// samples of any of them are alike.
const DefaultSamples = 64

// MaxSamples is the most that may be asked for; a longer history is a recording's
// work, not memory's.
const MaxSamples = 4096

// History holds the offsets of one cluster over its last samples.
type History struct {
	size int
	// leadersOnly: followers and min ISR are passed over.
	leadersOnly bool
	clusterID   inspect.Opt[string]
	// base is when the first sample was taken. Times are milliseconds since then,
	// by the monotonic clock where the Snapshots carry one.
	base   time.Time
	lastMs int64
	// seq counts samples; a series whose seq is older missed the newest one.
	seq    int64
	topics map[string]*topic
}

type topic struct {
	id         inspect.Opt[string]
	partitions numbered.List[*series]
}

// New returns an empty History that keeps the given number of distinct samples
// of each partition, at most [MaxSamples]; 0 stands for [DefaultSamples].
func New(samples int) *History {
	if samples <= 0 {
		samples = DefaultSamples
	}
	h := &History{size: min(samples, MaxSamples)}
	h.forget()
	return h
}

// NewLeaders returns a History as New does that remembers the leaders' LEO and HW
// alone, in 40 bytes a sample whatever the number of replicas: where most samples
// read no followers, those that do are not taken for a change. It answers
// [History.ReadLag] and [History.WrittenLag].
func NewLeaders(samples int) *History {
	h := New(samples)
	h.leadersOnly = true
	return h
}

// Add takes in a Snapshot, which it does not keep. Snapshots without offsets are
// passed over.
//
// They have to come in the order in which they were taken. One that is not newer
// than the last is passed over; but one that is older by more than
// maxStepBackMs means that the clock was set back, and one of another cluster
// that the question has changed: then all that was known is forgotten first.
func (h *History) Add(s *inspect.Snapshot) {
	if !s.Asked.Has(inspect.PartOffsets) {
		return
	}
	if h.otherCluster(s) || h.seq > 0 && h.sinceBaseMs(s.TakenAt) < h.lastMs-maxStepBackMs {
		h.forget()
	}
	if s.ClusterID.IsKnown() {
		h.clusterID = s.ClusterID
	}
	if h.seq == 0 {
		h.base = s.TakenAt
	} else if h.sinceBaseMs(s.TakenAt) <= h.lastMs {
		return
	}
	h.lastMs = h.sinceBaseMs(s.TakenAt)
	h.seq++
	for i := range s.Topics {
		h.addTopic(&s.Topics[i])
	}
	h.evict()
}

// maxStepBackMs tells a Snapshot that came out of order from a clock that was
// set back. Passes overlap by no more than a few of their timeouts.
const maxStepBackMs = 60_000

func (h *History) forget() {
	*h = History{size: h.size, leadersOnly: h.leadersOnly, topics: map[string]*topic{}}
}

func (h *History) otherCluster(s *inspect.Snapshot) bool {
	return h.clusterID.IsKnown() && s.ClusterID.IsKnown() && h.clusterID != s.ClusterID
}

func (h *History) sinceBaseMs(at time.Time) int64 { return at.Sub(h.base).Milliseconds() }

func (h *History) timeOf(ms int64) time.Time {
	return h.base.Add(time.Duration(ms) * time.Millisecond)
}

func (h *History) addTopic(in *inspect.Topic) {
	t := h.topics[in.Name]
	if t == nil || otherID(t.id, in.ID) {
		// Of the same name, but created anew: its offsets begin at 0 again.
		t = &topic{}
		t.partitions.Grow(len(in.Partitions))
		h.topics[in.Name] = t
	}
	if in.ID.IsKnown() {
		t.id = in.ID
	}
	for i := range in.Partitions {
		p := &in.Partitions[i]
		if p.Offsets == nil {
			continue
		}
		ser := t.partitions.At(p.Index)
		if ser == nil || !t.id.IsKnown() && (*ser).wentDown(p) {
			// Without an id, before Kafka 2.8, a shorter log may be another topic's
			// of the same name. Better to know nothing than to mix the two.
			ser = t.partitions.Set(p.Index, &series{epoch: unknown})
		}
		(*ser).add(p, h)
	}
}

func otherID(a, b inspect.Opt[string]) bool {
	return a.IsKnown() && b.IsKnown() && a != b
}

// evict drops what has been missing for as many samples as are kept, which is
// what a deleted topic leaves behind. A shorter absence is a gap.
func (h *History) evict() {
	for name, t := range h.topics {
		t.partitions.DeleteFunc(func(ser **series) bool { return h.seq-(*ser).seq >= int64(h.size) })
		if t.partitions.Len() == 0 {
			delete(h.topics, name)
		}
	}
}

// newest returns the series of a partition where the newest sample has it, or nil.
func (h *History) newest(topic string, partition int32) *series {
	t := h.topics[topic]
	if t == nil {
		return nil
	}
	s := t.partitions.At(partition)
	if s == nil || (*s).seq != h.seq {
		return nil
	}
	return *s
}

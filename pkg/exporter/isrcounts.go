package exporter

import (
	"cmp"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// isrCounts are counters of ISR changes, by the events that tell of them. What is
// counted begins with the process. Which events there are is isrlog's to say.
type isrCounts struct {
	topics map[string]*topicCounts
	at     time.Time // of the last look
	// shrinks and expands count replicas; every broker has all causes that there can be.
	shrinks, expands map[brokerCause]float64
	unclean          float64
	gaps             map[gapReason]float64
	// last are the changes that were counted last: one of several causes is several
	// events, and one change of its partition.
	lastShrink, lastExpand changeKey
	// told hears of each event that is counted; nil for nobody.
	told func(*inspect.IsrEvent)
}

type topicCounts struct {
	partitions []partitionCounts
	at         time.Time
}

type partitionCounts struct{ shrinks, expands float64 }

type brokerCause struct {
	broker inspect.BrokerID
	cause  inspect.IsrCause
}

func (b brokerCause) compare(other brokerCause) int {
	return cmp.Or(cmp.Compare(b.broker, other.broker), cmp.Compare(b.cause, other.cause))
}

// changeKey is a change of a partition.
type changeKey struct {
	inspect.TopicPartition
	at     time.Time
	offset inspect.Opt[inspect.Offset]
}

// shrinkCauses and expandCauses are those that a replica can leave and enter an ISR
// for. Series of a broker begin at 0 with all of them: what begins at 1 is no increase
// to Prometheus.
var (
	shrinkCauses = []inspect.IsrCause{
		inspect.CauseReplicaLag, inspect.CauseBrokerFenced, inspect.CauseControlledShutdown, inspect.CauseUncleanRestart,
		inspect.CauseUnregistered, inspect.CauseLogDirFailure, inspect.CauseUncleanElection, inspect.CauseUnknown,
	}
	expandCauses = []inspect.IsrCause{
		inspect.CauseCaughtUp, inspect.CauseReassignment, inspect.CauseELRElection, inspect.CauseLastKnownLeader,
		inspect.CauseUncleanElection, inspect.CauseUnknown,
	}
)

// gapReason says by what the evidence was interrupted.
type gapReason string

const (
	// gapLooks: nobody looked for a while, and looks are what there is.
	gapLooks gapReason = "looks"
	// gapOlder: what brokers tell has gone back for good, and counting began anew.
	gapOlder gapReason = "older"
	// gapLog: the metadata log could not be read any more, and looks took its place.
	gapLog gapReason = "log"
	// gapTrimmed: the log went on, and did not have all of what came next.
	gapTrimmed gapReason = "trimmed"
)

func gapReasons() []gapReason { return []gapReason{gapLog, gapLooks, gapOlder, gapTrimmed} }

// forgetTopicAfter is how long a topic that is not listed is remembered: a look
// that missed it must not set its counters back.
const forgetTopicAfter = 5 * time.Minute

func newISRCounts() *isrCounts {
	return &isrCounts{
		topics:  map[string]*topicCounts{},
		shrinks: map[brokerCause]float64{}, expands: map[brokerCause]float64{}, gaps: map[gapReason]float64{},
	}
}

// count counts an event. A replica that a reassignment takes away leaves the ISR with
// the assignment: that is no loss, and no shrink.
func (c *isrCounts) count(e *inspect.IsrEvent) {
	if c.told != nil {
		c.told(e)
	}
	key := changeKey{inspect.TopicPartition{Topic: e.Topic, Partition: e.Partition}, e.Time, e.Offset}
	switch e.Type {
	case inspect.IsrShrink:
		left := false
		for _, id := range e.Brokers {
			if slices.Contains(e.Replicas, id) {
				c.shrinks[brokerCause{id, e.Cause}]++
				left = true
			}
		}
		if left && c.lastShrink != key {
			c.lastShrink = key
			c.partition(e).shrinks++
		}
	case inspect.IsrExpand:
		for _, id := range e.Brokers {
			c.expands[brokerCause{id, e.Cause}]++
		}
		if c.lastExpand != key {
			c.lastExpand = key
			c.partition(e).expands++
		}
	case inspect.IsrLeader:
		if e.Cause == inspect.CauseUncleanElection || e.Cause == inspect.CauseLastKnownLeader {
			c.unclean++
		}
	}
}

func (c *isrCounts) partition(e *inspect.IsrEvent) *partitionCounts {
	t := c.topics[e.Topic]
	if t == nil {
		t = &topicCounts{at: c.at}
		c.topics[e.Topic] = t
	}
	if n := int(e.Partition) + 1; n > len(t.partitions) {
		t.partitions = append(t.partitions, make([]partitionCounts, n-len(t.partitions))...)
	}
	return &t.partitions[e.Partition]
}

// of returns the counters of a partition.
func (c *isrCounts) of(topic string, index int32) partitionCounts {
	t := c.topics[topic]
	if t == nil || int(index) >= len(t.partitions) {
		return partitionCounts{}
	}
	return t.partitions[index]
}

// look notes which topics and brokers there are, and forgets topics that are gone.
func (c *isrCounts) look(s *inspect.Snapshot) {
	c.at = s.TakenAt
	for i := range s.Topics {
		if t := c.topics[s.Topics[i].Name]; t != nil {
			t.at = s.TakenAt
		}
	}
	for name, t := range c.topics {
		if s.TakenAt.Sub(t.at) > forgetTopicAfter {
			delete(c.topics, name)
		}
	}
	for i := range s.Brokers {
		id := s.Brokers[i].ID
		if _, known := c.shrinks[brokerCause{id, inspect.CauseUnknown}]; known {
			continue
		}
		for _, cause := range shrinkCauses {
			c.shrinks[brokerCause{id, cause}] += 0
		}
		for _, cause := range expandCauses {
			c.expands[brokerCause{id, cause}] += 0
		}
	}
}

package exporter

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
)

// timeLags tell how old lags are, by what leaders told. The fine history has every
// sample of the last minute or so; the coarse one has one a minute and reaches an
// hour back, or as far as historyBytes has room for, so that what is behind for long
// does not become unknown when it matters most.
type timeLags struct {
	fine, coarse *history.History
	size         int
	at, coarseAt time.Time
	// interval is how far apart two samples are meant to be.
	interval time.Duration
}

const (
	// coarseEvery is the distance of two coarse samples.
	coarseEvery = time.Minute
	// atLeastFrom is the least lower bound that is told as a lag: a lag that is
	// older than what is remembered is one of at least so much, and one that has
	// been watched for less says nothing yet.
	atLeastFrom = time.Minute
	// historyBytes is what either history may take, where no two samples of any
	// partition are alike.
	historyBytes = 96 << 20
	leastSamples = 12
	// gapFrom is from how many intervals on two samples are so far apart that what
	// lies between them is no measure of anything.
	gapFrom = 3
)

// add takes in a Snapshot with offsets. Samples come once an interval.
func (t *timeLags) add(s *inspect.Snapshot, interval time.Duration) {
	t.interval = interval
	if size := historySize(s); t.fine == nil || size < t.size/2 {
		t.size = size
		t.fine, t.coarse, t.coarseAt = history.NewLeaders(size), history.NewLeaders(size), time.Time{}
	}
	t.fine.Add(s)
	t.at = s.TakenAt
	if since := s.TakenAt.Sub(t.coarseAt); since >= coarseEvery || since < 0 {
		t.coarse.Add(s)
		t.coarseAt = s.TakenAt
	}
}

// historySize is how many samples fit.
func historySize(s *inspect.Snapshot) int {
	const span, offset = 24, 8
	bytes := 0
	for range s.Partitions {
		bytes += span + 2*offset // LEO and HW
	}
	return min(history.DefaultSamples, max(leastSamples, historyBytes/max(bytes, 1)))
}

// lagOf is one of the questions that a History answers.
type lagOf func(h *history.History, topic string, partition int32, position inspect.Offset) history.Lag

// written is how many seconds ago the first record after position was written: the
// newest sample in which the leader's LEO was at or before it. readable is how long
// ago that record was committed: the same by the HW. A position at the end has age 0.
//
// Both are unknown where the newest sample does not know the leader's log, and until
// there are enough samples. Where nobody looked for a while they are lower bounds.
func (t *timeLags) written(topic string, partition int32, position inspect.Offset) inspect.Opt[float64] {
	return t.age((*history.History).WrittenLag, topic, partition, position)
}

func (t *timeLags) readable(topic string, partition int32, position inspect.Offset) inspect.Opt[float64] {
	return t.age((*history.History).ReadLag, topic, partition, position)
}

func (t *timeLags) age(of lagOf, topic string, partition int32, position inspect.Offset) inspect.Opt[float64] {
	if t.fine == nil {
		return inspect.Unknown[float64]()
	}
	lag := of(t.fine, topic, partition, position)
	switch {
	case lag.State == history.LagUnknown:
		return inspect.Unknown[float64]()
	case lag.State == history.LagKnown && lag.Ms-lag.OverMs <= gapFrom*t.interval.Milliseconds():
		return seconds(lag.Ms)
	case lag.State == history.LagKnown: // nobody looked for a while
		return seconds(lag.OverMs)
	}
	ms, known := t.beyondFine(of, lag, topic, partition, position)
	if !known && ms < atLeastFrom.Milliseconds() {
		return inspect.Unknown[float64]()
	}
	return seconds(ms)
}

// writtenAtLeast is written without the time between the sample that shows the
// record and the one before it, in which it may have been written: by a sample a
// second that is a second less, and by one in ten seconds no record that is just on
// its way is taken for an old one.
func (t *timeLags) writtenAtLeast(topic string, partition int32, position inspect.Offset) inspect.Opt[float64] {
	if t.fine == nil {
		return inspect.Unknown[float64]()
	}
	lag := t.fine.WrittenLag(topic, partition, position)
	switch lag.State {
	case history.LagUnknown:
		return inspect.Unknown[float64]()
	case history.LagKnown:
		return seconds(lag.OverMs)
	}
	ms, _ := t.beyondFine((*history.History).WrittenLag, lag, topic, partition, position)
	return seconds(ms)
}

// beyondFine is a lower bound for what the fine history knows one of, lag. It is known
// where the coarse history saw when it began, and then no more than a minute less: it
// does not jump up by what is unknown.
func (t *timeLags) beyondFine(of lagOf, lag history.Lag, topic string, partition int32, position inspect.Offset) (ms int64, known bool) {
	beyond := of(t.coarse, topic, partition, position)
	if beyond.State == history.LagUnknown {
		return lag.Ms, false
	}
	return max(lag.Ms, beyond.OverMs+t.sinceCoarseMs()), beyond.State == history.LagKnown
}

func (t *timeLags) sinceCoarseMs() int64 { return t.at.Sub(t.coarseAt).Milliseconds() }

func seconds(ms int64) inspect.Opt[float64] { return inspect.Known(float64(ms) / 1000) }

package exporter

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
)

// timeLags tell how old lags are. The fine history has every sample of the last
// minute or so; the coarse one has one a minute and reaches an hour back, or as far as historyBytes has room for, so
// that what is behind for long does not become unknown when it matters most.
type timeLags struct {
	fine, coarse *history.History
	size         int
	at, coarseAt time.Time
	// ends: this service tells no replica's own LEO, and samples read the HW.
	ends bool
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
)

// add takes in a Snapshot with offsets.
func (t *timeLags) add(s *inspect.Snapshot, ends bool) {
	if size := historySize(s); t.fine == nil || size < t.size/2 || ends != t.ends {
		t.size, t.ends = size, ends
		newHistory := history.NewLogs
		if ends {
			newHistory = history.New
		}
		t.fine, t.coarse, t.coarseAt = newHistory(size), newHistory(size), time.Time{}
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
	for p := range s.Partitions {
		bytes += span + offset*(len(p.Replicas)+1)
	}
	return min(history.DefaultSamples, max(leastSamples, historyBytes/max(bytes, 1)))
}

// age is how many seconds ago the first record after position was written: the
// newest sample in which the leader's log ended at or before it. A position at the
// end of the log has age 0. It is unknown where the newest sample does not know the
// leader's log, and until there are enough samples.
func (t *timeLags) age(topic string, partition int32, position inspect.Offset) inspect.Opt[float64] {
	if t.fine == nil {
		return inspect.Unknown[float64]()
	}
	lag := t.ask(t.fine, topic, partition, position)
	switch lag.State {
	case history.LagKnown:
		return seconds(lag.Ms)
	case history.LagUnknown:
		return inspect.Unknown[float64]()
	}
	ms := lag.Ms
	beyond := t.ask(t.coarse, topic, partition, position)
	if beyond.State != history.LagUnknown {
		ms = max(ms, beyond.Ms+t.at.Sub(t.coarseAt).Milliseconds())
	}
	if beyond.State != history.LagKnown && ms < atLeastFrom.Milliseconds() {
		return inspect.Unknown[float64]()
	}
	return seconds(ms)
}

func (t *timeLags) ask(h *history.History, topic string, partition int32, position inspect.Offset) history.Lag {
	if t.ends {
		return h.ReadLag(topic, partition, position)
	}
	return h.WrittenLag(topic, partition, position)
}

func seconds(ms int64) inspect.Opt[float64] { return inspect.Known(float64(ms) / 1000) }

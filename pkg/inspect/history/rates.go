package history

import "github.com/kafkaops/kafkaops/pkg/inspect"

// Rates are records a second of one partition, over the samples of a window.
// Time in which an offset went down, as after an election, counts for nothing:
// what was lost and what was written in it cannot be told apart.
type Rates struct {
	// AppendPerSec is how fast the leader's LEO grows: what producers write.
	AppendPerSec inspect.Opt[float64]
	// CommitPerSec is how fast the HW grows: what consumers may read.
	CommitPerSec inspect.Opt[float64]
}

// Rates returns the rates of a partition over the last windowMs milliseconds, or
// over all that is kept where windowMs is 0. A rate needs two samples, the
// newest being one of them.
func (h *History) Rates(topic string, partition int32, windowMs int64) Rates {
	s := h.newest(topic, partition)
	if s == nil {
		return Rates{}
	}
	fromMs := h.windowStart(windowMs)
	return Rates{
		AppendPerSec: s.perSec(fromMs, leaderColumn),
		CommitPerSec: s.perSec(fromMs, len(s.brokers)),
	}
}

// Trend is where a replica's lag is going.
type Trend string

// The trends. A replica that is caught up has no other.
const (
	TrendUnknown  Trend = "unknown"
	TrendCaughtUp Trend = "caught-up"
	TrendDraining Trend = "draining"
	TrendSteady   Trend = "steady"
	TrendGrowing  Trend = "growing"
)

// CatchUp is how a replica moves towards its leader's LEO, or away from it.
type CatchUp struct {
	Trend Trend
	// FetchPerSec is how fast the replica's own LEO grows, in records a second.
	FetchPerSec inspect.Opt[float64]
	// LagPerSec is the change of the lag in records a second: negative while it
	// drains.
	LagPerSec inspect.Opt[float64]
	// RemainingMs is how long the lag takes to drain at this rate; known while
	// draining only, and up to maxRemainingMs.
	RemainingMs inspect.Opt[int64]
}

// maxRemainingMs is 30 days: a forecast beyond any retention is none.
const maxRemainingMs = 30 * 24 * 3_600_000

// CatchUp returns the movement of a replica over the last windowMs milliseconds,
// or over all that is kept where windowMs is 0.
func (h *History) CatchUp(topic string, partition int32, broker inspect.BrokerID, windowMs int64) CatchUp {
	c := CatchUp{Trend: TrendUnknown}
	s, replica, ok := h.replica(topic, partition, broker)
	if !ok {
		return c
	}
	fromMs := h.windowStart(windowMs)
	c.FetchPerSec = s.perSec(fromMs, replica)
	last := s.last()
	lag := last.lag(replica)
	if lag == 0 {
		c.Trend = TrendCaughtUp
		return c
	}
	for i := s.since(fromMs); i < len(s.spans); i++ {
		e := s.at(i)
		if e.leo() == unknown || e.cells[replica] == unknown {
			continue
		}
		overMs := h.lastMs - max(e.fromMs, fromMs)
		if overMs == 0 {
			return c
		}
		perSec := float64(lag-e.lag(replica)) / (float64(overMs) / 1000)
		c.LagPerSec = inspect.Known(perSec)
		switch {
		case perSec < 0:
			c.Trend = TrendDraining
			if ms := float64(lag) / -perSec * 1000; ms <= maxRemainingMs {
				c.RemainingMs = inspect.Known(int64(ms))
			}
		case perSec > 0:
			c.Trend = TrendGrowing
		default:
			c.Trend = TrendSteady
		}
		return c
	}
	return c
}

// lag is the replica's certain lag; ask only where both LEOs are known.
func (e *entry) lag(replica int) inspect.Offset { return max(0, e.leo()-e.cells[replica]) }

func (h *History) windowStart(windowMs int64) int64 {
	if windowMs <= 0 {
		return 0
	}
	return h.lastMs - windowMs
}

// since is the oldest entry that ends at fromMs or later: those before it are of no
// interest to who asks for the last seconds of a long history.
func (s *series) since(fromMs int64) int {
	n := len(s.spans)
	for n > 0 && s.spans[(int(s.head)+n-1)%len(s.spans)].toMs >= fromMs {
		n--
	}
	return n
}

// leaderColumn is the cell of whoever leads, in [entry.column].
const leaderColumn = -1

// column is one of the entry's offsets: a replica's LEO by its place, the HW behind them,
// or the leader's LEO.
func (e *entry) column(i int) inspect.Offset {
	if i == leaderColumn {
		return e.leo()
	}
	return e.cells[i]
}

// perSec is the growth of an offset by the second since fromMs. Samples that do
// not know it are bridged, for offsets are cumulative; but the newest has to.
func (s *series) perSec(fromMs int64, column int) inspect.Opt[float64] {
	var grown inspect.Offset
	var elapsedMs, prevMs int64
	prev := inspect.Offset(unknown)
	last := s.last()
	if last.column(column) == unknown {
		return inspect.Unknown[float64]()
	}
	for i := s.since(fromMs); i < len(s.spans); i++ {
		e := s.at(i)
		now := e.column(column)
		if now == unknown {
			continue
		}
		startMs := max(e.fromMs, fromMs)
		if prev != unknown && now >= prev {
			grown += now - prev
			elapsedMs += startMs - prevMs
		}
		elapsedMs += e.toMs - startMs
		prev, prevMs = now, e.toMs
	}
	if elapsedMs == 0 {
		return inspect.Unknown[float64]()
	}
	return inspect.Known(float64(grown) / (float64(elapsedMs) / 1000))
}

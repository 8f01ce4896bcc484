package tuning

import (
	"fmt"
	"math"

	"github.com/kafkaops/kafkaops/internal/polish"
)

// Link is how the partitions that one broker leads do at one that follows, over a
// window in which they were written to.
type Link struct {
	Leader, Follower int32
	// Partitions were written to, and Behind of them lagged in most looks.
	Partitions, Behind int
	// LagMs is the median of their lag in time.
	LagMs int64
	// PerSecond is what the follower took in from the leader in a second while it was
	// behind, the median over the looks, and MostPerSecond the 95th percentile; 0 where
	// that is unknown. Records or bytes, as long as it is the same for all.
	PerSecond, MostPerSecond float64
}

// Polished is a matrix of lags taken apart (Tukey's median polish): a lag is Overall,
// and what its leader, its follower and its link alone add to it.
type Polished struct {
	Overall   float64
	Leaders   []BrokerShare
	Followers []BrokerShare
	Residues  []float64 // in the order of the links
}

// BrokerShare is what a broker adds, in ms.
type BrokerShare struct {
	Broker int32
	Ms     float64
}

// Polish takes the lags of links apart. High for a leader: it is slow for all that
// follow it. High for a follower: it is slow with all that it follows. High for a
// residue: the way between those two. Links that there are not are left out.
func Polish(links []Link) Polished {
	cells := make([]polish.Cell, len(links))
	for i, l := range links {
		cells[i] = polish.Cell{Row: l.Leader, Column: l.Follower, Value: float64(l.LagMs)}
	}
	p := polish.Polish(cells)
	return Polished{Overall: p.Overall, Leaders: shares(p.Rows), Followers: shares(p.Columns), Residues: p.Residues}
}

func shares(in []polish.Share) []BrokerShare {
	out := make([]BrokerShare, len(in))
	for i, s := range in {
		out[i] = BrokerShare{Broker: s.ID, Ms: s.Value}
	}
	return out
}

// slowBroker says which broker accounts for the lag by itself, "" if none does.
func slowBroker(links []Link) string {
	p := Polish(links)
	rest := math.Abs(p.Overall)
	for _, r := range p.Residues {
		rest = max(rest, math.Abs(r))
	}
	what, most := "", 2*rest
	for _, s := range p.Leaders {
		if s.Ms > most {
			what, most = fmt.Sprintf("broker %d is slow for all that follow it, by %s", s.Broker, duration(int64(s.Ms))), s.Ms
		}
	}
	for _, s := range p.Followers {
		if s.Ms > most {
			what, most = fmt.Sprintf("broker %d is slow with all that it follows, by %s", s.Broker, duration(int64(s.Ms))), s.Ms
		}
	}
	return what
}

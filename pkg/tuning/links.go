package tuning

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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

// polishRounds is how often rows and columns are swept: the figures hardly move after
// the third time.
const polishRounds = 10

// Polish takes the lags of links apart. High for a leader: it is slow for all that
// follow it. High for a follower: it is slow with all that it follows. High for a
// residue: the way between those two. Links that there are not are left out.
func Polish(links []Link) Polished {
	p := Polished{Residues: make([]float64, len(links))}
	leaders, followers := map[int32][]int{}, map[int32][]int{}
	for i, l := range links {
		p.Residues[i] = float64(l.LagMs)
		leaders[l.Leader] = append(leaders[l.Leader], i)
		followers[l.Follower] = append(followers[l.Follower], i)
	}
	rows, columns := shares(leaders), shares(followers)
	for range polishRounds {
		p.sweep(rows, leaders)
		p.Overall += center(rows)
		p.sweep(columns, followers)
		p.Overall += center(columns)
	}
	p.Leaders, p.Followers = rows, columns
	return p
}

func shares(of map[int32][]int) []BrokerShare {
	var out []BrokerShare
	for b := range of {
		out = append(out, BrokerShare{Broker: b})
	}
	slices.SortFunc(out, func(a, b BrokerShare) int { return cmp.Compare(a.Broker, b.Broker) })
	return out
}

// sweep moves the median of each row, or column, out of the residues.
func (p *Polished) sweep(to []BrokerShare, of map[int32][]int) {
	for i := range to {
		var residues []float64
		for _, l := range of[to[i].Broker] {
			residues = append(residues, p.Residues[l])
		}
		m := median(residues)
		to[i].Ms += m
		for _, l := range of[to[i].Broker] {
			p.Residues[l] -= m
		}
	}
}

// center takes the median out of the shares.
func center(s []BrokerShare) float64 {
	var ms []float64
	for _, b := range s {
		ms = append(ms, b.Ms)
	}
	m := median(ms)
	for i := range s {
		s[i].Ms -= m
	}
	return m
}

// median is 0 of nothing, and the lower one of two.
func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Clone(x)
	slices.Sort(x)
	return x[(len(x)-1)/2]
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

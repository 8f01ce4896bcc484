package tuning

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Link is how the partitions that one broker leads do at one that follows, over a
// window in which they were written to.
type Link struct {
	Leader, Follower int32
	// Partitions were written to, and Behind of them lagged in most looks.
	Partitions, Behind int
	// LagMs is the median of their lag in time.
	LagMs int64
	// BytesPerSecond is what the follower took in from the leader while it was behind,
	// and MostBytesPerSecond the most in any look; 0 where that is unknown.
	BytesPerSecond, MostBytesPerSecond float64
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

// What fetchers are judged by.
const (
	// manyPartitions is how many a link needs for another fetcher to share them.
	manyPartitions = 8
	// flatRate is how much more than usual a follower takes in at best, where its
	// fetcher is what limits it.
	flatRate = 1.25
)

// AdviseFetchers advises num.replica.fetchers. A follower has so many threads for each
// leader, and a partition belongs to one of them for good: they help where a link has
// many partitions, nearly all of them lag, and what comes over it does not grow with the
// backlog. Where one broker is slow with all others, its disk or its network is, and
// more threads only ask more of it.
func AdviseFetchers(links []Link, current int, windowMs int64) Advice {
	a := Advice{
		Setting: "num.replica.fetchers", Scope: Scope{Kind: ScopeCluster},
		Evidence: Evidence{N: len(links), WindowMs: windowMs},
	}
	if current > 0 {
		a.Current = strconv.Itoa(current)
	}
	var lagging, limited []Link
	for _, l := range links {
		if l.Behind > 0 {
			lagging = append(lagging, l)
		}
		if l.Partitions >= manyPartitions && l.Behind*10 >= l.Partitions*9 && l.BytesPerSecond > 0 && l.MostBytesPerSecond <= l.BytesPerSecond*flatRate {
			limited = append(limited, l)
		}
	}
	a.Evidence.Figures = []Figure{{"linksLagging", float64(len(lagging))}, {"linksLimited", float64(len(limited))}}
	switch who := slowBroker(links); {
	case len(links) == 0 || current == 0:
		a.Why = "not enough evidence: nothing was written, or the value in force is unknown"
	case len(lagging) == 0:
		a.Recommended = a.Current
		a.Why = "no follower lags: fetchers are not what limits anything"
	case who != "":
		a.Why = who + ": more fetchers would ask more of it. Mend it first"
	case len(limited) == 0:
		a.Why = fmt.Sprintf("not enough evidence: %d links lag, but none with %d partitions or more that nearly all lag while what comes over it stays the same, "+
			"as it does where a fetcher is at its limit. Look at throttles and replica.fetch.max.bytes", len(lagging), manyPartitions)
	default:
		// A broker refuses more than double (DynamicThreadPool.validateReconfiguration).
		a.Recommended = strconv.Itoa(2 * current)
		l := limited[0]
		a.Why = fmt.Sprintf("from broker %d to broker %d, %d of %d partitions lag, by %s, and what comes over it stays at %.3g MB/s: the fetcher is at its limit, on %d of %d links. "+
			"Double it, then measure again", l.Leader, l.Follower, l.Behind, l.Partitions, duration(l.LagMs), l.BytesPerSecond/1e6, len(limited), len(links))
		a.Bound.Text = "one step: how much it helps is known once it is measured"
		a.Expected = []Figure{{"fetchersPerLeader", float64(2 * current)}}
		a.Cost = []Cost{CostDynamic}
		a.Apply = []string{alterBrokers("--add-config num.replica.fetchers=" + a.Recommended)}
		a.Undo = []string{alterBrokers("--add-config num.replica.fetchers=" + a.Current)}
	}
	return a
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

func alterBrokers(change string) string {
	return "kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type brokers --entity-default " + change
}

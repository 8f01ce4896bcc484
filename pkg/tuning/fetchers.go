package tuning

import (
	"fmt"
	"slices"
	"strconv"
)

// What fetchers are judged by.
const (
	// manyPartitions is how many a link needs for another fetcher to share them.
	manyPartitions = 8
	// flatRate is how much more than usual a follower takes in at its best, where what
	// it asks for at a time is what limits it.
	flatRate = 1.25
)

// FetchHistory is how followers kept up with their leaders, and what they fetch with.
type FetchHistory struct {
	WindowMs int64
	// Links are those of the stretch in which followers lagged most. Stretches is how
	// many were looked at, Lagging in how many some link lagged.
	Links              []Link
	Stretches, Lagging int
	// Fetchers is num.replica.fetchers, PartitionBytes replica.fetch.max.bytes; 0 where
	// that is unknown, or brokers differ. FetchersSet says that the former is set for all
	// brokers while they run, so that taking it back means to set the old value.
	Fetchers, PartitionBytes int
	FetchersSet              bool
	// Differ names those of the two that are not the same on all brokers.
	Differ []string
	// Throttled is set where a replication throttle is.
	Throttled bool
}

// limited are links over which no more comes, however much waits: nearly all of their
// partitions lag, and what comes stays the same. With many partitions another fetcher
// shares them; with few each is bound by what one answer may hold of it.
func (h *FetchHistory) limited() (many, few []Link) {
	for _, l := range h.Links {
		if l.Partitions == 0 || l.Behind*10 < l.Partitions*9 || l.PerSecond <= 0 || l.MostPerSecond > l.PerSecond*flatRate {
			continue
		}
		if l.Partitions >= manyPartitions {
			many = append(many, l)
		} else {
			few = append(few, l)
		}
	}
	return many, few
}

func (h *FetchHistory) lagging() (n int) {
	for _, l := range h.Links {
		if l.Behind > 0 {
			n++
		}
	}
	return n
}

func (h *FetchHistory) evidence(limited []Link) Evidence {
	return Evidence{N: h.Lagging, WindowMs: h.WindowMs, Figures: []Figure{
		{"stretches", float64(h.Stretches)},
		{"links", float64(len(h.Links))},
		{"linksLagging", float64(h.lagging())},
		{"linksLimited", float64(len(limited))},
	}}
}

// recordBusy is how to get what is missing.
const recordBusy = "Record while it is busy: kafkaops record FILE --for 24h"

// judge says why nothing is to be changed, or nothing can be said. settled: the first.
func (h *FetchHistory) judge(setting string, current int, limited []Link, needs string) (why string, settled bool) {
	switch who := slowBroker(h.Links); {
	case current == 0 && slices.Contains(h.Differ, setting):
		return "not enough evidence: brokers have different values of it. Make them the same first (kafkaops describe configs)", false
	case current == 0:
		return "not enough evidence: the value in force is unknown", false
	case len(h.Links) == 0:
		return "not enough evidence: nothing was written that followers had to fetch. " + recordBusy, false
	case h.Lagging == 0:
		return "no follower lagged: what they fetch with limits nothing", true
	case h.Throttled:
		return "followers lag, and a replication throttle is set: lift it, or wait until the reassignment is over, and look again", false
	case who != "":
		return who + ": to fetch more would ask more of it. Mend it first", false
	case len(limited) == 0:
		return fmt.Sprintf("not enough evidence: %s, but none %s that nearly all lag while what comes over it stays the same. %s",
			linksLag(h.lagging()), needs, recordBusy), false
	}
	return "", false
}

// begin is the advice on a setting as far as it is the same for each of what followers
// fetch with. judged: nothing is to be changed, or nothing can be said, and it is whole.
func (h *FetchHistory) begin(setting string, current int, limited []Link, needs string) (a Advice, judged bool) {
	a = Advice{Setting: setting, Scope: Scope{Kind: ScopeCluster}, Current: count(current), Evidence: h.evidence(limited)}
	why, settled := h.judge(setting, current, limited, needs)
	a.Why = why
	if settled {
		a.Recommended = a.Current
	}
	return a, why != ""
}

func linksLag(n int) string {
	if n == 1 {
		return "1 link lags"
	}
	return fmt.Sprintf("%d links lag", n)
}

// AdviseFetchers advises num.replica.fetchers. A follower has so many threads for each
// leader, and a partition belongs to one of them for good: they help where a link has
// many partitions, nearly all of them lag, and what comes over it does not grow with the
// backlog. Where one broker is slow with all others, its disk or its network is, and
// more threads only ask more of it.
func AdviseFetchers(h *FetchHistory) Advice {
	const setting = "num.replica.fetchers"
	limited, _ := h.limited()
	a, judged := h.begin(setting, h.Fetchers, limited, fmt.Sprintf("with %d partitions or more", manyPartitions))
	if judged {
		return a
	}
	// A broker takes no more than double, and no less than half, of what it has
	// (DynamicThreadPool.validateReconfiguration).
	a.Recommended = count(2 * h.Fetchers)
	a.Why = h.why(limited) + ": its fetcher is at its limit. Double them, then measure again"
	a.Bound.Text = stepBound
	a.Expected = []Figure{{"fetchersPerLeader", float64(2 * h.Fetchers)}}
	a.Cost = []Cost{CostDynamic}
	a.Apply = []string{alterBrokers("--add-config " + setting + "=" + a.Recommended)}
	a.Undo = []string{alterBrokers("--delete-config " + setting)}
	if h.FetchersSet {
		a.Undo = []string{alterBrokers("--add-config " + setting + "=" + a.Current)}
	}
	return a
}

// AdviseFetchBytes advises replica.fetch.max.bytes, what one answer may hold of a
// partition. It limits where a link has few partitions: more fetchers would have nothing
// to do, for a partition has one.
func AdviseFetchBytes(h *FetchHistory) Advice {
	const setting = "replica.fetch.max.bytes"
	_, limited := h.limited()
	a, judged := h.begin(setting, h.PartitionBytes, limited, fmt.Sprintf("with fewer than %d partitions", manyPartitions))
	if judged {
		return a
	}
	a.Recommended = count(2 * h.PartitionBytes)
	a.Why = h.why(limited) + ": with so few partitions it is what one answer may hold of each that limits it, or the way between the two. Double it, then measure again"
	a.Bound.Text = stepBound
	a.Expected = []Figure{{"bytesPerPartitionAndFetch", float64(2 * h.PartitionBytes)}}
	a.Cost = []Cost{CostRestart}
	a.Apply, a.Undo = restartSteps(setting, a.Recommended), restartSteps(setting, a.Current)
	return a
}

const stepBound = "one step: how much it helps is known once it is measured"

func (h *FetchHistory) why(limited []Link) string {
	l := limited[0]
	return fmt.Sprintf("in %d of %d stretches followers lagged. From broker %d to broker %d, %d of %d partitions did, by %s, and what comes over it grows by no more than %.0f %%, on %d of %d links",
		h.Lagging, h.Stretches, l.Leader, l.Follower, l.Behind, l.Partitions, duration(l.LagMs), 100*(l.MostPerSecond/l.PerSecond-1), len(limited), len(h.Links))
}

func count(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func alterBrokers(change string) string {
	return "kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type brokers --entity-default " + change
}

package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// reasons draws the level and says why, the worst first.
func (e *evidence) reasons() (Level, []string) {
	c := &e.counts
	level := LevelOK
	var reasons []string
	// Cases come worst first, so the first one that holds sets the level.
	because := func(l Level, holds bool, format string, args ...any) {
		if !holds {
			return
		}
		if level == LevelOK {
			level = l
		}
		reasons = append(reasons, fmt.Sprintf(format, args...))
	}
	because(LevelUnavailable, c.Offline > 0,
		"%s no leader: nothing can be written to or read from %s", has(c.Offline), them(c.Offline))
	because(LevelAtRisk, c.UnderMinISR > 0,
		"%s no acks=all write (under min ISR)", verb(c.UnderMinISR, "accepts", "accept"))
	because(LevelAtRisk, c.OneCopyLeft > 0,
		"%s one in-sync copy left", has(c.OneCopyLeft))
	risk := e.s.quorumRisk()
	because(LevelAtRisk, risk != "", "%s", risk)
	because(LevelDegraded, c.UnderReplicated > 0,
		"%s lost %s: %s", has(c.UnderReplicated), e.whatIsLost(), e.whoIsOut())
	because(LevelDegraded, c.AtMinISR > 0,
		"%s at min ISR: the next loss refuses acks=all writes", verb(c.AtMinISR, "is", "are"))
	for _, b := range e.silent {
		because(LevelDegraded, true, "broker %d (%s) does not answer%s", b.ID, b.Address(), e.why(b.ID))
		// What is at risk in the time before the cluster itself gives it up.
		because(LevelDegraded, e.leads[b.ID] > 0,
			"broker %d still leads %s: who does not reach it either can neither write to nor read from %s",
			b.ID, partitions(e.leads[b.ID]), them(e.leads[b.ID]))
		because(LevelDegraded, e.inISR[b.ID] > 0,
			"broker %d is still in the ISR of %s: where their leaders do not hear from it either, acks=all writes wait for it",
			b.ID, partitions(e.inISR[b.ID]))
	}
	for _, id := range e.gone {
		if b := e.s.Broker(id); b != nil {
			because(LevelDegraded, true, "broker %d (%s) is fenced: the controller does not hear from it; replicas are assigned to it", id, b.Address())
			continue
		}
		because(LevelDegraded, true, "broker %d is not among the live brokers; replicas are assigned to it", id)
	}
	because(LevelUnknown, c.BrokersRegistered == 0, "no live broker is listed")
	because(LevelUnknown, e.noMin > 0,
		"min.insync.replicas of %s is unknown, so it is not known whether %s enough in-sync replicas%s",
		partitions(e.noMin), theyHave(e.noMin), e.unanswered("DescribeConfigs"))
	because(LevelUnknown, e.noMoves > 0,
		"whether %s being reassigned is unknown%s%s", verb(e.noMoves, "is", "are"), e.noneIsLost(), e.unanswered("ListPartitionReassignments"))
	because(LevelUnknown, e.missing() != "", "%s", e.missing())
	return level, reasons
}

// missing names what was refused or not answered, that the verdict needs, and
// that no other reason tells; else it is empty.
func (e *evidence) missing() string {
	for i := range e.s.Failures {
		f := &e.s.Failures[i]
		switch {
		case f.Notice || f.Request == "ListOffsets" || f.Request == "DescribeLogDirs" || f.Request == "DescribeTopicPartitions":
			// Costs nothing that the verdict needs: where there are no pages of
			// partitions, Metadata has answered.
			continue
		case f.Request == "DescribeQuorum" && e.s.Quorum.IsKnown():
			continue // told as a quorum without a leader
		case e.isSilent(f.Broker):
			continue // told as a broker that does not answer
		case f.Topic != "":
			return fmt.Sprintf("topic %s was not described: %s", f.Topic, f.Error)
		case e.counts.Unknown == 0:
			return fmt.Sprintf("%s was not answered: %s", f.Request, f.Error)
		}
	}
	return ""
}

// noneIsLost is what is known where reassignments are not. The partitions' status
// stays unknown all the same: ok would say that none is being reassigned.
func (e *evidence) noneIsLost() string {
	if e.outs > 0 {
		return ""
	}
	return " (all of their replicas are in the ISR)"
}

// unanswered is what became of the request, as a suffix; empty where it was not
// sent.
func (e *evidence) unanswered(request string) string {
	for i := range e.s.Failures {
		switch f := &e.s.Failures[i]; {
		case f.Request != request:
		case strings.Contains(f.Error, request): // as in "no reply to DescribeConfigs"
			return ": " + f.Error
		default:
			return ": " + request + ": " + f.Error
		}
	}
	return ""
}

func (e *evidence) isSilent(id Opt[BrokerID]) bool {
	b, ok := id.Get()
	return ok && slices.ContainsFunc(e.silent, func(s *Broker) bool { return s.ID == b })
}

// why is the cause of a broker's silence as a suffix, or empty: what became of
// ApiVersions, the first thing that every connection asks.
func (e *evidence) why(id BrokerID) string {
	for i := range e.s.Failures {
		f := &e.s.Failures[i]
		if b, ok := f.Broker.Get(); ok && b == id && f.Request == "ApiVersions" {
			return ": " + f.Error
		}
	}
	return ""
}

// whatIsLost is what the under-replicated partitions have each lost.
func (e *evidence) whatIsLost() string {
	if e.outs > e.counts.UnderReplicated {
		return "replicas"
	}
	return "a replica"
}

// whoIsOut says which brokers are missing from ISRs, most partitions first;
// those that are missing from the same number are named together.
func (e *evidence) whoIsOut() string {
	ids := make([]BrokerID, 0, len(e.outOf))
	for id := range e.outOf {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b BrokerID) int {
		return cmp.Or(cmp.Compare(e.outOf[b], e.outOf[a]), cmp.Compare(a, b))
	})
	const shown = 4 // more brokers than this do not fit a line
	more := len(ids) - shown
	ids = ids[:min(len(ids), shown)]
	var parts []string
	for len(ids) > 0 {
		same := 1
		for same < len(ids) && e.outOf[ids[same]] == e.outOf[ids[0]] {
			same++
		}
		part := fmt.Sprintf("%s out of %s", brokersAre(ids[:same]), e.ofThem(e.outOf[ids[0]], same))
		if len(e.outOf) == 1 { // else a partition's onset may be another broker's
			part += e.sinceWhen()
		}
		parts = append(parts, part)
		ids = ids[same:]
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more brokers", more))
	}
	return strings.Join(parts, ", ")
}

// sinceWhen says since when and why the only broker that is out has been out, where
// that is known of all its partitions, with one cause; else it is empty. Each leader drops
// a follower for itself: the first and the last are told.
func (e *evidence) sinceWhen() string {
	var first, last time.Time
	var cause IsrCause
	for i := range e.unhealthy {
		j := &e.unhealthy[i]
		if len(j.Health.OutOfSync) == 0 {
			continue
		}
		if j.Onset == nil {
			return ""
		}
		since, ok := j.Onset.Since.Get()
		why := j.Onset.Cause.Or("")
		if !ok || cause != "" && why != cause {
			return ""
		}
		if cause = why; first.IsZero() || since.Before(first) {
			first = since
		}
		if since.After(last) {
			last = since
		}
	}
	if first.IsZero() {
		return ""
	}
	told := " since " + e.clock(first)
	if to := e.clock(last); " since "+to != told {
		told += " (of the last since " + to + ")"
	}
	return told + ", " + string(cause)
}

// clock is a time, with its date where that is not the Snapshot's.
func (e *evidence) clock(at time.Time) string {
	const second = "15:04:05Z"
	if at = at.UTC(); at.Format(time.DateOnly) == e.s.TakenAt.UTC().Format(time.DateOnly) {
		return at.Format(second)
	}
	return at.Format(time.DateOnly + " " + second)
}

// ofThem is which of the under-replicated partitions n are, where it is n for
// each of several brokers.
func (e *evidence) ofThem(n, brokers int) string {
	switch {
	case e.counts.UnderReplicated == 1:
		return "it"
	case n == e.counts.UnderReplicated:
		return "all of them"
	case brokers > 1:
		return strconv.Itoa(n) + " of them each"
	}
	return strconv.Itoa(n) + " of them"
}

// brokersAre is "broker 3 is" or "brokers 2, 3 and 4 are".
func brokersAre(ids []BrokerID) string {
	if len(ids) == 1 {
		return fmt.Sprintf("broker %d is", ids[0])
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = strconv.Itoa(int(id))
	}
	last := len(names) - 1
	return fmt.Sprintf("brokers %s and %s are", strings.Join(names[:last], ", "), names[last])
}

func (e *evidence) findings() []Finding {
	var out []Finding
	if n := e.counts.MinISRExceedsRF; n > 0 {
		out = append(out, Finding{
			FindingMinISRExceedsRF,
			fmt.Sprintf("min.insync.replicas exceeds the number of replicas in %s: the part above is ineffective", partitions(n)),
			e.minAbove,
		})
	}
	if n := e.counts.SingleReplica; n > 0 {
		out = append(out, Finding{
			FindingSingleReplica,
			fmt.Sprintf("%s a single replica: %s goes offline with its broker", has(n), each(n)),
			e.single,
		})
	}
	if n := e.counts.NoHeadroom; n > 0 {
		out = append(out, Finding{
			FindingNoHeadroom,
			fmt.Sprintf("%s no headroom by construction: the loss of any one replica refuses acks=all writes", has(n)),
			e.noHeadroom,
		})
	}
	return append(out, e.s.quorumFindings()...)
}

func partitions(n int) string {
	if n == 1 {
		return "1 partition"
	}
	return fmt.Sprintf("%d partitions", n)
}

func verb(n int, one, many string) string {
	if n == 1 {
		return "1 partition " + one
	}
	return fmt.Sprintf("%d partitions %s", n, many)
}

func has(n int) string { return verb(n, "has", "have") }

func each(n int) string {
	if n == 1 {
		return "it"
	}
	return "each"
}

func theyHave(n int) string {
	if n == 1 {
		return "it has"
	}
	return "they have"
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

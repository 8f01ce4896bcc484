package render

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// CheckHealth is check health: one line, or a document of kind Health.
func CheckHealth(w io.Writer, v View, s *inspect.Snapshot, verdict *inspect.Verdict, aged *Aged) error {
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindHealth, s, []HealthItem{NewHealthItem(s, verdict, aged)}))
	}
	word := Paint(v.Color, LevelStyle(verdict.Level), LevelWord(verdict.Level))
	why := strings.Join(verdict.Reasons, "; ")
	if verdict.Level == inspect.LevelOK {
		// Lines are for logs and pagers: no separators whatever the writer is.
		plain := View{}
		why = brokersPhrase(plain, s, verdict) + ", " +
			plain.count(verdict.Counts.Topics, "topic", "topics") + ", " + healthySentence(plain, verdict)
	}
	_, err := fmt.Fprintf(w, "%s cluster %s: %s\n", word, Clean(s.ClusterID.Or("unknown")), Clean(why))
	return err
}

// Limits are what check health was given; unknown where there is none.
type Limits struct {
	Lag, Uncommitted inspect.Opt[int64]
	Age              inspect.Opt[time.Duration]
}

// CheckHealthNagios is the line of a Nagios plugin: the state, the reasons, and
// performance data that any of its graphers reads. It is never coloured.
func CheckHealthNagios(w io.Writer, s *inspect.Snapshot, verdict *inspect.Verdict, aged *Aged, limits Limits) error {
	item := NewHealthItem(s, verdict, aged)
	why := strings.Join(verdict.Reasons, "; ")
	if verdict.Level == inspect.LevelOK {
		why = healthySentence(View{}, verdict)
	}
	// A bar in a reason would begin the performance data.
	why = strings.ReplaceAll(Clean(why), "|", "/")
	word := strings.ToUpper(string(verdict.Level))
	_, err := fmt.Fprintf(w, "KAFKA %s - %s | %s\n", word, why, strings.Join(perfData(&item, limits), " "))
	return err
}

// perfData is label=value;warn;crit;min. "0" as a threshold alerts above 0. An
// unknown value is U.
func perfData(h *HealthItem, limits Limits) []string {
	const warnAbove, critAbove, noLimit = ";0;;0", ";;0;0", ";;;0"
	opt := func(n fmt.Stringer, known bool) string {
		if !known {
			return "U"
		}
		return n.String()
	}
	count := func(n int) fmt.Stringer { return inspect.Known(n) }
	var out []string
	add := func(label string, n fmt.Stringer, known bool, limits string) {
		out = append(out, label+"="+opt(n, known)+limits)
	}
	add("offline", count(h.Offline), true, critAbove)
	add("underMinIsr", count(h.UnderMinISR), true, critAbove)
	add("atMinIsr", count(h.AtMinISR), true, warnAbove)
	add("underReplicated", count(h.UnderReplicated), true, warnAbove)
	add("unknown", count(h.Unknown), true, warnAbove)
	add("reassigning", count(h.Reassigning), true, noLimit)
	add("wrongLeader", count(h.WrongLeader), true, noLimit)
	add("partitions", count(h.Partitions), true, noLimit)
	add("brokers", count(h.Brokers), true, noLimit)
	add("brokersAnswering", h.BrokersAnswering, h.BrokersAnswering.IsKnown(), noLimit)
	add("brokersFenced", h.BrokersFenced, h.BrokersFenced.IsKnown(), noLimit)
	add("maxLag", h.MaxLag, h.MaxLag.IsKnown(), warnsAbove(limits.Lag))
	add("lagUnknown", h.LagUnknown, h.LagUnknown.IsKnown(), noLimit)
	add("maxUncommitted", h.MaxUncommitted, h.MaxUncommitted.IsKnown(), warnsAbove(limits.Uncommitted))
	if limits.Age.IsKnown() { // a value that graphers have not seen before is there only where it was asked for
		add("uncommittedAged", h.UncommittedAged, h.UncommittedAged.IsKnown(), warnAbove)
		add("uncommittedAgeUnknown", h.UncommittedAgeUnknown, h.UncommittedAgeUnknown.IsKnown(), noLimit)
	}
	return out
}

// warnsAbove is warn;crit;min of a value that is to stay at or below the limit.
func warnsAbove(limit inspect.Opt[int64]) string {
	n, ok := limit.Get()
	if !ok {
		return ";;;0"
	}
	return fmt.Sprintf(";%d;;0", n)
}

package render

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
)

// The kinds of isr and isr summary.
const (
	KindIsrEvent   Kind = "IsrEvent"   // isr: IsrEventItem
	KindIsrSummary Kind = "IsrSummary" // isr summary: IsrSummaryItem
)

// IsrDocument is the envelope of isr and isr summary: the usual one, and what it
// rests on.
type IsrDocument[T any] struct {
	Document[T]
	Evidence EvidenceItem `json:"evidence"`
	// Meters are there where --jmx asked for them.
	Meters []MetersItem `json:"meters,omitempty"`
}

// EvidenceItem is how far events can be relied upon.
type EvidenceItem struct {
	// Source is metadata-log, metadata-dir, metadata-diff, or recording for a file of
	// what those told; null where there was none to be had.
	Source inspect.Opt[inspect.IsrSource] `json:"source"`
	// Where is who or what was read.
	Where string `json:"where"`
	// Since and FromOffset are from when on nothing is missing; what was before is not
	// known. Until and ToOffset are how far it was read.
	Since      inspect.Opt[Time]           `json:"since"`
	FromOffset inspect.Opt[inspect.Offset] `json:"fromOffset"`
	Until      inspect.Opt[Time]           `json:"until"`
	ToOffset   inspect.Opt[inspect.Offset] `json:"toOffset"`
	// TentativeFrom is the offset from which on records may never have been committed,
	// for a directory.
	TentativeFrom inspect.Opt[inspect.Offset] `json:"tentativeFrom"`
	// EveryMs is how often was looked, for metadata-diff: the events are a lower bound.
	EveryMs inspect.Opt[int64] `json:"everyMs"`
	// Unreadable are records in versions that are newer than this program.
	Unreadable int `json:"unreadable"`
}

// IsrEventItem is one change of an ISR, or of what decides about it.
type IsrEventItem struct {
	// Time is the controller's clock, or that of the look that saw it first.
	Time      Time   `json:"time"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Type is create, delete, shrink, expand, leader, elr or reassign. One record of
	// the log may be two events, at one offset.
	Type  inspect.IsrEventType `json:"type"`
	Cause inspect.IsrCause     `json:"cause"`
	// Brokers are those concerned: who left or came, who led before and leads now, who
	// entered or left the ELR or the assignment; else all replicas.
	Brokers []inspect.BrokerID `json:"brokers"`
	// Replicas, ISRBefore, ISR, ELR and Leader are the partition's; after the change,
	// where the name does not say before. Leader is null where there is none; ELR where
	// it is not known.
	Replicas       []inspect.BrokerID              `json:"replicas"`
	ISRBefore      []inspect.BrokerID              `json:"isrBefore"`
	ISR            []inspect.BrokerID              `json:"isr"`
	ELR            inspect.Opt[[]inspect.BrokerID] `json:"elr"`
	Leader         inspect.Opt[inspect.BrokerID]   `json:"leader"`
	LeaderEpoch    inspect.Opt[inspect.Epoch]      `json:"leaderEpoch"`
	PartitionEpoch inspect.Opt[int32]              `json:"partitionEpoch"`
	// Offset is the record's in the metadata log; null with metadata-diff.
	Offset inspect.Opt[inspect.Offset] `json:"offset"`
	// DurationMs, of an expand, is for how long the replica had been out; null where
	// that began before the evidence, and for other events.
	DurationMs inspect.Opt[int64] `json:"durationMs"`
	Source     inspect.IsrSource  `json:"source"`
}

// IsrSummaryItem is what one broker was missing from, for one cause.
type IsrSummaryItem struct {
	Broker inspect.BrokerID `json:"broker"`
	Cause  inspect.IsrCause `json:"cause"`
	// Times counts every partition that it left; OutMs is for how long at least one was
	// without it, LongestMs the longest of any. Those that it is StillOut of count to
	// the end of the span.
	Times     int   `json:"times"`
	OutMs     int64 `json:"outMs"`
	LongestMs int64 `json:"longestMs"`
	StillOut  int   `json:"stillOut"`
	// Partitions are those that it left, the one without it for longest first.
	Partitions []IsrAbsenceItem `json:"partitions"`
	// Timeline is how many partitions it left in each of equal parts of the span.
	Timeline []int `json:"timeline"`
}

// IsrAbsenceItem is one partition's part in it.
type IsrAbsenceItem struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Times     int    `json:"times"`
	OutMs     int64  `json:"outMs"`
	First     Time   `json:"first"`
	Last      Time   `json:"last"`
	// Flapped: it left three times or more.
	Flapped bool `json:"flapped"`
}

// IsrEventItems are the items of isr, in the order of the events.
func IsrEventItems(events []inspect.IsrEvent) []IsrEventItem {
	out := make([]IsrEventItem, 0, len(events))
	for i := range events {
		e := &events[i]
		item := IsrEventItem{
			Time: Time{e.Time}, Topic: e.Topic, Partition: e.Partition, Type: e.Type, Cause: e.Cause, Brokers: list(e.Brokers),
			Replicas: list(e.Replicas), ISRBefore: idSet(e.ISRBefore), ISR: idSet(e.ISR), ELR: optIDSet(e.ELR),
			LeaderEpoch: e.LeaderEpoch, PartitionEpoch: e.PartitionEpoch, Offset: e.Offset, DurationMs: millis(e.Out), Source: e.Source,
		}
		if e.Leader != inspect.NoBroker {
			item.Leader = inspect.Known(e.Leader)
		}
		out = append(out, item)
	}
	return out
}

// IsrSummaryItems are the items of isr summary.
func IsrSummaryItems(all []isrlog.Absences) []IsrSummaryItem {
	out := make([]IsrSummaryItem, 0, len(all))
	for i := range all {
		a := &all[i]
		item := IsrSummaryItem{
			Broker: a.Broker, Cause: a.Cause, Times: a.Times, OutMs: a.Out.Milliseconds(), LongestMs: a.Longest.Milliseconds(),
			StillOut: a.StillOut, Partitions: []IsrAbsenceItem{}, Timeline: list(a.Timeline),
		}
		for j := range a.Partitions {
			p := &a.Partitions[j]
			item.Partitions = append(item.Partitions, IsrAbsenceItem{
				Topic: p.Topic, Partition: p.Partition, Times: p.Times, OutMs: p.Out.Milliseconds(),
				First: Time{p.First}, Last: Time{p.Last}, Flapped: p.Flapped(),
			})
		}
		out = append(out, item)
	}
	return out
}

func evidenceItem(e *isrlog.Evidence) EvidenceItem {
	item := EvidenceItem{
		Where: e.Where, Since: optTime(e.Since), FromOffset: e.From, Until: optTime(e.Until), ToOffset: e.To,
		TentativeFrom: e.Tentative, EveryMs: millis(e.Every), Unreadable: e.Gaps.Newer,
	}
	if e.Source != "" {
		item.Source = inspect.Known(e.Source)
	}
	return item
}

// span is a length of time in the words that it was asked for with.
func span(d time.Duration) string { return Millis(d.Milliseconds()) }

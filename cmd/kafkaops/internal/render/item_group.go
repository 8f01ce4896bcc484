package render

import (
	"cmp"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// GroupRow is one group as lag groups shows it.
type GroupRow struct {
	inspect.GroupLag
	// Times, where they were asked for, has one entry for each of Partitions.
	Times []ReadTime
}

// ReadTime is a group's lag in time in a partition.
type ReadTime struct {
	// LagMs is how old the first record that is still to be read is: by its own
	// timestamp, or, from samples, since it came below the HW. 0 where there is
	// none. Where the group was behind in every sample, that is unknown and
	// LagMsAtLeast is the lower bound.
	LagMs, LagMsAtLeast inspect.Opt[int64]
}

// time is the partition's, unknown where none was asked for.
func (r *GroupRow) time(i int) ReadTime {
	if i < len(r.Times) {
		return r.Times[i]
	}
	return ReadTime{}
}

// worstTime is the longest lag in time among the partitions that the group has
// committed for. One that is not known makes it a lower bound.
func (r *GroupRow) worstTime() ReadTime {
	var most int64
	known, counted := true, 0
	for i := range r.Partitions {
		if p := &r.Partitions[i]; p.Gone || !p.Committed.IsKnown() {
			continue
		}
		counted++
		t := r.time(i)
		known = known && t.LagMs.IsKnown()
		most = max(most, t.LagMs.Or(0), t.LagMsAtLeast.Or(0))
	}
	switch {
	case counted == 0 || !r.UnknownPartitions.IsKnown():
		return ReadTime{}
	case known:
		return ReadTime{LagMs: inspect.Known(most)}
	case most > 0:
		return ReadTime{LagMsAtLeast: inspect.Known(most)}
	}
	return ReadTime{}
}

// GroupItem is one group of kind GroupLag.
type GroupItem struct {
	Group string `json:"group"`
	// Type is classic, consumer, share or streams; of the last two only State is
	// asked. Null where a broker before Kafka 3.8 did not describe the group.
	Type inspect.Opt[inspect.GroupType] `json:"type"`
	// Protocol is what members have in common, such as consumer or connect; empty
	// where nobody ever joined.
	Protocol string `json:"protocol"`
	// State is Kafka's word, such as Stable or Empty.
	State       inspect.Opt[string] `json:"state"`
	Coordinator inspect.BrokerID    `json:"coordinator"`
	// Members is how many there are, IdleMembers how many of them have no
	// partition.
	Members     inspect.Opt[int] `json:"members"`
	IdleMembers inspect.Opt[int] `json:"idleMembers"`
	// Lag is the sum over the partitions in records: null where a part of it is
	// unknown, and where nothing is committed. LagKnown sums the parts that are
	// known and Unknown counts the others; both are null where the commits are
	// unknown.
	Lag      inspect.Opt[int64] `json:"lag"`
	LagKnown inspect.Opt[int64] `json:"lagKnown"`
	Unknown  inspect.Opt[int]   `json:"unknown"`
	// LagMs is the longest of the partitions' in milliseconds, null without
	// --time and samples. Where some partition's is not known, that is null and LagMsAtLeast
	// is the lower bound.
	LagMs        inspect.Opt[int64] `json:"lagMs"`
	LagMsAtLeast inspect.Opt[int64] `json:"lagMsAtLeast"`
	// Error says why members or commits are unknown; null where they are not.
	Error      inspect.Opt[string]  `json:"error"`
	Partitions []GroupPartitionItem `json:"partitions"`
}

// GroupPartitionItem is a partition that the group has committed for or that is
// assigned to one of its members.
type GroupPartitionItem struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Committed is the offset that the group reads next; null without a commit.
	Committed inspect.Opt[inspect.Offset] `json:"committed"`
	// LogStartOffset ≤ LastStableOffset ≤ HighWatermark ≤ LogEndOffset. What
	// kafka-consumer-groups.sh calls LOG-END-OFFSET is the HighWatermark.
	LogStartOffset   inspect.Opt[inspect.Offset] `json:"logStartOffset"`
	LastStableOffset inspect.Opt[inspect.Offset] `json:"lastStableOffset"`
	HighWatermark    inspect.Opt[inspect.Offset] `json:"highWatermark"`
	LogEndOffset     inspect.Opt[inspect.Offset] `json:"logEndOffset"`
	// Lag is highWatermark − max(committed, logStartOffset); LagReadCommitted the
	// same to the lastStableOffset. Both are 0 where the group is ahead.
	Lag              inspect.Opt[int64] `json:"lag"`
	LagReadCommitted inspect.Opt[int64] `json:"lagReadCommitted"`
	// LagMs is how old the first record to be read is: with --time by its own
	// timestamp, with samples since it was committed. Null without either; where
	// the group was behind in every sample, LagMsAtLeast is the lower bound.
	LagMs        inspect.Opt[int64] `json:"lagMs"`
	LagMsAtLeast inspect.Opt[int64] `json:"lagMsAtLeast"`
	// Ahead is by how many records committed is past the end, BelowStart how many
	// retention deleted before they were read; 0 is the usual case.
	Ahead      inspect.Opt[int64] `json:"ahead"`
	BelowStart inspect.Opt[int64] `json:"belowStart"`
	// Member is the id of the member that has the partition assigned, with its
	// client.id and host; null where none has.
	Member   inspect.Opt[string] `json:"member"`
	ClientID inspect.Opt[string] `json:"clientId"`
	Host     inspect.Opt[string] `json:"host"`
	// Note says why something is unknown; null where nothing is.
	Note inspect.Opt[string] `json:"note"`
}

// GroupItems are the items of lag groups, sorted by name.
func GroupItems(rows []GroupRow) []GroupItem {
	items := make([]GroupItem, 0, len(rows))
	for i := range rows {
		items = append(items, groupItem(&rows[i]))
	}
	slices.SortFunc(items, func(a, b GroupItem) int { return cmp.Compare(a.Group, b.Group) })
	return items
}

func groupItem(r *GroupRow) GroupItem {
	worst := r.worstTime()
	item := GroupItem{
		Group: r.Name, Type: r.Type, Protocol: r.Protocol, State: r.State, Coordinator: r.Coordinator,
		Members: r.memberCount(), IdleMembers: r.IdleMembers,
		Lag: r.Lag, LagKnown: r.LagKnown, Unknown: r.UnknownPartitions,
		LagMs: worst.LagMs, LagMsAtLeast: worst.LagMsAtLeast, Error: optText(r.Error),
		Partitions: make([]GroupPartitionItem, 0, len(r.Partitions)),
	}
	for i := range r.Partitions {
		p := &r.Partitions[i]
		t := r.time(i)
		pi := GroupPartitionItem{
			Topic: p.Topic, Partition: p.Partition, Committed: p.Committed,
			LogStartOffset: p.LogStart, LastStableOffset: p.LSO, HighWatermark: p.HW, LogEndOffset: p.LEO,
			Lag: p.Lag, LagReadCommitted: p.LagReadCommitted, LagMs: t.LagMs, LagMsAtLeast: t.LagMsAtLeast,
			Ahead: p.Ahead, BelowStart: p.BelowStart, Note: optText(p.Note),
		}
		if m := p.Member; m != nil {
			pi.Member, pi.ClientID, pi.Host = inspect.Known(m.ID), inspect.Known(m.ClientID), inspect.Known(hostOf(m))
		}
		item.Partitions = append(item.Partitions, pi)
	}
	return item
}

func (r *GroupRow) memberCount() inspect.Opt[int] {
	members, ok := r.Members.Get()
	if !ok {
		return inspect.Unknown[int]()
	}
	return inspect.Known(len(members))
}

// optText is the text, or unknown where there is none.
func optText(s string) inspect.Opt[string] {
	if s == "" {
		return inspect.Unknown[string]()
	}
	return inspect.Known(s)
}

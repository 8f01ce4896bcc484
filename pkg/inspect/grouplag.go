package inspect

import (
	"cmp"
	"slices"
	"strings"
)

// GroupLag is how far a group is behind, over all partitions that it has
// committed for or that one of its members is assigned.
type GroupLag struct {
	*Group
	// Lag is the sum over Partitions in records. It is unknown where a part of it
	// is, and where nothing is committed that could be summed. Partitions without
	// a commit, and those that no longer exist, are no part of it.
	Lag Opt[int64]
	// LagKnown sums the parts that are known; UnknownPartitions counts the others.
	// Both are unknown where the commits are.
	LagKnown          Opt[int64]
	UnknownPartitions Opt[int]
	// IdleMembers are members without a partition; unknown where what they are
	// assigned is.
	IdleMembers Opt[int]
	// Partitions is sorted by topic and partition.
	Partitions []GroupPartition
}

// GroupPartition is a group's place in one partition.
type GroupPartition struct {
	TopicPartition
	// Committed is unknown where the group has no commit, which Note says, or
	// where it could not be told.
	Committed Opt[Offset]
	// LogStart <= LSO <= HW <= LEO where they are known; they were read after
	// Committed.
	LogStart, LSO, HW, LEO Opt[Offset]
	// Lag is HW − max(Committed, LogStart): the records that are there and still
	// to be read. LagReadCommitted is the same up to the LSO, which is as far as
	// read_committed consumers can get. Both are 0 where the group is ahead.
	Lag, LagReadCommitted Opt[int64]
	// UnreadSinceMs is [Commit.UnreadSinceMs].
	UnreadSinceMs Opt[int64]
	// Ahead is by how much Committed is past the end (HW), as after the log was
	// truncated or its topic created anew; never set off against a lag.
	Ahead Opt[int64]
	// BelowStart is how many records retention has deleted before they were read.
	BelowStart Opt[int64]
	// Member has the partition assigned; nil where none has.
	Member *Member
	// Note says why something is unknown, in a few words, else empty.
	Note string
	// Gone: the cluster has no such partition, so that there is nothing to read.
	Gone bool
}

// Position is where the group will go on reading: Committed, or the log's start
// where that has passed it.
func (p *GroupPartition) Position() Opt[Offset] {
	committed, ok := p.Committed.Get()
	start, started := p.LogStart.Get()
	if !ok || !started {
		return Unknown[Offset]()
	}
	return Known(max(committed, start))
}

// Notes on partitions of a group.
const (
	noteNoTopic     = "no such topic"
	noteNoPartition = "no such partition"
	noteNoLeader    = "no leader"
	noteNoCommit    = "nothing committed"
)

// GroupLags joins every group's commits with the Snapshot's offsets, in the
// order of Groups.
func (s *Snapshot) GroupLags() []GroupLag {
	topics := make(map[string]*Topic, len(s.Topics))
	for i := range s.Topics {
		topics[s.Topics[i].Name] = &s.Topics[i]
	}
	out := make([]GroupLag, 0, len(s.Groups))
	for i := range s.Groups {
		out = append(out, s.Groups[i].lag(topics))
	}
	return out
}

func (g *Group) lag(topics map[string]*Topic) GroupLag {
	l := GroupLag{Group: g, Partitions: g.partitions()}
	if members, ok := g.Members.Get(); ok && (len(members) == 0 || g.assignmentsTold()) {
		idle := 0
		for i := range members {
			if len(members[i].Assigned) == 0 {
				idle++
			}
		}
		l.IdleMembers = Known(idle)
	}
	var sum int64
	known, unknown := 0, 0
	for i := range l.Partitions {
		p := &l.Partitions[i]
		t := topics[p.Topic]
		// Of the commit itself, or of a topic whose commits are hidden with it.
		couldNotTell := p.Note != "" || t != nil && t.Error != ""
		p.locate(t)
		p.measure()
		lag, ok := p.Lag.Get()
		switch {
		case ok:
			sum += lag
			known++
		case p.Gone:
		case couldNotTell || p.Committed.IsKnown():
			unknown++
		}
	}
	if !g.Commits.IsKnown() {
		return l
	}
	l.LagKnown, l.UnknownPartitions = Known(sum), Known(unknown)
	if unknown == 0 && known > 0 {
		l.Lag = Known(sum)
	}
	return l
}

// assignmentsTold reports whether a member without partitions has none: members of
// a classic group are told theirs only once it is stable, and what other protocols
// assign is not partitions.
func (g *Group) assignmentsTold() bool {
	return g.Type == Known(GroupConsumer) || g.Protocol == ProtocolConsumer && g.State == Known("Stable")
}

// partitions are those that the group has committed for, and those that are
// assigned without a commit.
func (g *Group) partitions() []GroupPartition {
	commits := g.Commits.Or(nil)
	out := make([]GroupPartition, 0, len(commits))
	at := make(map[TopicPartition]int, len(commits))
	for _, c := range commits {
		at[c.TopicPartition] = len(out)
		out = append(out, GroupPartition{TopicPartition: c.TopicPartition, Committed: c.Offset, UnreadSinceMs: c.UnreadSinceMs, Note: c.Error})
	}
	members := g.Members.Or(nil)
	for i := range members {
		for _, tp := range members[i].Assigned {
			n, ok := at[tp]
			if !ok {
				n = len(out)
				at[tp] = n
				out = append(out, GroupPartition{TopicPartition: tp})
			}
			out[n].Member = &members[i]
		}
	}
	if !g.Commits.IsKnown() {
		for i := range out {
			out[i].Note = cmp.Or(g.Error, "commits were not told")
		}
	}
	slices.SortFunc(out, func(a, b GroupPartition) int { return a.compare(b.TopicPartition) })
	return out
}

func (t TopicPartition) compare(u TopicPartition) int {
	return cmp.Or(strings.Compare(t.Topic, u.Topic), cmp.Compare(t.Partition, u.Partition))
}

// locate fills in the partition's offsets, or notes why there are none.
func (p *GroupPartition) locate(t *Topic) {
	if t == nil {
		p.Gone = true
		p.note(noteNoTopic)
		return
	}
	if t.Error != "" {
		p.note(t.Error)
		return
	}
	of := t.Partition(p.Partition)
	if of == nil {
		p.Gone = true
		p.note(noteNoPartition)
		return
	}
	if !p.Committed.IsKnown() {
		p.note(noteNoCommit)
	}
	if of.Leader == NoBroker {
		p.note(noteNoLeader)
	}
	if o := of.Offsets; o != nil {
		p.LogStart, p.LSO, p.HW, p.LEO = o.LogStart, o.LSO, o.HW, o.leo()
		if o.Error != "" && !o.HW.IsKnown() {
			p.note(o.Error)
		}
	}
}

// note adds a reason unless it is there already.
func (p *GroupPartition) note(why string) {
	switch {
	case p.Note == "":
		p.Note = why
	case why == noteNoCommit: // the reason that is there is why it is not known
	case p.Note != why:
		p.Note += "; " + why
	}
}

// measure compares the commit with the offsets.
func (p *GroupPartition) measure() {
	committed, ok := p.Committed.Get()
	if !ok {
		return
	}
	if start, ok := p.LogStart.Get(); ok {
		p.BelowStart = Known(max(0, int64(start-committed)))
	}
	if hw, ok := p.HW.Get(); ok {
		p.Ahead = Known(max(0, int64(committed-hw)))
	}
	p.Lag = p.lagTo(p.HW)
	p.LagReadCommitted = p.lagTo(p.LSO)
}

// lagTo is how many records there are from the group's position to an end.
// Where the log's start is unknown, only a group at the end has a certain lag.
func (p *GroupPartition) lagTo(end Opt[Offset]) Opt[int64] {
	to, ok := end.Get()
	if !ok {
		return Unknown[int64]()
	}
	if p.Committed.Or(0) >= to {
		return Known[int64](0)
	}
	at, ok := p.Position().Get()
	if !ok {
		return Unknown[int64]()
	}
	return Known(max(0, int64(to-at)))
}

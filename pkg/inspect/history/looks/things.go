package looks

import (
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// kind says what a thing is.
type kind uint32

const (
	kindCluster kind = iota + 1
	kindFailures
	kindTransactions
	kindQuorum
	kindBroker
	kindLogDirs
	kindBrokerConfigs
	kindFeatures
	kindTopic
	kindTopicConfigs
	kindPartition
	kindGroup
	kindLoad
)

// thing names something that moves seldom.
type thing struct {
	kind  kind
	name  string
	index int32
}

// cluster is what a Snapshot says of the whole.
type cluster struct {
	ClusterID                  inspect.Opt[string]
	Controller                 inspect.Opt[inspect.BrokerID]
	KeepsELR                   inspect.Opt[bool]
	ToldBy                     string
	Asked                      inspect.Parts
	UnkeptTopics, UnkeptGroups int
	Gone                       []inspect.BrokerID
}

// eachThing calls take with all things of a Snapshot and their content, which is to be
// JSON, the owner of others before those. What lies in columns is left out of them, but
// of partitions, which are too many to copy them: see [stillPartition].
func eachThing(s *inspect.Snapshot, take func(thing, any)) {
	take(thing{kind: kindCluster}, cluster{
		s.ClusterID, s.Controller, s.KeepsELR, s.ToldBy, s.Asked, s.UnkeptTopics, s.UnkeptGroups, s.Gone,
	})
	if len(s.Failures) > 0 {
		take(thing{kind: kindFailures}, s.Failures)
	}
	if s.Transactions.IsKnown() {
		take(thing{kind: kindTransactions}, s.Transactions)
	}
	if q, ok := s.Quorum.Get(); ok {
		take(thing{kind: kindQuorum}, stillQuorum(&q))
	}
	for i := range s.Brokers {
		eachOfBroker(s.Brokers[i], take)
	}
	for i := range s.Topics {
		eachOfTopic(s.Topics[i], take)
	}
	for i := range s.Groups {
		take(thing{kind: kindGroup, name: s.Groups[i].Name}, stillGroup(&s.Groups[i]))
	}
}

func eachOfBroker(b inspect.Broker, take func(thing, any)) {
	dirs, configs, features, load := b.LogDirs, b.Configs, b.Features, b.Load
	b.Load = inspect.Unknown[inspect.Load]()
	b.LogDirs, b.Configs, b.Features = inspect.Unknown[[]inspect.LogDir](), inspect.Unknown[[]inspect.Config](), inspect.Unknown[inspect.BrokerFeatures]()
	b.RoundTrip = inspect.Unknown[time.Duration]()
	b.LeaderLEOsAt, b.FollowerLEOsAt = inspect.Unknown[time.Time](), inspect.Unknown[time.Time]()
	id := int32(b.ID)
	take(thing{kind: kindBroker, index: id}, &b)
	if dirs.IsKnown() {
		take(thing{kind: kindLogDirs, index: id}, dirs)
	}
	if configs.IsKnown() {
		take(thing{kind: kindBrokerConfigs, index: id}, configs)
	}
	if features.IsKnown() {
		take(thing{kind: kindFeatures, index: id}, features)
	}
	if load.IsKnown() {
		take(thing{kind: kindLoad, index: id}, load)
	}
}

func eachOfTopic(t inspect.Topic, take func(thing, any)) {
	configs, partitions := t.Configs, t.Partitions
	t.Configs, t.Operations, t.Partitions = inspect.Unknown[[]inspect.Config](), inspect.Unknown[map[inspect.Operation]bool](), nil
	take(thing{kind: kindTopic, name: t.Name}, &t)
	if configs.IsKnown() {
		take(thing{kind: kindTopicConfigs, name: t.Name}, configs)
	}
	for i := range partitions {
		take(thing{kindPartition, t.Name, partitions[i].Index}, &partitions[i])
	}
}

// stillPartition is a partition without what lies in columns. It shares nothing with it:
// who looks may use lists again.
func stillPartition(p *inspect.Partition) *inspect.Partition {
	still := *p
	for _, list := range []*[]inspect.BrokerID{&still.Replicas, &still.ISR, &still.Offline} {
		*list = slices.Clone(*list)
	}
	for _, list := range []*inspect.Opt[[]inspect.BrokerID]{&still.ELR, &still.LastKnownELR, &still.Adding, &still.Removing} {
		if ids, ok := list.Get(); ok {
			*list = inspect.Known(slices.Clone(ids))
		}
	}
	if p.Onset != nil {
		onset := *p.Onset
		still.Onset = &onset
	}
	if p.Offsets == nil {
		return &still
	}
	still.Offsets = &inspect.Offsets{Error: p.Offsets.Error}
	for i := range p.Offsets.Followers {
		f := p.Offsets.Followers[i]
		f.LEO, f.Late = inspect.Unknown[inspect.Offset](), false
		still.Offsets.Followers = append(still.Offsets.Followers, f)
	}
	return &still
}

// standsStill reports whether a partition is as still was made of it, for the columns'
// numbers alone: most are, at most looks, and to compare them costs far less than their
// JSON.
func standsStill(p, still *inspect.Partition) bool {
	return p.Topic == still.Topic && p.TopicID == still.TopicID && p.Index == still.Index && p.Internal == still.Internal &&
		p.Leader == still.Leader && p.LeaderEpoch == still.LeaderEpoch && p.MinInsyncReplicas == still.MinInsyncReplicas &&
		slices.Equal(p.Replicas, still.Replicas) && slices.Equal(p.ISR, still.ISR) && slices.Equal(p.Offline, still.Offline) &&
		sameIDs(p.ELR, still.ELR) && sameIDs(p.LastKnownELR, still.LastKnownELR) &&
		sameIDs(p.Adding, still.Adding) && sameIDs(p.Removing, still.Removing) &&
		sameOnset(p.Onset, still.Onset) && offsetsStandStill(p.Offsets, still.Offsets)
}

func sameIDs(a, b inspect.Opt[[]inspect.BrokerID]) bool {
	return a.IsKnown() == b.IsKnown() && slices.Equal(a.Or(nil), b.Or(nil))
}

func sameOnset(a, b *inspect.Onset) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func offsetsStandStill(o, still *inspect.Offsets) bool {
	if o == nil || still == nil {
		return o == nil && still == nil
	}
	return o.Error == still.Error && slices.EqualFunc(o.Followers, still.Followers, func(a, b inspect.FollowerOffset) bool {
		return a.Broker == b.Broker && a.Refused == b.Refused && a.Error == b.Error
	})
}

func stillQuorum(q *inspect.Quorum) *inspect.Quorum {
	still := *q
	still.HW = inspect.Unknown[inspect.Offset]()
	still.Voters, still.Observers = stillNodes(q.Voters), stillNodes(q.Observers)
	return &still
}

func stillNodes(nodes []inspect.QuorumReplica) []inspect.QuorumReplica {
	out := make([]inspect.QuorumReplica, len(nodes))
	for i := range nodes {
		out[i] = nodes[i]
		out[i].LEO = inspect.Unknown[inspect.Offset]()
		out[i].LastFetch, out[i].LastCaughtUp = inspect.Unknown[time.Time](), inspect.Unknown[time.Time]()
	}
	return out
}

func stillGroup(g *inspect.Group) *inspect.Group {
	still := *g
	commits, ok := g.Commits.Get()
	if !ok {
		return &still
	}
	out := make([]inspect.Commit, len(commits))
	for i := range commits {
		out[i] = commits[i]
		out[i].Offset, out[i].UnreadSinceMs = inspect.Unknown[inspect.Offset](), inspect.Unknown[int64]()
	}
	still.Commits = inspect.Known(out)
	return &still
}

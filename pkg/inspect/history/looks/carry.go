package looks

import "github.com/kafkaops/kafkaops/pkg/inspect"

// Carrier takes over from pass to pass what is not asked for each time: log directories,
// configs, features, min.insync.replicas, the quorum, groups. Who replays a recording then
// has all of it at every look. The zero value has nothing yet.
//
// Carried values are those of the last pass that asked; what that pass did not get is
// unknown. (No part stands for min.insync.replicas: it is that of the last pass that got
// it.) Asked stays what it is, so that a value that is known and was not asked for can
// be told from a fresh one.
type Carrier struct{ last *inspect.Snapshot }

// Carry fills s in, which is not to be changed afterwards.
func (c *Carrier) Carry(s *inspect.Snapshot) {
	if last := c.last; last != nil && last.ClusterID == s.ClusterID {
		carryBrokers(s, last)
		carryTopics(s, last)
		if !s.Asked.Has(inspect.PartQuorum) {
			s.Quorum, s.Controller = last.Quorum, last.Controller
		}
		if !s.Asked.Has(inspect.PartGroups) {
			s.Groups, s.UnkeptGroups = last.Groups, last.UnkeptGroups
		}
		if !s.Asked.Has(inspect.PartTransactions) {
			s.Transactions = last.Transactions
		}
	}
	c.last = s
}

func carryBrokers(s, last *inspect.Snapshot) {
	for i := range s.Brokers {
		b := &s.Brokers[i]
		was := last.Broker(b.ID)
		if was == nil {
			continue
		}
		if !s.Asked.Has(inspect.PartLogDirs) {
			b.LogDirs, b.VersionRange = was.LogDirs, was.VersionRange
		}
		if !s.Asked.Has(inspect.PartConfigs) {
			b.Configs = was.Configs
		}
		if !s.Asked.Has(inspect.PartFeatures) {
			b.Features = was.Features
		}
	}
}

// carryTopics: a topic of another id is another topic, whatever its name.
func carryTopics(s, last *inspect.Snapshot) {
	was := make(map[string]*inspect.Topic, len(last.Topics))
	for i := range last.Topics {
		was[last.Topics[i].Name] = &last.Topics[i]
	}
	for i := range s.Topics {
		t := &s.Topics[i]
		old := was[t.Name]
		if old == nil || old.ID != t.ID {
			continue
		}
		if !s.Asked.Has(inspect.PartConfigs) {
			t.Configs = old.Configs
		}
		if t.MinInsyncReplicas.IsKnown() {
			continue
		}
		t.MinInsyncReplicas, t.UncleanElection = old.MinInsyncReplicas, old.UncleanElection
		for j := range t.Partitions {
			t.Partitions[j].MinInsyncReplicas = t.MinInsyncReplicas
		}
	}
}

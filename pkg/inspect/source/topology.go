package source

import (
	"context"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// topology learns brokers, topics and partitions. With PartELR it prefers
// DescribeTopicPartitions, where partitions come with their ELR from one place
// and one moment, and DescribeCluster for the brokers; else, or where that
// cannot be had, Metadata.
func (p *pass) topology(ctx context.Context, boot *connect.Conn) error {
	_, hasPartitions := boot.Version(keyDescribeTopicPartitions, 0)
	_, hasCluster := boot.Version(keyDescribeCluster, 2)
	p.snap.Topics, p.failures = nil, nil // of an address that failed half-way
	if p.query.Parts.Has(inspect.PartELR) && hasPartitions && hasCluster {
		if err := p.describeCluster(ctx, boot); err != nil {
			return err
		}
		if err := p.checkCluster(boot.Addr()); err != nil {
			return err
		}
		failure := p.describeTopicPartitions(ctx, boot)
		if failure == nil {
			p.settle()
			return nil
		}
		failure.Lost = "eligible leader replicas are unknown"
		p.fail(*failure)
		p.snap.Topics = nil
	}
	if err := p.metadata(ctx, boot); err != nil {
		return err
	}
	if err := p.checkCluster(boot.Addr()); err != nil {
		return err
	}
	if p.query.Parts.Has(inspect.PartFenced) && hasCluster {
		if err := p.describeCluster(ctx, boot); err != nil {
			f := failureOf(inspect.Unknown[inspect.BrokerID](), err)
			f.Lost = "fenced brokers are not shown"
			p.fail(f)
		}
	}
	p.settle()
	return nil
}

// settle drops what was not asked for, sorts, and tells of topics that could not
// be described.
func (p *pass) settle() {
	s := p.snap
	slices.SortFunc(s.Brokers, func(a, b inspect.Broker) int { return int(a.ID - b.ID) })
	p.visible = len(s.Topics)
	s.Gone = s.Unlisted() // whatever of the topics is kept
	p.findCoordinators()
	s.Topics = slices.DeleteFunc(s.Topics, func(t inspect.Topic) bool {
		return p.query.Keep != nil && !p.query.Keep(t.Name, t.Internal)
	})
	s.UnkeptTopics = p.visible - len(s.Topics)
	slices.SortFunc(s.Topics, func(a, b inspect.Topic) int { return strings.Compare(a.Name, b.Name) })
	for i := range s.Topics {
		t := &s.Topics[i]
		slices.SortFunc(t.Partitions, func(a, b inspect.Partition) int { return int(a.Index - b.Index) })
		for j := range t.Partitions {
			part := &t.Partitions[j]
			part.Topic, part.TopicID, part.Internal = t.Name, t.ID, t.Internal
		}
		if t.Error != "" {
			p.fail(topicFailure(t))
		}
	}
}

func topicFailure(t *inspect.Topic) inspect.Failure {
	f := inspect.Failure{Topic: t.Name, Request: "Metadata", Phase: inspect.PhaseRequest, Error: t.Error}
	switch t.Error {
	case "UNKNOWN_TOPIC_OR_PARTITION":
		f.Error = "no such topic, or no permission to see it"
	case "TOPIC_AUTHORIZATION_FAILED":
		f.Missing = access.MissingFor(f.Request, inspect.ResourceTopic)
		f.Hint = access.Hint(f.Missing)
	}
	return f
}

func brokerIDs(ids []int32) []inspect.BrokerID {
	out := make([]inspect.BrokerID, len(ids))
	for i, id := range ids {
		out[i] = inspect.BrokerID(id)
	}
	return out
}

func rackOf(rack *string) inspect.Opt[string] {
	if rack == nil || *rack == "" {
		return inspect.Unknown[string]()
	}
	return inspect.Known(*rack)
}

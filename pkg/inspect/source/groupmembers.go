package source

import (
	"context"
	"slices"
	"strings"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

const (
	consumerGroupDescribe = "ConsumerGroupDescribe"
	describeGroups        = "DescribeGroups"
)

// describe learns states and members. Groups of the consumer protocol (KIP-848)
// have an API of their own; the classic one calls them Dead. Where the list had
// no types, a group is tried there first, if the broker has that API: one that it
// does not find is a classic group.
func (c *coordinator) describe(ctx context.Context) {
	var consumers, classics []*inspect.Group
	_, offered := c.conn.Version(keyConsumerGroupDescribe, 1)
	for _, g := range c.groups {
		kind, known := g.Type.Get()
		switch {
		case known && kind.StateOnly():
		case offered && (!known || kind == inspect.GroupConsumer):
			consumers = append(consumers, g)
		default:
			classics = append(classics, g)
		}
	}
	if len(consumers) > 0 {
		c.step(ctx, func(ctx context.Context) error {
			others, err := c.describeConsumers(ctx, consumers)
			classics = append(classics, others...)
			return err
		})
	}
	if len(classics) > 0 {
		c.step(ctx, func(ctx context.Context) error { return c.describeClassics(ctx, classics) })
	}
}

// describeConsumers returns the groups that are of another protocol.
func (c *coordinator) describeConsumers(ctx context.Context, groups []*inspect.Group) (others []*inspect.Group, err error) {
	version, _ := c.conn.Version(keyConsumerGroupDescribe, 1)
	req := &sarama.ConsumerGroupDescribeRequest{Version: version, GroupIDs: groupNames(groups)}
	resp, err := askGroups(ctx, c, consumerGroupDescribe, func(b *sarama.Broker) (*sarama.ConsumerGroupDescribeResponse, error) {
		return b.ConsumerGroupDescribe(req)
	})
	if err != nil {
		return nil, err
	}
	answers := make(map[string]*sarama.ConsumerGroupDescription, len(resp.Groups))
	for i := range resp.Groups {
		answers[resp.Groups[i].GroupID] = &resp.Groups[i]
	}
	for _, g := range groups {
		d := answers[g.Name]
		switch {
		case d == nil:
			c.refuse(g, consumerGroupDescribe, int16(sarama.ErrUnknown))
		case d.ErrorCode == sarama.ErrGroupIDNotFound, d.ErrorCode == sarama.ErrUnsupportedVersion:
			// Unsupported: the broker knows the API, the cluster has not enabled the
			// protocol (feature group.version).
			others = append(others, g)
		case d.ErrorCode != sarama.ErrNoError:
			c.refuse(g, consumerGroupDescribe, int16(d.ErrorCode))
		default:
			g.Type, g.State = inspect.Known(inspect.GroupConsumer), inspect.Known(d.GroupState)
			members := make([]inspect.Member, 0, len(d.Members))
			for i := range d.Members {
				members = append(members, consumerMember(&d.Members[i]))
			}
			g.Members = inspect.Known(sortedMembers(members))
		}
	}
	return others, nil
}

func consumerMember(m *sarama.ConsumerGroupMemberDescription) inspect.Member {
	out := inspect.Member{ID: m.MemberID, InstanceID: deref(m.InstanceID), ClientID: m.ClientID, Host: m.ClientHost}
	for _, t := range m.Assignment.TopicPartitions {
		for _, p := range t.Partitions {
			out.Assigned = append(out.Assigned, inspect.TopicPartition{Topic: t.TopicName, Partition: p})
		}
	}
	return out
}

func (c *coordinator) describeClassics(ctx context.Context, groups []*inspect.Group) error {
	const newest = 5
	version, ok := c.pass.version(c.conn, inspect.Known(c.broker.ID), keyDescribeGroups, newest, "groups' members are unknown")
	if !ok {
		c.cannotTell(groups, describeGroups)
		return nil
	}
	req := &sarama.DescribeGroupsRequest{Version: version, Groups: groupNames(groups)}
	resp, err := askGroups(ctx, c, describeGroups, func(b *sarama.Broker) (*sarama.DescribeGroupsResponse, error) {
		return b.DescribeGroups(req)
	})
	if err != nil {
		return err
	}
	answers := make(map[string]*sarama.GroupDescription, len(resp.Groups))
	for _, d := range resp.Groups {
		answers[d.GroupId] = d
	}
	for _, g := range groups {
		d := answers[g.Name]
		switch {
		case d == nil:
			c.refuse(g, describeGroups, int16(sarama.ErrUnknown))
		case d.Err != sarama.ErrNoError:
			c.refuse(g, describeGroups, int16(d.Err))
		default:
			setClassic(g, d)
		}
	}
	return nil
}

func setClassic(g *inspect.Group, d *sarama.GroupDescription) {
	const dead = "Dead" // what the API answers for a group that is not a classic one
	if d.State != dead || !g.Type.IsKnown() {
		g.Type = inspect.Known(inspect.GroupClassic)
	}
	g.State = inspect.Known(d.State)
	if d.ProtocolType != "" {
		g.Protocol = d.ProtocolType
	}
	members := make([]inspect.Member, 0, len(d.Members))
	for _, m := range d.Members {
		out := inspect.Member{ID: m.MemberId, InstanceID: deref(m.GroupInstanceId), ClientID: m.ClientId, Host: m.ClientHost}
		if g.Protocol == inspect.ProtocolConsumer {
			out.Assigned = classicAssignment(m)
		}
		members = append(members, out)
	}
	g.Members = inspect.Known(sortedMembers(members))
}

// classicAssignment is empty where the bytes are not what consumers write: the
// broker only passes them on, and some client may have its own format.
func classicAssignment(m *sarama.GroupMemberDescription) []inspect.TopicPartition {
	a, err := m.GetMemberAssignment()
	if err != nil || a == nil {
		return nil
	}
	var out []inspect.TopicPartition
	for topic, partitions := range a.Topics {
		for _, p := range partitions {
			out = append(out, inspect.TopicPartition{Topic: topic, Partition: p})
		}
	}
	return out
}

func sortedMembers(members []inspect.Member) []inspect.Member {
	for i := range members {
		slices.SortFunc(members[i].Assigned, comparePartitions)
	}
	slices.SortFunc(members, func(a, b inspect.Member) int { return strings.Compare(a.ID, b.ID) })
	return members
}

func groupNames(groups []*inspect.Group) []string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.Name
	}
	return names
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

package group

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeNamesGroup is the version of DescribeGroups from which on a group that
// there is not is an error (KIP-1043).
const describeNamesGroup = 6

// Describe is a group as DescribeGroups of a version shows it
// (GroupMetadataManager.describeGroups). Who waits for a rebalance shows no metadata.
func (s *Shard) Describe(id string, version int16) kmsg.DescribeGroupsResponseGroup {
	out := kmsg.NewDescribeGroupsResponseGroup()
	out.Group, out.Members = id, []kmsg.DescribeGroupsResponseGroupMember{}
	g := s.groups[id]
	if g == nil {
		out.State = string(Dead)
		if version >= describeNamesGroup {
			out.ErrorCode = int16(GroupIDNotFound)
			out.ErrorMessage = kmsg.StringPtr("Group " + id + " not found.")
		}
		return out
	}
	out.State = string(g.state)
	if g.protocolType != nil {
		out.ProtocolType = *g.protocolType
	}
	if g.state == Stable {
		out.Protocol = *g.protocol
	}
	for _, m := range g.members {
		d := kmsg.NewDescribeGroupsResponseGroupMember()
		d.MemberID, d.InstanceID, d.ClientID, d.ClientHost = m.id, m.instance, m.clientID, m.clientHost
		d.MemberAssignment, d.ProtocolMetadata = m.assignment, []byte{}
		if g.state == Stable {
			d.ProtocolMetadata = m.metadata(g.protocol)
		}
		out.Members = append(out.Members, d)
	}
	return out
}

// groupType is what all groups here are.
const groupType = "classic"

// List is the groups in one of the states and of one of the types, in any writing
// (GroupMetadataManager.listGroups); none stands for all.
func (s *Shard) List(states, types []string) []kmsg.ListGroupsResponseGroup {
	var all []kmsg.ListGroupsResponseGroup
	named := func(filter []string, name string) bool {
		return len(filter) == 0 || slices.ContainsFunc(filter, func(f string) bool { return strings.EqualFold(f, name) })
	}
	if !named(types, groupType) {
		return nil
	}
	for _, id := range s.ids() {
		g := s.groups[id]
		if !named(states, string(g.state)) {
			continue
		}
		out := kmsg.NewListGroupsResponseGroup()
		out.Group, out.GroupState, out.GroupType = id, string(g.state), "classic"
		if g.protocolType != nil {
			out.ProtocolType = *g.protocolType
		}
		all = append(all, out)
	}
	return all
}

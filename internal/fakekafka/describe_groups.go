package fakekafka

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// versionWithNotFound is where DescribeGroups began to answer GROUP_ID_NOT_FOUND
// for what is no classic group (KIP-1043). Before, such a group is Dead and has
// no members, a group of the consumer protocol included.
const versionWithNotFound = 6

func (v *view) describeGroups(req *kmsg.DescribeGroupsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
	resp.Groups = []kmsg.DescribeGroupsResponseGroup{}
	for _, name := range req.Groups {
		rg := kmsg.NewDescribeGroupsResponseGroup()
		rg.Group, rg.Members = name, []kmsg.DescribeGroupsResponseGroupMember{}
		g, code := v.group(kmsg.DescribeGroups, name)
		switch {
		case code != none:
			rg.ErrorCode = code
		case g == nil || g.groupType() != ClassicGroup:
			rg.State = "Dead"
			if req.Version >= versionWithNotFound {
				rg.ErrorCode = groupIDNotFound
				rg.ErrorMessage = optional("Group " + name + " is not a classic group.")
			}
		default:
			rg.State, rg.ProtocolType = g.state(), g.protocolType()
			if len(g.Members) > 0 {
				rg.Protocol = "range"
			}
			for _, m := range g.Members {
				rg.Members = append(rg.Members, classicMember(g, m))
			}
		}
		resp.Groups = append(resp.Groups, rg)
	}
	return resp
}

// classicMember carries its assignment in the format of the consumer protocol,
// where the group is one of consumers. It is told in a stable group only.
func classicMember(g *Group, m *Member) kmsg.DescribeGroupsResponseGroupMember {
	rm := kmsg.NewDescribeGroupsResponseGroupMember()
	rm.MemberID, rm.InstanceID = m.ID, optional(m.InstanceID)
	rm.ClientID, rm.ClientHost = m.ClientID, m.Host
	rm.ProtocolMetadata, rm.MemberAssignment = []byte{}, []byte{}
	if g.state() != "Stable" {
		return rm
	}
	if g.protocolType() != "consumer" {
		rm.MemberAssignment = []byte("another protocol's format")
		return rm
	}
	assignment := kmsg.NewConsumerMemberAssignment()
	assignment.Version = 3
	for _, topic := range slices.Sorted(maps.Keys(m.Assigned)) {
		at := kmsg.NewConsumerMemberAssignmentTopic()
		at.Topic, at.Partitions = topic, m.Assigned[topic]
		assignment.Topics = append(assignment.Topics, at)
	}
	rm.MemberAssignment = assignment.AppendTo(nil)
	return rm
}

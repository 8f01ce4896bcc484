package fakekafka

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// listGroups lists the groups that this broker coordinates. A client without
// permission is told of none, without an error; it may still see single groups.
func (v *view) listGroups(req *kmsg.ListGroupsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
	resp.Groups = []kmsg.ListGroupsResponseGroup{}
	if v.denied(kmsg.ListGroups) {
		return resp
	}
	wanted := func(filter []string, word string) bool {
		return len(filter) == 0 || slices.ContainsFunc(filter, func(f string) bool { return strings.EqualFold(f, word) })
	}
	for _, g := range v.model.Groups {
		if g.DenyDescribe || v.coordinatorOf(g) != v.self.ID ||
			!wanted(req.StatesFilter, g.state()) || !wanted(req.TypesFilter, g.groupType()) {
			continue
		}
		rg := kmsg.NewListGroupsResponseGroup()
		rg.Group, rg.ProtocolType, rg.GroupState, rg.GroupType = g.Name, g.protocolType(), g.state(), g.groupType()
		resp.Groups = append(resp.Groups, rg)
	}
	return resp
}

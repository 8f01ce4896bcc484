package node

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// There is no authorizer, and who asks for ACLs is told so, as Kafka tells (AclApis).
const noAuthorizer = "No Authorizer is configured."

// describeACLs ends the connection of who asks for what he does not name: Kafka
// refuses to read that (DescribeAclsRequest.normalizeAndValidate).
func (n *Node) describeACLs(token machine.Token, req *kmsg.DescribeACLsRequest) {
	if req.ResourceType == 0 || req.ResourcePatternType == 0 || req.Operation == 0 || req.PermissionType == 0 {
		n.hangUp(token)
		return
	}
	resp := req.ResponseKind().(*kmsg.DescribeACLsResponse)
	text := noAuthorizer
	resp.ErrorCode, resp.ErrorMessage = int16(securityDisabled), &text
	resp.Resources = []kmsg.DescribeACLsResponseResource{}
	n.reply(token, resp)
}

func (n *Node) createACLs(token machine.Token, req *kmsg.CreateACLsRequest) {
	resp := req.ResponseKind().(*kmsg.CreateACLsResponse)
	resp.Results = make([]kmsg.CreateACLsResponseResult, len(req.Creations))
	for i := range resp.Results {
		text := noAuthorizer
		resp.Results[i] = kmsg.NewCreateACLsResponseResult()
		resp.Results[i].ErrorCode, resp.Results[i].ErrorMessage = int16(securityDisabled), &text
	}
	n.reply(token, resp)
}

func (n *Node) deleteACLs(token machine.Token, req *kmsg.DeleteACLsRequest) {
	resp := req.ResponseKind().(*kmsg.DeleteACLsResponse)
	resp.Results = make([]kmsg.DeleteACLsResponseResult, len(req.Filters))
	for i := range resp.Results {
		text := noAuthorizer
		resp.Results[i] = kmsg.NewDeleteACLsResponseResult()
		resp.Results[i].ErrorCode, resp.Results[i].ErrorMessage = int16(securityDisabled), &text
		resp.Results[i].MatchingACLs = []kmsg.DeleteACLsResponseResultMatchingACL{}
	}
	n.reply(token, resp)
}

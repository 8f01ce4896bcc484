package quorum

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// What DescribeCluster calls the listeners (KIP-919).
const (
	endpointBrokers     = 1
	endpointControllers = 2
)

// clusterOperations are all that can be done to a cluster, as bits: there is no
// authorizer (AclEntry.supportedOperations).
const clusterOperations int32 = 1<<5 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12

// describeCluster tells of the controllers, which is this one
// (ControllerApis.handleDescribeCluster).
func (n *Node) describeCluster(req *kmsg.DescribeClusterRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeClusterResponse)
	resp.Brokers = []kmsg.DescribeClusterResponseBroker{}
	asked := req.EndpointType
	if req.Version == 0 {
		asked = endpointBrokers
	}
	if asked != endpointControllers {
		code, text := codeUnsupportedEndpointType, fmt.Sprintf("there is no endpoint type %d", asked)
		if asked == endpointBrokers {
			code, text = codeMismatchedEndpointType, "this is a controller: ask a broker about brokers"
		}
		if req.Version == 0 {
			code = codeInvalidRequest // which is as old as that version
		}
		resp.ErrorCode, resp.ErrorMessage = code, &text
		return resp
	}
	opts := n.opts.Controller
	resp.EndpointType, resp.ClusterID, resp.ControllerID = endpointControllers, opts.ClusterID, opts.NodeID
	if len(n.opts.EndPoints) > 0 {
		b, e := kmsg.NewDescribeClusterResponseBroker(), n.opts.EndPoints[0]
		b.NodeID, b.Host, b.Port = opts.NodeID, e.Host, int32(e.Port)
		resp.Brokers = append(resp.Brokers, b)
	}
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
	return resp
}

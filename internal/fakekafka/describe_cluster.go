package fakekafka

import "github.com/twmb/franz-go/pkg/kmsg"

// The endpoint types of KIP-919.
const (
	brokerEndpoints     int8 = 1
	controllerEndpoints int8 = 2
)

func (v *view) describeCluster(req *kmsg.DescribeClusterRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeClusterResponse)
	resp.Brokers = []kmsg.DescribeClusterResponseBroker{}
	switch {
	case v.denied(kmsg.DescribeCluster):
		resp.ErrorCode, resp.ErrorMessage = clusterAuthorization, new("Cluster authorization failed.")
		return resp
	case req.EndpointType != brokerEndpoints && req.EndpointType != controllerEndpoints:
		resp.ErrorCode, resp.ErrorMessage = unsupportedEndpointType, new("Unsupported endpoint type")
		return resp
	case req.EndpointType != v.endpointType():
		here, wanted := "BROKER", "CONTROLLER"
		if v.model.Controllers {
			here, wanted = wanted, here
		}
		resp.ErrorCode, resp.ErrorMessage = mismatchedEndpointType, new("The request was sent to an endpoint of type "+here+", but we wanted an endpoint of type "+wanted)
		return resp
	}
	resp.ClusterID = v.model.ClusterID
	resp.ControllerID = v.controllerID()
	if v.model.Controllers {
		resp.ControllerID = v.quorum().Leader
	}
	resp.EndpointType = req.EndpointType
	for _, b := range v.model.Brokers {
		// Before version 2 there is no flag, and no fenced broker (KIP-1073).
		if b.Fenced && !req.IncludeFencedBrokers {
			continue
		}
		rb := kmsg.NewDescribeClusterResponseBroker()
		rb.NodeID, rb.Rack, rb.IsFenced = b.ID, b.rack(), b.Fenced
		rb.Host, rb.Port = b.address()
		resp.Brokers = append(resp.Brokers, rb)
	}
	return resp
}

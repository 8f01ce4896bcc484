package node

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// Without an authorizer everyone may do everything: the operations of topics and of the
// cluster as bits (AclEntry.supportedOperations).
const (
	topicOperations   int32 = 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<10 | 1<<11
	clusterOperations int32 = 1<<5 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12
)

// endpointBrokers is what DescribeCluster calls the listener of brokers (KIP-919).
const endpointBrokers, endpointControllers = 1, 2

// describeCluster answers from the image (KafkaApis.handleDescribeCluster).
func (n *Node) describeCluster(token machine.Token, req *kmsg.DescribeClusterRequest) {
	resp := req.ResponseKind().(*kmsg.DescribeClusterResponse)
	resp.Brokers = []kmsg.DescribeClusterResponseBroker{}
	defer n.reply(token, resp)
	if req.EndpointType != endpointBrokers {
		code, text := unsupportedEndpointType, fmt.Sprintf("there is no endpoint type %d", req.EndpointType)
		if req.EndpointType == endpointControllers {
			code, text = mismatchedEndpointType, "this is a broker: ask a controller about controllers"
		}
		resp.ErrorCode, resp.ErrorMessage = int16(code), &text
		return
	}
	resp.ClusterID, resp.ControllerID = n.opts.ClusterID, n.anyBroker()
	for id, registered := range n.follow.image.Brokers() {
		if _, _, alive := n.endpoint(id); !alive && !req.IncludeFencedBrokers || len(registered.EndPoints) == 0 {
			continue
		}
		b, e := kmsg.NewDescribeClusterResponseBroker(), registered.EndPoints[0]
		b.NodeID, b.Host, b.Port, b.Rack, b.IsFenced = id, e.Host, int32(e.Port), registered.Rack, registered.Fenced
		resp.Brokers = append(resp.Brokers, b)
	}
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
}

// listConfigResources names what can have configs (KIP-1142): brokers, their loggers
// and topics. Version 0 knows client metrics alone, of which there are none.
func (n *Node) listConfigResources(token machine.Token, req *kmsg.ListConfigResourcesRequest) {
	resp := req.ResponseKind().(*kmsg.ListConfigResourcesResponse)
	resp.ConfigResources = []kmsg.ListConfigResourcesResponseConfigResource{}
	defer n.reply(token, resp)
	if req.Version == 0 {
		return
	}
	types := req.ResourceTypes
	if len(types) == 0 {
		types = []int8{
			int8(kmsg.ConfigResourceTypeGroupConfig), int8(kmsg.ConfigResourceTypeClientMetrics),
			int8(kmsg.ConfigResourceTypeBrokerLogger), int8(kmsg.ConfigResourceTypeBroker), int8(kmsg.ConfigResourceTypeTopic),
		}
	}
	add := func(typ int8, name string) {
		r := kmsg.NewListConfigResourcesResponseConfigResource()
		r.Type, r.Name = typ, name
		resp.ConfigResources = append(resp.ConfigResources, r)
	}
	for _, typ := range types {
		switch kmsg.ConfigResourceType(typ) {
		case kmsg.ConfigResourceTypeGroupConfig, kmsg.ConfigResourceTypeClientMetrics:
		case kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger:
			for id := range n.follow.image.Brokers() {
				if _, _, alive := n.endpoint(id); alive {
					add(typ, fmt.Sprint(id))
				}
			}
		case kmsg.ConfigResourceTypeTopic:
			for name := range n.follow.image.Topics() {
				add(typ, name)
			}
		default:
			resp.ErrorCode = int16(replica.UnsupportedVersion)
			resp.ConfigResources = []kmsg.ListConfigResourcesResponseConfigResource{}
			return
		}
	}
}

package node

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// foreign says why a broker does not send a change of configs on to the controller: a
// broker's own configs go through that broker, which looks whether it could take them
// (ConfigAdminManager.preprocess).
func (n *Node) foreign(typ kmsg.ConfigResourceType, name string) error {
	if typ != kmsg.ConfigResourceTypeBroker || name == "" {
		return nil
	}
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case err != nil:
		return fmt.Errorf("%q is no broker id", name)
	case id != int64(n.opts.ID):
		return fmt.Errorf("broker %d was asked to change the configs of %d: ask that one", n.opts.ID, id)
	}
	return nil
}

// incrementalAlterConfigs refuses what is another broker's, and sends on the rest.
func (n *Node) incrementalAlterConfigs(token machine.Token, req *kmsg.IncrementalAlterConfigsRequest) {
	refused := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	refused.Resources = []kmsg.IncrementalAlterConfigsResponseResource{}
	req.Resources = slices.DeleteFunc(req.Resources, func(r kmsg.IncrementalAlterConfigsRequestResource) bool {
		err := n.foreign(r.ResourceType, r.ResourceName)
		if err == nil {
			return false
		}
		out := kmsg.NewIncrementalAlterConfigsResponseResource()
		out.ResourceType, out.ResourceName = r.ResourceType, r.ResourceName
		out.ErrorCode, out.ErrorMessage = int16(replica.InvalidRequest), kmsg.StringPtr(err.Error())
		refused.Resources = append(refused.Resources, out)
		return true
	})
	n.sendOn(token, req, len(req.Resources), refused, len(refused.Resources), func(body kmsg.Response) {
		if resp, ok := body.(*kmsg.IncrementalAlterConfigsResponse); ok {
			resp.Resources = append(resp.Resources, refused.Resources...)
		}
	})
}

// alterConfigs is the same for the older request.
func (n *Node) alterConfigs(token machine.Token, req *kmsg.AlterConfigsRequest) {
	refused := req.ResponseKind().(*kmsg.AlterConfigsResponse)
	refused.Resources = []kmsg.AlterConfigsResponseResource{}
	req.Resources = slices.DeleteFunc(req.Resources, func(r kmsg.AlterConfigsRequestResource) bool {
		err := n.foreign(r.ResourceType, r.ResourceName)
		if err == nil {
			return false
		}
		out := kmsg.NewAlterConfigsResponseResource()
		out.ResourceType, out.ResourceName = r.ResourceType, r.ResourceName
		out.ErrorCode, out.ErrorMessage = int16(replica.InvalidRequest), kmsg.StringPtr(err.Error())
		refused.Resources = append(refused.Resources, out)
		return true
	})
	n.sendOn(token, req, len(req.Resources), refused, len(refused.Resources), func(body kmsg.Response) {
		if resp, ok := body.(*kmsg.AlterConfigsResponse); ok {
			resp.Resources = append(resp.Resources, refused.Resources...)
		}
	})
}

// sendOn sends what is left of a request to the controller, if anything is. What was
// refused here is the whole answer then, or merge puts it into the controller's.
func (n *Node) sendOn(token machine.Token, left kmsg.Request, leftOnes int, refused kmsg.Response, refusedOnes int, merge func(kmsg.Response)) {
	switch {
	case refusedOnes == 0:
		n.forward(token, left, nil)
	case leftOnes == 0:
		n.reply(token, refused)
	default:
		n.forward(token, left, merge)
	}
}

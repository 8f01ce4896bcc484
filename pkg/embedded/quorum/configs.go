package quorum

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

func (c *call) incrementalAlterConfigs(req *kmsg.IncrementalAlterConfigsRequest) kmsg.Response {
	var all []controller.ResourceChange
	for _, res := range req.Resources {
		change := controller.ResourceChange{Resource: metadata.Resource{Type: int8(res.ResourceType), Name: res.ResourceName}}
		for _, cfg := range res.Configs {
			change.Changes = append(change.Changes, controller.ConfigChange{Key: cfg.Name, Op: controller.ConfigOp(cfg.Op), Value: cfg.Value})
		}
		all = append(all, change)
	}
	resp := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	results := c.changeConfigs(all, req.ValidateOnly)
	resp.Resources = make([]kmsg.IncrementalAlterConfigsResponseResource, 0, len(results))
	for _, result := range results {
		res := kmsg.NewIncrementalAlterConfigsResponseResource()
		res.ResourceType, res.ResourceName = kmsg.ConfigResourceType(result.Type), result.Name
		res.ErrorCode, res.ErrorMessage = codeOf(result.Err), messageOf(result.Err)
		resp.Resources = append(resp.Resources, res)
	}
	return resp
}

// alterConfigs is the older request, which says all that is to be set.
func (c *call) alterConfigs(req *kmsg.AlterConfigsRequest) kmsg.Response {
	var all []controller.ResourceChange
	for _, res := range req.Resources {
		change := controller.ResourceChange{Resource: metadata.Resource{Type: int8(res.ResourceType), Name: res.ResourceName}, Replace: true}
		for _, cfg := range res.Configs {
			change.Changes = append(change.Changes, controller.ConfigChange{Key: cfg.Name, Op: controller.SetConfig, Value: cfg.Value})
		}
		all = append(all, change)
	}
	resp := req.ResponseKind().(*kmsg.AlterConfigsResponse)
	results := c.changeConfigs(all, req.ValidateOnly)
	resp.Resources = make([]kmsg.AlterConfigsResponseResource, 0, len(results))
	for _, result := range results {
		res := kmsg.NewAlterConfigsResponseResource()
		res.ResourceType, res.ResourceName = kmsg.ConfigResourceType(result.Type), result.Name
		res.ErrorCode, res.ErrorMessage = codeOf(result.Err), messageOf(result.Err)
		resp.Resources = append(resp.Resources, res)
	}
	return resp
}

// changeConfigs answers once for each resource, first for those that the rules are
// asked about.
func (c *call) changeConfigs(all []controller.ResourceChange, validateOnly bool) []controller.ResourceResult {
	count := once(all, func(r controller.ResourceChange) metadata.Resource { return r.Resource })
	r := controller.AlterConfigs{ValidateOnly: validateOnly}
	var refused []controller.ResourceResult
	for _, res := range all {
		err := malformed(res)
		switch {
		case count[res.Resource] == 0:
			continue // answered
		case count[res.Resource] > 1:
			err = errorf(controller.InvalidRequest, "the resource is in the request more than once")
			count[res.Resource] = 0
		}
		if err != nil {
			refused = append(refused, controller.ResourceResult{Resource: res.Resource, Err: err})
			continue
		}
		r.Resources = append(r.Resources, res)
	}
	return append(handle(c, r).Resources, refused...)
}

// malformed finds what no rule looks at.
func malformed(res controller.ResourceChange) *controller.Error {
	switch kmsg.ConfigResourceType(res.Type) {
	case kmsg.ConfigResourceTypeTopic, kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger,
		kmsg.ConfigResourceTypeClientMetrics, kmsg.ConfigResourceTypeGroupConfig:
	default:
		return errorf(controller.UnsupportedVersion, "unknown resource type %d", res.Type)
	}
	for _, change := range res.Changes {
		if change.Key == "" || len(change.Key) > maxString {
			return errorf(controller.InvalidRequest, "a config's name of %d bytes: want 1 to %d", len(change.Key), maxString)
		}
	}
	return nil
}

func (c *call) updateFeatures(req *kmsg.UpdateFeaturesRequest) kmsg.Response {
	r := controller.UpdateFeatures{ValidateOnly: req.ValidateOnly && req.Version >= 1}
	var tooLong *controller.Error
	for _, u := range req.FeatureUpdates {
		update := controller.FeatureUpdate{Name: u.Feature, Level: u.MaxVersionLevel, Type: controller.UpgradeType(u.UpgradeType)}
		if req.Version == 0 {
			update.Type = controller.Upgrade
			if u.AllowDowngrade {
				update.Type = controller.SafeDowngrade
			}
		}
		if len(u.Feature) > maxString {
			tooLong = errorf(controller.InvalidRequest, "a feature's name of %d bytes: want at most %d", len(u.Feature), maxString)
		}
		r.Updates = append(r.Updates, update)
	}
	reply := controller.UpdateFeaturesReply{Err: tooLong}
	if tooLong == nil {
		reply = handle(c, r)
	}
	resp := req.ResponseKind().(*kmsg.UpdateFeaturesResponse)
	resp.ErrorCode, resp.ErrorMessage = codeOf(reply.Err), messageOf(reply.Err)
	resp.Results = []kmsg.UpdateFeaturesResponseResult{}
	if reply.Err == nil && req.Version <= 1 {
		for _, u := range req.FeatureUpdates {
			result := kmsg.NewUpdateFeaturesResponseResult()
			result.Feature, result.ErrorMessage = u.Feature, kmsg.StringPtr("NONE")
			resp.Results = append(resp.Results, result)
		}
	}
	return resp
}

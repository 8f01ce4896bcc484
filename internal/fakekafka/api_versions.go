package fakekafka

import (
	"maps"
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// apiVersions answers in the request's version, which the broker serves; the
// answer to one that it does not is apiVersionsUnsupported.
func (v *view) apiVersions(req *kmsg.ApiVersionsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ApiVersionsResponse)
	resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{}
	resp.SupportedFeatures = []kmsg.ApiVersionsResponseSupportedFeature{}
	resp.FinalizedFeatures = []kmsg.ApiVersionsResponseFinalizedFeature{}
	if req.Version >= 3 && !(validSoftware(req.ClientSoftwareName) && validSoftware(req.ClientSoftwareVersion)) {
		resp.ErrorCode = invalidRequest
		return resp
	}
	serves := v.serves()
	for _, key := range slices.Sorted(maps.Keys(serves)) {
		resp.ApiKeys = append(resp.ApiKeys, apiKey(key, serves[key]))
	}
	v.addFeatures(resp)
	return resp
}

// apiVersionsUnsupported answers an ApiVersions of a version that the broker does
// not know: in the first version, with the range to choose from (KIP-511).
func (v *view) apiVersionsUnsupported() kmsg.Response {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ErrorCode = unsupportedVersion
	resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{apiKey(kmsg.ApiVersions, v.serves()[kmsg.ApiVersions])}
	resp.SupportedFeatures = []kmsg.ApiVersionsResponseSupportedFeature{}
	resp.FinalizedFeatures = []kmsg.ApiVersionsResponseFinalizedFeature{}
	return resp
}

// addFeatures adds what the cluster has finalized, and as supported the same and
// everything below. They are tags: versions before 3 do not send them.
func (v *view) addFeatures(resp *kmsg.ApiVersionsResponse) {
	features := v.model.Features
	if features == nil {
		features = Features()
	}
	resp.FinalizedFeaturesEpoch = 1
	for _, name := range slices.Sorted(maps.Keys(features)) {
		level := features[name]
		supported := kmsg.NewApiVersionsResponseSupportedFeature()
		supported.Name, supported.MaxVersion = name, max(level, 1)
		if r, own := v.self.Supported[name]; own {
			supported.MinVersion, supported.MaxVersion = r.Min, r.Max
		}
		// A range from 0 breaks clients of version 3, so Kafka sends it from
		// version 4 on (KIP-1022) and leaves the feature out before.
		if resp.Version >= 4 {
			resp.SupportedFeatures = append(resp.SupportedFeatures, supported)
		}
		if level == 0 {
			continue
		}
		finalized := kmsg.NewApiVersionsResponseFinalizedFeature()
		finalized.Name, finalized.MinVersionLevel, finalized.MaxVersionLevel = name, level, level
		resp.FinalizedFeatures = append(resp.FinalizedFeatures, finalized)
	}
}

func apiKey(key Key, r VersionRange) kmsg.ApiVersionsResponseApiKey {
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey, k.MinVersion, k.MaxVersion = int16(key), r.Min, r.Max
	return k
}

// validSoftware is KIP-511's rule for a client's name and version.
func validSoftware(s string) bool {
	ok, _ := regexp.MatchString(`^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$`, s)
	return ok
}

package wire

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The errors that ApiVersions is answered with.
const (
	unsupportedVersion  int16 = 35
	invalidRequest      int16 = 42
	rebootstrapRequired int16 = 129
)

// lowestProduce is what ApiVersions says of Produce, of which nothing below version 3
// is served: librdkafka before 2.8 takes a broker that does not begin at 0 for one
// that knows no compression (KAFKA-18659).
const lowestProduce = 0

// About is what a node says of itself to who asks for its versions.
type About struct {
	ClusterID string
	NodeID    int32
	// Supported and Finalized are features and their levels. Those that are off have no
	// finalized level.
	Supported []Feature
	Finalized []FeatureLevel
	// Epoch is the offset of the metadata that Finalized is of, −1 for none.
	Epoch int64
}

// Feature is one that a node supports, at these levels (KIP-584).
type Feature struct {
	Name            string
	Lowest, Highest int16
}

// FeatureLevel is a feature's level in the cluster.
type FeatureLevel struct {
	Name  string
	Level int16
}

// AnswerApiVersions answers what a client asks first, whatever its version: a request
// in a version that is not served gets [APIs.AnswerUnknownVersion]
// (KafkaApis.handleApiVersionsRequest, ControllerApis.handleApiVersionsRequest).
//
// A client that says which broker of which cluster it takes this one for is sent away
// where that is wrong, to ask its bootstrap servers again (KIP-1242). Controllers do
// not look at it.
func (a APIs) AnswerApiVersions(on Listener, req *kmsg.ApiVersionsRequest, about About) *kmsg.ApiVersionsResponse {
	if !a.Serves(on, req.Key(), req.Version) {
		return a.AnswerUnknownVersion()
	}
	resp := req.ResponseKind().(*kmsg.ApiVersionsResponse)
	resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{}
	if resp.ErrorCode = refusal(on, req, about); resp.ErrorCode != 0 {
		return resp
	}
	for _, api := range a.List(on) {
		if api.Key == int16(kmsg.Produce) {
			api.Lowest = lowestProduce
		}
		resp.ApiKeys = append(resp.ApiKeys, apiKey(api))
	}
	for _, f := range about.Supported {
		if f.Lowest == 0 && req.Version < 4 {
			continue // such a client takes a range that begins at 0 for malformed (KIP-1022)
		}
		feature := kmsg.NewApiVersionsResponseSupportedFeature()
		feature.Name, feature.MinVersion, feature.MaxVersion = f.Name, f.Lowest, f.Highest
		resp.SupportedFeatures = append(resp.SupportedFeatures, feature)
	}
	resp.FinalizedFeaturesEpoch = about.Epoch
	for _, f := range about.Finalized {
		feature := kmsg.NewApiVersionsResponseFinalizedFeature()
		feature.Name, feature.MinVersionLevel, feature.MaxVersionLevel = f.Name, f.Level, f.Level
		resp.FinalizedFeatures = append(resp.FinalizedFeatures, feature)
	}
	return resp
}

// AnswerUnknownVersion answers an ApiVersions request in a version that is not known:
// in version 0, which any client reads, with the versions of ApiVersions itself
// (KIP-511). A server needs it for a [VersionError] of that key.
func (a APIs) AnswerUnknownVersion() *kmsg.ApiVersionsResponse {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ErrorCode = unsupportedVersion
	for _, api := range a.List(Broker) {
		if api.Key == int16(kmsg.ApiVersions) {
			resp.ApiKeys = append(resp.ApiKeys, apiKey(api))
		}
	}
	return resp
}

func apiKey(api API) kmsg.ApiVersionsResponseApiKey {
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey, k.MinVersion, k.MaxVersion = api.Key, api.Lowest, api.Highest
	return k
}

// refusal is the error that a request is answered with alone, 0 for none.
func refusal(on Listener, req *kmsg.ApiVersionsRequest, about About) int16 {
	switch {
	case req.Version >= 3 && !(softwareName(req.ClientSoftwareName) && softwareName(req.ClientSoftwareVersion)):
		return invalidRequest
	case req.Version < 5:
		return 0
	case (req.ClusterID == nil) != (req.NodeID == -1):
		return invalidRequest
	case req.ClusterID != nil && on == Broker && (*req.ClusterID != about.ClusterID || req.NodeID != about.NodeID):
		return rebootstrapRequired
	}
	return 0
}

// softwareName reports whether a client may call itself that: letters and digits, and
// between them dots and dashes too (ApiVersionsRequest.isValid).
func softwareName(s string) bool {
	alphanumeric := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	runes := []rune(s)
	if len(runes) == 0 || !alphanumeric(runes[0]) || !alphanumeric(runes[len(runes)-1]) {
		return false
	}
	return !slices.ContainsFunc(runes, func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("-.", r) })
}

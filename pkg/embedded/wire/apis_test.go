package wire

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// kafka44 is what brokers of Kafka 4.4.0 say of themselves, of the APIs that are here:
// key, lowest, highest. A range of ours lies within it and reaches its ends.
var kafka44 = []API{
	{0, 0, 13},
	{1, 4, 18},
	{2, 1, 11},
	{3, 0, 13},
	{8, 2, 10},
	{9, 1, 10},
	{10, 0, 6},
	{11, 0, 9},
	{12, 0, 4},
	{13, 0, 5},
	{14, 0, 5},
	{15, 0, 6},
	{16, 0, 5},
	{18, 0, 5},
	{19, 2, 7},
	{20, 1, 6},
	{21, 0, 2},
	{22, 0, 5},
	{23, 2, 4},
	{24, 0, 5},
	{25, 0, 4},
	{26, 0, 5},
	{27, 1, 2},
	{28, 0, 6},
	{29, 1, 3},
	{30, 1, 3},
	{31, 1, 3},
	{32, 1, 4},
	{33, 0, 2},
	{35, 1, 5},
	{37, 0, 3},
	{42, 0, 3},
	{43, 0, 2},
	{44, 0, 1},
	{45, 0, 1},
	{46, 0, 0},
	{47, 0, 0},
	{55, 0, 2},
	{57, 0, 2},
	{60, 0, 2},
	{61, 0, 0},
	{64, 0, 0},
	{65, 0, 0},
	{66, 0, 2},
	{68, 0, 1},
	{69, 0, 1},
	{74, 0, 1},
	{75, 0, 0},
	// A controller's only.
	{56, 2, 3},
	{59, 0, 1},
	{62, 0, 4},
	{63, 0, 2},
	{67, 0, 0},
	{73, 0, 0},
}

func versionsOf(resp *kmsg.ApiVersionsResponse) (all []API) {
	for _, k := range resp.ApiKeys {
		all = append(all, API{k.ApiKey, k.MinVersion, k.MaxVersion})
	}
	return all
}

func askVersions(a APIs, on Listener) *kmsg.ApiVersionsResponse {
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion = 4, "test", "1"
	return a.AnswerApiVersions(on, req, About{})
}

func TestVersionsAreKafkas(t *testing.T) {
	t.Parallel()
	for _, on := range []Listener{Broker, Controller} {
		all := versionsOf(askVersions(APIs{}, on))
		if len(all) == 0 || !slices.IsSortedFunc(all, func(a, b API) int { return int(a.Key - b.Key) }) {
			t.Errorf("listener %d: not in the order of keys: %v", on, all)
		}
		for _, api := range all {
			if !slices.Contains(kafka44, api) {
				t.Errorf("listener %d: %s %d to %d is not what Kafka 4.4 says", on, kmsg.NameForKey(api.Key), api.Lowest, api.Highest)
			}
		}
	}
}

func TestListeners(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		on           Listener
		key, version int16
		want         bool
	}{
		{Broker, 0, 3, true},
		{Broker, 0, 2, false}, // said, for librdkafka, and not served
		{Broker, 0, 14, false},
		{Controller, 0, 13, false},
		{Broker, 1, 18, true},
		{Controller, 1, 18, true},
		{Controller, 1, 3, false},
		{Broker, 62, 4, false},
		{Controller, 62, 4, true},
		{Broker, 4, 0, false},
		{Broker, -1, 0, false},
		{Broker, 3, -1, false},
	} {
		if got := (APIs{}).Serves(tt.on, tt.key, tt.version); got != tt.want {
			t.Errorf("listener %d serves key %d version %d: %v", tt.on, tt.key, tt.version, got)
		}
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	apis, err := Release("3.9")
	if err != nil {
		t.Fatal(err)
	}
	said := versionsOf(askVersions(apis, Broker))
	for _, want := range []API{{0, 0, 11}, {1, 4, 17}, {3, 0, 12}, {18, 0, 4}} {
		if !slices.Contains(said, want) {
			t.Errorf("3.9 has %s %d to %d; got %v", kmsg.NameForKey(want.Key), want.Lowest, want.Highest, said)
		}
	}
	if !apis.Serves(Broker, 0, 11) || apis.Serves(Broker, 0, 12) {
		t.Error("what is said and what is served are two things")
	}
	// DescribeCluster and others are younger than this.
	old, err := Release("2.0.1")
	if err != nil {
		t.Fatal(err)
	}
	if old.Serves(Broker, int16(kmsg.UnregisterBroker), 0) {
		t.Error("Kafka 2.0 has no UnregisterBroker")
	}
	for _, name := range []string{"", "3", "5.0", "kafka"} {
		if _, err := Release(name); err == nil {
			t.Errorf("there is no Kafka %q", name)
		}
	}
}

// A real Kafka 4.4.0 gave these answers.
func TestRefusals(t *testing.T) {
	t.Parallel()
	ours, other, none := "kafkaopsTestAAAAAAAAAA", "kafkaopsTestBBBBBBBBBB", ""
	about := About{ClusterID: ours, NodeID: 1}
	for _, tt := range []struct {
		cluster            *string
		node               int32
		broker, controller int16
	}{
		{nil, -1, 0, 0},
		{&ours, 1, 0, 0},
		{&ours, 2, 129, 0},
		{&ours, -1, 42, 42},
		{nil, 1, 42, 42},
		{&other, 1, 129, 0},
		{&other, -1, 42, 42},
		{&ours, -2, 129, 0},
		{&none, 1, 129, 0},
	} {
		req := kmsg.NewPtrApiVersionsRequest()
		req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion = 5, "test", "1"
		req.ClusterID, req.NodeID = tt.cluster, tt.node
		for on, want := range map[Listener]int16{Broker: tt.broker, Controller: tt.controller} {
			resp := (APIs{}).AnswerApiVersions(on, req, about)
			if resp.ErrorCode != want || (want == 0) != (len(resp.ApiKeys) > 0) {
				t.Errorf("listener %d, cluster %v, node %d: error %d, want %d, with %d keys", on, tt.cluster, tt.node, resp.ErrorCode, want, len(resp.ApiKeys))
			}
		}
	}
	for name, want := range map[string]int16{"": 42, "-a": 42, "a-": 42, "a b": 42, "ä": 42, "a.b-c": 0, "x": 0} {
		for i := range 2 {
			req := kmsg.NewPtrApiVersionsRequest()
			req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion = 3, "test", "1"
			if i == 0 {
				req.ClientSoftwareName = name
			} else {
				req.ClientSoftwareVersion = name
			}
			if resp := (APIs{}).AnswerApiVersions(Broker, req, about); resp.ErrorCode != want {
				t.Errorf("software %q: error %d, want %d", name, resp.ErrorCode, want)
			}
		}
	}
}

// TestUnknownVersion: a client that is newer learns what to ask with (KIP-511).
func TestUnknownVersion(t *testing.T) {
	t.Parallel()
	apis, err := Release("3.9")
	if err != nil {
		t.Fatal(err)
	}
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version = 5
	for _, resp := range []*kmsg.ApiVersionsResponse{apis.AnswerApiVersions(Broker, req, About{}), apis.AnswerUnknownVersion()} {
		if said := versionsOf(resp); resp.Version != 0 || resp.ErrorCode != 35 || len(said) != 1 || said[0] != (API{18, 0, 4}) {
			t.Errorf("answer of version %d, error %d: %v", resp.Version, resp.ErrorCode, said)
		}
	}
}

// TestFeatures: versions before 4 do not understand a range that begins at 0.
func TestFeatures(t *testing.T) {
	t.Parallel()
	about := About{
		Supported: []Feature{{"kraft.version", 0, 1}, {"metadata.version", 7, 33}},
		Finalized: []FeatureLevel{{"metadata.version", 33}},
		Epoch:     46,
	}
	for version, want := range []int{0, 0, 0, 1, 2, 2} {
		req := kmsg.NewPtrApiVersionsRequest()
		req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion = int16(version), "test", "1"
		sent := (APIs{}).AnswerApiVersions(Broker, req, about)
		back := kmsg.NewPtrApiVersionsResponse()
		back.Version = sent.Version
		if err := back.ReadFrom(sent.AppendTo(nil)); err != nil {
			t.Fatal(err)
		}
		if len(back.SupportedFeatures) != want {
			t.Errorf("v%d: features %+v", version, back.SupportedFeatures)
		}
		if f := back.FinalizedFeatures; version >= 3 && (len(f) != 1 || f[0].MinVersionLevel != 33 || f[0].MaxVersionLevel != 33 || back.FinalizedFeaturesEpoch != 46) {
			t.Errorf("v%d: finalized %+v at %d", version, f, back.FinalizedFeaturesEpoch)
		}
	}
}

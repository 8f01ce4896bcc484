package fakekafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func apiVersionsRequest(version int16) *kmsg.ApiVersionsRequest {
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion = version, "kafkaops", "1.0"
	return req
}

func ranges(resp *kmsg.ApiVersionsResponse) map[Key]VersionRange {
	got := make(map[Key]VersionRange)
	for _, k := range resp.ApiKeys {
		got[Key(k.ApiKey)] = VersionRange{k.MinVersion, k.MaxVersion}
	}
	return got
}

func TestApiVersions(t *testing.T) {
	t.Parallel()
	m := NewModel(2)
	m.Brokers[1].APIs = APIs(kmsg.DescribeTopicPartitions)
	c := Start(t, m)
	for version := int16(0); version <= 4; version++ {
		resp := ask[*kmsg.ApiVersionsResponse](t, c, 1, apiVersionsRequest(version))
		if diff := cmp.Diff(APIs(), ranges(resp)); resp.ErrorCode != 0 || diff != "" {
			t.Errorf("v%d: got error %d; want -, got +:\n%s", version, resp.ErrorCode, diff)
		}
		got := make(map[string]int16)
		for _, f := range resp.FinalizedFeatures {
			got[f.Name] = f.MaxVersionLevel
		}
		if want := Features(); version >= 3 && !cmp.Equal(want, got) {
			t.Errorf("v%d: got features %v, want %v", version, got, want)
		}
	}
	old := ranges(ask[*kmsg.ApiVersionsResponse](t, c, 2, apiVersionsRequest(3)))
	if _, ok := old[kmsg.DescribeTopicPartitions]; ok || len(old) != len(APIs())-1 {
		t.Errorf("old broker: got %v", old)
	}

	c.Change(func(m *Model) { m.Features = map[string]int16{"eligible.leader.replicas.version": 0} })
	if got := ask[*kmsg.ApiVersionsResponse](t, c, 1, apiVersionsRequest(4)).FinalizedFeatures; len(got) != 0 {
		t.Errorf("feature off: got %+v", got)
	}
	bad := apiVersionsRequest(3)
	bad.ClientSoftwareName = "kafka ops"
	if got := ask[*kmsg.ApiVersionsResponse](t, c, 1, bad).ErrorCode; got != invalidRequest {
		t.Errorf("bad software name: got error %d", got)
	}
}

// TestApiVersionsUnknownVersion is KIP-511: in version 0, with the range.
func TestApiVersionsUnknownVersion(t *testing.T) {
	t.Parallel()
	c := Start(t, NewModel(1))
	for _, version := range []int16{5, 99} { // known to kmsg, and to nobody
		conn := dial(t, c.Addr(1))
		send(t, conn, apiVersionsRequest(version))
		resp := receive(t, conn, apiVersionsRequest(0)).(*kmsg.ApiVersionsResponse)
		if want := map[Key]VersionRange{kmsg.ApiVersions: {0, 4}}; resp.ErrorCode != unsupportedVersion || !cmp.Equal(ranges(resp), want) {
			t.Errorf("v%d: got %+v", version, resp)
		}
		// The connection goes on.
		send(t, conn, apiVersionsRequest(4))
		if resp := receive(t, conn, apiVersionsRequest(4)).(*kmsg.ApiVersionsResponse); resp.ErrorCode != 0 {
			t.Errorf("after v%d: got %+v", version, resp)
		}
	}
}

func TestNotAdvertised(t *testing.T) {
	t.Parallel()
	m := NewModel(1)
	m.APIs = APIs(kmsg.DescribeTopicPartitions)
	c := Start(t, m)
	for _, req := range []kmsg.Request{kmsg.NewPtrDescribeTopicPartitionsRequest(), kmsg.NewPtrListOffsetsRequest()} {
		conn := dial(t, c.Addr(1)) // ListOffsets in version 0, which is gone
		send(t, conn, req)
		wantClosed(t, conn)
	}
	for _, r := range c.Requests() {
		if r.Err == nil {
			t.Errorf("%s v%d: recorded without an error", r.Key.Name(), r.Version)
		}
	}
}

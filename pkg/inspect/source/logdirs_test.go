package source

import (
	"slices"
	"testing"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kversion"
)

// advertised is what a broker of that release answers to ApiVersions.
func advertised(vs *kversion.Versions) *sarama.ApiVersionsResponse {
	resp := &sarama.ApiVersionsResponse{}
	vs.EachMaxKeyVersion(func(key, version int16) {
		resp.ApiKeys = append(resp.ApiKeys, sarama.ApiVersionsResponseKey{ApiKey: key, MaxVersion: version})
	})
	return resp
}

func TestGuessVersion(t *testing.T) {
	t.Parallel()
	for want, vs := range map[string]*kversion.Versions{"3.9": kversion.V3_9_0(), "4.4": kversion.V4_4_0()} {
		if got := guessVersion(advertised(vs)); got != inspect.Known(want) {
			t.Errorf("version = %s, want %s", got, want)
		}
	}
	odd := &sarama.ApiVersionsResponse{ApiKeys: []sarama.ApiVersionsResponseKey{{ApiKey: 3, MaxVersion: 2}, {ApiKey: 75}}}
	if got := guessVersion(odd); got.IsKnown() {
		t.Errorf("version of something else = %s, want unknown", got)
	}
	// Where logins, transactions and more are hidden, it is known by what is left.
	hidden := []int16{17, 24, 25, 26, 28, 30, 31, 36, 38, 48}
	for want, vs := range map[string]*kversion.Versions{"3.9": kversion.V3_9_0(), "4.0": kversion.V4_0_0()} {
		part := advertised(vs)
		part.ApiKeys = slices.DeleteFunc(part.ApiKeys, func(k sarama.ApiVersionsResponseKey) bool { return slices.Contains(hidden, k.ApiKey) })
		if got := guessVersion(part); got != inspect.Known(want) {
			t.Errorf("version of a part = %s, want %s", got, want)
		}
	}
}

func TestLogDirs(t *testing.T) {
	t.Parallel()
	resp := &sarama.DescribeLogDirsResponse{LogDirs: []sarama.DescribeLogDirsResponseDirMetadata{
		{Path: "/a", TotalBytes: 100, UsableBytes: -1, Topics: []sarama.DescribeLogDirsResponseTopic{
			{Partitions: []sarama.DescribeLogDirsResponsePartition{{Size: 3}, {Size: 4}}},
		}},
		{Path: "/b", ErrorCode: sarama.ErrKafkaStorageError, TotalBytes: -1},
	}}
	dirs := logDirsOf(resp, true, false)
	if d := dirs[0]; d.TotalBytes != inspect.Known(int64(100)) || d.UsableBytes.IsKnown() || d.ReplicasBytes != inspect.Known(int64(7)) {
		t.Errorf("dir = %+v, want total 100, usable unknown, replicas 7", d)
	}
	if d := dirs[1]; d.Error != "KAFKA_STORAGE_ERROR" || d.ReplicasBytes.IsKnown() {
		t.Errorf("dir = %+v, want offline and nothing known", d)
	}
	if d := logDirsOf(resp, false, false)[0]; d.TotalBytes.IsKnown() {
		t.Errorf("dir before Kafka 3.3 = %+v, want no volume", d)
	}
}

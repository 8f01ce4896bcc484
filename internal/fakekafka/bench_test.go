package fakekafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// BenchmarkAnswer is what 50,000 partitions cost the fake: it runs on the same
// cores as whatever is measured against it.
func BenchmarkAnswer(b *testing.B) {
	m := NewModel(3)
	m.AddTopics("big", 500, 100, 3)
	v := &view{model: m, index: newIndex(m), self: m.Brokers[0]}
	offsets := kmsg.NewPtrListOffsetsRequest()
	offsets.Version, offsets.ReplicaID = 11, debuggingReplica
	for _, t := range m.Topics {
		rt := kmsg.NewListOffsetsRequestTopic()
		rt.Topic = t.Name
		for i := range t.Partitions {
			rp := kmsg.NewListOffsetsRequestTopicPartition()
			rp.Partition, rp.CurrentLeaderEpoch, rp.Timestamp = int32(i), -1, latest
			rt.Partitions = append(rt.Partitions, rp)
		}
		offsets.Topics = append(offsets.Topics, rt)
	}
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 13
	page := kmsg.NewPtrDescribeTopicPartitionsRequest()
	page.ResponsePartitionLimit = 2000
	dirs := kmsg.NewPtrDescribeLogDirsRequest()
	dirs.Version = 5
	for _, req := range []kmsg.Request{offsets, metadata, page, dirs} {
		b.Run(kmsg.NameForKey(req.Key()), func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				out = wire.AppendResponse(out[:0], 1, v.answer(req))
			}
		})
	}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			newIndex(m)
		}
	})
	b.Run("model", func(b *testing.B) {
		for b.Loop() {
			NewModel(3).AddTopics("big", 500, 100, 3)
		}
	})
}

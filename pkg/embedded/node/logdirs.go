package node

import (
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// describeLogDirs tells how large the logs are (ReplicaManager.describeLogDirs). A
// current log's offsetLag is what its high watermark is ahead of its end, which it never
// is: how far a follower is behind does not show here, as in Kafka.
//
// A disk that cannot say how large it is, or is one in memory without an end, has −1,
// which KIP-827 has for that.
func (n *Node) describeLogDirs(token machine.Token, req *kmsg.DescribeLogDirsRequest) {
	resp := req.ResponseKind().(*kmsg.DescribeLogDirsResponse)
	dir := kmsg.NewDescribeLogDirsResponseDir()
	dir.Dir, dir.TotalBytes, dir.UsableBytes = n.logDir(), -1, -1
	if s, err := n.opts.FS.Space(); err == nil && s.TotalBytes < math.MaxInt64 {
		dir.TotalBytes, dir.UsableBytes = s.TotalBytes, s.UsableBytes
	}
	dir.Topics = []kmsg.DescribeLogDirsResponseDirTopic{}
	wanted := func(p *partition) bool {
		return req.Topics == nil || slices.ContainsFunc(req.Topics, func(t kmsg.DescribeLogDirsRequestTopic) bool {
			return t.Topic == p.name.Topic && slices.Contains(t.Partitions, p.name.Partition)
		})
	}
	for _, p := range n.parts {
		if p.log == nil || !wanted(p) {
			continue
		}
		if last := len(dir.Topics) - 1; last < 0 || dir.Topics[last].Topic != p.name.Topic {
			t := kmsg.NewDescribeLogDirsResponseDirTopic()
			t.Topic = p.name.Topic
			dir.Topics = append(dir.Topics, t)
		}
		out := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		out.Partition, out.Size = p.name.Partition, p.log.SizeBytes()
		t := &dir.Topics[len(dir.Topics)-1]
		t.Partitions = append(t.Partitions, out)
	}
	resp.Dirs = []kmsg.DescribeLogDirsResponseDir{dir}
	n.reply(token, resp)
}

package fakekafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeLogDirs lists the broker's own directories and the asked-for logs in
// them; null asks for all, an empty list for the directories alone.
func (v *view) describeLogDirs(req *kmsg.DescribeLogDirsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeLogDirsResponse)
	resp.Dirs = []kmsg.DescribeLogDirsResponseDir{}
	if v.denied(kmsg.DescribeLogDirs) {
		// Before version 3 there is no place for the code: no directories is all
		// that an unauthorized client sees.
		resp.ErrorCode = clusterAuthorization
		return resp
	}
	// Where each directory's answer stands in resp.Dirs.
	at := make(map[string]int, len(v.self.LogDirs))
	for i := range v.self.LogDirs {
		d := &v.self.LogDirs[i]
		rd := kmsg.NewDescribeLogDirsResponseDir()
		rd.Dir, rd.Topics = d.Path, []kmsg.DescribeLogDirsResponseDirTopic{}
		if d.Offline {
			rd.ErrorCode = kafkaStorageError
		} else {
			rd.TotalBytes, rd.UsableBytes, rd.IsCordoned = d.TotalBytes, d.UsableBytes, d.Cordoned
		}
		at[d.Path] = len(resp.Dirs)
		resp.Dirs = append(resp.Dirs, rd)
	}
	add := func(topic string, i int32, p *Partition) {
		for _, log := range v.logs(i, p) {
			appendLog(&resp.Dirs[at[log.dir]], topic, log)
		}
	}
	if req.Topics == nil {
		for _, t := range v.model.Topics {
			for i, p := range t.Partitions {
				add(t.Name, int32(i), p)
			}
		}
		return resp
	}
	for _, rt := range req.Topics {
		for _, i := range rt.Partitions {
			if p := v.index.partition(rt.Topic, i); p != nil {
				add(rt.Topic, i, p)
			}
		}
	}
	return resp
}

// hostedLog is one log on the broker.
type hostedLog struct {
	dir string
	kmsg.DescribeLogDirsResponseDirTopicPartition
}

// logs are the broker's logs of a partition: none if it has no replica or its
// directory is offline, two while the replica is being moved.
func (v *view) logs(partition int32, p *Partition) []hostedLog {
	if !slices.Contains(p.Replicas, v.self.ID) {
		return nil
	}
	dir := v.self.dirOf(p)
	if dir.Offline {
		return nil
	}
	leo := p.LogEnd(v.self.ID)
	current := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
	current.Partition, current.Size = partition, (leo-p.LogStart)*bytesPerRecord
	// max(local HW − local LEO, 0) is always 0, for a replica's HW never passes its
	// own LEO: OffsetLag says nothing about how far a follower is behind.
	logs := []hostedLog{{dir.Path, current}}
	if move, ok := p.Moves[v.self.ID]; ok {
		future := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		future.Partition, future.IsFuture = partition, true
		future.Size, future.OffsetLag = (move.LEO-p.LogStart)*bytesPerRecord, leo-move.LEO
		logs = append(logs, hostedLog{move.Dir, future})
	}
	return logs
}

// appendLog adds a log to its directory's answer. A topic's logs come one after
// the other, so its entry can only be the last.
func appendLog(rd *kmsg.DescribeLogDirsResponseDir, topic string, log hostedLog) {
	if n := len(rd.Topics); n == 0 || rd.Topics[n-1].Topic != topic {
		rt := kmsg.NewDescribeLogDirsResponseDirTopic()
		rt.Topic = topic
		rd.Topics = append(rd.Topics, rt)
	}
	rt := &rd.Topics[len(rd.Topics)-1]
	rt.Partitions = append(rt.Partitions, log.DescribeLogDirsResponseDirTopicPartition)
}

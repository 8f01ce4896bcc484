package source

import (
	"context"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// replicaLogs asks one broker for its directories and every log in them. It uses
// franz-go: sarama does not know version 5, which tells of cordoned directories
// (KIP-1066).
func (p *pass) replicaLogs(ctx context.Context, conn *connect.Conn, b *inspect.Broker) {
	const request, newest = "DescribeLogDirs", 5
	if _, ok := p.version(conn, inspect.Known(b.ID), keyDescribeLogDirs, newest, lostLogDirs); !ok {
		return
	}
	resp, err := p.askLogDirs(ctx, conn.Addr())
	var f inspect.Failure
	switch {
	case err != nil:
		f = failureOf(inspect.Known(b.ID), err)
	case resp.ErrorCode != 0:
		f = refusal(inspect.Known(b.ID), conn.Addr(), request, resp.ErrorCode)
	case resp.Version < 3 && len(resp.Dirs) == 0:
		// Before version 3 a refusal looked like a broker without directories.
		const clusterAuthorizationFailed = 31
		f = refusal(inspect.Known(b.ID), conn.Addr(), request, clusterAuthorizationFailed)
	default:
		b.LogDirs = inspect.Known(dirsOf(resp))
		return
	}
	f.Lost = "its log directories are unknown"
	p.fail(f)
}

func (p *pass) askLogDirs(ctx context.Context, addr string) (*kmsg.DescribeLogDirsResponse, error) {
	client, err := p.src.conf.Kgo(addr)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	began := time.Now()
	resp, err := kmsg.NewPtrDescribeLogDirsRequest().RequestWith(ctx, client.SeedBrokers()[0]) // no topics: all
	if err != nil {
		return nil, connect.Wrap(addr, "DescribeLogDirs", err, time.Since(began))
	}
	return resp, nil
}

func dirsOf(resp *kmsg.DescribeLogDirsResponse) []inspect.LogDir {
	const versionWithVolume, versionWithCordon = 4, 5
	dirs := make([]inspect.LogDir, 0, len(resp.Dirs))
	for i := range resp.Dirs {
		d := &resp.Dirs[i]
		dir := inspect.LogDir{Path: d.Dir}
		if resp.Version >= versionWithCordon {
			dir.Cordoned = inspect.Known(d.IsCordoned)
		}
		if d.ErrorCode != 0 {
			dir.Error = codeName(d.ErrorCode)
			dirs = append(dirs, dir)
			continue
		}
		// −1 is Kafka's word for unknown here.
		if resp.Version >= versionWithVolume && d.TotalBytes >= 0 {
			dir.TotalBytes = inspect.Known(d.TotalBytes)
		}
		if resp.Version >= versionWithVolume && d.UsableBytes >= 0 {
			dir.UsableBytes = inspect.Known(d.UsableBytes)
		}
		var sum int64
		for j := range d.Topics {
			for _, r := range d.Topics[j].Partitions {
				sum += r.Size
				log := inspect.ReplicaLog{Topic: d.Topics[j].Topic, Partition: r.Partition, SizeBytes: r.Size, Future: r.IsFuture}
				if r.IsFuture {
					log.OffsetLag = r.OffsetLag
				}
				dir.Replicas = append(dir.Replicas, log)
			}
		}
		dir.ReplicasBytes = inspect.Known(sum)
		dirs = append(dirs, dir)
	}
	return dirs
}

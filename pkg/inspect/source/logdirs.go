package source

import (
	"context"
	"slices"
	"strings"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

const lostLogDirs = "log directories are unknown"

// logDirs asks one broker for its directories. OffsetLag in the answer is 0 for
// every replica that is not being moved, and is not used.
func (p *pass) logDirs(ctx context.Context, conn *connect.Conn, b *inspect.Broker) {
	const request = "DescribeLogDirs"
	const newest, versionWithError, versionWithVolume = 4, 3, 4
	version, ok := p.version(conn, inspect.Known(b.ID), keyDescribeLogDirs, newest, lostLogDirs)
	if !ok {
		return
	}
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	req := &sarama.DescribeLogDirsRequest{Version: version}
	resp, err := connect.Ask(ctx, conn, request, func(s *sarama.Broker) (*sarama.DescribeLogDirsResponse, error) {
		return s.DescribeLogDirs(req)
	})
	var f inspect.Failure
	switch {
	case err != nil:
		f = failureOf(inspect.Known(b.ID), err)
	case resp.ErrorCode != sarama.ErrNoError:
		f = refusal(inspect.Known(b.ID), conn.Addr(), request, int16(resp.ErrorCode))
	case version < versionWithError && len(resp.LogDirs) == 0:
		// Before version 3 a refusal looked like a broker without directories.
		f = refusal(inspect.Known(b.ID), conn.Addr(), request, int16(sarama.ErrClusterAuthorizationFailed))
	default:
		b.LogDirs = inspect.Known(logDirsOf(resp, version >= versionWithVolume, p.query.LogSizes))
		return
	}
	f.Lost = "its log directories are unknown"
	p.fail(f)
}

func logDirsOf(resp *sarama.DescribeLogDirsResponse, withVolume, withReplicas bool) []inspect.LogDir {
	dirs := make([]inspect.LogDir, 0, len(resp.LogDirs))
	for _, d := range resp.LogDirs {
		dir := inspect.LogDir{Path: d.Path}
		if d.ErrorCode != sarama.ErrNoError {
			dir.Error = codeName(int16(d.ErrorCode))
			dirs = append(dirs, dir)
			continue
		}
		// −1 is Kafka's word for unknown here.
		if withVolume && d.TotalBytes >= 0 {
			dir.TotalBytes = inspect.Known(d.TotalBytes)
		}
		if withVolume && d.UsableBytes >= 0 {
			dir.UsableBytes = inspect.Known(d.UsableBytes)
		}
		var sum int64
		for _, t := range d.Topics {
			for _, r := range t.Partitions {
				sum += r.Size
				if withReplicas {
					dir.Replicas = append(dir.Replicas, inspect.ReplicaLog{
						Topic: t.Topic, Partition: r.PartitionID, SizeBytes: r.Size, Future: r.IsTemporary,
					})
				}
			}
		}
		dir.ReplicasBytes = inspect.Known(sum)
		dirs = append(dirs, dir)
	}
	return dirs
}

// guessVersion infers the broker's release from the APIs it offers.
func guessVersion(resp *sarama.ApiVersionsResponse) inspect.Opt[string] {
	as := kmsg.NewPtrApiVersionsResponse()
	for _, k := range resp.ApiKeys {
		key := kmsg.NewApiVersionsResponseApiKey()
		key.ApiKey, key.MinVersion, key.MaxVersion = k.ApiKey, k.MinVersion, k.MaxVersion
		as.ApiKeys = append(as.ApiKeys, key)
	}
	versions := kversion.FromApiVersionsResponse(as)
	guess := versions.VersionGuess()
	// Of 2.8 and later: fewer APIs than that tell too little.
	const most = 30
	if !ofRelease(guess) && len(as.ApiKeys) >= most {
		// Not all that a release has, as managed clusters hide what their users may not
		// do: by what it does offer.
		if by := versions.VersionGuess(kversion.SkipKeys(absent(as)...)); ofRelease(by) {
			guess = by
		}
	}
	if guess == "" || strings.HasPrefix(guess, "unknown") {
		return inspect.Unknown[string]()
	}
	// "v4.4", "between v4.0 and v4.1": releases have no v in Kafka's own words.
	return inspect.Known(strings.ReplaceAll(guess, "v", ""))
}

// ofRelease: the guess is one release, or at least one.
func ofRelease(guess string) bool {
	return strings.HasPrefix(guess, "v") || strings.HasPrefix(guess, "at least v")
}

// absent are the APIs that Kafka has and the broker does not offer.
func absent(as *kmsg.ApiVersionsResponse) (keys []int16) {
	for key := range int16(kmsg.MaxKey + 1) {
		if !slices.ContainsFunc(as.ApiKeys, func(k kmsg.ApiVersionsResponseApiKey) bool { return k.ApiKey == key }) {
			keys = append(keys, key)
		}
	}
	return keys
}

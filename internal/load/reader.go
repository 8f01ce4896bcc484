package load

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Found is what ReadAll has found of one producer's records.
type Found struct {
	// Records is how many there are, Doubles how many of them are there once more.
	Records, Doubles int64
	numbers          bitmap
}

// ReadAll reads the topic from its beginning up to the high watermarks as they are
// now, and returns what there is of the run. ctx bounds it.
func ReadAll(ctx context.Context, c connect.Config, topic string, run uint64) (*Found, error) {
	client, err := c.Client(kgo.ConsumeTopics(topic), kgo.MetadataMinAge(100*time.Millisecond))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	left, err := ends(ctx, client, topic)
	if err != nil {
		return nil, fmt.Errorf("the end of %s: %w", topic, err)
	}
	f := &Found{}
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("read %s: %d partitions not read to their end: %w", topic, len(left), err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			f.add(r.Value, run)
			if end, ok := left[r.Partition]; ok && r.Offset+1 >= end {
				delete(left, r.Partition)
			}
		})
	}
	return f, nil
}

func (f *Found) add(value []byte, run uint64) {
	if len(value) < HeaderBytes || binary.BigEndian.Uint64(value) != run {
		return
	}
	n := int64(binary.BigEndian.Uint64(value[8:]))
	f.Records++
	if n < 0 || f.numbers.has(n) {
		f.Doubles++
		return
	}
	f.numbers.set(n)
}

// ends are the high watermarks of the partitions that hold anything.
func ends(ctx context.Context, client *kgo.Client, topic string) (map[int32]int64, error) {
	first, err := listOffsets(ctx, client, topic, earliest)
	if err != nil {
		return nil, err
	}
	last, err := listOffsets(ctx, client, topic, latest)
	if err != nil {
		return nil, err
	}
	for p, end := range last {
		if end <= first[p] {
			delete(last, p)
		}
	}
	return last, nil
}

// The timestamps of ListOffsets that stand for the ends of a log.
const (
	latest   = -1
	earliest = -2
)

func listOffsets(ctx context.Context, client *kgo.Client, topic string, at int64) (map[int32]int64, error) {
	meta := kmsg.NewPtrMetadataRequest()
	mt := kmsg.NewMetadataRequestTopic()
	mt.Topic = &topic
	meta.Topics = append(meta.Topics, mt)
	known, err := meta.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	if len(known.Topics) != 1 {
		return nil, fmt.Errorf("metadata of %d topics instead of one", len(known.Topics))
	}
	if err := kerr.ErrorForCode(known.Topics[0].ErrorCode); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	req := kmsg.NewPtrListOffsetsRequest()
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	for _, p := range known.Topics[0].Partitions {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp = p.Partition, at
		t.Partitions = append(t.Partitions, rp)
	}
	req.Topics = append(req.Topics, t)
	out := make(map[int32]int64, len(t.Partitions))
	for _, shard := range client.RequestSharded(ctx, req) { // one to each leader
		if shard.Err != nil {
			return nil, shard.Err
		}
		for _, t := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return nil, fmt.Errorf("partition %d: %w", p.Partition, err)
				}
				out[p.Partition] = p.Offset
			}
		}
	}
	return out, nil
}

// Follower is a consumer that reads what comes in.
type Follower struct {
	client  *kgo.Client
	done    sync.WaitGroup
	records atomic.Int64
}

// StartFollower begins to read the topic at its end, as no member of a group.
func StartFollower(c connect.Config, topic string) (*Follower, error) {
	client, err := c.Client(
		kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()), kgo.MetadataMinAge(100*time.Millisecond),
	)
	if err != nil {
		return nil, err
	}
	f := &Follower{client: client}
	f.done.Go(func() {
		for {
			fetches := client.PollFetches(context.Background())
			if fetches.IsClientClosed() {
				return
			}
			f.records.Add(int64(fetches.NumRecords()))
		}
	})
	return f, nil
}

// Records is how many it has read.
func (f *Follower) Records() int64 { return f.records.Load() }

// Stop ends it.
func (f *Follower) Stop() {
	f.client.Close()
	f.done.Wait()
}

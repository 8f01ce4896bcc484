package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// partitions returns what broker id knows about a topic, or about all of them
// if topic is "". It never creates one.
func (c *Cluster) partitions(ctx context.Context, id int32, topic string) ([]Partition, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	if topic != "" {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &topic
		req.Topics = append(req.Topics, t)
	}
	resp, err := ask[*kmsg.MetadataResponse](ctx, c, id, req)
	if err != nil {
		return nil, err
	}
	var all []Partition
	for _, t := range resp.Topics {
		name := ""
		if t.Topic != nil {
			name = *t.Topic
		}
		if err := kafkaError("metadata of topic "+name, t.ErrorCode, nil); err != nil {
			return nil, err
		}
		for _, p := range t.Partitions {
			all = append(all, Partition{
				Topic: name, Partition: p.Partition, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch,
				Replicas: p.Replicas, ISR: p.ISR, Offline: p.OfflineReplicas,
			})
		}
	}
	slices.SortFunc(all, func(a, b Partition) int { return int(a.Partition - b.Partition) })
	return all, nil
}

// wholeISRs returns an error if some broker that runs sees a partition without
// a leader or with a replica out of its ISR. All are asked, because one that
// was frozen still sees the past.
func (c *Cluster) wholeISRs(ctx context.Context) error {
	for _, id := range c.runningBrokers() {
		all, err := c.partitions(ctx, id, "")
		if err != nil {
			return err
		}
		for _, p := range all {
			if p.Leader < 0 || len(p.ISR) < len(p.Replicas) {
				return fmt.Errorf("%s-%d has leader %d, ISR %v of replicas %v, says broker %d", p.Topic, p.Partition, p.Leader, p.ISR, p.Replicas, id)
			}
		}
	}
	return nil
}

// electPreferred gives every partition to its preferred leader and waits until
// all brokers know.
func (c *Cluster) electPreferred(ctx context.Context) error {
	req := kmsg.NewPtrElectLeadersRequest() // no topics: all
	resp, err := askController[*kmsg.ElectLeadersResponse](ctx, c, req)
	if err != nil {
		return fmt.Errorf("elect preferred leaders: %w", err)
	}
	err = kafkaError("elect preferred leaders", resp.ErrorCode, nil)
	if err != nil && !errors.Is(err, kerr.ElectionNotNeeded) {
		return err
	}
	return poll(ctx, func() error {
		for _, id := range c.runningBrokers() {
			all, err := c.partitions(ctx, id, "")
			if err != nil {
				return err
			}
			for _, p := range all {
				if p.Leader != p.Replicas[0] {
					return fmt.Errorf("%s-%d is led by %d, not by its preferred replica, says broker %d", p.Topic, p.Partition, p.Leader, id)
				}
			}
		}
		return nil
	})
}

package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Client changes one cluster.
type Client struct{ kgo *kgo.Client }

// Open dials nobody yet.
func Open(c connect.Config) (*Client, error) {
	client, err := c.Client(kgo.MetadataMinAge(100 * time.Millisecond))
	if err != nil {
		return nil, err
	}
	return &Client{client}, nil
}

// Close ends its connections.
func (c *Client) Close() { c.kgo.Close() }

// Topic is a topic to be made.
type Topic struct {
	Name string
	// Partitions and ReplicationFactor are the cluster's defaults where they are -1.
	Partitions        int32
	ReplicationFactor int16
	// Assignment, where there is one, says where each partition's replicas are, the
	// preferred leader first, and the two above are -1.
	Assignment [][]inspect.BrokerID
	// Configs are topic configs by Kafka's names.
	Configs map[string]string
}

// CreateTopic makes it and waits, as long as ctx permits, until it can be used.
func (c *Client) CreateTopic(ctx context.Context, t Topic) error {
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = t.Name, t.Partitions, t.ReplicationFactor
	for i, replicas := range t.Assignment {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition = int32(i)
		for _, id := range replicas {
			a.Replicas = append(a.Replicas, int32(id))
		}
		rt.ReplicaAssignment = append(rt.ReplicaAssignment, a)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Configs)) {
		conf := kmsg.NewCreateTopicsRequestTopicConfig()
		conf.Name, conf.Value = name, kmsg.StringPtr(t.Configs[name])
		rt.Configs = append(rt.Configs, conf)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = timeoutMs(ctx)
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(ctx, c.kgo)
	if err != nil {
		return fmt.Errorf("create topic %s: %w", t.Name, unanswered(err))
	}
	for _, answer := range resp.Topics {
		if err := refusal(answer.ErrorCode, answer.ErrorMessage); err != nil {
			return fmt.Errorf("create topic %s: %w", t.Name, err)
		}
	}
	return c.awaitTopic(ctx, t.Name)
}

// DeleteTopic deletes a topic. Its records are gone for good.
func (c *Client) DeleteTopic(ctx context.Context, name string) error {
	rt := kmsg.NewDeleteTopicsRequestTopic()
	rt.Topic = &name
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = timeoutMs(ctx)
	req.TopicNames, req.Topics = []string{name}, append(req.Topics, rt)
	resp, err := req.RequestWith(ctx, c.kgo)
	if err != nil {
		return fmt.Errorf("delete topic %s: %w", name, unanswered(err))
	}
	for _, answer := range resp.Topics {
		if err := refusal(answer.ErrorCode, answer.ErrorMessage); err != nil {
			return fmt.Errorf("delete topic %s: %w", name, err)
		}
	}
	return nil
}

// awaitTopic returns when every broker that is listed tells of the topic and of a
// leader for each of its partitions: the controller has made it before they know.
func (c *Client) awaitTopic(ctx context.Context, name string) error {
	const every = 5 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := c.known(ctx, name)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("topic %s was created, and cannot be used yet: %w", name, err)
		case <-tick.C:
		}
	}
}

func (c *Client) known(ctx context.Context, name string) error {
	req := kmsg.NewPtrMetadataRequest()
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = &name
	req.Topics = append(req.Topics, rt)
	first, err := req.RequestWith(ctx, c.kgo)
	if err != nil {
		return err
	}
	for _, b := range first.Brokers {
		answer, err := c.kgo.Broker(int(b.NodeID)).Request(ctx, req)
		if err != nil {
			return fmt.Errorf("broker %d: %w", b.NodeID, err)
		}
		for _, t := range answer.(*kmsg.MetadataResponse).Topics {
			if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
				return fmt.Errorf("broker %d: %w", b.NodeID, err)
			}
			for _, p := range t.Partitions {
				if p.Leader < 0 {
					return fmt.Errorf("broker %d knows no leader of partition %d", b.NodeID, p.Partition)
				}
			}
		}
	}
	return nil
}

// refusal is an error of Kafka's in its own words.
func refusal(code int16, message *string) error {
	err := kerr.ErrorForCode(code)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kerr.RequestTimedOut):
		return &NoAnswerError{"the cluster did not do it in time", err}
	case message != nil && *message != "":
		return fmt.Errorf("%s (%w)", *message, err)
	}
	return err
}

// IsAbsent reports whether the cluster has no topic of that name.
func IsAbsent(err error) bool { return errors.Is(err, kerr.UnknownTopicOrPartition) }

// IsInvalid reports whether the cluster refuses a request for what it asks for, which no
// state of the cluster's would make right: a topic's name, its replicas or its configs.
func IsInvalid(err error) bool {
	for _, code := range []*kerr.Error{
		kerr.InvalidTopicException, kerr.InvalidPartitions, kerr.InvalidReplicationFactor, kerr.InvalidReplicaAssignment, kerr.InvalidConfig,
	} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// timeoutMs is what is left of ctx, for the broker.
func timeoutMs(ctx context.Context) int32 {
	const usual = 15_000
	at, ok := ctx.Deadline()
	if !ok {
		return usual
	}
	return int32(max(1, min(time.Until(at).Milliseconds(), usual)))
}

package kafkatest

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterConfig sets a topic's configuration; an empty value removes it.
func (c *Cluster) AlterConfig(tb testing.TB, topic, key, value string) {
	tb.Helper()
	c.alterConfig(tb, c.runningBrokers(), kmsg.ConfigResourceTypeTopic, topic, key, value)
}

// AlterBrokerConfig sets a broker's dynamic configuration; an empty value
// removes it. Id -1 is the default of all brokers.
func (c *Cluster) AlterBrokerConfig(tb testing.TB, id int32, key, value string) {
	tb.Helper()
	name, by := "", c.runningBrokers()
	if id >= 0 {
		name, by = strconv.Itoa(int(id)), []int32{id} // no broker changes another one's
	}
	c.alterConfig(tb, by, kmsg.ConfigResourceTypeBroker, name, key, value)
}

// alterConfig asks one of the brokers in by.
func (c *Cluster) alterConfig(tb testing.TB, by []int32, kind kmsg.ConfigResourceType, name, key, value string) {
	tb.Helper()
	ctx, cancel := bound(tb, adminTimeout)
	defer cancel()
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Op, config.Value = key, kmsg.IncrementalAlterConfigOpSet, &value
	if value == "" {
		config.Op, config.Value = kmsg.IncrementalAlterConfigOpDelete, nil
	}
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kind, name
	resource.Configs = append(resource.Configs, config)
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = append(req.Resources, resource)
	resp, err := askOneOf[*kmsg.IncrementalAlterConfigsResponse](ctx, c, by, req)
	what := fmt.Sprintf("kafkatest: set %s=%s of %v %q", key, value, kind, name)
	if err != nil {
		tb.Fatalf("%s: %v", what, err)
	}
	for _, r := range resp.Resources {
		if err := kafkaError(what, r.ErrorCode, r.ErrorMessage); err != nil {
			tb.Fatal(err)
		}
	}
}

// Reassign orders new replicas for a partition, the first being the preferred
// leader. Nil cancels a reassignment. It does not wait: see AwaitISR.
func (c *Cluster) Reassign(tb testing.TB, topic string, partition int32, replicas []int32) {
	tb.Helper()
	ctx, cancel := bound(tb, adminTimeout)
	defer cancel()
	p := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
	p.Partition, p.Replicas = partition, replicas
	t := kmsg.NewAlterPartitionAssignmentsRequestTopic()
	t.Topic = topic
	t.Partitions = append(t.Partitions, p)
	req := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	req.Topics = append(req.Topics, t)
	resp, err := askController[*kmsg.AlterPartitionAssignmentsResponse](ctx, c, req)
	what := fmt.Sprintf("kafkatest: reassign %s-%d to %v", topic, partition, replicas)
	if err != nil {
		tb.Fatalf("%s: %v", what, err)
	}
	if err := kafkaError(what, resp.ErrorCode, resp.ErrorMessage); err != nil {
		tb.Fatal(err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kafkaError(what, p.ErrorCode, p.ErrorMessage); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

package inspect

import "fmt"

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String is the name as kafkaops writes it.
func (t TopicPartition) String() string { return fmt.Sprintf("%s-%d", t.Topic, t.Partition) }

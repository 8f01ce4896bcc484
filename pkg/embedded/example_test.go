package embedded_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafkaops/kafkaops/pkg/embedded"
)

// A cluster of three brokers in memory, a record, and the end.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cluster, err := embedded.Start(ctx, embedded.Options{})
	if err != nil {
		panic(err)
	}
	defer cluster.Close()

	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(cluster.Bootstrap(), ",")...),
		kgo.AllowAutoTopicCreation(),
		kgo.DefaultProduceTopic("greetings"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.MetadataMinAge(10*time.Millisecond),
		kgo.UnknownTopicRetries(-1), // each broker hears of a topic in its own time
	)
	if err != nil {
		panic(err)
	}
	defer client.Close()
	if err := client.ProduceSync(ctx, kgo.StringRecord("hello")).FirstErr(); err != nil {
		panic(err)
	}
	client.AddConsumeTopics("greetings")
	for _, record := range client.PollFetches(ctx).Records() {
		fmt.Printf("%s at offset %d\n", record.Value, record.Offset)
	}
	// Output: hello at offset 0
}

// A leader dies, and what was acknowledged is still there.
func ExampleBroker_Kill() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cluster, err := embedded.Start(ctx, embedded.Options{Config: map[string]string{
		"default.replication.factor":   "3",
		"broker.session.timeout.ms":    "1000", // 9 s is long for an example
		"broker.heartbeat.interval.ms": "100",
	}})
	if err != nil {
		panic(err)
	}
	defer cluster.Close()

	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(cluster.Bootstrap(), ",")...),
		kgo.AllowAutoTopicCreation(),
		kgo.DefaultProduceTopic("orders"),
		kgo.MetadataMinAge(10*time.Millisecond),
		kgo.UnknownTopicRetries(-1), // each broker hears of a topic in its own time
	)
	if err != nil {
		panic(err)
	}
	defer client.Close()
	produce := func(value string) {
		record, err := client.ProduceSync(ctx, kgo.StringRecord(value)).First()
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s is at offset %d\n", value, record.Offset)
	}

	produce("the first")
	leader, _, err := client.PartitionLeader("orders", 0)
	if err != nil {
		panic(err)
	}
	cluster.Broker(int(leader)).Kill()
	fmt.Println("its leader is", cluster.Broker(int(leader)).State())
	produce("the second")
	if err := cluster.Heal(ctx); err != nil {
		panic(err)
	}
	fmt.Println("its leader of old is", cluster.Broker(int(leader)).State())
	// Output:
	// the first is at offset 0
	// its leader is killed
	// the second is at offset 1
	// its leader of old is running
}

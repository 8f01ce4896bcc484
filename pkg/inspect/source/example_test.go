package source_test

import (
	"context"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// A partition whose ISR has fallen below min.insync.replicas: acks=1 writes move
// the LEO, the HW stands.
func Example() {
	m := fakekafka.NewModel(3) // stands for a cluster of yours
	topic := m.AddTopic("payments", 1, 3)
	topic.MinInsyncReplicas = 2
	p := topic.Partitions[0]
	p.Shrink(2, 3)
	p.HW = 50
	p.SetLEO(1, 91)
	cluster, err := fakekafka.Listen(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()

	src := source.New(connect.Config{Bootstrap: cluster.Addrs()}, 10*time.Second)
	snap, err := src.Snapshot(context.Background(), source.Query{Parts: inspect.PartOffsets})
	if err != nil {
		fmt.Println(err) // nothing could be asked
		return
	}
	fmt.Println(snap.Complete(), snap.Verdict().Level)
	for p := range snap.Partitions {
		lag := p.Lag()
		fmt.Println(p.Topic, p.Health().Status, "uncommitted", lag.Uncommitted)
		for _, r := range lag.Replicas {
			fmt.Println(r.Broker, r.State, "LEO", r.LEO, "lag", r.Lag)
		}
	}
	// Output:
	// true at-risk
	// payments [under-min-isr under-replicated] uncommitted 41
	// 1 leader LEO 91 lag 0
	// 2 out-of-sync LEO 50 lag 41
	// 3 out-of-sync LEO 50 lag 41
}

package embedded_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded"
)

func TestProduceAndConsume(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	began := time.Now()
	c, err := embedded.Start(ctx, embedded.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started in %v", time.Since(began))
	cl, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(c.Bootstrap(), ",")...), kgo.ConsumeTopics("orders"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	create := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "orders", 3, 3
	create.Topics = append(create.Topics, topic)
	resp, err := create.RequestWith(ctx, cl)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(resp.Topics[0].ErrorCode, resp.Topics[0].ErrorMessage, time.Since(began))
	for i := range 1000 {
		r := kgo.StringRecord(fmt.Sprint(i))
		r.Topic = "orders"
		cl.Produce(ctx, r, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := cl.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	t.Log("flushed", time.Since(began))
	for n := 0; n < 1000; {
		f := cl.PollFetches(ctx)
		if f.Err() != nil {
			t.Fatal(f.Err())
		}
		n += f.NumRecords()
	}
	t.Log("consumed", time.Since(began))
	cl.Close()
	began = time.Now()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("closed in %v", time.Since(began))
}

package embedded_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded"
)

// hang bounds what must not hang, on a machine that has much else to do.
const hang = 3 * time.Minute

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	t.Cleanup(cancel)
	return ctx
}

// client is a franz-go client of a cluster, quick to look again for leaders.
func client(t *testing.T, c *embedded.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(strings.Split(c.Bootstrap(), ",")...),
		kgo.RequestTimeoutOverhead(2 * time.Second), // of one that is paused
		kgo.MetadataMinAge(20 * time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }),
		// Short pauses, so many of them: by default four answers in a row of brokers that have
		// yet to hear of a topic fail its records, and the twentieth error a request.
		kgo.UnknownTopicRetries(-1), kgo.RequestRetries(250),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func create(t *testing.T, cl *kgo.Client, topic string, partitions int32, replicas int16, configs ...string) {
	t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, partitions, replicas
	for i := 0; i < len(configs); i += 2 {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = configs[i], kmsg.StringPtr(configs[i+1])
		rt.Configs = append(rt.Configs, config)
	}
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(within(t), cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("create %s: %v", topic, err)
	}
}

// partition asks for a partition's state until it is as it should be.
func partition(t *testing.T, cl *kgo.Client, topic string, id int32, want func(kmsg.MetadataResponseTopicPartition) bool) kmsg.MetadataResponseTopicPartition {
	t.Helper()
	ctx := within(t)
	for {
		req := kmsg.NewPtrMetadataRequest()
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(topic)
		req.Topics = append(req.Topics, rt)
		resp, err := req.RequestWith(ctx, cl)
		if err == nil {
			for _, p := range resp.Topics[0].Partitions {
				if p.Partition == id && want(p) {
					return p
				}
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s-%d is never as it should be; last: %+v, %v", topic, id, resp, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func led(p kmsg.MetadataResponseTopicPartition) bool { return p.ErrorCode == 0 && p.Leader >= 0 }

// workload produces numbered records with acks=all until it is told to end.
type workload struct {
	t     *testing.T
	topic string
	cl    *kgo.Client
	stop  func()
	ended chan struct{}

	mu    sync.Mutex
	acked map[string]bool
}

func startWorkload(t *testing.T, cl *kgo.Client, topic string) *workload {
	w := &workload{t: t, topic: topic, cl: cl, ended: make(chan struct{}), acked: map[string]bool{}}
	stopped, stop := context.WithCancel(t.Context())
	w.stop = stop
	// However long the test goes on, each record has its time: until its end has waited for them.
	ctx, cancel := context.WithCancel(context.Background())
	go w.run(ctx, stopped)
	t.Cleanup(func() { // where the test has failed: nothing is written or said after it
		cancel()
		<-w.ended
	})
	return w
}

func (w *workload) run(ctx, stopped context.Context) {
	defer close(w.ended)
	for i := 0; ; i++ {
		select {
		case <-stopped.Done():
			w.flush(ctx)
			return
		case <-time.After(time.Millisecond):
		}
		r := &kgo.Record{Topic: w.topic, Key: fmt.Append(nil, i), Value: fmt.Append(nil, "value ", i)}
		w.cl.Produce(ctx, r, func(r *kgo.Record, err error) {
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				w.t.Errorf("record %s: %v", r.Key, err)
				return
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.acked[string(r.Key)] = true
		})
	}
}

func (w *workload) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	if err := w.cl.Flush(ctx); err != nil {
		w.t.Errorf("flush: %v", err)
	}
}

func (w *workload) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acked)
}

// goOn waits until n more records were acknowledged.
func (w *workload) goOn(n int) {
	w.t.Helper()
	want, until := w.count()+n, time.Now().Add(hang)
	for w.count() < want {
		if time.Now().After(until) {
			w.t.Fatalf("%d records acknowledged, want %d", w.count(), want)
		}
		time.Sleep(time.Millisecond)
	}
}

// end ends it and looks whether each record is there once.
func (w *workload) end(c *embedded.Cluster) {
	w.t.Helper()
	w.stop()
	<-w.ended
	seen := map[string]int{}
	cl := client(w.t, c, kgo.ConsumeTopics(w.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	ctx := within(w.t)
	for n := 0; n < len(w.acked); {
		f := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			w.t.Fatalf("%d records read, want %d", n, len(w.acked))
		}
		f.EachRecord(func(r *kgo.Record) { seen[string(r.Key)]++; n++ })
	}
	for key := range w.acked {
		if seen[key] != 1 {
			w.t.Errorf("record %s is there %d times", key, seen[key])
		}
	}
}

func metadataRequest() *kmsg.MetadataRequest { return kmsg.NewPtrMetadataRequest() }

func brokersOf(resp kmsg.Response) []kmsg.MetadataResponseBroker {
	return resp.(*kmsg.MetadataResponse).Brokers
}

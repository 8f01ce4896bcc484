package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Step is one thing that becomes so on a record's way.
type Step struct {
	What StepKind
	// Broker is whose log it is about; 0 for the client's steps.
	Broker inspect.BrokerID
	// After is the time since the client sent the record, when it was first seen to be
	// so; Unseen is how long before that nobody had looked.
	After, Unseen time.Duration
}

// StepKind is what is seen of a record.
type StepKind string

// The steps.
const (
	// StepAcknowledged: the client has its acknowledgement; with acks=0 it has sent it.
	StepAcknowledged StepKind = "acknowledged"
	// StepAppended: the broker's log end offset is behind the record.
	StepAppended StepKind = "appended"
	// StepCommitted: the leader's high watermark is behind the record, and consumers see
	// it.
	StepCommitted StepKind = "committed"
)

// Traced is a partition whose next record is traced.
type Traced struct {
	Topic     string
	Partition int32
	Leader    inspect.BrokerID
	Replicas  []inspect.BrokerID
}

// Trace sends one record and asks every replica again and again for its log end
// offset, and the leader for its high watermark (ListOffsets with replica id -2 and
// -1), until all have it. Nobody else may write to the partition. The steps are in
// the order in which they were seen.
func Trace(ctx context.Context, c connect.Config, p Traced, acks Acks) ([]Step, error) {
	o, err := Options{Topic: p.Topic, Partition: p.Partition, Acks: acks, InFlight: 1, Records: 1}.withDefaults()
	if err != nil {
		return nil, err
	}
	opts, err := o.client()
	if err != nil {
		return nil, err
	}
	client, err := c.Client(opts...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	end, err := p.warm(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("trace %s-%d: %w", p.Topic, p.Partition, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &tracing{ctx: ctx, cancel: cancel, traced: p, end: end, begun: make(chan struct{})}
	var looking sync.WaitGroup
	look := func(what StepKind, broker inspect.BrokerID, replica int32) error {
		own, err := c.Client() // its own connection: requests of one wait for each other
		if err != nil {
			return err
		}
		ready := make(chan struct{})
		looking.Go(func() {
			defer own.Close()
			t.look(own, what, broker, replica, ready)
		})
		<-ready
		return nil
	}
	for _, id := range p.Replicas {
		if err := look(StepAppended, id, debugging); err != nil {
			return nil, err
		}
	}
	if err := look(StepCommitted, p.Leader, consumer); err != nil {
		return nil, err
	}
	acked := make(chan error, 1)
	r := &kgo.Record{Topic: p.Topic, Partition: p.Partition, Value: make([]byte, o.RecordBytes)}
	t.sent = time.Now()
	close(t.begun)
	client.Produce(ctx, r, func(_ *kgo.Record, err error) {
		if err == nil {
			t.add(Step{What: StepAcknowledged, After: time.Since(t.sent)})
		}
		acked <- err
	})
	err = <-acked
	if err != nil {
		cancel()
	}
	looking.Wait()
	if err = errors.Join(err, t.err); err != nil {
		return nil, fmt.Errorf("trace %s-%d: %w", p.Topic, p.Partition, err)
	}
	slices.SortStableFunc(t.steps, func(a, b Step) int { return cmp.Compare(a.After, b.After) })
	return t.steps, nil
}

// warm sends a record that nobody looks at, so that the client knows the leader, has
// its connection and, where it is idempotent, its id: what is to be seen is the way
// of the next one. It returns that one's offset, once all before it is committed.
func (p *Traced) warm(ctx context.Context, client *kgo.Client) (int64, error) {
	before, err := listOffsets(ctx, client, p.Topic, latest)
	if err != nil {
		return 0, err
	}
	r := &kgo.Record{Topic: p.Topic, Partition: p.Partition, Value: make([]byte, HeaderBytes)}
	if err := client.ProduceSync(ctx, r).FirstErr(); err != nil {
		return 0, err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		now, err := listOffsets(ctx, client, p.Topic, latest)
		if err != nil {
			return 0, err
		}
		if end := now[p.Partition]; end > before[p.Partition] {
			return end, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("the record before it is not committed: %w", ctx.Err())
		}
	}
}

// Who asks for an offset: a consumer sees the high watermark, a tool that debugs the
// broker's own log end offset.
const (
	consumer  = -1
	debugging = -2
)

// tracing is one Trace.
type tracing struct {
	ctx    context.Context
	cancel context.CancelFunc
	traced Traced
	end    int64
	// begun is closed when the record is sent, at the time sent.
	begun chan struct{}
	sent  time.Time

	mu    sync.Mutex
	steps []Step
	err   error
}

func (t *tracing) add(s Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps = append(t.steps, s)
}

func (t *tracing) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil { // the others end because of it
		t.err = err
	}
	t.cancel()
}

// look asks one broker until its offset is behind the record.
func (t *tracing) look(client *kgo.Client, what StepKind, id inspect.BrokerID, replica int32, ready chan struct{}) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = replica
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = t.traced.Topic
	rp := kmsg.NewListOffsetsRequestTopicPartition()
	rp.Partition, rp.Timestamp = t.traced.Partition, latest
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	before, first := time.Now(), true
	for {
		asked := time.Now()
		offset, err := ask(t.ctx, client, id, req)
		if first {
			close(ready)
			select {
			case <-t.begun:
			case <-t.ctx.Done():
				t.fail(t.ctx.Err())
				return
			}
			asked, before, first = t.sent, t.sent, false
		}
		seen := time.Now()
		switch {
		case err != nil:
			t.fail(fmt.Errorf("broker %d: %w", id, err))
			return
		case offset > t.end:
			// Between the last answer that was before it and this one nobody knows.
			t.add(Step{What: what, Broker: id, After: seen.Sub(t.sent), Unseen: seen.Sub(before)})
			return
		}
		before = asked // when it was not yet so
		select {
		case <-time.After(100 * time.Microsecond):
		case <-t.ctx.Done():
			t.fail(t.ctx.Err())
			return
		}
	}
}

func ask(ctx context.Context, client *kgo.Client, id inspect.BrokerID, req *kmsg.ListOffsetsRequest) (int64, error) {
	answer, err := client.Broker(int(id)).RetriableRequest(ctx, req)
	if err != nil {
		return 0, err
	}
	for _, t := range answer.(*kmsg.ListOffsetsResponse).Topics {
		for _, p := range t.Partitions {
			return p.Offset, kerr.ErrorForCode(p.ErrorCode)
		}
	}
	return 0, errors.New("it says nothing of the partition")
}

package load

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Producer sends records until it is stopped or has sent all.
type Producer struct {
	opts   Options
	client *kgo.Client
	run    uint64
	meter  meter
	// slots bound what is in flight.
	slots  chan struct{}
	cancel context.CancelFunc
	sent   chan struct{} // closed when nothing more will be sent
}

// StartProducer begins to send, to a topic that is there.
func StartProducer(c connect.Config, o Options) (*Producer, error) {
	o, err := o.withDefaults()
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
	ctx, cancel := context.WithCancel(context.Background())
	p := &Producer{
		opts: o, client: client, run: rand.Uint64(), slots: make(chan struct{}, o.InFlight),
		cancel: cancel, sent: make(chan struct{}),
	}
	p.meter.reset(time.Now())
	go func() {
		defer close(p.sent)
		p.send(ctx)
	}()
	return p, nil
}

// Run is what the values of this producer's records begin with.
func (p *Producer) Run() uint64 { return p.run }

// Sent is closed when the last record of Options.Records was handed to the client,
// or the Producer was stopped.
func (p *Producer) Sent() <-chan struct{} { return p.sent }

// Stats are those since the start or the last Reset.
func (p *Producer) Stats() Stats { return p.meter.stats(time.Now()) }

// Reset begins to count anew, but for the numbers of acknowledged records: what came
// before was to warm up.
func (p *Producer) Reset() { p.meter.reset(time.Now()) }

// Stop sends nothing more and waits for the answers that are outstanding as long as
// ctx permits. What has none by then counts as failed: it may have been written.
func (p *Producer) Stop(ctx context.Context) Stats {
	p.cancel()
	<-p.sent
	_ = p.client.Flush(ctx)
	stats := p.Stats()
	p.client.Close() // fails what is left
	if stats.Sent > stats.Acknowledged+stats.Failed {
		for range cap(p.slots) { // all are free when all is answered
			p.slots <- struct{}{}
		}
		elapsed := stats.Elapsed
		stats = p.Stats()
		stats.Elapsed = elapsed
	}
	return stats
}

// send hands records to the client, each when it is due.
func (p *Producer) send(ctx context.Context) {
	begun := time.Now()
	text := newText(p.opts.RecordBytes)
	var wait pacer
	defer wait.stop()
	for n := int64(0); p.opts.Records == 0 || n < p.opts.Records; n++ {
		due := time.Now()
		if p.opts.Rate > 0 {
			due = begun.Add(time.Duration(float64(n) / p.opts.Rate * float64(time.Second)))
			if !wait.until(ctx, due) {
				return
			}
		}
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if p.opts.Rate == 0 {
			due = time.Now()
		}
		p.produce(n, due, text.value(p.opts.RecordBytes))
	}
}

func (p *Producer) produce(n int64, due time.Time, value []byte) {
	binary.BigEndian.PutUint64(value, p.run)
	binary.BigEndian.PutUint64(value[8:], uint64(n))
	r := &kgo.Record{Topic: p.opts.Topic, Partition: max(0, p.opts.Partition), Value: value}
	p.meter.sent()
	// Not the sender's context: who stops wants answers to what was sent.
	p.client.Produce(context.Background(), r, func(_ *kgo.Record, err error) {
		p.meter.answered(n, len(value), time.Since(due), err, p.opts.KeepAcknowledged)
		<-p.slots
	})
}

// pacer waits for points in time, with one timer.
type pacer struct{ timer *time.Timer }

func (w *pacer) until(ctx context.Context, at time.Time) bool {
	d := time.Until(at)
	if d <= 0 {
		return ctx.Err() == nil
	}
	if w.timer == nil {
		w.timer = time.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
	select {
	case <-w.timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (w *pacer) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// meter counts what comes back.
type meter struct {
	mu    sync.Mutex
	since time.Time
	now   Stats
	lat   latencies
	// acknowledged are the numbers of records, as bits.
	acknowledged bitmap
}

func (m *meter) reset(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	inFlight := m.now.Sent - m.now.Acknowledged - m.now.Failed
	m.since, m.now = at, Stats{Sent: inFlight}
	m.lat.reset()
}

func (m *meter) sent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Sent++
}

func (m *meter) answered(n int64, size int, after time.Duration, err error, keep bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.now.Failed++
		if errors.Is(err, kgo.ErrClientClosed) {
			err = errors.New("no answer before the producer was stopped")
		}
		if m.now.FirstError == nil {
			m.now.FirstError = err
		}
		return
	}
	m.now.Acknowledged++
	m.now.Bytes += int64(size)
	m.lat.add(after)
	if keep {
		m.acknowledged.set(n)
	}
}

func (m *meter) stats(at time.Time) Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.now
	s.Elapsed = at.Sub(m.since)
	s.P50, s.P99, s.P999, s.Max = m.lat.at(0.5), m.lat.at(0.99), m.lat.at(0.999), m.lat.max()
	s.numbers = m.acknowledged.clone()
	return s
}

//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestKilledInTheBackground: a cluster whose process is killed while idempotent producers
// write with acks=all comes up again on its data with every record that was acknowledged,
// once and where it was. No power was lost: what a process has written to a file is the
// system's, synced or not, and that is all that Kafka relies on too with its own
// log.flush.interval.messages.
func TestKilledInTheBackground(t *testing.T) {
	t.Parallel()
	rounds := 2
	if os.Getenv("KAFKAOPS_LONG") != "" {
		rounds = 25
	}
	h := newHome(t)
	up := fmt.Sprintf("cluster up --detach --port %d", fourPorts(t))
	pid := started(t, h, up)
	defer func() { run(t, h.kafkaops("cluster down")) }()
	var writers []*writer
	for _, name := range []string{"franz", "sarama"} {
		if got := run(t, h.kafkaops("cluster topics create "+name+" --partitions 3 --config min.insync.replicas=2")); got.code != 0 {
			t.Fatalf("%+v", got)
		}
		writers = append(writers, newWriter(t, name, bootstrapOf(t, h)))
	}
	for range rounds {
		for _, w := range writers {
			w.goOn(200)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		pid = started(t, h, up)
	}
	for _, w := range writers {
		w.goOn(200)
		w.end()
	}
}

// fourPorts is the first of four that are free, behind those that the engine draws from.
func fourPorts(t *testing.T) int {
	t.Helper()
	for range 100 {
		first := 10_000 + rand.IntN(9_000)
		free := true
		for port := first; port < first+4; port++ {
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if free = free && err == nil; err == nil {
				l.Close()
			}
		}
		if free {
			return first
		}
	}
	t.Fatal("no four ports are free")
	return 0
}

// started runs cluster up --detach and returns the process that runs the cluster. One that
// has just been killed may have the place for a moment.
func started(t *testing.T, h home, up string) (pid int) {
	t.Helper()
	var got result
	await(t, "it is up", func() bool {
		got = run(t, h.kafkaops(up))
		if got.code != 0 {
			t.Logf("%s: %s", up, got.stderr)
		}
		return got.code == 0
	})
	m := regexp.MustCompile(`\(process (\d+)\)`).FindStringSubmatch(got.stdout)
	if m == nil {
		t.Fatalf("no process in %s", got.stdout)
	}
	pid, _ = strconv.Atoi(m[1])
	return pid
}

func bootstrapOf(t *testing.T, h home) []string {
	t.Helper()
	got := run(t, h.kafkaops("cluster list"))
	fields := strings.Split(strings.TrimSpace(got.stdout), "\t")
	return strings.Split(fields[len(fields)-1], ",")
}

// place is where a record lies.
type place struct {
	partition int32
	offset    int64
}

// writer produces numbered records to the topic of its name until it is told to end.
type writer struct {
	t         *testing.T
	topic     string
	bootstrap []string
	stop      chan struct{}
	ended     chan error

	mu    sync.Mutex
	acked map[string]place
}

func newWriter(t *testing.T, name string, bootstrap []string) *writer {
	w := &writer{t: t, topic: name, bootstrap: bootstrap, stop: make(chan struct{}), ended: make(chan error, 1), acked: map[string]place{}}
	produce := w.franz
	if name == "sarama" {
		produce = w.sarama
	}
	go func() { w.ended <- produce() }()
	return w
}

func (w *writer) ack(value string, at place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acked[value] = at
}

func (w *writer) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acked)
}

// each calls produce with one value after another, until the end.
func (w *writer) each(produce func(value string)) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			produce(fmt.Sprintf("%s-%d", w.topic, i))
		}
	}
}

// franz is franz-go, whose producers are idempotent and wait for all.
func (w *writer) franz() error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(w.bootstrap...), kgo.ProducerLinger(0), kgo.RequestRetries(1000),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }), kgo.MetadataMinAge(20*time.Millisecond))
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*patience)
	defer cancel()
	w.each(func(value string) {
		cl.Produce(ctx, &kgo.Record{Topic: w.topic, Value: []byte(value)}, func(r *kgo.Record, err error) {
			if err == nil {
				w.ack(value, place{r.Partition, r.Offset})
			}
		})
	})
	return cl.Flush(ctx)
}

func (w *writer) sarama() error {
	cfg := sarama.NewConfig()
	cfg.Version = sarama.V4_0_0_0
	cfg.Producer.RequiredAcks, cfg.Producer.Idempotent, cfg.Net.MaxOpenRequests = sarama.WaitForAll, true, 1
	cfg.Producer.Return.Successes, cfg.Producer.Return.Errors = true, true
	cfg.Producer.Retry.Max, cfg.Producer.Retry.Backoff = 1000, 20*time.Millisecond
	cfg.Metadata.Retry.Max, cfg.Metadata.Retry.Backoff = 1000, 20*time.Millisecond
	p, err := sarama.NewAsyncProducer(w.bootstrap, cfg)
	if err != nil {
		return err
	}
	var answers sync.WaitGroup
	answers.Go(func() {
		for m := range p.Successes() {
			value, _ := m.Value.Encode()
			w.ack(string(value), place{m.Partition, m.Offset})
		}
	})
	answers.Go(func() {
		for range p.Errors() { // what is not acknowledged may be there or not
		}
	})
	w.each(func(value string) {
		p.Input() <- &sarama.ProducerMessage{Topic: w.topic, Value: sarama.StringEncoder(value)}
	})
	p.AsyncClose()
	answers.Wait()
	return nil
}

// goOn waits until n more are acknowledged.
func (w *writer) goOn(n int) {
	w.t.Helper()
	want := w.count() + n
	await(w.t, fmt.Sprintf("%s: %d more are acknowledged", w.topic, n), func() bool { return w.count() >= want })
}

// end stops it and looks whether all is there that was acknowledged, and nothing twice.
func (w *writer) end() {
	w.t.Helper()
	close(w.stop)
	if err := <-w.ended; err != nil {
		w.t.Errorf("%s: %v", w.topic, err)
	}
	read := w.read()
	seen := map[string]place{}
	for at, value := range read {
		if was, twice := seen[value]; twice {
			w.t.Errorf("%s is there twice, at %v and %v", value, was, at)
		}
		seen[value] = at
	}
	for value, at := range w.acked {
		if read[at] != value {
			w.t.Errorf("%s was acknowledged at %v; there is %q", value, at, read[at])
		}
	}
	w.t.Logf("%s: %d acknowledged, %d read", w.topic, len(w.acked), len(read))
}

// read returns all that the topic holds.
func (w *writer) read() map[place]string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(w.bootstrap...), kgo.ConsumeTopics(w.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		w.t.Fatal(err)
	}
	defer cl.Close()
	marker := fmt.Sprintf("%s-end", w.topic)
	for partition := range int32(3) {
		end := &kgo.Record{Topic: w.topic, Partition: partition, Value: []byte(marker)}
		manual, err := kgo.NewClient(kgo.SeedBrokers(w.bootstrap...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err == nil {
			err = manual.ProduceSync(ctx, end).FirstErr()
			manual.Close()
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	out := map[place]string{}
	for ends := 0; ends < 3; {
		fetches := cl.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			w.t.Fatalf("%s: after %d records: %v", w.topic, len(out), err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if string(r.Value) == marker {
				ends++
				return
			}
			out[place{r.Partition, r.Offset}] = string(r.Value)
		})
	}
	return out
}

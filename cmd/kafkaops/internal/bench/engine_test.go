package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// BenchmarkEngine runs the embedded engine beside a real Kafka: three brokers each,
// on the same disk, the same client. The ratio decides, not the figure.
//
//	start        from the process to three brokers that answer: 1/100 of Kafka's time
//	resident     at rest: 1/20
//	sync         one record at a time, RF 3, acks=all, p50: 1/2
//	throughput   1 KiB records, RF 3, acks=all: 1.5 times
//	cpu/MiB      of the brokers meanwhile: 1/2
//	fsync        one record at a time with flush.messages=1, by one writer and by 16 at
//	             once, p50: at most 2 ms over a sync of this disk
//
// Kafka is warmed up by half a million records first; its Java machines have the
// flags of its own start scripts for that.
func BenchmarkEngine(b *testing.B) {
	dir := sameDisk(b)
	for b.Loop() {
		kafka, engine := newFigures("Kafka"), newFigures("engine")
		func() {
			s := startKafka(b, kafka)
			defer s.close(b)
			writes(b, s, kafka)
			fsyncs(b, s, dir(), kafka)
		}()
		for range 5 {
			s := startEngine(b, dir(), engine)
			s.close(b)
			engine.add("close-ms", s.closed)
		}
		func() {
			s := startEngine(b, dir(), engine)
			defer s.close(b)
			writes(b, s, engine)
			fsyncs(b, s, dir(), engine)
		}()
		report(b, kafka, engine, "start-ms", "resident-MiB", "sync-p50-us", "sync-p99-us", "MiB/s", "cpu-ms/MiB",
			"disk-sync-p50-us", "fsync-p50-us", "fsync16-p50-us", "close-ms")
	}
}

// BenchmarkEngineMany makes 5,000 partitions of RF 3 on each, in at most 1/5 of
// Kafka's time on the engine, and lets them idle: at most 5 % of a core, 300 MiB.
//
//	known    until all brokers tell a leader and a full ISR of each
//	create   until all brokers have all logs too
func BenchmarkEngineMany(b *testing.B) {
	dir := sameDisk(b)
	for b.Loop() {
		kafka, engine := newFigures("Kafka"), newFigures("engine")
		func() {
			s := startKafka(b, kafka)
			defer s.close(b)
			many(b, s, kafka)
		}()
		func() {
			s := startEngine(b, dir(), engine)
			defer s.close(b)
			many(b, s, engine)
		}()
		report(b, kafka, engine, "known-ms", "create-ms", "idle-core-%", "idle-MiB")
	}
}

// side is one of the two, running.
type side struct {
	bootstrap []string
	pids      []int
	stop      func(b *testing.B)
	kill      func()
	closed    float64 // ms
}

func (s *side) close(b *testing.B) {
	began := time.Now()
	s.stop(b)
	s.closed = ms(time.Since(began))
}

// startKafka starts three brokers with the flags of kafka-server-start.sh.
func startKafka(b *testing.B, f *figuresOf) *side {
	b.Helper()
	cluster.End() // the other benchmarks' takes memory
	began := time.Now()
	c := kafkatest.Start(b, kafkatest.Options{Brokers: 3, HeapMB: 1024, JVM: func(int32) []string {
		return []string{
			"-server", "-XX:-UseSerialGC", "-XX:+UseG1GC", "-XX:TieredStopAtLevel=4",
			"-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
		}
	}})
	f.add("start-ms", ms(time.Since(began)))
	s := &side{bootstrap: c.Bootstrap(), pids: c.PIDs(), stop: func(b *testing.B) {
		for _, id := range c.Brokers() {
			c.Kill(b, id)
		}
	}}
	time.Sleep(2 * time.Second)
	f.add("resident-MiB", residentMiB(b, s.pids))
	return s
}

// writes measures what a producer sees.
func writes(b *testing.B, s *side, f *figuresOf) {
	b.Helper()
	const records, size = 200_000, 1024
	createTopics(b, s, "bench", 1, 6)
	createTopics(b, s, "bench-sync", 1, 1)
	all := load.Options{Topic: "bench-0", Partition: load.AnyPartition, Acks: load.AcksAll, RecordBytes: size, Linger: 5 * time.Millisecond}
	produce(b, s, all, 500_000) // warm
	for range 5 {
		cpu := cpuMs(b, s.pids)
		stats := produce(b, s, all, records)
		mib := stats.BytesPerSecond() / (1 << 20)
		f.add("MiB/s", mib)
		f.add("cpu-ms/MiB", (cpuMs(b, s.pids)-cpu)/(records*size/(1<<20)))
	}
	for range 5 {
		took := oneAtATime(b, s, "bench-sync-0", 2000)
		f.add("sync-p50-us", float64(took[len(took)/2].Microseconds()))
		f.add("sync-p99-us", float64(took[len(took)*99/100].Microseconds()))
	}
}

func produce(b *testing.B, s *side, o load.Options, records int64) load.Stats {
	b.Helper()
	o.Records = records
	p, err := load.StartProducer(connect.Config{Bootstrap: s.bootstrap}, o)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
	defer cancel()
	select {
	case <-p.Sent():
	case <-ctx.Done():
	}
	stats := p.Stop(ctx)
	if stats.Acknowledged != records {
		b.Fatalf("%d of %d records acknowledged: %+v", stats.Acknowledged, records, stats)
	}
	return stats
}

// oneAtATime writes records of 100 bytes, each after the answer to the one before,
// and returns the times, sorted.
func oneAtATime(b *testing.B, s *side, topic string, records int) []time.Duration {
	b.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.bootstrap...), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(0))
	if err != nil {
		b.Error(err) // it need not be the benchmark's own goroutine
		return nil
	}
	defer cl.Close()
	var took []time.Duration
	for i := range records + 100 {
		began := time.Now()
		if err := cl.ProduceSync(b.Context(), &kgo.Record{Value: make([]byte, 100)}).FirstErr(); err != nil {
			b.Error(err)
			return nil
		}
		if i >= 100 { // the first ones find the leader
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	return took
}

// fsyncs measures what a producer waits for whose records are to be on three disks,
// and beside it a sync of this disk by itself.
func fsyncs(b *testing.B, s *side, dir string, f *figuresOf) {
	b.Helper()
	const records, writers = 300, 16
	createTopics(b, s, "bench-fsync", 1, 1, kmsg.CreateTopicsRequestTopicConfig{Name: "flush.messages", Value: kmsg.StringPtr("1")})
	p50 := func(took []time.Duration) float64 {
		slices.Sort(took)
		return float64(took[len(took)/2].Microseconds())
	}
	for range 5 {
		f.add("disk-sync-p50-us", p50(diskSyncs(b, dir, records)))
		f.add("fsync-p50-us", p50(oneAtATime(b, s, "bench-fsync-0", records)))
		var mu sync.Mutex
		var all []time.Duration
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				took := oneAtATime(b, s, "bench-fsync-0", records)
				mu.Lock()
				defer mu.Unlock()
				all = append(all, took...)
			})
		}
		wg.Wait()
		f.add("fsync16-p50-us", p50(all))
	}
}

// diskSyncs are the times of appending 4 KiB to a file and syncing it.
func diskSyncs(b *testing.B, dir string, n int) (took []time.Duration) {
	b.Helper()
	file, err := os.Create(filepath.Join(dir, "disk"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for range n {
		began := time.Now()
		if _, err := file.Write(make([]byte, 4096)); err != nil {
			b.Fatal(err)
		}
		if err := file.Sync(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	return took
}

// many makes the partitions, and looks at what they cost at rest.
func many(b *testing.B, s *side, f *figuresOf) {
	b.Helper()
	const topics, partitions = 50, 100
	began := time.Now()
	createTopics(b, s, "many", topics, partitions)
	f.add("known-ms", ms(time.Since(began)))
	awaitLogs(b, s, "many", topics*partitions)
	f.add("create-ms", ms(time.Since(began)))
	time.Sleep(10 * time.Second)
	const idle = 20 * time.Second
	cpu := cpuMs(b, s.pids)
	time.Sleep(idle)
	f.add("idle-core-%", 100*(cpuMs(b, s.pids)-cpu)/ms(idle))
	f.add("idle-MiB", residentMiB(b, s.pids))
}

// createTopics makes topics of RF 3, and waits until each broker knows a leader
// and a full ISR of every partition.
func createTopics(b *testing.B, s *side, prefix string, topics int, partitions int32, configs ...kmsg.CreateTopicsRequestTopicConfig) {
	b.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.bootstrap...), kgo.RequestTimeoutOverhead(time.Minute))
	if err != nil {
		b.Fatal(err)
	}
	defer cl.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 60_000
	for i := range topics {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = fmt.Sprintf("%s-%d", prefix, i), partitions, 3
		t.Configs = configs
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(b.Context(), cl)
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range resp.Topics {
		if t.ErrorCode != 0 {
			b.Fatalf("create %s: error %d", t.Topic, t.ErrorCode)
		}
	}
	kafkatest.Eventually(b, 3*time.Minute, func() error { return known(b.Context(), cl, prefix, topics*int(partitions)) })
}

// awaitLogs waits until each broker has a log of every partition: Kafka's brokers know
// them long before.
func awaitLogs(b *testing.B, s *side, prefix string, partitions int) {
	b.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.bootstrap...), kgo.RequestTimeoutOverhead(time.Minute))
	if err != nil {
		b.Fatal(err)
	}
	defer cl.Close()
	kafkatest.Eventually(b, 5*time.Minute, func() error {
		for _, broker := range cl.SeedBrokers() {
			resp, err := kmsg.NewPtrDescribeLogDirsRequest().RequestWith(b.Context(), broker)
			if err != nil {
				return err
			}
			has := 0
			for _, dir := range resp.Dirs {
				for _, t := range dir.Topics {
					if strings.HasPrefix(t.Topic, prefix+"-") {
						has += len(t.Partitions)
					}
				}
			}
			if has != partitions {
				return fmt.Errorf("a broker has %d logs of %d", has, partitions)
			}
		}
		return nil
	})
}

func known(ctx context.Context, cl *kgo.Client, prefix string, partitions int) error {
	for _, broker := range cl.SeedBrokers() {
		resp, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, broker)
		if err != nil {
			return err
		}
		whole := 0
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if strings.HasPrefix(*t.Topic, prefix+"-") && p.Leader >= 0 && len(p.ISR) == 3 {
					whole++
				}
			}
		}
		if whole < partitions {
			return fmt.Errorf("a broker knows %d of %d partitions", whole, partitions)
		}
	}
	return nil
}

package load_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/internal/admin"
	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// BenchmarkClients holds franz-go, as this package uses it, against sarama on the
// engine: acks=all, RF 3, records of 1 KiB; one in flight (sync), and as many as fit
// (bulk).
func BenchmarkClients(b *testing.B) {
	c, err := embedded.Start(bounded(b), embedded.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	conn := connect.Config{Bootstrap: strings.Split(c.Bootstrap(), ",")}
	a, err := admin.Open(conn)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	if err := a.CreateTopic(bounded(b), admin.Topic{Name: "clients", Partitions: 3, ReplicationFactor: 3}); err != nil {
		b.Fatal(err)
	}
	ours := func(inFlight int) func(*testing.B) {
		return func(b *testing.B) {
			p, err := load.StartProducer(conn, load.Options{
				Topic: "clients", Partition: load.AnyPartition, Acks: load.AcksAll, RecordBytes: 1024, InFlight: inFlight, Records: int64(b.N),
			})
			if err != nil {
				b.Fatal(err)
			}
			<-p.Sent()
			if s := p.Stop(bounded(b)); s.Acknowledged != int64(b.N) {
				b.Fatalf("got %+v, want %d acknowledged", s, b.N)
			}
		}
	}
	conf := func() *sarama.Config {
		s := sarama.NewConfig()
		s.Version, s.Producer.RequiredAcks = sarama.V4_0_0_0, sarama.WaitForAll
		s.Producer.Idempotent, s.Net.MaxOpenRequests = true, 1
		s.Producer.Return.Successes, s.Producer.MaxMessageBytes = true, 1_000_000
		s.Producer.Flush.Frequency = time.Nanosecond
		s.Metadata.AllowAutoTopicCreation = false
		return s
	}
	b.Run("franz-go/sync", ours(1))
	b.Run("franz-go/bulk", ours(10_000))
	value := sarama.ByteEncoder(bytes.Repeat([]byte{'x'}, 1024))
	b.Run("sarama/sync", func(b *testing.B) {
		p, err := sarama.NewSyncProducer(conn.Bootstrap, conf())
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close()
		for b.Loop() {
			if _, _, err := p.SendMessage(&sarama.ProducerMessage{Topic: "clients", Value: value}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sarama/bulk", func(b *testing.B) {
		p, err := sarama.NewAsyncProducer(conn.Bootstrap, conf())
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			for range b.N {
				p.Input() <- &sarama.ProducerMessage{Topic: "clients", Value: value}
			}
		}()
		for range b.N {
			select {
			case <-p.Successes():
			case err := <-p.Errors():
				b.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	})
}

package embedded_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
)

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(hang)); err != nil {
		t.Fatal(err)
	}
	return nc
}

// closes reads until the other side has closed, and returns what came before.
func closes(t *testing.T, nc net.Conn) []byte {
	t.Helper()
	b, err := io.ReadAll(nc)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatalf("the connection stays open; it said % x", b)
	}
	return b // a reset is an end too
}

func frame(key, version int16, body ...byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	b = binary.BigEndian.AppendUint32(b, 7)      // correlation id
	b = binary.BigEndian.AppendUint16(b, 0xffff) // no client id
	b = append(b, body...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// TestBytesThatAreNoRequests: they end their own connection, and nobody else has an
// error or waits.
func TestBytesThatAreNoRequests(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{})
	cl := client(t, c, kgo.RequestTimeoutOverhead(hang))
	create(t, cl, "orders", 3, 3)
	w := startWorkload(t, cl, "orders")
	w.goOn(100)

	rng := rand.New(rand.NewPCG(1, 2))
	garbage := make([]byte, 4096)
	for i := range garbage {
		garbage[i] = byte(rng.Uint32())
	}
	produce := kmsg.NewPtrProduceRequest()
	produce.Version = 9
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic = "orders"
	part := kmsg.NewProduceRequestTopicPartition()
	part.Records = garbage
	topic.Partitions = append(topic.Partitions, part)
	produce.Acks, produce.TimeoutMillis = -1, 1000
	produce.Topics = append(produce.Topics, topic)
	bad := map[string][]byte{
		"HTTP":                      []byte("GET / HTTP/1.1\r\nHost: kafka\r\n\r\n"),
		"TLS":                       {0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03},
		"a size of 2 GiB":           {0x7f, 0xff, 0xff, 0xff},
		"a negative size":           {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0},
		"a size of 0":               {0, 0, 0, 0},
		"an unknown key":            frame(12345, 0),
		"a negative key":            frame(-1, 0),
		"a version that is no more": frame(int16(kmsg.Metadata), 99),
		"a body that ends early":    frame(int16(kmsg.Metadata), 9, 0),
		"an array of 2 G":           frame(int16(kmsg.Metadata), 1, 0x7f, 0xff, 0xff, 0xff),
		"garbage":                   garbage,
	}
	for _, address := range []string{c.Broker(1).Address(), c.ControllerAddress()} {
		for name, b := range bad {
			nc := dial(t, address)
			if _, err := nc.Write(b); err != nil {
				t.Fatal(err)
			}
			if said := closes(t, nc); len(said) > 0 {
				t.Errorf("%s: %s was answered with % x", address, name, said)
			}
		}
		// Half a request, and then nothing: it stays as it is.
		nc := dial(t, address)
		if _, err := nc.Write(frame(int16(kmsg.Metadata), 1, 0, 0, 0, 0)[:9]); err != nil {
			t.Fatal(err)
		}
	}
	// Records that are none are for the node to answer.
	for _, id := range []int{1, 2, 3} {
		if _, err := cl.Broker(id).Request(within(t), produce); err != nil {
			t.Errorf("garbage as records to broker %d: %v", id, err)
		}
	}
	w.goOn(100)
	w.end(c)
}

// TestUnknownApiVersions: a client that is newer learns what there is (KIP-511).
func TestUnknownApiVersions(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{Brokers: 1})
	for _, address := range []string{c.Broker(1).Address(), c.ControllerAddress()} {
		nc := dial(t, address)
		for range 2 { // the connection goes on
			if _, err := nc.Write(frame(int16(kmsg.ApiVersions), 99, 1, 2, 3)); err != nil {
				t.Fatal(err)
			}
			// Size, correlation id, error 35, one API: 18 from 0 to 5.
			want := []byte{0, 0, 0, 16, 0, 0, 0, 7, 0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 5}
			got := make([]byte, len(want))
			if _, err := io.ReadFull(nc, got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: got % x, want % x", address, got, want)
			}
		}
	}
}

// TestIdleConnections: 10,000 of them cost no other client anything that it notices.
func TestIdleConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("20,000 sockets")
	}
	c := embeddedtest.New(t, embedded.Options{})
	cl := client(t, c)
	create(t, cl, "orders", 3, 3)
	n := idleConnections()
	idle := make([]net.Conn, 0, n)
	for i := range n {
		nc := dial(t, c.Broker(1+i%3).Address())
		if i%2 == 0 { // half of them in the middle of a request
			if _, err := nc.Write([]byte{0, 0, 1, 0, 0, 3}); err != nil {
				t.Fatal(err)
			}
		}
		idle = append(idle, nc)
	}
	w := startWorkload(t, cl, "orders")
	w.goOn(2000)
	w.end(c)
	// They work when they wake.
	for i, nc := range idle[:10] {
		b := frame(int16(kmsg.ApiVersions), 0)
		if i%2 == 0 {
			continue
		}
		if _, err := nc.Write(b); err != nil {
			t.Fatal(err)
		}
		var size [4]byte
		if _, err := io.ReadFull(nc, size[:]); err != nil {
			t.Fatalf("an idle connection is not answered: %v", err)
		}
	}
}

// TestSlowReader: a client that asks for much and reads nothing costs others nothing.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{Brokers: 1})
	cl := client(t, c, kgo.ProducerBatchCompression(kgo.NoCompression()))
	create(t, cl, "large", 1, 1)
	create(t, cl, "orders", 3, 1)
	for range 20 {
		if err := cl.ProduceSync(within(t), &kgo.Record{Topic: "large", Value: make([]byte, 1<<19)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	fetch := fetchRequest("large", 0)
	f := kmsg.NewRequestFormatter()
	for range 4 {
		nc := dial(t, c.Broker(1).Address())
		for i := range 3 { // each is answered with more than a socket takes
			if _, err := nc.Write(f.AppendRequest(nil, fetch, int32(i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	w := startWorkload(t, cl, "orders")
	w.goOn(500)
	w.end(c)
}

func fetchRequest(topic string, offset int64) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 11, 300, 1, 50<<20
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic = topic
	part := kmsg.NewFetchRequestTopicPartition()
	part.FetchOffset, part.PartitionMaxBytes = offset, 50<<20
	rt.Partitions = append(rt.Partitions, part)
	req.Topics = append(req.Topics, rt)
	return req
}

// TestPipelined: requests of one connection are answered in their order, those that
// want no answer with none.
func TestPipelined(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{Brokers: 1})
	cl := client(t, c)
	create(t, cl, "orders", 1, 1)
	partition(t, cl, "orders", 0, led)
	r := kgo.StringRecord("first")
	r.Topic = "orders"
	if err := cl.ProduceSync(within(t), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	nc := dial(t, c.Broker(1).Address())
	f := kmsg.NewRequestFormatter()
	fetch := fetchRequest("orders", 1) // nothing there yet
	silent := kmsg.NewPtrProduceRequest()
	silent.Version, silent.Acks = 9, 0
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 9
	var all []byte
	for i, req := range []kmsg.Request{fetch, silent, metadata, silent, silent, metadata} {
		all = append(all, f.AppendRequest(nil, req, int32(i))...)
	}
	if _, err := nc.Write(all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []uint32{0, 2, 5} {
		var head [8]byte
		if _, err := io.ReadFull(nc, head[:]); err != nil {
			t.Fatalf("answer to request %d: %v", want, err)
		}
		if got := binary.BigEndian.Uint32(head[4:]); got != want {
			t.Errorf("request %d is answered, want %d", got, want)
		}
		if _, err := io.CopyN(io.Discard, nc, int64(binary.BigEndian.Uint32(head[:]))-4); err != nil {
			t.Fatal(err)
		}
	}
}

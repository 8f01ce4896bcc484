package fakekafka

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience bounds what should happen at once; no test waits for it to pass.
const patience = 10 * time.Second

// ask sends req to a broker in the version that it has set, over a connection of
// its own, and returns the decoded answer.
func ask[Resp kmsg.Response](t *testing.T, c *Cluster, broker int32, req kmsg.Request) Resp {
	t.Helper()
	conn := dial(t, c.Addr(broker))
	send(t, conn, req)
	return receive(t, conn, req).(Resp)
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

const correlationID = 4711

func send(t *testing.T, conn net.Conn, req kmsg.Request) {
	t.Helper()
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID("test"))
	if _, err := conn.Write(f.AppendRequest(nil, req, correlationID)); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, conn net.Conn, req kmsg.Request) kmsg.Response {
	t.Helper()
	head := make([]byte, 8)
	if _, err := io.ReadFull(conn, head); err != nil {
		t.Fatal(err)
	}
	if got := binary.BigEndian.Uint32(head[4:]); got != correlationID {
		t.Fatalf("got correlation id %d, want %d", got, correlationID)
	}
	body := make([]byte, binary.BigEndian.Uint32(head)-4)
	if _, err := io.ReadFull(conn, body); err != nil {
		t.Fatal(err)
	}
	resp := req.ResponseKind()
	if resp.IsFlexible() && resp.Key() != int16(kmsg.ApiVersions) {
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		t.Fatal(err)
	}
	return resp
}

// wantClosed wants the broker to close the connection without another byte.
func wantClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	n, err := conn.Read(make([]byte, 1))
	if n != 0 || err == nil {
		t.Fatalf("got %d bytes and error %v, want a closed connection", n, err)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the connection is still open")
	}
}

// wantSilent wants no answer. Silence cannot be waited for; but a broker that had
// answered would have done so by the time that it read one more request.
func wantSilent(t *testing.T, c *Cluster, conn net.Conn, req kmsg.Request) {
	t.Helper()
	for _, req := range []kmsg.Request{req, kmsg.NewPtrApiVersionsRequest()} {
		key := Key(req.Key())
		before := c.Count(key)
		send(t, conn, req)
		if err := c.Await(testContext(t), key, before+1); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(make([]byte, 1))
	if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %d bytes and error %v, want silence", n, err)
	}
}

func kgoClient(t *testing.T, c *Cluster) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Addrs()...), kgo.ClientID("kgo-test"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func saramaBroker(t *testing.T, c *Cluster, id int32) *sarama.Broker {
	t.Helper()
	config := sarama.NewConfig()
	config.Version = sarama.V4_0_0_0
	config.ClientID = "sarama-test"
	b := sarama.NewBroker(c.Addr(id))
	if err := b.Open(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if ok, err := b.Connected(); !ok || err != nil {
		t.Fatalf("not connected: %v", err)
	}
	return b
}

// names makes a list of topics to ask Metadata for.
func names(topics ...string) []kmsg.MetadataRequestTopic {
	asked := []kmsg.MetadataRequestTopic{}
	for _, name := range topics {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = &name
		asked = append(asked, rt)
	}
	return asked
}

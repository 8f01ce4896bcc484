package fakekafka

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

func TestHang(t *testing.T) {
	t.Parallel()
	versions := func() kmsg.Request { return apiVersionsRequest(3) }
	offsets := func() kmsg.Request { return listRequest(11, -2, latest, 0) }
	tests := []struct {
		name     string
		faults   Faults
		answered []func() kmsg.Request
		silent   func() kmsg.Request
	}{
		{name: "mute", faults: Faults{Mute: true}, silent: versions},
		{name: "on a key", faults: Faults{HangOn: []Key{kmsg.ListOffsets}}, answered: []func() kmsg.Request{versions, versions}, silent: offsets},
		{name: "after two", faults: Faults{HangAfter: 2}, answered: []func() kmsg.Request{versions, offsets}, silent: versions},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := Start(t, lagging())
			conn, other := dial(t, c.Addr(3)), dial(t, c.Addr(1))
			c.Break(3, tt.faults)
			for _, req := range tt.answered {
				send(t, conn, req())
				receive(t, conn, req())
			}
			wantSilent(t, c, conn, tt.silent())

			send(t, other, versions()) // the others are well
			receive(t, other, versions())
			c.Heal(3)
			again := dial(t, c.Addr(3)) // a new connection too
			send(t, again, tt.silent())
			receive(t, again, tt.silent())
		})
	}
}

func TestCloseOn(t *testing.T) {
	t.Parallel()
	c := Start(t, lagging())
	c.Break(2, Faults{CloseOn: []Key{kmsg.ListOffsets}})
	conn := dial(t, c.Addr(2))
	send(t, conn, apiVersionsRequest(3))
	receive(t, conn, apiVersionsRequest(3))
	send(t, conn, listRequest(11, -2, latest, 0))
	wantClosed(t, conn)
	if got := c.Count(kmsg.ListOffsets); got != 1 {
		t.Errorf("recorded %d requests, want the one that closed it", got)
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	c := Start(t, lagging())
	conn := dial(t, c.Addr(2))
	send(t, conn, apiVersionsRequest(3))
	receive(t, conn, apiVersionsRequest(3))

	c.Break(2, Faults{Refuse: true})
	wantClosed(t, conn)
	wantRefused(t, c.Addr(2))
	c.Heal(2)
	conn = dial(t, c.Addr(2))
	send(t, conn, apiVersionsRequest(3))
	receive(t, conn, apiVersionsRequest(3))
}

func wantRefused(t *testing.T, addr string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err == nil {
		conn.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, want connection refused", err)
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	c := Start(t, lagging())
	const delay = 30 * time.Millisecond
	c.Break(1, Faults{Delay: map[Key]time.Duration{kmsg.ListOffsets: delay}})
	began := time.Now()
	ask[*kmsg.ListOffsetsResponse](t, c, 1, listRequest(11, -2, latest, 0))
	if took := time.Since(began); took < delay {
		t.Errorf("answered after %v, want at least %v", took, delay)
	}
}

func TestReplicaReads(t *testing.T) {
	t.Parallel()
	c := Start(t, lagging())
	read := func(broker int32) (int16, int64) {
		p := ask[*kmsg.ListOffsetsResponse](t, c, broker, listRequest(11, -2, latest, 0)).Topics[0].Partitions[0]
		return p.ErrorCode, p.Offset
	}
	tests := []struct {
		mode   ReplicaReads
		broker int32
		code   int16
		offset int64
	}{
		{ReplicaReadsServed, 1, 0, 75},
		{ReplicaReadsAsConsumer, 1, 0, 50},
		{ReplicaReadsAsConsumer, 2, notLeaderOrFollower, -1},
		{ReplicaReadsInvalid, 1, invalidRequest, -1},
	}
	for _, tt := range tests {
		c.Break(tt.broker, Faults{ReplicaReads: tt.mode})
		if code, offset := read(tt.broker); code != tt.code || offset != tt.offset {
			t.Errorf("mode %d: broker %d answers error %d, offset %d, want %d, %d", tt.mode, tt.broker, code, offset, tt.code, tt.offset)
		}
	}
	c.Break(1, Faults{ReplicaReads: ReplicaReadsClosed})
	conn := dial(t, c.Addr(1))
	send(t, conn, listRequest(11, -1, latest, 0)) // a consumer's read is served
	receive(t, conn, listRequest(11, -1, latest, 0))
	send(t, conn, listRequest(11, -2, latest, 0))
	wantClosed(t, conn)
}

func TestIntercept(t *testing.T) {
	t.Parallel()
	m := lagging()
	m.APIs = APIs()
	m.APIs[kmsg.DescribeUserSCRAMCredentials] = VersionRange{0, 0}
	c := Start(t, m)
	c.Intercept(func(broker int32, req kmsg.Request) (kmsg.Response, bool) {
		switch req.(type) {
		case *kmsg.DescribeUserSCRAMCredentialsRequest:
			resp := kmsg.NewPtrDescribeUserSCRAMCredentialsResponse() // its version not set
			resp.ErrorCode = int16(broker)
			return resp, true
		case *kmsg.DescribeClusterRequest:
			return nil, true
		}
		return nil, false
	})
	unserved := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
	if got := ask[*kmsg.DescribeUserSCRAMCredentialsResponse](t, c, 2, unserved).ErrorCode; got != 2 {
		t.Errorf("got %d from the hook", got)
	}
	ask[*kmsg.ListOffsetsResponse](t, c, 1, listRequest(11, -2, latest, 0)) // unhandled
	conn := dial(t, c.Addr(1))
	send(t, conn, kmsg.NewPtrDescribeClusterRequest())
	wantClosed(t, conn)

	c.Intercept(nil) // advertised, and nobody there to answer
	conn = dial(t, c.Addr(2))
	send(t, conn, unserved)
	wantClosed(t, conn)
}

func TestRequestsRecorded(t *testing.T) {
	t.Parallel()
	c := Start(t, lagging())
	ask[*kmsg.ListOffsetsResponse](t, c, 2, listRequest(9, -2, latest, 0))
	for _, bytes := range []string{"\x00\x00\x00\x0e\x03\xe7\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00", "\x7f\xff\xff\xff"} {
		conn := dial(t, c.Addr(1))
		if _, err := conn.Write([]byte(bytes)); err != nil {
			t.Fatal(err)
		}
		wantClosed(t, conn)
	}
	got := c.Requests()
	if len(got) != 3 {
		t.Fatalf("got %d requests, want 3", len(got))
	}
	offsets := got[0]
	if body, ok := offsets.Body.(*kmsg.ListOffsetsRequest); !ok || body.ReplicaID != -2 || offsets.Version != 9 || offsets.Broker != 2 || offsets.ClientID != "test" {
		t.Errorf("got %+v", offsets)
	}
	var unknown *wire.KeyError
	if !errors.As(got[1].Err, &unknown) || unknown.Key != 999 || got[1].Body != nil {
		t.Errorf("unknown key: got %+v", got[1])
	}
	var size *wire.SizeError
	if !errors.As(got[2].Err, &size) {
		t.Errorf("size of 2 GiB: got %+v", got[2])
	}
	if got, unknown := c.Count(kmsg.ListOffsets), c.Count(999); got != 1 || unknown != 0 {
		t.Errorf("counted %d, and %d that are no requests", got, unknown)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Await(canceled, kmsg.ListOffsets, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("awaiting one more: got %v", err)
	}
	c.Reset()
	if got := c.Requests(); len(got) != 0 || c.Count(kmsg.ListOffsets) != 0 {
		t.Errorf("after Reset: got %+v", got)
	}
}

// TestCloseEndsAll closes under clients that wait for answers that never come.
func TestCloseEndsAll(t *testing.T) {
	t.Parallel()
	c, err := Listen(lagging())
	if err != nil {
		t.Fatal(err)
	}
	c.Break(1, Faults{Mute: true})
	c.Break(2, Faults{Delay: map[Key]time.Duration{kmsg.ApiVersions: time.Hour}})
	var conns []net.Conn
	for id := int32(1); id <= 3; id++ {
		conn := dial(t, c.Addr(id))
		send(t, conn, apiVersionsRequest(3))
		conns = append(conns, conn)
	}
	receive(t, conns[2], apiVersionsRequest(3))
	c.Close()
	c.Close()
	for _, conn := range conns {
		wantClosed(t, conn)
	}
	for _, addr := range c.Addrs() {
		wantRefused(t, addr)
	}
	if _, err := Listen(&Model{Brokers: []*Broker{{ID: 1}, {ID: 1}}}); err == nil {
		t.Error("two brokers of the same id were started")
	}
}

func TestKafkaOverTLS(t *testing.T) {
	t.Parallel()
	m := lagging()
	config, pool := SelfSigned(t)
	m.TLS = config
	c := Start(t, m)
	conn := tls.Client(dial(t, c.Addr(1)), &tls.Config{RootCAs: pool, ServerName: "localhost"})
	send(t, conn, apiVersionsRequest(3))
	receive(t, conn, apiVersionsRequest(3))
}

func TestBigModel(t *testing.T) {
	t.Parallel()
	m := NewModel(3)
	m.AddTopics("big", 500, 100, 3)
	c := Start(t, m)
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version, req.ReplicaID = 11, -2
	for _, topic := range m.Topics {
		rt := listRequest(11, -2, latest, slices.Collect(func(yield func(int32) bool) {
			for i := range int32(100) {
				if !yield(i) {
					return
				}
			}
		})...).Topics[0]
		rt.Topic = topic.Name
		req.Topics = append(req.Topics, rt)
	}
	resp := ask[*kmsg.ListOffsetsResponse](t, c, 2, req)
	n := 0
	for _, rt := range resp.Topics {
		for _, p := range rt.Partitions {
			if p.ErrorCode == 0 && p.Offset == 0 {
				n++
			}
		}
	}
	if diff := cmp.Diff(50_000, n); diff != "" {
		t.Errorf("partitions answered: want -, got +:\n%s", diff)
	}
}

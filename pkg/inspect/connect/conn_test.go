package connect

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// ample is more than anything here takes; what waits for it has failed.
	ample = time.Minute
	// brief is how long a test waits for what does not come, where all before that comes
	// in less. Messages tell how long it was, by the clock.
	brief = time.Second
)

// within is a context that ends after d.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func open(t *testing.T, addr string) *Conn {
	t.Helper()
	c, err := (&Config{}).Open(within(t, ample), addr)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// metadata asks about all topics.
func metadata(ctx context.Context, c *Conn) (*sarama.MetadataResponse, error) {
	return Ask(ctx, c, "Metadata", func(b *sarama.Broker) (*sarama.MetadataResponse, error) {
		return b.GetMetadata(&sarama.MetadataRequest{Version: 10})
	})
}

// errorOf is the *Error that every failure has to be.
func errorOf(t *testing.T, err error) *Error {
	t.Helper()
	var ce *Error
	if !errors.As(err, &ce) {
		t.Fatalf("got error %v of type %T, want an *Error", err, err)
	}
	return ce
}

// wantError checks where an error happened, and its words.
func wantError(t *testing.T, err error, addr string, phase inspect.Phase, request, cause string) {
	t.Helper()
	ce := errorOf(t, err)
	if ce.Address != addr || ce.Phase != phase || ce.Request != request || !strings.Contains(ce.Cause, cause) {
		t.Errorf("got %+v; want %s, phase %s, request %q, cause %q", ce, addr, phase, request, cause)
	}
}

// peer listens and lets handle answer each connection.
func peer(handle func(net.Conn)) func(testing.TB) string {
	return func(tb testing.TB) string {
		tb.Helper()
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			handle(conn)
			_, _ = io.Copy(io.Discard, conn)
		})
		tb.Cleanup(func() {
			_ = ln.Close()
			wg.Wait()
		})
		return ln.Addr().String()
	}
}

// says answers with a text, whatever it is asked.
func says(text string) func(testing.TB) string {
	return peer(func(c net.Conn) { _, _ = io.WriteString(c, text) })
}

// TestOpenFails in each phase, in time, and says where and why.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		addr    func(testing.TB) string
		phase   inspect.Phase
		request string
		cause   string
		is      string // what the error reports itself as
	}{
		"closed port":       {fakekafka.ClosedPort, inspect.PhaseDial, "", "connection refused", ""},
		"silent":            {fakekafka.SilentPort, inspect.PhaseRequest, "ApiVersions", "no reply to ApiVersions within ", "timeout"},
		"speaks TLS, waits": {fakekafka.TLSPort, inspect.PhaseRequest, "ApiVersions", "as a TLS or SASL listener does", "closed"},
		"TLS alert":         {says("\x15\x03\x03\x00\x02\x02\x46"), inspect.PhaseRequest, "ApiVersions", "the port speaks TLS", ""},
		"HTTP":              {fakekafka.HTTPPort, inspect.PhaseRequest, "ApiVersions", "not Kafka's protocol", ""},
		"SSH":               {says("SSH-2.0-OpenSSH\r\n"), inspect.PhaseRequest, "ApiVersions", `begins with "SSH-2.0-"`, ""},
		"closes":            {fakekafka.ClosingPort, inspect.PhaseRequest, "ApiVersions", "closed the connection", "closed"},
		"closes half":       {fakekafka.HalfClosedPort, inspect.PhaseRequest, "ApiVersions", "closed the connection", "closed"},
		"half a frame":      {says("\x00\x00\x00\x10\x00\x00"), inspect.PhaseRequest, "ApiVersions", "no reply to ApiVersions within ", "timeout"},
		"another's answer":  {says("\x00\x00\x00\x08\x7f\xff\xff\xff\x00\x00\x00\x00"), inspect.PhaseRequest, "ApiVersions", "ApiVersions: ", ""},
		"no port":           {func(testing.TB) string { return "127.0.0.1" }, inspect.PhaseDial, "", "missing port", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := tt.addr(t)
			began := time.Now()
			wait := ample
			if tt.is == "timeout" {
				wait = brief
			}
			c, err := (&Config{}).Open(within(t, wait), addr)
			if c != nil {
				t.Error("got a connection")
			}
			wantError(t, err, addr, tt.phase, tt.request, tt.cause)
			ce := errorOf(t, err)
			if got := map[string]bool{"timeout": ce.Timeout(), "closed": ce.Closed()}; got["timeout"] != (tt.is == "timeout") || got["closed"] != (tt.is == "closed") {
				t.Errorf("got %v of %v, want %q", got, err, tt.is)
			}
			if took := time.Since(began); took > ample/4 {
				t.Errorf("took %s", took)
			}
		})
	}
}

// TestOpenWithoutTime: a context that has ended, in either way.
func TestOpenWithoutTime(t *testing.T) {
	t.Parallel()
	addr := fakekafka.SilentPort(t)
	_, err := (&Config{}).Open(within(t, 0), addr)
	wantError(t, err, addr, inspect.PhaseDial, "", "no connection within ")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = (&Config{}).Open(ctx, addr)
	wantError(t, err, addr, inspect.PhaseDial, "", "interrupted")

	// Interrupted while it waits for an answer.
	c := fakekafka.Start(t, fakekafka.NewModel(1))
	c.Break(1, fakekafka.Faults{Mute: true})
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	go func() {
		if err := c.Await(ctx, kmsg.ApiVersions, 1); err == nil {
			cancel()
		}
	}()
	_, err = (&Config{}).Open(ctx, c.Addr(1))
	wantError(t, err, c.Addr(1), inspect.PhaseRequest, "ApiVersions", "interrupted")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled beneath", err)
	}
}

// TestVersionNegotiation: KIP-511's answer to a version that the broker does not
// know, and brokers of before.
func TestVersionNegotiation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		newest   int16
		asked    []int16
		features bool
	}{
		{"Kafka 4", 4, []int16{4}, true},
		{"Kafka 3", 3, []int16{4, 3}, true},
		{"Kafka 2.3", 2, []int16{4, 2}, false},
		{"Kafka 0.10", 0, []int16{4, 0}, false},
		{"Kafka of the future", 9, []int16{4}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := fakekafka.NewModel(1)
			m.APIs = fakekafka.APIs(kmsg.DescribeTopicPartitions)
			m.APIs[kmsg.ApiVersions] = fakekafka.VersionRange{Max: tt.newest}
			m.APIs[kmsg.Metadata] = fakekafka.VersionRange{Min: 2, Max: 10}
			cluster := fakekafka.Start(t, m)
			c := open(t, cluster.Addr(1))
			var asked []int16
			for _, r := range cluster.Requests() {
				asked = append(asked, r.Version)
				if r.ClientID != ClientID || r.Key != kmsg.ApiVersions {
					t.Errorf("got %s as client %q, want ApiVersions as %q", r.Key.Name(), r.ClientID, ClientID)
				}
				if body, ok := r.Body.(*kmsg.ApiVersionsRequest); ok && r.Version >= 3 && body.ClientSoftwareName != softwareName {
					t.Errorf("got software %q, want %q", body.ClientSoftwareName, softwareName)
				}
			}
			if len(asked) != len(tt.asked) || asked[len(asked)-1] != tt.asked[len(asked)-1] {
				t.Errorf("got ApiVersions of versions %v, want %v", asked, tt.asked)
			}
			for _, v := range []struct {
				key, newest int16
				want        int16
				ok          bool
			}{
				{int16(kmsg.Metadata), 99, 10, true},
				{int16(kmsg.Metadata), 10, 10, true},
				{int16(kmsg.Metadata), 4, 4, true},
				{int16(kmsg.Metadata), 2, 2, true},
				{int16(kmsg.Metadata), 1, 0, false},
				{int16(kmsg.DescribeTopicPartitions), 0, 0, false},
				{-1, 99, 0, false},
			} {
				if got, ok := c.Version(v.key, v.newest); got != v.want || ok != v.ok {
					t.Errorf("Version(%d, %d) = %d, %v; want %d, %v", v.key, v.newest, got, ok, v.want, v.ok)
				}
			}
			if level, ok := c.Feature("metadata.version"); ok != tt.features || (level > 0) != tt.features {
				t.Errorf("Feature = %d, %v; want known %v", level, ok, tt.features)
			}
			if level, ok := c.Feature("no.such.feature"); level != 0 || ok != tt.features {
				t.Errorf("Feature that is off = %d, %v; want 0, %v", level, ok, tt.features)
			}
			if c.Addr() != cluster.Addr(1) || len(c.APIVersions().ApiKeys) != len(m.APIs) {
				t.Errorf("got address %s, %d APIs; want %s, %d", c.Addr(), len(c.APIVersions().ApiKeys), cluster.Addr(1), len(m.APIs))
			}
			if _, err := metadata(within(t, ample), c); err != nil {
				t.Errorf("then Metadata: %v", err)
			}
		})
	}
}

// TestVersionNegotiationFails: it ends, whatever the broker answers.
func TestVersionNegotiationFails(t *testing.T) {
	t.Parallel()
	const unsupportedVersion, invalidRequest = 35, 42
	for name, tt := range map[string]struct {
		code  int16
		keys  []kmsg.ApiVersionsResponseApiKey
		cause string
		asked []int16 // the versions
	}{
		"never content":            {unsupportedVersion, nil, "version of API is not supported", []int16{4, 0}},
		"never content, says 9":    {unsupportedVersion, []kmsg.ApiVersionsResponseApiKey{{ApiKey: 18, MaxVersion: 9}}, "version of API is not supported", []int16{4, 3, 2, 1, 0}},
		"never content, says -1":   {unsupportedVersion, []kmsg.ApiVersionsResponseApiKey{{ApiKey: 18, MaxVersion: -1}}, "version of API is not supported", []int16{4, 0}},
		"names other APIs, not 18": {unsupportedVersion, []kmsg.ApiVersionsResponseApiKey{{ApiKey: 3, MaxVersion: 13}}, "version of API is not supported", []int16{4, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []int16
			done := make(chan struct{})
			addr := peer(func(conn net.Conn) {
				defer close(done)
				for {
					version, correlation, err := readHeader(conn)
					if err != nil {
						return
					}
					asked = append(asked, version)
					resp := kmsg.NewPtrApiVersionsResponse() // of version 0, as KIP-511 has it
					resp.ErrorCode, resp.ApiKeys = tt.code, tt.keys
					body := resp.AppendTo(binary.BigEndian.AppendUint32(nil, correlation))
					_, _ = conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
				}
			})(t)
			_, err := (&Config{}).Open(within(t, ample), addr)
			wantError(t, err, addr, inspect.PhaseRequest, "ApiVersions", tt.cause)
			<-done
			if diff := cmp.Diff(asked, tt.asked); diff != "" {
				t.Errorf("versions asked: -got +want:\n%s", diff)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		c := fakekafka.Start(t, fakekafka.NewModel(1))
		c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
			resp := req.ResponseKind().(*kmsg.ApiVersionsResponse)
			resp.ErrorCode = invalidRequest
			return resp, true
		})
		_, err := (&Config{}).Open(within(t, ample), c.Addr(1))
		wantError(t, err, c.Addr(1), inspect.PhaseRequest, "ApiVersions", "ApiVersions: ")
		if n := c.Count(kmsg.ApiVersions); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
	})
}

// readHeader reads a request and returns its version and correlation id.
func readHeader(conn net.Conn) (version int16, correlation uint32, err error) {
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return 0, 0, err
	}
	body := make([]byte, min(binary.BigEndian.Uint32(size[:]), 1<<16))
	if _, err := io.ReadFull(conn, body); err != nil {
		return 0, 0, err
	}
	return int16(binary.BigEndian.Uint16(body[2:])), binary.BigEndian.Uint32(body[4:]), nil
}

// TestAskIsBounded by its context, whatever keeps the answer away, and the
// connection fails from then on, at once.
func TestAskIsBounded(t *testing.T) {
	t.Parallel()
	throttled := func(c *fakekafka.Cluster, conn *Conn) {
		// KIP-219: the broker answers and the client is to wait before it asks again.
		c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
			resp := req.ResponseKind().(*kmsg.MetadataResponse)
			resp.ThrottleMillis = int32(time.Hour.Milliseconds())
			return resp, true
		})
		if _, err := metadata(within(t, ample), conn); err != nil {
			t.Errorf("the answer that throttles: %v", err)
		}
	}
	for name, spoil := range map[string]func(*fakekafka.Cluster, *Conn){
		"mute": func(c *fakekafka.Cluster, _ *Conn) { c.Break(1, fakekafka.Faults{Mute: true}) },
		"slow": func(c *fakekafka.Cluster, _ *Conn) {
			c.Break(1, fakekafka.Faults{Delay: map[kmsg.Key]time.Duration{kmsg.Metadata: time.Hour}})
		},
		"throttled": throttled,
	} {
		for how, ctx := range map[string]func() (context.Context, context.CancelFunc){
			"deadline": func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), brief) },
			"interrupted": func() (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(brief, cancel)
				return ctx, cancel
			},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				c := fakekafka.Start(t, fakekafka.NewModel(1))
				conn := open(t, c.Addr(1))
				spoil(c, conn)
				cause := map[string]string{"deadline": "no reply to Metadata within ", "interrupted": "interrupted"}[how]
				bounded, cancel := ctx()
				defer cancel()
				began := time.Now()
				_, err := metadata(bounded, conn)
				wantError(t, err, c.Addr(1), inspect.PhaseRequest, "Metadata", cause)
				if ce := errorOf(t, err); ce.Timeout() != (how == "deadline") || ce.Closed() {
					t.Errorf("got timeout %v, closed %v", ce.Timeout(), ce.Closed())
				}
				if took := time.Since(began); took < brief || took > ample/4 {
					t.Errorf("took %s with %s allowed", took, brief)
				}
				conn.Close() // does not wait for the call that was left behind
				if took := time.Since(began); took > ample/4 {
					t.Errorf("closing took %s", took)
				}
			})
		}
	}
}

// TestAskAfterAFailure fails at once: what comes late must not pass for the
// answer to the next question.
func TestAskAfterAFailure(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakekafka.Faults{
		"timeout": {Delay: map[kmsg.Key]time.Duration{kmsg.Metadata: 2 * brief}},
		"closed":  {CloseOn: []kmsg.Key{kmsg.Metadata}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := fakekafka.Start(t, fakekafka.NewModel(1))
			conn := open(t, c.Addr(1))
			c.Break(1, fault)
			_, err := metadata(within(t, brief), conn)
			if err == nil {
				t.Fatal("got an answer, want a failure")
			}
			c.Heal(1)
			for range 3 {
				began := time.Now()
				resp, err := metadata(within(t, ample), conn)
				if err == nil {
					t.Fatalf("got %+v on a connection that had failed", resp)
				}
				wantError(t, err, c.Addr(1), inspect.PhaseRequest, "Metadata", "")
				if took := time.Since(began); took > ample/4 {
					t.Errorf("took %s", took)
				}
			}
			// Another connection works.
			if _, err := metadata(within(t, ample), open(t, c.Addr(1))); err != nil {
				t.Errorf("another connection: %v", err)
			}
		})
	}
}

// TestAskAgainAndAgain: a connection serves one call after the other, each with a
// limit of its own, long after the one before has ended.
func TestAskAgainAndAgain(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(1)
	m.AddTopic("t", 1, 1)
	c := fakekafka.Start(t, m)
	conn := open(t, c.Addr(1))
	short := within(t, 2*brief)
	if _, err := metadata(short, conn); err != nil {
		t.Fatal(err)
	}
	<-short.Done()
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), ample)
		resp, err := metadata(ctx, conn)
		cancel() // the next call must not be ended by it
		if err != nil || len(resp.Topics) != 1 {
			t.Fatalf("got %+v, %v; want a topic", resp, err)
		}
	}
	if _, err := metadata(t.Context(), conn); err != nil {
		t.Errorf("without a deadline: %v", err)
	}
	if n := c.Count(kmsg.Metadata); n != 5 {
		t.Errorf("the broker was asked %d times, want 5", n)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, fakekafka.NewModel(1))
	conn := open(t, c.Addr(1))
	conn.Close()
	conn.Close()
	_, err := metadata(within(t, ample), conn)
	wantError(t, err, c.Addr(1), inspect.PhaseRequest, "Metadata", "")
}

// TestKgo: the other client asks once, as us, and its errors become ours.
func TestKgo(t *testing.T) {
	t.Parallel()
	ask := func(ctx context.Context, addr string) error {
		client, err := (&Config{}).Kgo(addr)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		began := time.Now()
		if _, err := kmsg.NewPtrDescribeClusterRequest().RequestWith(ctx, seed(t, client)); err != nil {
			return Wrap(addr, "DescribeCluster", err, time.Since(began))
		}
		return nil
	}
	c := fakekafka.Start(t, fakekafka.NewModel(1))
	if err := ask(within(t, ample), c.Addr(1)); err != nil {
		t.Errorf("got %v, want an answer", err)
	}
	for _, r := range c.Requests() {
		if r.ClientID != ClientID || r.Key != kmsg.ApiVersions && r.Key != kmsg.DescribeCluster {
			t.Errorf("got %s as client %q, want ApiVersions and DescribeCluster as %q", r.Key.Name(), r.ClientID, ClientID)
		}
	}
	c.Break(1, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.DescribeCluster}})
	wantError(t, ask(within(t, brief), c.Addr(1)), c.Addr(1), inspect.PhaseRequest, "DescribeCluster", "no reply to DescribeCluster within ")
	before := c.Count(kmsg.DescribeCluster)
	c.Break(1, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.DescribeCluster}})
	wantError(t, ask(within(t, ample), c.Addr(1)), c.Addr(1), inspect.PhaseRequest, "DescribeCluster", "closed the connection on DescribeCluster")
	if n := c.Count(kmsg.DescribeCluster) - before; n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
	closed := fakekafka.ClosedPort(t)
	wantError(t, ask(within(t, ample), closed), closed, inspect.PhaseDial, "DescribeCluster", "connection refused")
}

// seed is the client's only broker.
func seed(t *testing.T, client *kgo.Client) *kgo.Broker {
	t.Helper()
	seeds := client.SeedBrokers()
	if len(seeds) != 1 {
		t.Fatalf("got %d seed brokers, want 1", len(seeds))
	}
	return seeds[0]
}

// TestBroken: after a call that was not answered a connection says what it broke
// on, and sends nothing more.
func TestBroken(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, fakekafka.NewModel(1))
	conn := open(t, c.Addr(1))
	describe := func(ctx context.Context) error {
		_, err := Ask(ctx, conn, "DescribeCluster", func(b *sarama.Broker) (*sarama.DescribeClusterResponse, error) {
			return b.DescribeCluster(&sarama.DescribeClusterRequest{EndpointType: 1})
		})
		return err
	}
	if err := describe(within(t, ample)); err != nil || conn.Broken() {
		t.Fatalf("got %v, broken %t; want an answer on a connection that works", err, conn.Broken())
	}
	c.Break(1, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.DescribeCluster}})
	wantError(t, describe(within(t, brief)), c.Addr(1), inspect.PhaseRequest, "DescribeCluster", "no reply to DescribeCluster within ")
	c.Heal(1)
	before := c.Count(kmsg.DescribeCluster)
	wantError(t, describe(within(t, ample)), c.Addr(1), inspect.PhaseRequest, "DescribeCluster",
		"DescribeCluster was not sent: the connection had broken on DescribeCluster")
	if !conn.Broken() || c.Count(kmsg.DescribeCluster) != before {
		t.Errorf("broken %t, %d requests more; want true and none", conn.Broken(), c.Count(kmsg.DescribeCluster)-before)
	}
}

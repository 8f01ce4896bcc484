package connect_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// askMetadata opens a connection, or takes one, asks and gives it back.
func askMetadata(t *testing.T, conf *connect.Config, addr string) error {
	t.Helper()
	conn, err := conf.Open(t.Context(), addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = connect.Ask(t.Context(), conn, "Metadata", func(b *sarama.Broker) (*sarama.MetadataResponse, error) {
		return b.GetMetadata(&sarama.MetadataRequest{Version: 5})
	})
	if err == nil && !conn.Answered() {
		t.Error("it has answered, and is said not to have")
	}
	return err
}

// TestPool: one connection serves all, and is replaced where the broker closed it.
func TestPool(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, fakekafka.NewModel(1))
	pool := &connect.Pool{}
	defer pool.Close()
	conf := &connect.Config{Pool: pool}
	for i := range 4 {
		if i == 2 { // restarted while nobody looked
			c.Break(1, fakekafka.Faults{Refuse: true})
			c.Heal(1)
		}
		if err := askMetadata(t, conf, c.Addr(1)); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	if n := c.Count(kmsg.ApiVersions); n != 2 {
		t.Errorf("%d connections were opened, want 2", n)
	}
	got := pool.Requests()
	// The one that went into the closed connection was sent too.
	if got["ApiVersions"] != 2 || got["Metadata"] < 4 || got["Metadata"] > 5 {
		t.Errorf("counted %v", got)
	}
}

// TestPoolIsNoSecondChance: an error that is the broker's is told, and a connection
// that broke is not kept.
func TestPoolIsNoSecondChance(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, fakekafka.NewModel(1))
	pool := &connect.Pool{}
	defer pool.Close()
	conf := &connect.Config{Pool: pool}
	if err := askMetadata(t, conf, c.Addr(1)); err != nil {
		t.Fatal(err)
	}
	c.Break(1, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.Metadata}})
	var ce *connect.Error
	if err := askMetadata(t, conf, c.Addr(1)); !errors.As(err, &ce) || !ce.Closed() {
		t.Errorf("got %v, want that the connection was closed", err)
	}
	if n := c.Count(kmsg.Metadata); n != 3 { // over the kept one, and once over another
		t.Errorf("%d Metadata were sent, want 3", n)
	}
	c.Heal(1)
	if err := askMetadata(t, conf, c.Addr(1)); err != nil {
		t.Error(err)
	}
}

// TestClosedTwice gives it back once.
func TestClosedTwice(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, fakekafka.NewModel(1))
	pool := &connect.Pool{}
	defer pool.Close()
	conf := &connect.Config{Pool: pool}
	conn, err := conf.Open(t.Context(), c.Addr(1))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	again, err := conf.Open(t.Context(), c.Addr(1))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	conn.Close() // whoever closed it before has nothing to do with it any more
	other, err := conf.Open(t.Context(), c.Addr(1))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if n := c.Count(kmsg.ApiVersions); n != 2 {
		t.Errorf("%d connections were opened for two users, want 2", n)
	}
}

// askQuorum is askMetadata over a raw connection.
func askQuorum(t *testing.T, conf *connect.Config, addr string) error {
	t.Helper()
	raw, err := conf.OpenRaw(addr)
	if err != nil {
		return err
	}
	defer raw.Close()
	_, err = connect.AskRaw[*kmsg.DescribeQuorumResponse](t.Context(), raw, kmsg.NewPtrDescribeQuorumRequest())
	return err
}

// TestPoolOfRaw: as TestPool and TestPoolIsNoSecondChance.
func TestPoolOfRaw(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, fakekafka.NewModel(1))
	pool := &connect.Pool{}
	defer pool.Close()
	conf := &connect.Config{Pool: pool}
	for i := range 3 {
		if err := askQuorum(t, conf, c.Addr(1)); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	opening := c.Count(kmsg.ApiVersions)
	if opening > 2 || pool.Requests()["DescribeQuorum"] != 3 {
		t.Errorf("sent %d ApiVersions, counted %v; want one connection for 3 requests", opening, pool.Requests())
	}
	c.Break(1, fakekafka.Faults{Refuse: true}) // restarted while nobody looked
	c.Heal(1)
	if err := askQuorum(t, conf, c.Addr(1)); err != nil {
		t.Error(err)
	}
	if n := c.Count(kmsg.ApiVersions); n != 2*opening {
		t.Errorf("sent %d ApiVersions, want one connection more", n)
	}
	before := c.Count(kmsg.DescribeQuorum)
	c.Break(1, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.DescribeQuorum}})
	var ce *connect.Error
	if err := askQuorum(t, conf, c.Addr(1)); !errors.As(err, &ce) || !ce.Closed() {
		t.Errorf("got %v, want that the connection was closed", err)
	}
	if n := c.Count(kmsg.DescribeQuorum) - before; n != 2 { // over the kept one, and once over another
		t.Errorf("%d were sent, want 2", n)
	}
	c.Heal(1)
	if err := askQuorum(t, conf, c.Addr(1)); err != nil {
		t.Error(err)
	}
}

// read reads client.properties.
func read(t *testing.T, properties string) *connect.Security {
	t.Helper()
	path := filepath.Join(t.TempDir(), "client.properties")
	if err := os.WriteFile(path, []byte(properties), 0o600); err != nil {
		t.Fatal(err)
	}
	security, err := connect.ReadProperties(path)
	if err != nil {
		t.Fatal(err)
	}
	return security
}

// TestPoolBySecurity: a connection serves nobody who logs in otherwise.
func TestPoolBySecurity(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, fakekafka.NewModel(1))
	pool := &connect.Pool{}
	defer pool.Close()
	for _, security := range []*connect.Security{nil, read(t, "security.protocol=PLAINTEXT\n"), nil} {
		if err := askMetadata(t, &connect.Config{Pool: pool, Security: security}, c.Addr(1)); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.Count(kmsg.ApiVersions); n != 2 {
		t.Errorf("%d connections were opened, want 2", n)
	}
}

// TestPoolOfSessions: a connection whose login is about to end (KIP-368) is not used
// again.
func TestPoolOfSessions(t *testing.T) {
	t.Parallel()
	c, logins := fakekafka.StartSASL(t, fakekafka.NewModel(1), "PLAIN")
	security := read(t, "security.protocol=SASL_PLAINTEXT\n"+plainLogin)
	for _, tt := range []struct {
		session time.Duration
		want    int
	}{{0, 1}, {time.Hour, 1}, {5 * time.Millisecond, 2}} {
		pool := &connect.Pool{}
		conf := &connect.Config{Pool: pool, Security: security}
		logins.Last(tt.session)
		for name, ask := range map[string]func(*testing.T, *connect.Config, string) error{"sarama": askMetadata, "raw": askQuorum} {
			before := len(logins.Messages())
			for range 2 {
				if err := ask(t, conf, c.Addr(1)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(tt.session % time.Second)
			}
			if n := len(logins.Messages()) - before; n != tt.want {
				t.Errorf("%s, a login for %s: %d logins for 2 requests, want %d", name, tt.session, n, tt.want)
			}
		}
		pool.Close()
	}
}

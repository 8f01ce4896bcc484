package connect_test

import (
	"errors"
	"testing"

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

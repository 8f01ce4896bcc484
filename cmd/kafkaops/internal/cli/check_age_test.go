package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/admin"
	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// TestUncommittedAge: a producer with acks=all waits for a disk that stands still, and so
// one record is all that piles up. Only its age tells.
func TestUncommittedAge(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{Config: map[string]string{"replica.lag.time.max.ms": "3600000"}})
	conn := connect.Config{Bootstrap: strings.Split(c.Bootstrap(), ",")}
	client, err := admin.Open(conn)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.CreateTopic(t.Context(), admin.Topic{Name: "orders", Partitions: -1, ReplicationFactor: -1, Assignment: [][]inspect.BrokerID{{1, 2, 3}}}); err != nil {
		t.Fatal(err)
	}
	p, err := load.StartProducer(conn, load.Options{Topic: "orders", Acks: load.AcksAll, InFlight: 1, Timeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop(t.Context())
	for p.Stats().Acknowledged == 0 {
		time.Sleep(time.Millisecond)
	}
	check := func(line string) ran {
		return place{}.run(t.Context(), argsOf(line, c.Broker(1).Address())...).unhurried()
	}
	if r := check("check health --max-uncommitted-age 3s"); r.code != exitOK {
		t.Errorf("before: got %+v, want ok", r)
	}
	c.Broker(3).SlowDisk(time.Hour)
	defer c.Broker(3).HealDisk() // before the producer is stopped: it waits for the answer
	const line = "check health --max-uncommitted 1 --max-uncommitted-age 100ms"
	r := check(line)
	for until := time.Now().Add(patience); r.code == exitOK && time.Now().Before(until); r = check(line) {
		time.Sleep(time.Millisecond) // until the last record that was on its way before is acknowledged
	}
	if r.code != exitUnhealthy || !strings.HasSuffix(r.stdout, ": a record has waited for its commit for at least 100ms (orders-0)\n") {
		t.Errorf("got %+v, want a record that waits, and no number above its limit", r)
	}
	if r := check("describe --exit-code"); r.code != exitOK {
		t.Errorf("describe: got %+v; want ok: it looks once", r)
	}
}

package embedded_test

import (
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
)

// TestPowerLoss: with one replica and flush.messages=1 what was acknowledged is on the
// disk, and so is what the controller has decided.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir()} {
		t.Run(map[bool]string{true: "memory", false: "directory"}[dir == ""], func(t *testing.T) {
			t.Parallel()
			c := embeddedtest.New(t, embedded.Options{Brokers: 1, Dir: dir, Config: map[string]string{
				"broker.session.timeout.ms": "500", "broker.heartbeat.interval.ms": "100",
			}})
			cl := client(t, c)
			create(t, cl, "orders", 3, 1, "flush.messages", "1", "internal.segment.bytes", "20000")
			w := startWorkload(t, cl, "orders")
			for range 4 {
				w.goOn(300)
				if err := c.Broker(1).PowerLoss(); err != nil {
					t.Fatal(err)
				}
				if err := c.Controller().PowerLoss(); err != nil {
					t.Fatal(err)
				}
				if err := c.Heal(within(t)); err != nil {
					t.Fatal(err)
				}
			}
			w.end(c)
		})
	}
}

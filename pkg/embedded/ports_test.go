package embedded

import (
	"errors"
	"testing"
)

// TestPortOfADeadBroker: no other cluster of this process gets it until its own ends. Not
// parallel: another one may well take it then.
func TestPortOfADeadBroker(t *testing.T) {
	c, err := Start(t.Context(), Options{Brokers: 1, Config: map[string]string{
		"broker.session.timeout.ms": "500", "broker.heartbeat.interval.ms": "100",
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b := c.Broker(1)
	b.Kill()
	if ln, err := holding(c.host, b.port, true); !errors.Is(err, errHeld) {
		if err == nil {
			ln.Close()
		}
		t.Errorf("got %v while the broker is down, want %v", err, errHeld)
	}
	if err := b.Restart(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if !held.take(b.port, true) {
		t.Error("the port is held when its cluster has ended")
	}
	held.release(b.port)
}

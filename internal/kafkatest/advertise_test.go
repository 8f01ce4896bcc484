package kafkatest

import "testing"

// TestAdvertise: a broker advertises what it is told for the listeners that are more, and
// for the others where it listens.
func TestAdvertise(t *testing.T) {
	t.Parallel()
	o := Options{Listeners: map[string]string{"REPLICATION": "PLAINTEXT"}}
	advertised := func() (all, plain, replication string) {
		c := &Cluster{opts: o.withDefaults()}
		if err := c.plan(); err != nil {
			t.Fatal(err)
		}
		return c.config(c.node(1))["advertised.listeners"], c.BrokerAddr(1), c.ListenerAddr(1, "REPLICATION")
	}
	if got, plain, replication := advertised(); got != "PLAINTEXT://"+plain+",REPLICATION://"+replication {
		t.Errorf("by default %s", got)
	}
	var before string
	o.Advertise = func(id int32, listener, addr string) string {
		if id != 1 || listener != "REPLICATION" {
			t.Errorf("asked for %s of broker %d", listener, id)
		}
		before = addr
		return "proxy:1"
	}
	if got, plain, replication := advertised(); got != "PLAINTEXT://"+plain+",REPLICATION://proxy:1" || before != replication {
		t.Errorf("through a proxy before %s: %s", before, got)
	}
}

package fakekafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestServesWhenAllListen: any process may find the first broker's port while the
// others still look for theirs, and that broker tells of all of them.
func TestServesWhenAllListen(t *testing.T) {
	t.Parallel()
	m := NewModel(2)
	c := &Cluster{model: m, index: newIndex(m), done: make(chan struct{})}
	t.Cleanup(c.Close)
	first := newServer(c, m.Brokers[0], nil)
	c.servers = append(c.servers, first)
	if err := first.bind(); err != nil {
		t.Fatal(err)
	}
	conn := dial(t, first.addr)
	req := kmsg.NewPtrMetadataRequest()
	req.SetVersion(9)
	send(t, conn, req) // waits in the listener's queue
	second := newServer(c, m.Brokers[1], nil)
	c.servers = append(c.servers, second)
	if err := second.bind(); err != nil {
		t.Fatal(err)
	}
	first.start()
	second.start()
	resp := receive(t, conn, req).(*kmsg.MetadataResponse)
	for i, b := range resp.Brokers {
		if want := m.Brokers[i].port; b.Port != want || want == 0 {
			t.Errorf("broker %d is said to be at port %d, want %d", b.NodeID, b.Port, want)
		}
	}
}

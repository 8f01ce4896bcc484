package node

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// TestUnknownConfigs: what nobody would obey is not taken.
func TestUnknownConfigs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, key, value string
		ok               bool
	}{
		{"broker's", "replica.lag.time.max.ms", "6000", true},
		{"topic's default", "log.segment.bytes", "1048576", true},
		{"unknown", "replica.lag.time", "6000", false},
		{"a topic's name", "segment.bytes", "1048576", false},
		{"no number", "replica.lag.time.max.ms", "6s", false},
		{"too large a number", "message.max.bytes", "3000000000", false},
		{"selector", "replica.selector.class", "com.example.Mine", false},
		{"codec", "compression.type", "brotli", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := newBrokerConfig(map[string]string{tt.key: tt.value})
			if (err == nil) != tt.ok {
				t.Errorf("%s=%s: got error %v", tt.key, tt.value, err)
			}
		})
	}
}

// TestNotServed: a request that is not served ends the connection, whatever it is.
func TestNotServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	w.start(1)
	if !w.run(5000, w.unfenced) {
		t.Fatal("not unfenced")
	}
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		for _, version := range []int16{-1, 0, 1, 100} {
			req := kmsg.RequestForKey(key)
			if req == nil {
				continue
			}
			req.SetVersion(version)
			if key == int16(kmsg.ApiVersions) || (wire.APIs{}).Serves(wire.Broker, key, version) {
				continue
			}
			c := w.ask(w.hosts[1], req, func(kmsg.Response) {})
			if !c.closed {
				t.Errorf("%T v%d: the connection goes on", req, version)
			}
		}
	}
}

// TestFetcherRests: a leader that does not answer is asked every
// replica.fetch.backoff.ms, not more.
func TestFetcherRests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	w.start(1)
	w.start(2)
	if !w.run(5000, w.unfenced) {
		t.Fatal("not unfenced")
	}
	decide(w.ctl, w.nowMs, controller.CreateTopics{Topics: []controller.NewTopic{{
		Name: "orders", NumPartitions: -1, ReplicationFactor: -1, Assignments: map[int32][]int32{0: {1, 2}},
	}}})
	w.ctl.tick(w.nowMs)
	w.run(1000, nil)
	link := [2]machine.Peer{2, 1}
	w.cut[link] = true
	w.run(600, nil)
	before := w.asked[link]
	w.run(5000, nil)
	if n := w.asked[link] - before; n < 4 || n > 6 {
		t.Errorf("%d fetches in 5 s, want about 5", n)
	}
}

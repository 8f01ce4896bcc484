package node

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
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
			if served(req) {
				continue
			}
			c := w.ask(w.hosts[1], req, func(kmsg.Response) {})
			if !c.closed {
				t.Errorf("%T v%d: the connection goes on", req, version)
			}
		}
	}
}

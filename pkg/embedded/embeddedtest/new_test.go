package embeddedtest_test

import (
	"net"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
)

func TestNew(t *testing.T) {
	t.Parallel()
	var address string
	t.Run("a test", func(t *testing.T) {
		c := embeddedtest.New(t, embedded.Options{Brokers: 1, Config: map[string]string{"num.partitions": "3"}})
		address = c.Broker(1).Address()
		nc, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = nc.Close()
	})
	if nc, err := net.Dial("tcp", address); err == nil {
		_ = nc.Close()
		t.Error("the cluster outlives its test")
	}
}

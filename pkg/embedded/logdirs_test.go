package embedded_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
)

// TestDiskSize: a broker tells how large its disk is and what is free of it (KIP-827);
// one in memory, whose disk has no end, does not.
func TestDiskSize(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir()} {
		c := embeddedtest.New(t, embedded.Options{Brokers: 1, Dir: dir})
		resp, err := kmsg.NewPtrDescribeLogDirsRequest().RequestWith(within(t), client(t, c).SeedBrokers()[0])
		if err != nil || len(resp.Dirs) != 1 {
			t.Fatalf("got %+v, %v", resp, err)
		}
		total, usable := resp.Dirs[0].TotalBytes, resp.Dirs[0].UsableBytes
		if known := total > 0 && usable >= 0 && usable <= total; known == (dir == "") || dir == "" && (total != -1 || usable != -1) {
			t.Errorf("directory %q: %d bytes, %d of them usable", dir, total, usable)
		}
	}
}

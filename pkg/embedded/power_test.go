package embedded_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

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

// TestPowerLossAfterClose: the directory of a closed cluster is whoever's opens it next. A
// handle that somebody has kept cuts nothing off there.
func TestPowerLossAfterClose(t *testing.T) {
	t.Parallel()
	o := embedded.Options{Brokers: 1, Dir: t.TempDir()}
	closed := embeddedtest.New(t, o)
	cl := client(t, closed)
	create(t, cl, "orders", 1, 1)
	// Not synced: what the power's failure would cut off.
	produce := func(cl *kgo.Client) {
		for range 20 {
			if err := cl.ProduceSync(within(t), &kgo.Record{Topic: "orders", Value: make([]byte, 100)}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	produce(cl)
	closed.Broker(1).Kill()
	closed.Controller().Kill()
	cl.Close()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	next := embeddedtest.New(t, o)
	produce(client(t, next))
	before := filesBelow(t, o.Dir)
	for name, f := range map[string]func() error{"broker": closed.Broker(1).PowerLoss, "controller": closed.Controller().PowerLoss} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "the cluster is closed") {
			t.Errorf("%s: got %v, want it refused", name, err)
		}
	}
	after := filesBelow(t, o.Dir)
	for name, size := range before {
		if strings.HasSuffix(name, ".log") && after[name] < size {
			t.Errorf("%s: %d bytes of %d are left", name, after[name], size)
		}
	}
}

// filesBelow are the sizes of the files below a directory, in bytes, by path.
func filesBelow(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	sizes := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // they come and go: checkpoints are renamed into place
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			sizes[path] = info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sizes
}

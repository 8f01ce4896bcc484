package embedded_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
)

// TestFaults: whatever is done to one broker after another, what was acknowledged is
// there once.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir()} {
		t.Run(map[bool]string{true: "memory", false: "directory"}[dir == ""], func(t *testing.T) {
			t.Parallel()
			testFaults(t, dir)
		})
	}
}

func testFaults(t *testing.T, dir string) {
	c := embeddedtest.New(t, embedded.Options{Dir: dir})
	cl := client(t, c)
	create(t, cl, "orders", 3, 3, "min.insync.replicas", "2")
	w := startWorkload(t, cl, "orders")
	w.goOn(100)
	leader := func() *embedded.Broker { return c.Broker(int(partition(t, cl, "orders", 0, led).Leader)) }
	whole := func() {
		t.Helper()
		for id := range int32(3) {
			partition(t, cl, "orders", id, func(p kmsg.MetadataResponseTopicPartition) bool { return led(p) && len(p.ISR) == 3 })
		}
	}
	for _, f := range []struct {
		name  string
		do    func(b *embedded.Broker) error
		state embedded.State
	}{
		{"killed", func(b *embedded.Broker) error { b.Kill(); return nil }, embedded.Killed},
		{"without power", (*embedded.Broker).PowerLoss, embedded.Killed},
		{"paused", func(b *embedded.Broker) error { b.Pause(); return nil }, embedded.Paused},
		{"stopped", func(b *embedded.Broker) error { return b.Stop(within(t)) }, embedded.Stopped},
		{"restarted", func(b *embedded.Broker) error { return b.Restart(within(t)) }, embedded.Running},
		{"without a disk", func(b *embedded.Broker) error { b.FailDisk(); return nil }, ""},
		{"with a full disk", func(b *embedded.Broker) error { b.FillDisk(); return nil }, ""},
		{"fenced", func(b *embedded.Broker) error { b.Fence(); return nil }, embedded.Running},
	} {
		b := leader()
		if err := f.do(b); err != nil {
			t.Fatalf("broker %d %s: %v", b.ID(), f.name, err)
		}
		if got := b.State(); f.state != "" && got != f.state {
			t.Errorf("broker %d, %s, is %s, want %s", b.ID(), f.name, got, f.state)
		}
		w.goOn(100)
		t.Logf("broker %d %s: %d records so far", b.ID(), f.name, w.count())
		if err := c.Heal(within(t)); err != nil {
			t.Fatalf("broker %d %s: %v", b.ID(), f.name, err)
		}
		whole()
	}
	w.end(c)
}

// TestHealAtOnce: a disk that heals in the moment in which it fails its node leaves
// nobody dead.
func TestHealAtOnce(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{Config: map[string]string{
		"broker.session.timeout.ms": "1000", "broker.heartbeat.interval.ms": "200",
	}})
	cl := client(t, c)
	create(t, cl, "orders", 6, 3)
	w := startWorkload(t, cl, "orders")
	for i := range 20 {
		w.goOn(20)
		b := c.Broker(1 + i%3)
		if b.FillDisk(); i%2 == 0 {
			b.FailDisk()
		}
		time.Sleep(time.Duration(i%4) * 300 * time.Microsecond)
		if err := c.Heal(within(t)); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
	}
	w.end(c)
}

// TestMinISROfTheFile: min.insync.replicas of the brokers' file is that of the cluster,
// from its first record on.
func TestMinISROfTheFile(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{Config: map[string]string{
		"min.insync.replicas": "2", "broker.session.timeout.ms": "500", "broker.heartbeat.interval.ms": "100",
	}})
	cl := client(t, c, kgo.DisableIdempotentWrite(), kgo.RecordRetries(0), kgo.DefaultProduceTopic("orders"))
	create(t, cl, "orders", 1, 3)
	c.Broker(2).Kill()
	c.Broker(3).Kill()
	partition(t, cl, "orders", 0, func(p kmsg.MetadataResponseTopicPartition) bool { return led(p) && len(p.ISR) == 1 })
	for ctx := within(t); ; {
		got := cl.ProduceSync(ctx, &kgo.Record{Value: []byte("refused")}).FirstErr()
		// A busy machine may lose a broker of so short a session, for a while.
		if ctx.Err() == nil && kerr.IsRetriable(got) && !errors.Is(got, kerr.NotEnoughReplicas) {
			continue
		}
		if !errors.Is(got, kerr.NotEnoughReplicas) {
			t.Errorf("with one replica in sync: got %v, want %v", got, kerr.NotEnoughReplicas)
		}
		return
	}
}

// TestRestartWithoutController: who waits in vain learns for which broker, and for whom.
func TestRestartWithoutController(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{Brokers: 1})
	restart := func() string {
		ctx, cancel := context.WithTimeout(within(t), 20*time.Millisecond)
		defer cancel()
		c.Broker(1).Kill()
		err := c.Broker(1).Restart(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want %v", err, context.DeadlineExceeded)
		}
		return err.Error()
	}
	c.Link(1, embedded.ControllerID).Cut()
	if got := restart(); got != "broker 1: waiting until it is unfenced: context deadline exceeded" {
		t.Errorf("with a controller that runs: got %q", got)
	}
	c.Controller().Kill()
	if got := restart(); !strings.HasPrefix(got, "broker 1: ") || !strings.HasSuffix(got, ": the controller, which alone unfences it, is killed") {
		t.Errorf("without a controller: got %q", got)
	}
	if err := c.Heal(within(t)); err != nil {
		t.Errorf("heal: %v", err)
	}
}

// TestStartingBrokerAnswersNobody: until it has caught up with the metadata a broker would
// tell of a cluster of another time, or of none.
func TestStartingBrokerAnswersNobody(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{Config: map[string]string{
		"broker.session.timeout.ms": "500", "broker.heartbeat.interval.ms": "100",
	}})
	b := c.Broker(2)
	b.Kill()
	c.Link(2, embedded.ControllerID).Cut()
	restarted := make(chan error, 1)
	go func() { restarted <- b.Restart(within(t)) }()
	ask := func() []byte {
		nc, err := net.Dial("tcp", b.Address())
		if err != nil {
			return nil
		}
		defer nc.Close()
		_ = nc.SetDeadline(time.Now().Add(hang))
		_, _ = nc.Write(frame(int16(kmsg.ApiVersions), 0))
		got := make([]byte, 100)
		n, err := nc.Read(got)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("it keeps who asks waiting")
		}
		return got[:n]
	}
	for c.Broker(2).State() != embedded.Running {
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		if got := ask(); len(got) > 0 {
			t.Fatalf("it answers % x", got)
		}
		time.Sleep(5 * time.Millisecond)
	}
	c.Link(2, embedded.ControllerID).Heal()
	if err := <-restarted; err != nil {
		t.Fatal(err)
	}
	if got := ask(); len(got) == 0 {
		t.Error("it runs, and does not answer")
	}
}

// TestWhyFailed: a node that fails by itself says why, in the log and to who asks, until
// it lives again; one that fails again in spite of Heal ends that.
func TestWhyFailed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log lines
	c := embeddedtest.New(t, embedded.Options{Brokers: 2, Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil)), Config: map[string]string{
		"broker.session.timeout.ms": "1000", "broker.heartbeat.interval.ms": "200",
	}})
	cl := client(t, c)
	create(t, cl, "orders", 1, 2)
	sendSync(t, cl, "orders") // both have its log then
	b := c.Broker(2)
	if err := b.Err(); err != nil {
		t.Errorf("got %v of a broker that runs", err)
	}
	b.FillDisk()
	sendSync(t, cl, "orders")
	for b.State() == embedded.Running {
		time.Sleep(time.Millisecond)
	}
	if err := b.Err(); b.State() != embedded.Failed || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %s with %v, want it failed for want of room", b.State(), err)
	}
	if want := `level=ERROR msg="the node has failed" node="broker 2" error=`; !strings.Contains(log.String(), want) {
		t.Errorf("got %s, want %s in it", log.String(), want)
	}
	// A file where a directory was: no fault of the disk that Heal ends.
	partition := filepath.Join(dir, "broker-2", "orders-0")
	away := filepath.Join(t.TempDir(), "away")
	if err := errors.Join(os.Rename(partition, away), os.WriteFile(partition, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	err := c.Heal(within(t))
	if err == nil || !strings.Contains(err.Error(), "broker 2") || !strings.Contains(err.Error(), "orders-0") || b.State() != embedded.Failed || b.Err() == nil {
		t.Errorf("got %v, and %s with %v, want what broker 2 stumbles over", err, b.State(), b.Err())
	}
	if err := errors.Join(os.Remove(partition), os.Rename(away, partition), c.Heal(within(t))); err != nil {
		t.Fatal(err)
	}
	if err := b.Err(); err != nil || b.State() != embedded.Running {
		t.Errorf("got %s with %v, want it up", b.State(), err)
	}
}

// lines is a log that several goroutines write to.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

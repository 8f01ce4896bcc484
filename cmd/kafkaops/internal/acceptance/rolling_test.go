package acceptance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestRollingRestart restarts every broker, one after the other, while describe
// and lag look again and again. Parts may be missing, but none may be wrong.
func TestRollingRestart(t *testing.T) {
	c := shared.Get(t)
	const quiet, busy, records = "rolling-quiet", "rolling-busy", 100
	createTopic(t, c, quiet, c.Spread(8, 3), minISR(2))
	createTopic(t, c, busy, c.Spread(1, 3), minISR(2))
	for p := range int32(8) {
		c.ProduceRecords(t, quiet, p, records, kafkatest.AcksAll, 100)
		awaitQuiet(t, c, quiet, p)
	}

	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	var written atomic.Int64 // or perhaps written
	wg.Go(func() {
		for ctx.Err() == nil {
			written.Add(5)
			_ = c.Produce(ctx, busy, 0, 5, 1, 100) // a leader that goes away takes some with it
		}
	})
	l := &looker{c: c, quiet: quiet, busy: busy, records: records, written: &written}
	wg.Go(func() { l.err = l.look(ctx) })

	for _, id := range c.Brokers() {
		c.Restart(t, id)
		for p := range int32(8) {
			c.AwaitISR(t, quiet, p, c.Spread(8, 3)[p]...)
		}
		c.AwaitISR(t, busy, 0, c.Spread(1, 3)[0]...)
	}
	stop()
	wg.Wait()
	if l.err != nil {
		t.Fatal(l.err)
	}
	t.Logf("%d answers, %d of them not complete; %d records written meanwhile", l.looks, l.partial, written.Load())
	const enough = 12 // of a busy machine
	if l.looks < enough {
		t.Errorf("%d answers are too few to test anything", l.looks)
	}

	item := describe(t, c, 0, "--exit-code")
	equal(t, "verdict", item.Verdict, inspect.LevelOK)
	equal(t, "brokers answering", item.BrokersAnswering, 4)
	lag(t, c, 0, "--exit-code")
}

// looker runs describe and lag in turn and stops at the first answer that cannot
// be true.
type looker struct {
	c           *kafkatest.Cluster
	quiet, busy string
	// records are in each partition of quiet, on every replica; no more than
	// written are in busy's.
	records int64
	written *atomic.Int64

	looks, partial int
	err            error
}

func (l *looker) look(ctx context.Context) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := errors.Join(l.describe(), l.lag()); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// ask runs a command that knows the address of every broker, up or not.
func (l *looker) ask(words string) *result {
	r := kafkaops(l.c, words+" -o json --timeout 5s -b "+l.c.BootstrapServer())
	l.looks++
	if r.exit == 1 {
		l.partial++
	}
	return r
}

// fine returns an error where a command ended as it must not.
func fine(r *result) error {
	const atMost = 15 * time.Second // not hung: a busy machine takes its time beside the timeout
	switch {
	case r.exit != 0 && r.exit != 1:
		return fmt.Errorf("want exit 0 or 1: %v", r)
	case r.took > atMost:
		return fmt.Errorf("it took longer than %s: %v", atMost, r)
	case r.exit == 1 && r.stderr == "":
		return fmt.Errorf("exit 1, and not a word why: %v", r)
	}
	return nil
}

func (l *looker) describe() error {
	r := l.ask("describe")
	if err := fine(r); err != nil {
		return err
	}
	d, err := decode[render.ClusterItem](r)
	if err != nil {
		return err
	}
	// There is always a leader: one broker is down at a time.
	if item := d.Items[0]; item.Verdict == inspect.LevelUnavailable || item.Partitions != 9 {
		return fmt.Errorf("verdict %s over %d partitions: %v", item.Verdict, item.Partitions, r)
	}
	return nil
}

func (l *looker) lag() error {
	r := l.ask("lag")
	if err := fine(r); err != nil {
		return err
	}
	d, err := decode[render.LagItem](r)
	if err != nil {
		return err
	}
	if len(d.Items) != 9 {
		return fmt.Errorf("%d partitions: %v", len(d.Items), r)
	}
	for i := range d.Items {
		if err := errors.Join(sane(&d.Items[i]), l.noPhantom(&d.Items[i])); err != nil {
			return fmt.Errorf("%w: %v", err, r)
		}
	}
	return nil
}

// noPhantom: on a quiet partition every offset that is known is the end, on the
// busy one none is above what was written.
func (l *looker) noPhantom(item *render.LagItem) error {
	if item.Topic == l.busy {
		written := l.written.Load()
		if leo := int64(item.LogEndOffset.Or(0)); leo > written {
			return fmt.Errorf("LEO %d of %s, to which %d were written", leo, l.busy, written)
		}
		for _, r := range item.Replicas {
			if r.LagMax.Or(r.Lag.Or(0)) > written {
				return fmt.Errorf("lag %v of replica %d, though only %d were written", r.LagMax, r.Broker, written)
			}
		}
		return nil
	}
	end := inspect.Offset(l.records)
	if item.HighWatermark.Or(end) != end || item.LogEndOffset.Or(end) != end {
		return fmt.Errorf("HW %v and LEO %v of a partition with %d records", item.HighWatermark, item.LogEndOffset, end)
	}
	for _, r := range item.Replicas {
		if r.LogEndOffset.Or(end) != end || r.Lag.Or(0) != 0 || r.LagMax.Or(0) != 0 {
			return fmt.Errorf("replica %d ends at %v and lags by %v to %v, and nobody writes", r.Broker, r.LogEndOffset, r.Lag, r.LagMax)
		}
	}
	return nil
}

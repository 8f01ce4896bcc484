package exporter

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// busyDay is a cluster that lives by a test's clock: records come in, ISRs flap, and
// every minute has a topic and a group of its own, which are gone in the next.
type busyDay struct {
	clock      *handClock
	began      time.Time
	partitions int
}

// Snapshot implements Snapshotter.
func (d *busyDay) Snapshot(_ context.Context, q source.Query) (*inspect.Snapshot, error) {
	at := d.clock.Now()
	second := int64(at.Sub(d.began) / time.Second)
	s := &inspect.Snapshot{
		ClusterID: inspect.Known("day"), TakenAt: at, Asked: inspect.PartOffsets | inspect.PartGroups,
		Brokers: []inspect.Broker{{ID: 1, Reachable: inspect.Known(true)}, {ID: 2, Reachable: inspect.Known(true)}},
	}
	s.Topics = append(s.Topics, d.topic("steady", second))
	s.Topics = append(s.Topics, d.topic(fmt.Sprintf("minute-%04d", second/60), second))
	if q.Sample == source.SampleNone {
		for i, t := range s.Topics {
			g := inspect.Group{Name: "reads-" + t.Name, State: inspect.Known("Empty"), Members: inspect.Known([]inspect.Member{})}
			var commits []inspect.Commit
			for _, p := range t.Partitions {
				commits = append(commits, inspect.Commit{
					TopicPartition: inspect.TopicPartition{Topic: t.Name, Partition: p.Index},
					Offset:         inspect.Known(inspect.Offset(second * 10 * int64(1-i/2))),
				})
			}
			g.Commits = inspect.Known(commits)
			s.Groups = append(s.Groups, g)
		}
	}
	return s, nil
}

func (d *busyDay) topic(name string, second int64) inspect.Topic {
	t := inspect.Topic{Name: name, ID: inspect.Known(name)}
	end := inspect.Offset(second*10 + 100)
	for i := range d.partitions {
		p := inspect.Partition{
			Topic: name, TopicID: t.ID, Index: int32(i), Leader: 1, LeaderEpoch: inspect.Known(inspect.Epoch(0)),
			Replicas: ids{1, 2}, ISR: ids{1, 2}, MinInsyncReplicas: inspect.Known(int32(1)),
			Adding: inspect.Known(ids{}), Removing: inspect.Known(ids{}),
			Offsets: &inspect.Offsets{
				LEOBefore: inspect.Known(end), HW: inspect.Known(end), LSO: inspect.Known(end), LogStart: inspect.Known(inspect.Offset(0)),
				LEOAfter:  inspect.Known(end),
				Followers: []inspect.FollowerOffset{{Broker: 2, LEO: inspect.Known(end - inspect.Offset(i))}},
			},
		}
		if (second/30+int64(i))%2 == 0 {
			p.ISR = ids{1}
		}
		t.Partitions = append(t.Partitions, p)
	}
	return t
}

// TestADay runs the loop for 24 hours: at the end it holds no more than it did in
// its second hour.
func TestADay(t *testing.T) {
	hours := 3
	if os.Getenv("KAFKAOPS_LONG") != "" {
		hours = 24
	}
	clock := &handClock{day}
	cluster := &busyDay{clock: clock, began: day, partitions: 5}
	e := New(Options{Collect: cluster, Sample: cluster, Clock: clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var second, last uint64
	watch := &hourly{handClock: clock, each: func(hour int) {
		switch hour {
		case 2:
			second = liveHeap()
		case hours:
			last = liveHeap()
			cancel()
		}
	}}
	e.options.Clock = watch
	if err := e.Run(ctx); err == nil {
		t.Fatal("the loop ended by itself")
	}
	t.Logf("live heap after 2 hours %d bytes, after %d hours %d", second, hours, last)
	if float64(last) > 1.05*float64(second) {
		t.Errorf("live heap after %d hours %d bytes, after the second %d: it grows", hours, last, second)
	}
	if want := float64(hours * 360); e.tally.complete < want || e.tally.complete > want+1 {
		t.Errorf("%v collections in %d hours, want one every 10 s", e.tally.complete, hours)
	}
	p, _ := e.now()
	var text strings.Builder
	if err := p.writePlain(&text); err != nil {
		t.Fatal(err)
	}
	s := parse(text.String())
	s.count(t, 5, `kafka_topic_partition_isr_shrinks_total\{topic="steady".*`)
	if len(s.like(`kafka_topic_partition_offline\{topic="minute-0000".*`)) != 0 {
		t.Error("a topic of the first minute is still there")
	}
}

// hourly calls each when another hour is over.
type hourly struct {
	*handClock
	hour int
	each func(hour int)
}

func (c *hourly) Sleep(ctx context.Context, d time.Duration) error {
	err := c.handClock.Sleep(ctx, d)
	if hour := int(c.at.Sub(day) / time.Hour); hour > c.hour {
		c.hour = hour
		c.each(hour)
	}
	return err
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

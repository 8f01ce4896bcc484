package acceptance

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
	"github.com/kafkaops/kafkaops/pkg/exporter"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// steps is a clock by which an exporter takes a pass when it is told to, and none else.
type steps struct{ next, rests chan struct{} }

// Now implements exporter.Clock.
func (s *steps) Now() time.Time { return time.Now() }

// Sleep implements exporter.Clock.
func (s *steps) Sleep(ctx context.Context, _ time.Duration) error {
	select {
	case s.rests <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-s.next:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stepping runs an exporter until the test ends, which keeps ISR changes in a file. step
// takes one collection and returns what is served then.
func stepping(t *testing.T, c *kafkatest.Cluster, file string) (step func() string) {
	t.Helper()
	store, err := recording.Prepare(file)
	if err != nil {
		t.Fatal(err)
	}
	pool := &connect.Pool{}
	conf := connect.Config{Bootstrap: c.Bootstrap(), Pool: pool}
	clock := &steps{make(chan struct{}), make(chan struct{})}
	scrape, _ := running(t, pool, exporter.Options{
		Collect: source.New(conf, 10*time.Second), Sample: source.New(conf, 10*time.Second), ISR: isrlog.NewLog(conf, nil, 10*time.Second), ISRStore: store,
		CollectInterval: time.Nanosecond, SampleInterval: time.Hour, MaxAge: time.Hour, Clock: clock,
	})
	<-clock.rests
	return func() string {
		clock.next <- struct{}{}
		<-clock.rests
		return scrape()
	}
}

// TestExportOfAShortShrink: a replica is out of the ISR for three seconds, between two
// collections and without a sample, and is counted with its broker and cause; and so it is
// when the active controller dies: nothing is lost, and nothing counted twice, by the log
// read as a whole.
func TestExportOfAShortShrink(t *testing.T) {
	controllers := 3
	if engine.FromEnv() != nil {
		controllers = 1 // and the same one comes back
	}
	c := kafkatest.Start(t, kafkatest.Options{
		Engine: engine.FromEnv(), Brokers: 3, Controllers: controllers, StartTimeout: 3 * time.Minute,
		Properties: map[string]string{
			"broker.session.timeout.ms": "60000", "broker.heartbeat.interval.ms": "1000",
			"replica.lag.time.max.ms": "60000", "auto.leader.rebalance.enable": "false",
		},
		BrokerProperties: map[int32]map[string]string{1: {"replica.lag.time.max.ms": "4000"}},
	})
	createTopic(t, c, "short", [][]int32{{1, 2, 3}}, minISR(2))
	c.ProduceRecords(t, "short", 0, 1, -1, 10) // so that the leader has heard of its followers
	file := filepath.Join(t.TempDir(), "short.isr")
	x := &counting{t: t, c: c, step: stepping(t, c, file)}
	x.begin()
	x.outAndBack()
	x.agrees("after it has healed", 1)

	active := activeController(t, c)
	c.Kill(t, active)
	if controllers == 1 {
		c.StartNode(t, active)
	}
	x.outAndBack()
	x.agrees("with another active controller, or the same anew", 2)
	if controllers > 1 {
		c.StartNode(t, active)
		c.Kill(t, activeController(t, c))
		x.outAndBack()
		x.agrees("with the next one", 3)
	}
	x.keeps(file)
}

// keeps waits until the file has every event that the log has, those of before the exporter
// too, and none else.
func (x *counting) keeps(file string) {
	x.t.Helper()
	told := func(read func(func(inspect.IsrEvent)) error) ([]string, error) {
		var out []string
		err := read(func(e inspect.IsrEvent) {
			out = append(out, fmt.Sprintf("%s %s %s-%d %s %s %v %v", e.Offset, e.Time.UTC().Format(time.RFC3339Nano), e.Topic, e.Partition, e.Type, e.Cause, e.Brokers, e.ISR))
		})
		return out, err
	}
	kafkatest.Eventually(x.t, 2*soon, func() error {
		log, err := told(func(take func(inspect.IsrEvent)) error {
			return isrlog.NewLog(connect.Config{Bootstrap: x.c.Bootstrap()}, nil, 30*time.Second).Read(x.t.Context(), isrlog.Span{}, isrlog.Listener{
				Event: take, Evidence: func(isrlog.Evidence) {}, Note: func(string, bool) {},
			})
		})
		if err != nil {
			return err
		}
		r, err := recording.Read(file)
		if err != nil {
			return err
		}
		kept, err := told(func(take func(inspect.IsrEvent)) error {
			return r.Events(func(e inspect.IsrEvent) error { take(e); return nil })
		})
		if err != nil {
			return err
		}
		if diff := cmp.Diff(log, kept); diff != "" || len(r.Gaps()) > 0 {
			return fmt.Errorf("gaps %v, events of the log and of the file (-want +got):\n%s", r.Gaps(), diff)
		}
		x.t.Logf("%d events are kept", len(kept))
		return nil
	})
}

// counting compares what an exporter counts with what the log has, from begin on.
type counting struct {
	t    *testing.T
	c    *kafkatest.Cluster
	step func() string
	// counted and events are what there was at the beginning, by series.
	counted, events map[string]float64
}

// outAndBack takes broker 3 out of the ISR for three seconds. No pass is made meanwhile.
func (x *counting) outAndBack() {
	x.t.Helper()
	x.c.Pause(x.t, 3)
	x.c.ProduceRecords(x.t, "short", 0, 1, 1, 10)
	x.c.AwaitISR(x.t, "short", 0, 1, 2)
	time.Sleep(3 * time.Second)
	x.c.Resume(x.t, 3)
	x.c.AwaitISR(x.t, "short", 0, 1, 2, 3)
}

// begin waits until the log is what counts, at a moment in which nothing happens.
func (x *counting) begin() {
	x.t.Helper()
	kafkatest.Eventually(x.t, 2*soon, func() error {
		before, err := x.log()
		if err != nil {
			return err
		}
		page := x.step()
		if x.events, err = x.log(); err != nil {
			return err
		}
		if !strings.Contains(page, "\nkafkaops_isr_source{source=\"metadata-log\"} 1\n") {
			return errors.New("the log is not what counts")
		}
		if diff := cmp.Diff(before, x.events); diff != "" {
			return errors.New("something happens: " + diff)
		}
		x.counted = isrSeries(page)
		return nil
	})
}

// agrees waits until what was counted since is what the log has: broker 3 out and back so
// many times, and whatever a busy machine brings besides.
func (x *counting) agrees(what string, times float64) {
	x.t.Helper()
	kafkatest.Eventually(x.t, 2*soon, func() error {
		page := x.step()
		events, err := x.log()
		if err != nil {
			return err
		}
		got, want := since(x.counted, isrSeries(page)), since(x.events, events)
		for _, series := range []string{
			`kafka_topic_partition_isr_shrinks_total{topic="short",partition="0"}`, `kafka_broker_isr_shrinks_total{broker="3",cause="replica-lag"}`,
			`kafka_topic_partition_isr_expands_total{topic="short",partition="0"}`, `kafka_broker_isr_expands_total{broker="3",cause="caught-up"}`,
		} {
			if want[series] < times {
				return fmt.Errorf("%s: the log has %v of %s, want %v at least", what, want[series], series, times)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("%s: by the log and by the exporter (-want +got):\n%s", what, diff)
		}
		if line := "\nkafkaops_isr_gaps_total 0\n"; !strings.Contains(page, line) {
			return fmt.Errorf("%s: no line %s", what, line)
		}
		return nil
	})
	x.t.Logf("%s: %v", what, since(x.counted, isrSeries(x.step())))
}

// log counts the events of the whole log by the series that they belong to.
func (x *counting) log() (map[string]float64, error) {
	n := map[string]float64{}
	err := isrlog.NewLog(connect.Config{Bootstrap: x.c.Bootstrap()}, nil, 30*time.Second).Read(x.t.Context(), isrlog.Span{}, isrlog.Listener{
		Event: func(e inspect.IsrEvent) {
			kind := map[inspect.IsrEventType]string{inspect.IsrShrink: "shrinks", inspect.IsrExpand: "expands"}[e.Type]
			if kind == "" {
				return
			}
			for _, id := range e.Brokers {
				n[fmt.Sprintf(`kafka_broker_isr_%s_total{broker="%d",cause=%q}`, kind, id, e.Cause)]++
			}
			n[fmt.Sprintf(`kafka_topic_partition_isr_%s_total{topic=%q,partition="%d"}`, kind, e.Topic, e.Partition)]++
		},
		Evidence: func(isrlog.Evidence) {}, Note: func(string, bool) {},
	})
	return n, err
}

var isrLine = regexp.MustCompile(`(?m)^(kafka_(?:broker|topic_partition)_isr_[a-z]+_total\{.*\}) (\S+)$`)

// isrSeries are the counters of a page.
func isrSeries(page string) map[string]float64 {
	n := map[string]float64{}
	for _, m := range isrLine.FindAllStringSubmatch(page, -1) {
		n[m[1]], _ = strconv.ParseFloat(m[2], 64)
	}
	return n
}

// since is what has grown.
func since(before, after map[string]float64) map[string]float64 {
	n := map[string]float64{}
	for series, v := range after {
		if v -= before[series]; v != 0 {
			n[series] = v
		}
	}
	return n
}

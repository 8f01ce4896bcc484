package tui

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// aloneEnv makes the test binary a program: [alone] with its value.
const aloneEnv = "KAFKAOPS_TUI_ALONE"

// alone runs the screen of a source that a command never has: one that panics (source), a
// clock that does (update), or a cluster in which nothing ever happens (still).
func alone(what string) int {
	s := &aloneSource{what: what, taken: time.Now()}
	if err := Run(context.Background(), Config{
		Source: s, Title: "alone", Interval: 50 * time.Millisecond, Color: true, Now: s.now,
	}, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

type aloneSource struct {
	what  string
	looks atomic.Int64
	taken time.Time
}

func (s *aloneSource) now() time.Time {
	if s.what == "update" && s.looks.Load() > 20 {
		panic("the clock has stopped")
	}
	return time.Now()
}

// Next is the same look, of another time, and leaves a byte for it in a file.
func (s *aloneSource) Next(context.Context, Want) (Seen, error) {
	const every = 50 * time.Millisecond
	n := s.looks.Add(1)
	if n > 1 {
		time.Sleep(every)
	}
	if s.what == "source" && n > 20 {
		panic("the source has run dry")
	}
	f, err := os.OpenFile("looks", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return Seen{}, err
	}
	if _, err := f.WriteString("."); err != nil {
		return Seen{}, err
	}
	if err := f.Close(); err != nil {
		return Seen{}, err
	}
	end := inspect.Known[inspect.Offset](500)
	return Seen{Evidence: "complete", Snap: &inspect.Snapshot{
		ClusterID: inspect.Known("alone"), TakenAt: time.Now(), Asked: inspect.PartOffsets | inspect.PartReachable,
		Brokers: []inspect.Broker{{ID: 1, Host: "kafka-1", Port: 9092, Reachable: inspect.Known(true)}},
		Topics: []inspect.Topic{{Name: "orders", MinInsyncReplicas: inspect.Known[int32](1), Partitions: []inspect.Partition{{
			Topic: "orders", Leader: 1, Replicas: []inspect.BrokerID{1}, ISR: []inspect.BrokerID{1}, MinInsyncReplicas: inspect.Known[int32](1),
			Adding: inspect.Known([]inspect.BrokerID(nil)), Removing: inspect.Known([]inspect.BrokerID(nil)),
			Offsets: &inspect.Offsets{LEOBefore: end, LEOAfter: end, HW: end, LSO: end, LogStart: inspect.Known[inspect.Offset](0)},
		}}}},
	}}, nil
}

package exporter

import (
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// lags feeds one partition whose leader writes a record a second, and whose
// follower stands still from stopAt on, for so many seconds.
func lags(ends bool, every, stopAt, seconds int) *timeLags {
	var l timeLags
	for i := 0; i <= seconds; i += every {
		o := &inspect.Offsets{LEOBefore: inspect.Known(inspect.Offset(i))}
		if ends {
			o = &inspect.Offsets{HW: inspect.Known(inspect.Offset(i))}
		}
		o.Followers = []inspect.FollowerOffset{{Broker: 2, LEO: inspect.Known(inspect.Offset(min(i, stopAt)))}}
		l.add(&inspect.Snapshot{
			TakenAt: day.Add(time.Duration(i) * time.Second), Asked: inspect.PartOffsets,
			Topics: []inspect.Topic{{Name: "t", Partitions: []inspect.Partition{
				{Topic: "t", Leader: 1, Replicas: ids{1, 2}, ISR: ids{1, 2}, Offsets: o},
			}}},
		}, ends)
	}
	return &l
}

func TestTimeLag(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name            string
		stopAt, seconds int
		position        inspect.Offset
		least, most     float64 // -1: unknown
	}{
		{"at the end", 100, 100, 100, 0, 0},
		{"a second ago", 100, 100, 99, 1, 1},
		{"within the fine history", 60, 100, 60, 40, 40},
		{"beyond it", 100, 500, 100, 400, 460},
		{"an hour", 600, 4200, 600, 3600, 3660},
		{"beyond what is remembered", 10, 10_000, 10, 3600, 9990},
		{"behind in the only sample", 0, 0, -5, -1, -1},
		{"behind since before it began, for a moment", -5, 30, -5, -1, -1},
		{"behind since before it began, for long", -5, 300, -5, 240, 300},
	} {
		for _, ends := range []bool{false, true} {
			l := lags(ends, 1, tt.stopAt, tt.seconds)
			got, known := l.age("t", 0, tt.position).Get()
			if !known {
				got = -1
			}
			if got < tt.least || got > tt.most {
				t.Errorf("%s, ends %v: got %v s, want %v to %v", tt.name, ends, got, tt.least, tt.most)
			}
		}
	}
	if l := lags(false, 1, 5, 10); l.age("other", 0, 3).IsKnown() {
		t.Error("an unknown topic has an age")
	}
}

// TestHistorySize: a large cluster is remembered for fewer samples.
func TestHistorySize(t *testing.T) {
	t.Parallel()
	sized := func(partitions int) int {
		parts := make([]inspect.Partition, partitions)
		for i := range parts {
			parts[i].Replicas = ids{1, 2, 3}
		}
		return historySize(&inspect.Snapshot{Topics: []inspect.Topic{{Partitions: parts}}})
	}
	if got := sized(10_000); got != 64 {
		t.Errorf("10,000 partitions: %d samples, want 64", got)
	}
	if got := sized(100_000); got < leastSamples || got > 20 {
		t.Errorf("100,000 partitions: %d samples, want about 17", got)
	}
	if got := sized(1_000_000); got != leastSamples {
		t.Errorf("1,000,000 partitions: %d samples, want %d", got, leastSamples)
	}
}

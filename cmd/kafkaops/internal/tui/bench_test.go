package tui

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// large is a cluster of 20,000 partitions of RF 3 on six brokers that are all written to:
// what kafkaops top has to bear with.
type large struct {
	rng *rand.Rand
	leo []inspect.Offset
	at  time.Time
}

const largeTopics, largePerTopic, largeBrokers = 400, 50, 6

func newLarge() *large {
	return &large{
		rng: rand.New(rand.NewPCG(1, 2)), leo: make([]inspect.Offset, largeTopics*largePerTopic),
		at: time.Date(2026, 11, 29, 20, 15, 0, 0, time.UTC),
	}
}

// look is the next one, two seconds later, made as a source makes it. Broker 3 falls behind.
func (g *large) look() *inspect.Snapshot {
	g.at = g.at.Add(2 * time.Second)
	s := &inspect.Snapshot{ClusterID: inspect.Known("large"), TakenAt: g.at, Asked: inspect.PartOffsets | inspect.PartReachable | inspect.PartELR}
	for id := range inspect.BrokerID(largeBrokers) {
		s.Brokers = append(s.Brokers, inspect.Broker{ID: id + 1, Host: fmt.Sprintf("kafka-%d", id+1), Port: 9092, Reachable: inspect.Known(true)})
	}
	for i := range largeTopics {
		t := inspect.Topic{
			Name: fmt.Sprintf("topic-%03d", i), ID: inspect.Known(fmt.Sprint(i)), MinInsyncReplicas: inspect.Known[int32](2),
			Partitions: make([]inspect.Partition, largePerTopic),
		}
		offsets := make([]inspect.Offsets, largePerTopic)
		for j := range t.Partitions {
			n := i*largePerTopic + j
			g.leo[n] += inspect.Offset(1 + g.rng.IntN(1000))
			leo := g.leo[n]
			replicas := make([]inspect.BrokerID, 3)
			for k := range replicas {
				replicas[k] = inspect.BrokerID((n+k)%largeBrokers + 1)
			}
			o := &offsets[j]
			o.LEOBefore, o.LEOAfter, o.HW, o.LSO, o.LogStart = inspect.Known(leo), inspect.Known(leo), inspect.Known(leo-10), inspect.Known(leo-10), inspect.Known[inspect.Offset](0)
			o.Followers = make([]inspect.FollowerOffset, 0, 2)
			for _, id := range replicas[1:] {
				f := inspect.FollowerOffset{Broker: id, LEO: inspect.Known(leo)}
				if id == 3 {
					f.LEO = inspect.Known(leo / 2)
				}
				o.Followers = append(o.Followers, f)
			}
			t.Partitions[j] = inspect.Partition{
				Topic: t.Name, TopicID: t.ID, Index: int32(j), Leader: replicas[0], LeaderEpoch: inspect.Known[inspect.Epoch](1), Replicas: replicas, ISR: replicas,
				Adding: inspect.Known[[]inspect.BrokerID](nil), Removing: inspect.Known[[]inspect.BrokerID](nil),
				MinInsyncReplicas: t.MinInsyncReplicas, Offsets: o,
			}
		}
		s.Topics = append(s.Topics, t)
	}
	return s
}

// BenchmarkLarge is what 20,000 partitions of RF 3 cost a look, a screen and a key, when
// all that is remembered is full. MiB is what is in use by then.
func BenchmarkLarge(b *testing.B) {
	const warm = fewSamples + 2
	g := newLarge()
	m := New(b.Context(), Config{Interval: 2 * time.Second, Now: func() time.Time { return g.at }})
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	for range warm {
		seen := Seen{Snap: g.look()}
		m.Update(seenMsg{look: m.digest.look(&seen), seen: seen})
	}
	b.Run("digest", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			seen := Seen{Snap: g.look()}
			b.StartTimer()
			l := m.digest.look(&seen)
			b.StopTimer()
			m.Update(seenMsg{look: l, seen: seen})
			b.StartTimer()
		}
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		b.ReportMetric(float64(mem.HeapAlloc)/(1<<20), "MiB")
		b.ReportMetric(float64(mem.Sys)/(1<<20), "sys-MiB")
	})
	b.Run("refresh", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			seen := Seen{Snap: g.look()}
			msg := seenMsg{look: m.digest.look(&seen), seen: seen}
			b.StartTimer()
			m.Update(msg)
			m.View()
		}
	})
	for _, key := range []tea.KeyPressMsg{{Code: 'j', Text: "j"}, {Code: 'L', Text: "L"}, {Code: '3', Text: "3"}, {Code: '2', Text: "2"}} {
		b.Run("key="+key.String(), func(b *testing.B) {
			for b.Loop() {
				m.Update(key)
				m.View()
			}
		})
	}
}

package diagnose

import (
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestFrozenGroups: who waits for a high watermark that stands still is named, who has
// something to read or reads something else is not.
func TestFrozenGroups(t *testing.T) {
	t.Parallel()
	group := func(name, topic string, partition int32, at inspect.Offset) inspect.Group {
		return inspect.Group{Name: name, Commits: inspect.Known([]inspect.Commit{{
			TopicPartition: inspect.TopicPartition{Topic: topic, Partition: partition}, Offset: inspect.Known(at),
		}})}
	}
	// frozen holds back the HW of orders-0 at 1000, by broker 2.
	frozen := func(groups ...inspect.Group) func(int, *inspect.Snapshot) {
		return func(sec int, s *inspect.Snapshot) {
			p := &s.Topics[0].Partitions[0]
			behind(p, 2, inspect.Offset(100*sec))
			p.Offsets.HW, p.Offsets.LogStart = inspect.Known[inspect.Offset](1000), inspect.Known[inspect.Offset](0)
			s.Groups = groups
		}
	}
	many := []inspect.Group{
		group("a", "orders", 0, 1000), group("b", "orders", 0, 1000), group("c", "orders", 0, 1000),
		group("d", "orders", 0, 1000), group("e", "orders", 0, 1000), group("f", "orders", 0, 1000), group("g", "orders", 0, 1000),
	}
	for _, tt := range []struct {
		name string
		c    *Case
		says string
		n    float64
	}{
		{"nobody was asked", seen(10, frozen()), "consumers see nothing new", 0},
		{"one waits", seen(10, frozen(group("billing", "orders", 0, 1000))), "consumers (group billing) see", 1},
		{"one has something to read", seen(10, frozen(group("billing", "orders", 0, 900))), "consumers see", 0},
		{"one reads another partition", seen(10, frozen(group("billing", "orders", 1, 1900))), "consumers see", 0},
		{"two of three wait", seen(10, frozen(group("late", "orders", 0, 1), group("z", "orders", 0, 1000), group("b", "orders", 0, 1000))), "consumers (groups b, z) see", 2},
		{"many", seen(10, frozen(many...)), "consumers (groups a, b, c, d, e and 2 more) see", 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if !tt.c.Frozen() {
				t.Error("nothing is frozen")
			}
			var f *Finding
			r := tt.c.Diagnose()
			for i := range r.Findings {
				for j := range r.Findings[i].Symptoms {
					if r.Findings[i].Symptoms[j].ID == HWFrozen {
						f = &r.Findings[i].Symptoms[j]
					}
				}
				if r.Findings[i].ID == HWFrozen {
					f = &r.Findings[i]
				}
			}
			if f == nil {
				t.Fatalf("not found: %+v", r.Findings)
			}
			n := 0.0
			for _, e := range f.Evidence {
				if e.Name == "groupsWaiting" {
					n = e.Value
				}
			}
			if !strings.Contains(f.Title, tt.says) || n != tt.n {
				t.Errorf("%q, %v groups; want %q, %v", f.Title, n, tt.says, tt.n)
			}
		})
	}
	if seen(10, nil).Frozen() || New(Options{}).Frozen() {
		t.Error("what moves is frozen")
	}
}

// TestHolders: who holds the HW back is in the ISR, or was lately.
func TestHolders(t *testing.T) {
	t.Parallel()
	// It stands while 100 records a second are written.
	stands := func(p *inspect.Partition) { p.Offsets.HW = inspect.Known[inspect.Offset](1000) }
	for _, tt := range []struct {
		name   string
		change func(s *inspect.Snapshot, p *inspect.Partition)
		want   string
	}{
		{"who has least", func(_ *inspect.Snapshot, p *inspect.Partition) { behind(p, 3, 500) }, "hw-frozen 3"},
		{"who is out and lately had all", func(_ *inspect.Snapshot, p *inspect.Partition) {
			p.ISR = ids{1, 2}
			behind(p, 3, 500)
		}, "hw-frozen 3"},
		{"who is out, and not what is in flight to who is in", func(_ *inspect.Snapshot, p *inspect.Partition) {
			p.ISR = ids{1, 2}
			behind(p, 2, 3)
			behind(p, 3, 500)
		}, "hw-frozen 3"},
		{"who is out and does not tell", func(_ *inspect.Snapshot, p *inspect.Partition) {
			p.ISR = ids{1, 2}
			p.Offsets.Followers[1].LEO = inspect.Unknown[inspect.Offset]()
		}, "hw-frozen 3"},
		{"who is in and has less, before who is out", func(_ *inspect.Snapshot, p *inspect.Partition) {
			p.ISR = ids{1, 2}
			behind(p, 2, 500)
			behind(p, 3, 800)
		}, "hw-frozen 2"},
		{"nobody who is fenced", func(s *inspect.Snapshot, p *inspect.Partition) {
			p.ISR = ids{1, 2}
			behind(p, 3, 500)
			s.Broker(3).Fenced = inspect.Known(true)
		}, "hw-frozen 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := seen(10, func(_ int, s *inspect.Snapshot) {
				p := &s.Topics[0].Partitions[0]
				stands(p)
				tt.change(s, p)
			})
			all := findFrozen(c)
			if len(all) != 1 || named(&all[0]) != tt.want {
				t.Errorf("got %+v, want %s", all, tt.want)
			}
		})
	}
}

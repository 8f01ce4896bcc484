package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// lookSeries are looks at a cluster of three brokers, one every interval.
type lookSeries struct {
	rng *rand.Rand
	s   inspect.Snapshot
}

func newLookSeries(partitions int, seed uint64) *lookSeries {
	ls := &lookSeries{rng: rand.New(rand.NewPCG(seed, 1))}
	s := &ls.s
	s.ClusterID, s.TakenAt = inspect.Known("c"), time.UnixMilli(1_700_000_000_000).UTC()
	for id := range inspect.BrokerID(3) {
		s.Brokers = append(s.Brokers, inspect.Broker{ID: id + 1, Host: "h", Port: 9092, Reachable: inspect.Known(true)})
	}
	for i := range partitions {
		if i%20 == 0 {
			s.Topics = append(s.Topics, inspect.Topic{Name: fmt.Sprintf("topic-%04d", i/20), ID: inspect.Known(fmt.Sprintf("%016x", ls.rng.Uint64()))})
		}
		t := &s.Topics[len(s.Topics)-1]
		p := inspect.Partition{
			Topic: t.Name, TopicID: t.ID, Index: int32(i % 20), Leader: inspect.BrokerID(i%3 + 1), LeaderEpoch: inspect.Known(inspect.Epoch(4)),
			MinInsyncReplicas: inspect.Known(int32(2)), Offsets: &inspect.Offsets{LogStart: inspect.Known(inspect.Offset(0))},
		}
		for j := range 3 {
			id := inspect.BrokerID((i+j)%3 + 1)
			p.Replicas, p.ISR = append(p.Replicas, id), append(p.ISR, id)
			if j > 0 {
				p.Offsets.Followers = append(p.Offsets.Followers, inspect.FollowerOffset{Broker: id})
			}
		}
		t.Partitions = append(t.Partitions, p)
		ls.write(&t.Partitions[len(t.Partitions)-1], int64(ls.rng.IntN(1e9)), 0)
	}
	return ls
}

// write moves a partition on by so many records, with some of them under way.
func (ls *lookSeries) write(p *inspect.Partition, records, underWay int64) {
	o := p.Offsets
	leo := int64(o.LEOBefore.Or(0)) + records
	late := func() inspect.Opt[inspect.Offset] {
		return inspect.Known(inspect.Offset(leo - ls.rng.Int64N(underWay+1)))
	}
	o.LEOBefore, o.LEOAfter = inspect.Known(inspect.Offset(leo)), inspect.Known(inspect.Offset(leo+ls.rng.Int64N(underWay+1)))
	o.HW = late()
	o.LSO = o.HW
	for i := range o.Followers {
		o.Followers[i].LEO = late()
	}
}

// next is the look after so much time; rate is how many records a second each partition
// takes, give or take a third.
func (ls *lookSeries) next(after time.Duration, rate float64) *inspect.Snapshot {
	ls.s.TakenAt = ls.s.TakenAt.Add(after)
	for i := range ls.s.Brokers {
		ls.s.Brokers[i].RoundTrip = inspect.Known(time.Duration(300+ls.rng.IntN(200)) * time.Microsecond)
	}
	if rate > 0 {
		for p := range ls.s.Partitions {
			n := rate * after.Seconds() * (1 + ls.rng.NormFloat64()/3)
			ls.write(p, max(0, int64(n)), int64(rate/50))
		}
	}
	return &ls.s
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// each is how far the looks of recordLooks are apart.
const each = 5 * time.Second

// recordLooks writes so many looks, and returns what they were.
func recordLooks(t *testing.T, name string, n, partitions int) (all []string) {
	t.Helper()
	w, err := Open(name, "c")
	if err != nil {
		t.Fatal(err)
	}
	ls := newLookSeries(partitions, 1)
	for i := range n {
		if i == n/2 { // it is stopped and goes on
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if w, err = Open(name, "c"); err != nil {
				t.Fatal(err)
			}
		}
		s := ls.next(each, 100)
		all = append(all, text(t, s))
		if err := w.AppendLook(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

func readLooks(t *testing.T, name string, since, until time.Time) (all []string) {
	t.Helper()
	r, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Looks(since, until, func(s *inspect.Snapshot) error {
		all = append(all, text(t, s))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLooks: what was looked at is there again, all of it or a stretch, also where
// wholes and deltas alternate.
func TestLooks(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "r")
	const n = 140 // more than 10 minutes of them
	want := recordLooks(t, name, n, 6)
	got := readLooks(t, name, time.Time{}, time.Time{})
	if len(got) != n {
		t.Fatalf("%d looks, want %d", len(got), n)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("look %d is\n%s\nand was\n%s", i, got[i], want[i])
		}
	}
	begin := time.UnixMilli(1_700_000_000_000).UTC()
	for _, tt := range []struct{ from, to int }{{1, 1}, {121, 123}, {130, n}, {n - 1, n}, {n + 1, n + 9}} {
		got := readLooks(t, name, begin.Add(time.Duration(tt.from)*each), begin.Add(time.Duration(tt.to)*each))
		count := min(tt.to, n) - tt.from + 1
		if len(got) != max(0, count) || count > 0 && (got[0] != want[tt.from-1] || got[count-1] != want[min(tt.to, n)-1]) {
			t.Errorf("from %d to %d: %d looks", tt.from, tt.to, len(got))
		}
	}
	r, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	if spans := r.Looked(); len(spans) != 1 || !spans[0].Since.Equal(begin.Add(each)) || !spans[0].Until.Equal(begin.Add(n*each)) {
		t.Errorf("looked at %v", spans)
	}
}

// TestLooksAfterDamage: what is damaged costs the looks up to the next whole one, and what
// is torn those after the last commit; none is made up.
func TestLooksAfterDamage(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "r")
	want := map[string]bool{}
	const n = 140 // more than 10 minutes of them
	for _, s := range recordLooks(t, name, n, 6) {
		want[s] = true
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		in := append([]byte(nil), whole...)
		cut := rng.IntN(2) == 0
		at := 100 + rng.IntN(len(in)-100)
		if cut {
			in = in[:at]
		} else {
			in[at] ^= 0x40
		}
		if err := os.WriteFile(name, in, 0o600); err != nil {
			t.Fatal(err)
		}
		got := readLooks(t, name, time.Time{}, time.Time{})
		for _, s := range got {
			if !want[s] {
				t.Fatalf("at %d: a look that never was: %s", at, s)
			}
		}
		if !cut && len(got) < n-120-3 {
			t.Errorf("a bit at %d costs %d looks", at, n-len(got))
		}
	}
}

// TestLooksBesideEvents: looks do not come between the blocks of a commit of events.
func TestLooksBesideEvents(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "r")
	w, err := Open(name, "c")
	if err != nil {
		t.Fatal(err)
	}
	ls := newLookSeries(3, 1)
	looks, events := 0, 0
	at := time.UnixMilli(1_700_000_000_000).UTC()
	for i := range 40 {
		for range 100 * (i % 13) { // several blocks, now and then
			err := w.Append(inspect.IsrEvent{Time: at, Topic: "t", Type: inspect.IsrShrink, Cause: inspect.CauseReplicaLag, Replicas: make([]inspect.BrokerID, 100)})
			if err != nil {
				t.Fatal(err)
			}
			events++
		}
		if err := w.AppendLook(ls.next(4*time.Second, 10)); err != nil {
			t.Fatal(err)
		}
		looks++
		if i%4 == 3 {
			to := inspect.Offset(i)
			if err := w.Commit(Coverage{Source: inspect.SourceMetadataLog, From: inspect.Known(to - 4), To: inspect.Known(to), Since: at, Until: at}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(readLooks(t, name, time.Time{}, time.Time{})); got != looks || r.Len() != events || len(r.Damages()) > 0 {
		t.Errorf("%d looks of %d, %d events of %d, %d damages", got, looks, r.Len(), events, len(r.Damages()))
	}
}

// TestTwoGoroutines: who looks and who follows the log need not know of each other.
func TestTwoGoroutines(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "r")
	w, err := Open(name, "c")
	if err != nil {
		t.Fatal(err)
	}
	const n = 50
	var wg sync.WaitGroup
	wg.Go(func() {
		ls := newLookSeries(3, 1)
		for range n {
			if err := w.AppendLook(ls.next(4*time.Second, 10)); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		at := time.UnixMilli(1_700_000_000_000).UTC()
		for i := range inspect.Offset(n) {
			c := Coverage{Source: inspect.SourceMetadataLog, From: inspect.Known(i), To: inspect.Known(i + 1), Since: at, Until: at}
			err := errors.Join(w.Append(inspect.IsrEvent{Time: at, Topic: "t", Type: inspect.IsrShrink}), w.Commit(c))
			if err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(readLooks(t, name, time.Time{}, time.Time{})); got != n || r.Len() != n {
		t.Errorf("%d looks and %d events, want %d of each", got, r.Len(), n)
	}
}

package isrlog

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestBefore reads random logs from random times on, behind which the newest snapshot
// lies, and finds the events that reading all of it finds. More of them with KAFKAOPS_LONG.
func TestBefore(t *testing.T) {
	t.Parallel()
	seeds := uint64(30)
	if os.Getenv("KAFKAOPS_LONG") != "" {
		seeds = 300
	}
	late := uint64(0)
	for seed := range seeds {
		rnd := rand.New(rand.NewPCG(seed, 1))
		s := &snapshots{w: newLog(0), replay: NewReplay(inspect.SourceMetadataLog, func(inspect.IsrEvent) {})}
		for id := range 3 {
			s.w.records(t, fmt.Sprintf("register %d", id+1))
			s.replay.Record(Position{}, record(t, fmt.Sprintf("register %d", id+1)))
		}
		s.write(t, rnd, 300)
		var early []byte
		start := int64(0)
		if rnd.IntN(3) > 0 {
			start, early = s.w.next, s.snapshot(t)
			s.write(t, rnd, 1+rnd.IntN(400))
		}
		newestAt, newest := s.w.next, s.snapshot(t)
		s.write(t, rnd, rnd.IntN(50))
		s.w.noOp()

		small := usual
		if seed%2 == 0 { // so that there is something that is not near
			small = reach{near: 1 + inspect.Offset(rnd.Int64N(20)), least: 5, most: 50, before: 3, behind: inspect.Offset(rnd.Int64N(60)), spots: 150, skew: clockSkew, whole: true}
		}
		f := startController(t, 100, s.w)
		f.newest = snapshotID{inspect.Offset(newestAt), 1}
		f.snapshots[f.newest] = newest
		if start > 0 {
			f.start = start
			f.snapshots[snapshotID{inspect.Offset(start), 1}] = early
		}
		var events []inspect.IsrEvent
		var all Evidence
		whole := reads(&events)
		whole.Evidence = func(e Evidence) { all = e }
		if err := reader(f).Read(t.Context(), Span{}, whole); err != nil {
			t.Fatal(err)
		}
		// clockSkew is what is read more of.
		since := time.UnixMilli(1_000_000 + rnd.Int64N(s.w.timeMs-1_000_000)).UTC().Add(clockSkew)
		var got, want []string
		var h heard
		to := h.listener()
		to.Event = func(e inspect.IsrEvent) { got = append(got, withoutOut(&e)) }
		f.wholes = 0
		l := reader(f)
		l.reach = small
		if err := l.Read(t.Context(), Span{Since: since}, to); err != nil {
			t.Fatal(err)
		}
		wholes := f.wholes
		for i := range events {
			if !events[i].Time.Before(since) {
				want = append(want, withoutOut(&events[i]))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, since %s, log from %d, snapshot at %d (-want +got):\n%s", seed, since, start, newestAt, diff)
		}
		if h.evidence.From != all.From {
			t.Errorf("seed %d: evidence from %s, want %s", seed, h.evidence.From, all.From)
		}
		if len(want) > 0 && wholes == 0 {
			late++
		}
	}
	if late < seeds/5 {
		t.Errorf("of %d logs %d had events and were not read from their start", seeds, late)
	}
}

// TestBeforeCleared: an ELR that was cleared before the span is not there in it.
func TestBeforeCleared(t *testing.T) {
	t.Parallel()
	w := newLog(0)
	w.records(t, story1)
	w.records(t, "change t/0 isr=1 elr=2,3")
	w.records(t, "clear-elr t")
	for range 1000 {
		w.timeMs += 500
		w.noOp()
	}
	w.records(t, "change t/0 elr=-") // which changes nothing
	w.noOp()
	f := startController(t, 100, w)
	f.newest = snapshotID{inspect.Offset(w.next), 1}
	f.snapshots[f.newest] = snapshotOf(t, "topic t\npartition t/0 replicas=1,2,3 isr=1 leader=1 pepoch=3")
	readLog(t, reader(f), Span{Since: w.now().Add(-time.Minute)}).check(t, nil, nil)
	if f.wholes > 0 {
		t.Error("read the log from its start")
	}
}

// TestTransactions: what a transaction does is told when it is committed, and one that
// began before what is read cannot be told.
func TestTransactions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lines   string
		taken   int
		settled bool
	}{
		{"change t/0 isr=1", 1, true},
		{"begin -|change t/0 isr=1|change t/0 isr=2|end -|change t/0 isr=1", 3, true},
		{"begin -|change t/0 isr=1|abort -|change t/0 isr=1", 1, true},
		{"change t/0 isr=1|abort -", 1, false},
		{"change t/0 isr=1|end -", 1, false},
		{"begin -|change t/0 isr=1", 0, false},
	} {
		n := 0
		seen := transactions{take: func(Position, kraft.Record) { n++ }}
		for one := range strings.SplitSeq(tt.lines, "|") {
			seen.record(Position{}, record(t, one))
		}
		if n != tt.taken || seen.settled() != tt.settled {
			t.Errorf("%s: %d taken, settled %v: want %d, %v", tt.lines, n, seen.settled(), tt.taken, tt.settled)
		}
	}
}

// withoutOut is an event but for how long a replica was out, of which it is not known
// since when, where that was before.
func withoutOut(e *inspect.IsrEvent) string {
	c := *e
	c.Out, c.FencedFor = inspect.Unknown[time.Duration](), inspect.Unknown[time.Duration]()
	return line(&c)
}

// snapshots write a log, and what a controller would write of it.
type snapshots struct {
	w      *logWriter
	replay *Replay
	names  []string
	made   int
}

// write appends so many batches of what may happen.
func (s *snapshots) write(t *testing.T, rnd *rand.Rand, batches int) {
	for range batches {
		s.w.timeMs += 500 + rnd.Int64N(3000)
		text := s.happening(rnd)
		if text == "" {
			s.w.noOp()
			continue
		}
		s.w.records(t, text)
		at := Position{Time: time.UnixMilli(s.w.timeMs)}
		for one := range strings.Lines(text) {
			s.replay.Record(at, record(t, strings.TrimSpace(one)))
		}
	}
	s.replay.Flush()
}

func idText(list []inspect.BrokerID) string {
	if len(list) == 0 {
		return "-"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}

func (s *snapshots) happening(rnd *rand.Rand) string {
	some := func(of []inspect.BrokerID) (out []inspect.BrokerID) {
		for _, id := range of {
			if rnd.IntN(2) == 0 {
				out = append(out, id)
			}
		}
		return out
	}
	if len(s.names) == 0 || rnd.IntN(60) == 0 {
		s.made++
		name := fmt.Sprintf("t%d", s.made)
		s.names = append(s.names, name)
		return fmt.Sprintf("topic %s\npartition %s/0 replicas=1,2,3 isr=1,2,3 leader=1\npartition %s/1 replicas=3,2 isr=3 leader=3", name, name, name)
	}
	name := s.names[rnd.IntN(len(s.names))]
	about := fmt.Sprintf("%s/%d", name, rnd.IntN(2))
	_, p := s.replay.find(topicID(name), int32(about[len(about)-1]-'0'))
	broker := 1 + rnd.IntN(3)
	switch rnd.IntN(40) {
	case 0, 1, 2, 3:
		return "change " + about + " isr=" + idText(append([]inspect.BrokerID{p.leader}, some(minus(p.replicas, []inspect.BrokerID{p.leader}))...))
	case 4, 5: // below min ISR
		return fmt.Sprintf("change %s isr=%d leader=%d elr=%s", about, p.replicas[0], p.replicas[0], idText(p.replicas[1:]))
	case 6:
		return fmt.Sprintf("change %s isr=- leader=-1 elr=- last=%d", about, p.replicas[0])
	case 7: // whole again, and with it without an ELR
		return fmt.Sprintf("change %s isr=%s leader=%d elr=- last=-", about, idText(p.replicas), p.replicas[0])
	case 8:
		return fmt.Sprintf("change %s replicas=3,1 isr=3,1 leader=3 elr=- last=- adding=- removing=-", about)
	case 9, 10:
		return fmt.Sprintf("change %s isr=%s\nbroker %d fenced=1", about, idText(minus(p.isr, []inspect.BrokerID{inspect.BrokerID(broker)})), broker)
	case 11:
		return fmt.Sprintf("broker %d stopping=1\nchange %s isr=%s\nregister %d epoch=%d", broker, about, idText(minus(p.isr, []inspect.BrokerID{inspect.BrokerID(broker)})), broker, s.w.next)
	case 12:
		return fmt.Sprintf("register %d epoch=%d", broker, s.w.next)
	case 13:
		switch rnd.IntN(10) {
		case 0:
			return "clear-elr " + name
		case 1:
			return "clear-elr *"
		}
	case 14:
		if rnd.IntN(3) == 0 && len(s.names) > 1 {
			s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == name })
			return "remove " + name
		}
	case 16: // one more partition, and what happens to it
		if _, p := s.replay.find(topicID(name), 2); p == nil {
			return fmt.Sprintf("partition %s/2 replicas=1,2 isr=1,2 leader=1", name)
		}
		return fmt.Sprintf("change %s/2 isr=%s", name, []string{"1", "1,2"}[rnd.IntN(2)])
	case 15:
		return fmt.Sprintf("broker %d fenced=-1", broker)
	case 17:
		verdict := []string{"end", "abort"}[rnd.IntN(2)]
		return fmt.Sprintf("begin -\nchange %s isr=%s\n%s -", about, idText(p.replicas), verdict)
	}
	return ""
}

// snapshot has the state at the log's end.
func (s *snapshots) snapshot(t *testing.T) []byte {
	w := newLog(0)
	w.control(t, &kraft.SnapshotHeader{LastContainedLogTimestamp: s.w.timeMs})
	values := func(rec kraft.Record) {
		value, err := kraft.Append(nil, rec, kraft.MetadataVersion(30).RecordVersion(rec))
		if err != nil {
			t.Fatal(err)
		}
		w.values(0, nil, [][]byte{value})
	}
	list := func(of []inspect.BrokerID) []int32 {
		out := make([]int32, len(of))
		for i, id := range of {
			out[i] = int32(id)
		}
		return out
	}
	for id, b := range s.replay.brokers {
		values(&kraft.RegisterBroker{BrokerID: int32(id), BrokerEpoch: b.epoch, Fenced: true, InControlledShutdown: b.stopping})
	}
	for _, topic := range s.replay.named("") {
		id := topicID(topic.name)
		values(&kraft.Topic{Name: topic.name, TopicID: id})
		for i, p := range topic.partitions {
			values(&kraft.Partition{
				TopicID: id, PartitionID: int32(i), Replicas: list(p.replicas), ISR: list(p.isr), AddingReplicas: list(p.adding),
				RemovingReplicas: list(p.removing), Leader: int32(p.leader), LeaderEpoch: int32(p.leaderEpoch), PartitionEpoch: p.partitionEpoch,
				EligibleLeaderReplicas: list(p.elr), LastKnownELR: list(p.lastKnown),
			})
		}
	}
	w.control(t, &kraft.SnapshotFooter{})
	return w.bytes
}

package isrlog

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestReplay runs the stories in testdata/replay. A line is a record, at the offset
// after the one before and the same time; "+2s" lets time pass, "@100" goes to an
// offset. What comes out is one line for each event.
func TestReplay(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/replay", func(t *testing.T, path string) {
		s := newStory()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "load":
				return s.run(t, d.Input, func(rec kraft.Record) { s.replay.Load(rec) })
			case "log":
				return s.run(t, d.Input, func(rec kraft.Record) {
					s.replay.Record(s.at, rec)
					s.at.Offset++
				})
			case "flush":
				s.replay.Flush()
				return s.events()
			case "leader":
				s.replay.NewLeader()
				return s.events()
			case "gaps":
				return fmt.Sprintf("%+v\n", s.replay.Gaps())
			}
			t.Fatalf("no command %q", d.Cmd)
			return ""
		})
	})
}

type story struct {
	replay *Replay
	at     Position
	out    strings.Builder
}

func newStory() *story {
	s := &story{at: Position{Epoch: 1, Time: time.Unix(1000, 0).UTC()}}
	s.replay = NewReplay(inspect.SourceMetadataLog, func(e inspect.IsrEvent) { s.out.WriteString(line(&e) + "\n") })
	return s
}

// line is an event in one line. Lists are what was and what is.
func line(e *inspect.IsrEvent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s-%d %s %s %v", e.Offset, e.Time.Format("04:05"), e.Topic, e.Partition, e.Type, e.Cause, e.Brokers)
	fmt.Fprintf(&b, " isr %v->%v", e.ISRBefore, e.ISR)
	if elr := e.ELR.Or(nil); len(elr) > 0 {
		fmt.Fprintf(&b, " elr %v", elr)
	}
	fmt.Fprintf(&b, " leader %d epoch %s/%s", e.Leader, e.LeaderEpoch, e.PartitionEpoch)
	if e.Out.IsKnown() {
		fmt.Fprintf(&b, " out %s", e.Out)
	}
	if e.FencedFor.IsKnown() {
		fmt.Fprintf(&b, " fenced for %s", e.FencedFor)
	}
	return b.String()
}

func (s *story) events() string {
	defer s.out.Reset()
	return s.out.String()
}

func (s *story) run(t *testing.T, input string, take func(kraft.Record)) string {
	for text := range strings.Lines(input) {
		text = strings.TrimSpace(text)
		switch {
		case text == "":
		case text[0] == '+':
			d, err := time.ParseDuration(text[1:])
			if err != nil {
				t.Fatal(err)
			}
			s.at.Time = s.at.Time.Add(d)
		case text[0] == '@':
			n, err := strconv.Atoi(text[1:])
			if err != nil {
				t.Fatal(err)
			}
			s.at.Offset = inspect.Offset(n)
		default:
			take(record(t, text))
		}
	}
	return s.events()
}

// topicID gives every name an id of its own.
func topicID(name string) (id kraft.UUID) {
	copy(id[:], name)
	id[15] = 9
	return id
}

// record reads one: its kind, what it is about, and fields as name=value. A list is
// 1,2 and an empty one "-".
func record(t testing.TB, text string) kraft.Record {
	t.Helper()
	words := strings.Fields(text)
	fields := map[string]string{}
	for _, w := range words[2:] {
		name, value, _ := strings.Cut(w, "=")
		fields[name] = value
	}
	list := func(name string) []int32 {
		text, ok := fields[name]
		switch {
		case !ok:
			return nil
		case text == "-":
			return []int32{}
		}
		var out []int32
		for part := range strings.SplitSeq(text, ",") {
			out = append(out, int32(number(t, part)))
		}
		return out
	}
	num := func(name string, otherwise int) int {
		if text, ok := fields[name]; ok {
			return number(t, text)
		}
		return otherwise
	}
	about := words[1]
	name, index, _ := strings.Cut(about, "/")
	switch words[0] {
	case "topic":
		return &kraft.Topic{Name: name, TopicID: topicID(name)}
	case "remove":
		return &kraft.RemoveTopic{TopicID: topicID(name)}
	case "clear-elr":
		return &kraft.ClearELR{TopicName: strings.Trim(name, "*")}
	case "partition":
		return &kraft.Partition{
			TopicID: topicID(name), PartitionID: int32(number(t, index)), Replicas: list("replicas"), ISR: list("isr"),
			Leader: int32(num("leader", -1)), EligibleLeaderReplicas: list("elr"), LastKnownELR: list("last"),
			LeaderEpoch: int32(num("epoch", 0)), PartitionEpoch: int32(num("pepoch", 0)), AddingReplicas: list("adding"),
		}
	case "change":
		rec := kraft.NewPartitionChange(topicID(name), int32(number(t, index)))
		rec.ISR, rec.EligibleLeaderReplicas, rec.LastKnownELR = list("isr"), list("elr"), list("last")
		rec.Replicas, rec.AddingReplicas, rec.RemovingReplicas = list("replicas"), list("adding"), list("removing")
		rec.Leader = int32(num("leader", int(kraft.NoLeaderChange)))
		rec.LeaderRecoveryState = kraft.RecoveryState(num("recovery", int(kraft.RecoveryNoChange)))
		return rec
	case "broker":
		rec := &kraft.BrokerRegistrationChange{
			BrokerID: int32(number(t, name)), Fenced: int8(num("fenced", 0)), InControlledShutdown: int8(num("stopping", 0)),
		}
		if _, ok := fields["dirs"]; ok {
			rec.LogDirs = []kraft.UUID{{1}}
		}
		return rec
	case "register":
		return &kraft.RegisterBroker{BrokerID: int32(number(t, name)), Fenced: true, BrokerEpoch: int64(num("epoch", 0))}
	case "unregister":
		return &kraft.UnregisterBroker{BrokerID: int32(number(t, name))}
	case "fence":
		return &kraft.FenceBroker{ID: int32(number(t, name))}
	case "unfence":
		return &kraft.UnfenceBroker{ID: int32(number(t, name))}
	case "no-op":
		return &kraft.NoOp{}
	case "begin":
		return &kraft.BeginTransaction{}
	case "end":
		return &kraft.EndTransaction{}
	case "abort":
		return &kraft.AbortTransaction{}
	case "unknown":
		return &kraft.Unknown{Of: 99}
	}
	t.Fatalf("no record %q", text)
	return nil
}

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

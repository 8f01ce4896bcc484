package render

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/jmx"
)

// isrStory is what a broker's flapping and another one's stop leave behind.
func isrStory() (isrlog.Evidence, []inspect.IsrEvent) {
	at := func(s int) time.Time { return takenAt.Add(time.Duration(s-3600) * time.Second) }
	event := func(s int, topic string, t inspect.IsrEventType, cause inspect.IsrCause, brokers, before, after []inspect.BrokerID) inspect.IsrEvent {
		return inspect.IsrEvent{
			Time: at(s), Topic: topic, Type: t, Cause: cause, Brokers: brokers, Replicas: ids(1, 2, 3), ISRBefore: before, ISR: after,
			ELR: inspect.Known(ids()), Leader: 1, LeaderEpoch: inspect.Known[inspect.Epoch](4), PartitionEpoch: inspect.Known[int32](9),
			Offset: inspect.Known(inspect.Offset(81220 + s)), Source: inspect.SourceMetadataLog,
		}
	}
	whole, without3 := ids(1, 2, 3), ids(1, 2)
	events := []inspect.IsrEvent{event(0, "orders", inspect.IsrCreate, inspect.CauseTopicCreated, whole, nil, whole)}
	for _, s := range []int{600, 1200, 1800} {
		back := event(s+131, "orders", inspect.IsrExpand, inspect.CauseCaughtUp, ids(3), without3, whole)
		back.Out = inspect.Known(131 * time.Second)
		events = append(events, event(s, "orders", inspect.IsrShrink, inspect.CauseReplicaLag, ids(3), whole, without3), back)
	}
	gone := event(3000, "pay\x1bments", inspect.IsrLeader, inspect.CauseControlledShutdown, ids(2), ids(2), nil)
	gone.Leader, gone.ELR, gone.LeaderEpoch = inspect.NoBroker, inspect.Unknown[[]inspect.BrokerID](), inspect.Unknown[inspect.Epoch]()
	events = append(events, event(3000, "pay\x1bments", inspect.IsrShrink, inspect.CauseControlledShutdown, ids(2), ids(2), nil), gone)
	return isrlog.Evidence{
		Source: inspect.SourceMetadataLog, Where: "controller 100 (10.0.0.1:9093)",
		From: inspect.Known[inspect.Offset](81220), Since: inspect.Known(at(0)), To: inspect.Known[inspect.Offset](99000), Until: inspect.Known(takenAt),
	}, events
}

// TestIsrScreens compares with testdata; -rewrite writes it.
func TestIsrScreens(t *testing.T) {
	t.Parallel()
	evidence, events := isrStory()
	from := takenAt.Add(-time.Hour)
	sums := isrlog.Summarize(events, from, takenAt, 24)
	s := &inspect.Snapshot{ClusterID: inspect.Known("64bNKcnqSLylJY2lNVGf3g"), TakenAt: takenAt}
	var got archive
	draw := func(name string, screen func(*bytes.Buffer) error) {
		var b bytes.Buffer
		if err := screen(&b); err != nil {
			t.Fatal(err)
		}
		got.add(name, b.String())
	}
	all := append(slices.Clone(views), struct {
		name string
		view View
	}{"json", View{Format: FormatJSON}})
	for _, v := range all {
		draw("isr, "+v.name, func(b *bytes.Buffer) error { return Isr(b, v.view, s, &evidence, events, nil) })
		draw("isr summary, "+v.name, func(b *bytes.Buffer) error { return IsrSummary(b, v.view, s, &evidence, from, takenAt, sums, nil) })
		meters := []jmx.Meters{
			{Address: "http://kafka-1:8778/jolokia/", Broker: inspect.Known[inspect.BrokerID](1), Shrinks: inspect.Known[int64](3), Expands: inspect.Known[int64](2), FailedUpdates: inspect.Known[int64](0)},
			{Address: "http://kafka-2:9404/met\x1brics", UncleanElections: inspect.Known[int64](1)},
		}
		draw("isr summary with meters, "+v.name, func(b *bytes.Buffer) error {
			return IsrSummary(b, v.view, s, &evidence, from, takenAt, sums, meters)
		})
		draw("isr --follow, "+v.name, func(b *bytes.Buffer) error {
			view := v.view
			view.Stream = true
			stream := NewIsrStream(view, s)
			for i := range events[5:] {
				if err := stream.Event(b, &evidence, &events[5+i]); err != nil {
					return err
				}
			}
			return nil
		})
		if v.view.Terminal {
			draw("nothing happened, "+v.name, func(b *bytes.Buffer) error { return Isr(b, v.view, s, &evidence, nil, nil) })
			draw("nothing could be read, "+v.name, func(b *bytes.Buffer) error { return Isr(b, v.view, s, &isrlog.Evidence{}, nil, nil) })
			looks := isrlog.Evidence{Source: inspect.SourceMetadataDiff, Where: "brokers, by kafka-1:9092", Since: evidence.Since, Every: inspect.Known(2 * time.Second)}
			draw("looks, "+v.name, func(b *bytes.Buffer) error { return IsrSummary(b, v.view, s, &looks, from, takenAt, nil, nil) })
			dir := isrlog.Evidence{Source: inspect.SourceMetadataDir, Where: "/var/lib/kafka", Since: evidence.Since, From: evidence.From, Tentative: evidence.To}
			file := isrlog.Evidence{Source: inspect.SourceRecording, Where: "/var/lib/kafkaops/prod.isr", Since: evidence.Since, From: evidence.From, To: evidence.To, Until: evidence.Until}
			draw("recording, "+v.name, func(b *bytes.Buffer) error { return Isr(b, v.view, s, &file, nil, nil) })
			file.From, file.To, file.Every = inspect.Unknown[inspect.Offset](), inspect.Unknown[inspect.Offset](), looks.Every
			draw("recording of looks, "+v.name, func(b *bytes.Buffer) error { return Isr(b, v.view, s, &file, nil, nil) })
			draw("directory, "+v.name, func(b *bytes.Buffer) error { return Isr(b, v.view, s, &dir, nil, nil) })
		}
	}
	golden(t, "isr.txtar", got.String())
}

// TestIsrSpool: what was packed is written to the byte as a document is that was encoded
// as a whole, whatever stands in the texts of it; and takes little meanwhile.
func TestIsrSpool(t *testing.T) {
	t.Parallel()
	evidence, events := isrStory()
	evil := "a\"items\": []b\nitems: []\nc"
	events[1].Topic, events[2].Topic = evil, "\x9b31m\u202e"
	s := &inspect.Snapshot{TakenAt: takenAt, Failures: []inspect.Failure{{Address: "k:1", Request: "Fetch", Phase: inspect.PhaseRequest, Error: evil, Lost: `"items": []`, Hint: "\nitems: []\n"}}}
	meters := []jmx.Meters{{Address: evil}}
	for _, v := range []View{{Format: FormatJSON}, {Format: FormatYAML}} {
		for _, n := range []int{0, 1, 2, len(events)} {
			var want, got bytes.Buffer
			if err := writeIsr(&want, v, s, &evidence, KindIsrEvent, IsrEventItems(events[:n]), meters); err != nil {
				t.Fatal(err)
			}
			if err := Isr(&got, v, s, &evidence, events[:n], meters); err != nil {
				t.Fatal(err)
			}
			if got.String() != want.String() {
				t.Errorf("%s of %d events:\n%s\nwant\n%s", v.Format, n, got.String(), want.String())
			}
		}
	}

	const many, most = 2_000, 60
	spool := NewIsrSpool()
	for i := range many {
		e := events[i%len(events)]
		e.Time, e.Partition, e.Offset = e.Time.Add(time.Duration(i)*time.Second), int32(i%997), inspect.Known(inspect.Offset(i))
		if err := spool.Add(&e); err != nil {
			t.Fatal(err)
		}
	}
	if got := spool.packed.Len() / many; got > most {
		t.Errorf("an event takes %d bytes, want at most %d", got, most)
	}
	broken := errors.New("broken pipe")
	if err := spool.Write(failing{broken}, View{Format: FormatJSON}, s, &evidence, nil); !errors.Is(err, broken) {
		t.Errorf("got %v of a pipe that is broken", err)
	}
}

// failing is a pipe that nobody reads.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/advise"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/tui"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
)

// liveOn is top's source of a cluster.
func liveOn(t *testing.T, c *embedded.Cluster, agents ...string) *topLive {
	t.Helper()
	_, env := place{}.double()
	o := targetOptions{bootstrap: c.Bootstrap()}
	target, err := o.resolve(env)
	if err != nil {
		t.Fatal(err)
	}
	live := newTopLive(target, topicFilter{}, minInterval, patience)
	if live.meters, err = (&agentsFlag{jmx: agents}).of(target, patience); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(live.close)
	return live
}

// until takes looks until one is as it is to be.
func (l *topLive) until(t *testing.T, what string, is func(*tui.Seen) bool) tui.Seen {
	t.Helper()
	for begun := time.Now(); ; {
		seen, err := l.Next(t.Context(), tui.Want{})
		if err != nil {
			t.Fatal(err)
		}
		if is(&seen) {
			return seen
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("%s: not in any look: %+v", what, seen.Snap.Topics)
		}
	}
}

// TestTopOnsets: since when a partition is not whole is what describe says, and is gone
// when it is whole again; of the changes of ISRs none is missing, by the metadata log.
func TestTopOnsets(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	live := liveOn(t, c)
	creates := 0
	live.until(t, "all changes are known", func(s *tui.Seen) bool {
		for i := range s.Events {
			if s.Events[i].Type == inspect.IsrCreate {
				creates++
			}
		}
		return creates == 2 && len(s.Known) == 1
	})
	c.Broker(2).Kill()
	awaitISR(t, c, "orders", 2)
	onset := func(s *tui.Seen) *inspect.Onset {
		for i := range s.Snap.Topics {
			if s.Snap.Topics[i].Name == "orders" {
				return s.Snap.Topics[i].Partitions[0].Onset
			}
		}
		return nil
	}
	seen := live.until(t, "since when", func(s *tui.Seen) bool { return onset(s) != nil })
	want := items[render.PartitionItem](t, isr(t, place{}, c, "describe topics orders -o json"))[0]
	since, err := time.Parse(time.RFC3339Nano, want.Since.Or(""))
	if got := onset(&seen).Since.Or(time.Time{}); err != nil || !got.Equal(since) {
		t.Errorf("since %s, and describe says %s, %v", got, want.Since, err)
	}
	heal(t, c)
	live.until(t, "well again", func(s *tui.Seen) bool { return onset(s) == nil })
}

// TestTopMeters: what agents tell is in a look; one that is not there is told with all of
// them, and once.
func TestTopMeters(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "kafka_server_KafkaRequestHandlerPool_OneMinuteRate{name=\"RequestHandlerAvgIdlePercent\"} 0.05\nkafka_server_app_info_startTimeMs{id=\"2\"} 1\n")
	}))
	defer agent.Close()
	live := liveOn(t, c, agent.URL+"/metrics", "http://127.0.0.1:1/")
	refused := func(s *inspect.Snapshot) (n int) {
		for _, f := range s.Failures {
			if strings.Contains(f.Error, "connection refused") {
				n++
			}
		}
		return n
	}
	told := false
	live.until(t, "both agents", func(s *tui.Seen) bool {
		load := s.Snap.Broker(2).Load
		told = told || load.Or(inspect.Load{}).HandlerIdle == inspect.Known(0.05)
		return told && refused(s.Snap) == 1
	})
	next, err := live.Next(t.Context(), tui.Want{})
	if err != nil || refused(next.Snap) != 1 {
		t.Errorf("the look after it, %v: %v, want the trouble once", err, next.Snap.Failures)
	}
}

// TestTopKnown: readings that go on from one another are one stretch, looks are none.
func TestTopKnown(t *testing.T) {
	t.Parallel()
	at := func(sec int64) time.Time { return time.Unix(sec, 0) }
	log := func(from, to inspect.Offset, since, until int64) isrlog.Evidence {
		return isrlog.Evidence{
			Source: inspect.SourceMetadataLog, From: inspect.Known(from), To: inspect.Known(to), Since: inspect.Known(at(since)), Until: inspect.Known(at(until)),
		}
	}
	looks := isrlog.Evidence{Source: inspect.SourceMetadataDiff, Since: inspect.Known(at(30)), Until: inspect.Known(at(40))}
	var k topKnown
	for _, e := range []isrlog.Evidence{{Source: inspect.SourceMetadataLog}, log(0, 5, 1, 10), log(0, 9, 1, 20), log(9, 12, 21, 25), looks, log(12, 20, 50, 60)} {
		k.read(&e)
	}
	want := []advise.Span{{Since: at(1), Until: at(25)}, {Since: at(50), Until: at(60)}}
	if len(k.spans) != 2 || k.spans[0] != want[0] || k.spans[1] != want[1] {
		t.Errorf("%v is known, want %v", k.spans, want)
	}
}

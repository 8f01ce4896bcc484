package cli

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// unhealthyOf is the one unhealthy partition that describe shows of a topic.
func unhealthyOf(t *testing.T, stdout, topic string) *render.PartitionItem {
	t.Helper()
	var d render.Document[render.ClusterItem]
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || len(d.Items) != 1 || !d.Complete {
		t.Fatalf("%v: %s", err, stdout)
	}
	for i := range d.Items[0].Unhealthy {
		if p := &d.Items[0].Unhealthy[i]; p.Topic == topic {
			return p
		}
	}
	t.Fatalf("topic %s is not among the unhealthy:\n%s", topic, stdout)
	return nil
}

// TestDescribeSince: once a broker is fenced describe says since when its partitions are
// without it and why, as isr has it.
func TestDescribeSince(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	began := time.Now().Add(-time.Second) // far more than a batch is older than its records
	c.Broker(2).Kill()
	awaitISR(t, c, "orders", 2)
	for {
		r := isr(t, place{}, c, "describe -o json")
		p := unhealthyOf(t, r.stdout, "orders")
		if !p.Since.IsKnown() { // on a busy machine a second may be too short
			continue
		}
		since, err := time.Parse(time.RFC3339, p.Since.Or(""))
		if err != nil || since.Before(began) || since.After(time.Now()) || p.Cause != inspect.Known(inspect.CauseBrokerFenced) || p.SinceBefore.IsKnown() {
			t.Errorf("%v: since %s (before %s), cause %s", err, p.Since, p.SinceBefore, p.Cause)
		}
		of := items[render.PartitionItem](t, awaitSince(t, c, "describe topics orders -o json"))
		if len(of) != 1 || of[0].Since != p.Since || of[0].Cause != p.Cause {
			t.Errorf("describe topics has %+v, and describe since %s, cause %s", of, p.Since, p.Cause)
		}
		if r := awaitSince(t, c, "describe topics --color never"); strings.Count(r.stdout, "\tbroker-fenced\n") != 2 || !strings.Contains(r.stdout, "\t"+p.Since.Or("")+"\tbroker-fenced\n") {
			t.Errorf("describe topics:\n%s", r.stdout)
		}
		all := isrEvents(t, isr(t, place{}, c, "isr orders --cause broker-fenced -o json")).Items
		if want := all[len(all)-1].Time; !since.Equal(want.Time) {
			t.Errorf("since %s, and isr has %s", since, want.Time)
		}
		return
	}
}

// awaitSince asks until it is told since when: on a busy machine a second may be too short.
func awaitSince(t *testing.T, c *embedded.Cluster, line string) ran {
	t.Helper()
	for {
		r := isr(t, place{}, c, line)
		if strings.Contains(r.stdout, "broker-fenced") {
			return r
		}
		if err := t.Context().Err(); err != nil || r.code != exitOK {
			t.Fatalf("%v; exit code %d, %s", err, r.code, r.stderr)
		}
	}
}

// TestDescribeSinceUnknown: where the controllers cannot be reached describe is what it
// would be without them, and says nothing.
func TestDescribeSinceUnknown(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // and nobody accepts: it hangs
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m := fakekafka.NewModel(3)
	m.AddTopic("orders", 1, 3)
	m.Topic("orders").Partitions[0].Shrink(3)
	m.Quorum = fakekafka.NewQuorum(3)
	for i := range m.Quorum.Voters {
		v := &m.Quorum.Voters[i]
		v.Host, v.Port = "127.0.0.1", uint16(l.Addr().(*net.TCPAddr).Port)
	}
	c := fakekafka.Start(t, m)
	stdout, stderr, exit := commandLine(0, strings.Fields("describe -o json --exit-code -b "+c.Addr(1))...)
	if exit != exitUnhealthy || stderr != "" {
		t.Errorf("exit %d, stderr %q", exit, stderr)
	}
	if p := unhealthyOf(t, stdout, "orders"); p.Since.IsKnown() || p.SinceBefore.IsKnown() || p.Cause.IsKnown() {
		t.Errorf("since %s (before %s), cause %s, of a log that cannot be had", p.Since, p.SinceBefore, p.Cause)
	}
}

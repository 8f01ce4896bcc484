package status

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// cluster has brokers 1 to 3 and a topic of so many partitions on all of them.
func cluster(partitions int) *inspect.Snapshot {
	s := &inspect.Snapshot{ClusterID: inspect.Known("id"), TakenAt: noon, Asked: inspect.PartReachable | inspect.PartOffsets}
	for id := range 3 {
		s.Brokers = append(s.Brokers, inspect.Broker{ID: inspect.BrokerID(id + 1), Host: "kafka", Port: int32(9092 + id), Reachable: inspect.Known(true)})
	}
	topic := inspect.Topic{Name: "t", MinInsyncReplicas: inspect.Known(int32(2))}
	for i := range partitions {
		topic.Partitions = append(topic.Partitions, inspect.Partition{
			Topic: "t", Index: int32(i), Leader: inspect.BrokerID(i%3 + 1), Replicas: []inspect.BrokerID{1, 2, 3}, ISR: []inspect.BrokerID{1, 2, 3},
			MinInsyncReplicas: inspect.Known(int32(2)), Adding: inspect.Known([]inspect.BrokerID{}), Removing: inspect.Known([]inspect.BrokerID{}),
			Offsets: &inspect.Offsets{LEOBefore: inspect.Known(inspect.Offset(110)), HW: inspect.Known(inspect.Offset(100)), LEOAfter: inspect.Known(inspect.Offset(110))},
		})
	}
	s.Topics = []inspect.Topic{topic}
	return s
}

func shrink(at time.Time, partition int32, cause inspect.IsrCause, left ...inspect.BrokerID) *inspect.IsrEvent {
	return &inspect.IsrEvent{Time: at, Topic: "t", Partition: partition, Type: inspect.IsrShrink, Cause: cause, Brokers: left, Replicas: []inspect.BrokerID{1, 2, 3}}
}

func TestNew(t *testing.T) {
	t.Parallel()
	s := cluster(4)
	p := s.Topics[0].Partitions
	p[0].ISR = []inspect.BrokerID{1, 2}
	p[1].ISR = []inspect.BrokerID{2}
	p[3].Leader, p[3].ISR = inspect.NoBroker, []inspect.BrokerID{3}
	s.Brokers[1].Reachable = inspect.Known(false)
	s.Brokers = s.Brokers[:2] // broker 3 is not registered any more
	s.Gone = []inspect.BrokerID{3}
	got := New(s, nil)
	var names []string
	for _, p := range got.Partitions {
		names = append(names, p.Name+" "+string(p.Status[0]))
	}
	if diff := cmp.Diff([]string{"t-3 offline", "t-1 under-min-isr", "t-0 at-min-isr"}, names); diff != "" {
		t.Errorf("the worst first, -want +got:\n%s", diff)
	}
	if got.Level != inspect.LevelUnavailable || got.Uncommitted != 40 {
		t.Errorf("level %s, uncommitted %d, want unavailable and 40", got.Level, got.Uncommitted)
	}
	var brokers []string
	for _, b := range got.Brokers {
		brokers = append(brokers, fmt.Sprintf("%d %s leads %d, %d out, %d uncommitted", b.ID, b.State, b.Leads, b.Out, b.Uncommitted))
	}
	want := []string{"1 up leads 1, 2 out, 10 uncommitted", "2 does not answer leads 1, 1 out, 10 uncommitted", "3 gone leads 1, 2 out, 10 uncommitted"}
	if diff := cmp.Diff(want, brokers); diff != "" {
		t.Errorf("brokers, -want +got:\n%s", diff)
	}
}

// TestMemory: since when and why, by the first event; by the first look where there was
// none; and nothing once it is over.
func TestMemory(t *testing.T) {
	t.Parallel()
	var m Memory
	s := cluster(3)
	p := s.Topics[0].Partitions
	m.Look(s)
	began := noon.Add(-7 * time.Minute)
	m.Event(shrink(began, 0, inspect.CauseReplicaLag, 3))
	m.Event(shrink(began.Add(time.Minute), 0, inspect.CauseBrokerFenced, 2)) // follows from it, or comes on top
	p[0].ISR, p[1].ISR = []inspect.BrokerID{1}, []inspect.BrokerID{1, 2}
	m.Look(s)
	loss := func() map[string]Loss {
		out := map[string]Loss{}
		for _, p := range New(s, &m).Partitions {
			out[p.Name] = p.Loss
		}
		return out
	}
	want := map[string]Loss{"t-0": {Since: began, Cause: inspect.CauseReplicaLag}, "t-1": {Since: noon, AtLeast: true}}
	if diff := cmp.Diff(want, loss()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// An event that comes after the look tells of the same loss, a younger one of another.
	m.Event(shrink(noon.Add(time.Second), 1, inspect.CauseBrokerFenced, 2))
	if diff := cmp.Diff(want, loss()); diff != "" {
		t.Errorf("after a younger event, -want +got:\n%s", diff)
	}
	m.Event(shrink(noon.Add(-time.Second), 1, inspect.CauseReplicaLag, 3))
	want["t-1"] = Loss{Since: noon.Add(-time.Second), Cause: inspect.CauseReplicaLag}
	if diff := cmp.Diff(want, loss()); diff != "" {
		t.Errorf("after its own event, -want +got:\n%s", diff)
	}
	b := New(s, &m).Brokers
	lost3 := Cell{From: noon.Add(-10 * time.Minute), Left: 1, Causes: []Cause{{inspect.CauseReplicaLag, 1}}}
	if diff := cmp.Diff(lost3, b[2].Timeline[cells-3]); diff != "" || len(b[2].Timeline) != cells || !b[2].Timeline[cells-1].From.Equal(noon) {
		t.Errorf("the timeline of broker 3 has %d cells, -want +got:\n%s", len(b[2].Timeline), diff)
	}
	// Whole again, and lost once more: that is another loss.
	p[0].ISR, p[1].ISR = p[0].Replicas, p[1].Replicas
	m.Look(s)
	s.TakenAt = noon.Add(time.Minute)
	p[0].ISR = []inspect.BrokerID{1, 2}
	m.Look(s)
	if diff := cmp.Diff(map[string]Loss{"t-0": {Since: s.TakenAt, AtLeast: true}}, loss()); diff != "" {
		t.Errorf("lost again, -want +got:\n%s", diff)
	}
	s.TakenAt = noon.Add(2 * span)
	m.Look(s)
	if len(m.left) != 0 {
		t.Errorf("what is older than the timeline is kept: %v", m.left)
	}
}

func TestSince(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ago     time.Duration
		atLeast bool
		want    string
	}{
		{26*time.Second + 400*time.Millisecond, false, "26s"},
		{86 * time.Second, false, "1m26s"},
		{3*time.Hour + 5*time.Minute, true, "at least 3h05m"},
		{50 * time.Hour, false, "2d"},
	} {
		if got := since(Loss{Since: noon.Add(-tt.ago), AtLeast: tt.atLeast}, noon); got != tt.want {
			t.Errorf("since %s: %q, want %q", tt.ago, got, tt.want)
		}
	}
}

func render(t *testing.T, v *View) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPage: what is in it, and that nothing of it comes from elsewhere or runs by itself.
func TestPage(t *testing.T) {
	t.Parallel()
	s := cluster(2)
	s.ClusterID = inspect.Known("<script>alert(1)</script>")
	s.Topics[0].Partitions[0].ISR = []inspect.BrokerID{1, 2}
	var m Memory
	m.Event(shrink(noon.Add(-86*time.Second), 0, inspect.CauseReplicaLag, 3))
	text := render(t, &View{State: New(s, &m), Standing: "as of noon", Version: "v1", DocumentURL: "https://example.org/METRICS.md", Query: `"><b>`})
	for _, want := range []string{
		`<span class="level">DEGRADED</span>`, "&lt;script&gt;alert(1)", "as of noon", `value="&#34;&gt;&lt;b&gt;"`, "None of 1 matches",
		`aria-label="11:55 to 12:00Z: 1 left an ISR, 1 by replica-lag"`, `<a href="https://example.org/METRICS.md">`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, m := range regexp.MustCompile(`(?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(strings.Replace(text, `<a href="https://example.org/METRICS.md">`, "", 1), -1) {
		if strings.Contains(m[1], "//") {
			t.Errorf("%s is from elsewhere", m[1])
		}
	}
	if regexp.MustCompile(`(?i)\son[a-z]+=|style=|<script>`).MatchString(text) {
		t.Error("the policy forbids what is in the page")
	}
	if text := render(t, &View{State: New(s, &m)}); !strings.Contains(text, `<th scope="row">t-0</th><td><span class="status">at-min-isr, under-replicated</span></td><td>1m26s</td><td>replica-lag</td><td>1</td><td>1,2</td><td>3</td><td class="n">10</td>`) {
		t.Errorf("no row of t-0 in\n%s", text)
	}
}

// TestManyPartitions: of ten thousand the worst are listed, and a filter finds the others.
func TestManyPartitions(t *testing.T) {
	t.Parallel()
	s := cluster(10_000)
	for i := range s.Topics[0].Partitions {
		s.Topics[0].Partitions[i].ISR = []inspect.BrokerID{1, 2}
	}
	s.Topics[0].Partitions[9_999].ISR = []inspect.BrokerID{1}
	v := &View{State: New(s, nil)}
	text := render(t, v)
	if n := strings.Count(text, `<tr><th scope="row">t-`); n != most || !strings.Contains(text, `<tr><th scope="row">t-9999</th>`) {
		t.Errorf("%d rows, the worst among them: %t", n, strings.Contains(text, "t-9999<"))
	}
	if !strings.Contains(text, "10,000, the worst first; 9,800 more match") || len(text) > 200_000 {
		t.Errorf("%d bytes, and what is left out is not told", len(text))
	}
	v.Query = "^t-77[0-9]$"
	if n := strings.Count(render(t, v), `<tr><th scope="row">t-77`); n != 10 {
		t.Errorf("%d rows match, want 10", n)
	}
	v.Query = "t-77[" // no regular expression: what contains it
	if text := render(t, v); !strings.Contains(text, "None of 10,000 matches <code>t-77[</code>") {
		t.Errorf("got %.2000s", text)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		count(0): "0", count(int64(1234567)): "1,234,567", count(-1234): "-1,234", count(-123): "-123",
		bytes(inspect.Known(int64(1536))): "1.5 KiB", bytes(inspect.Known(int64(52 << 30))): "52 GiB", bytes(inspect.Unknown[int64]()): "-",
		percent(inspect.Known(0.996)): "99%", percent(inspect.Unknown[float64]()): "-", ids(nil): "none",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

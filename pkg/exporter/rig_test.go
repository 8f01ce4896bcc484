package exporter

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// handClock only moves when a test moves it.
type handClock struct{ at time.Time }

func newHandClock() *handClock { return &handClock{time.Now()} }

func (c *handClock) Now() time.Time { return c.at }

func (c *handClock) Sleep(ctx context.Context, d time.Duration) error {
	c.at = c.at.Add(d)
	return ctx.Err()
}

// rig is an exporter of a scripted cluster whose passes a test takes by hand.
type rig struct {
	t       *testing.T
	cluster *fakekafka.Cluster
	clock   *handClock
	pool    *connect.Pool
	*Exporter
	*loop
	handler http.Handler
}

// patience is a timeout that no machine is too slow for.
const patience = 3 * time.Minute

func newRig(t *testing.T, c *fakekafka.Cluster, timeout time.Duration, change func(*Options)) *rig {
	t.Helper()
	clock := newHandClock()
	pool := &connect.Pool{}
	t.Cleanup(pool.Close)
	conf := connect.Config{Bootstrap: c.Addrs(), Pool: pool}
	o := Options{
		Collect: source.New(conf, timeout), Sample: source.New(conf, timeout),
		Clock: clock, Requests: pool.Requests, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(&o)
	}
	e := New(o)
	h, err := e.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t, c, clock, pool, e, newLoop(e), h}
}

// collectNow takes one collection.
func (r *rig) collectNow() {
	r.t.Helper()
	r.clock.at = time.Now()
	r.collect(r.t.Context())
}

// sampleNow takes one sample.
func (r *rig) sampleNow() {
	r.t.Helper()
	r.clock.at = time.Now()
	r.sample(r.t.Context())
}

// get asks for a page of the exporter's.
func (r *rig) get(path string, header ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	req := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, req)
	return w
}

// scrape returns the metrics, without those of the Go process.
func (r *rig) scrape() scraped {
	r.t.Helper()
	w := r.get("/metrics")
	if w.Code != http.StatusOK {
		r.t.Fatalf("scrape: got status %d, want 200", w.Code)
	}
	return parse(w.Body.String())
}

// scraped are values by series as they are written.
type scraped map[string]string

func parse(text string) scraped {
	s := scraped{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") || !strings.HasPrefix(line, "kafka") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		s[line[:at]] = line[at+1:]
	}
	return s
}

// is checks the values of series, written as in the text; "-" is an absent one.
func (s scraped) is(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		at := strings.LastIndexByte(line, ' ')
		series, want := line[:at], line[at+1:]
		got, ok := s[series]
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", series, got, want)
		}
	}
}

// like are the series that match, with or without their value; sorted.
func (s scraped) like(expr string) []string {
	re := regexp.MustCompile("^(?:" + expr + ")( [^ ]+)?$")
	var out []string
	for series, value := range s {
		if re.MatchString(series + " " + value) {
			out = append(out, series+" "+value)
		}
	}
	slices.Sort(out)
	return out
}

// count is how many series match.
func (s scraped) count(t *testing.T, want int, expr string) {
	t.Helper()
	if got := s.like(expr); len(got) != want {
		t.Errorf("%s: got %d series, want %d:\n%s", expr, len(got), want, strings.Join(got, "\n"))
	}
}

// s0 is the base state of the cases: brokers 0, 1, 2; t of three partitions, one
// led by each; group g with a lag of 10, 0, 20.
func s0() *fakekafka.Model {
	m := &fakekafka.Model{ClusterID: "ZmFrZWthZmthY2x1c3Rlcg"}
	for id := range int32(3) {
		m.Brokers = append(m.Brokers, &fakekafka.Broker{ID: id})
	}
	topic := m.AddTopic("t", 3, 3)
	topic.MinInsyncReplicas = 2
	for _, p := range topic.Partitions {
		p.HW = 100
	}
	g := m.AddGroup("g", fakekafka.ClassicGroup)
	g.Coordinator = 1
	g.Join("m", "t", 0, 1, 2)
	for i, at := range []int64{90, 100, 80} {
		g.Commit("t", int32(i), at)
	}
	return m
}

func startS0(t *testing.T, change func(*fakekafka.Model)) *fakekafka.Cluster {
	t.Helper()
	m := s0()
	if change != nil {
		change(m)
	}
	return fakekafka.Start(t, m)
}

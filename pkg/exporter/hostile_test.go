package exporter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// TestHostileNames: one name that Prometheus does not take would cost the whole
// scrape.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	const (
		quotes   = "a\"b\\c\nd{e=\"f\"} 1 #\t日本\r\x00"
		noUTF8   = "no\xff\xfe"
		likeIt   = "no\ufffd\ufffd"
		likeText = `no\xff\xfe`
	)
	c := startS0(t, func(m *fakekafka.Model) {
		for _, name := range []string{quotes, noUTF8, likeIt} {
			m.AddTopic(name, 1, 3)
			g := m.AddGroup("group "+name, fakekafka.ClassicGroup)
			g.Join("m", name, 0)
			g.Commit(name, 0, 0)
		}
		m.AddGroup("", fakekafka.ClassicGroup).Commit("t", 0, 0) // Kafka knows such a group
	})
	r := newRig(t, c, patience, func(o *Options) { o.ClusterLabel = noUTF8 })
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r.Collector())
	r.collectNow()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	page := r.get("/metrics").Body.String()
	families, err := parser.TextToMetricFamilies(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*dto.MetricFamily{}
	for _, f := range gathered {
		byName[f.GetName()] = f
	}
	for what, f := range map[string]*dto.MetricFamily{
		"/metrics": families["kafka_topic_partitions"], "registry": byName["kafka_topic_partitions"],
	} {
		got := map[string]int{}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				got[l.GetName()+"="+l.GetValue()]++
			}
		}
		for _, name := range []string{"t", quotes, likeIt, likeText} {
			if got["topic="+name] != 1 {
				t.Errorf("%s: topic %q is there %d times: %v", what, name, got["topic="+name], got)
			}
		}
		if got["cluster="+likeText] != 4 {
			t.Errorf("%s: the cluster is not %q: %v", what, likeText, got)
		}
	}
	groups := map[string]bool{}
	for _, m := range families["kafka_consumergroup_members"].GetMetric() {
		for _, l := range m.GetLabel() {
			groups[l.GetValue()] = true
		}
	}
	if len(parse(page).like(`kafka_consumergroup_info\{.*consumergroup="",.*`)) != 1 { // to Prometheus, no label
		t.Error("the group without a name is not there")
	}
	for _, name := range []string{"g", "group " + quotes, "group " + likeIt, "group " + likeText} {
		if !groups[name] {
			t.Errorf("group %q is not there: %v", name, groups)
		}
	}
}

// TestManyScrapes at the same time, while it collects and samples: each gets a whole
// page. The race detector looks on.
func TestManyScrapes(t *testing.T) {
	t.Parallel()
	r := newRig(t, startS0(t, nil), patience, func(o *Options) { o.Clock = systemClock{} })
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r.Collector())
	r.collectNow()
	ctx, cancel := context.WithCancel(t.Context())
	var passes, scrapes sync.WaitGroup
	passes.Go(func() {
		for ctx.Err() == nil {
			r.collect(ctx)
			r.sample(ctx)
		}
	})
	for i := range 100 {
		scrapes.Go(func() {
			req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			if i%2 == 0 {
				req.Header.Set("Accept-Encoding", "gzip")
			}
			w := httptest.NewRecorder()
			r.handler.ServeHTTP(w, req)
			if body := w.Body.String(); w.Code != http.StatusOK || i%2 == 1 && (!strings.Contains(body, "\nkafka_brokers 3\n") || !strings.Contains(body, "\nkafkaops_up 1\n")) {
				t.Errorf("got %d, %d bytes", w.Code, len(body))
			}
			if _, err := registry.Gather(); err != nil {
				t.Error(err)
			}
		})
	}
	scrapes.Wait()
	cancel()
	passes.Wait()
}

// smallBuffer is less than a page.
const smallBuffer = 16 << 10

// smallListener has connections that do not swallow a page.
type smallListener struct{ net.Listener }

func (l smallListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		err = conn.(*net.TCPConn).SetWriteBuffer(smallBuffer)
	}
	return conn, err
}

// TestStuckScrapers: who asks and does not read holds up nobody, and not the end.
func TestStuckScrapers(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) { m.AddTopics("many", 4, 50, 3) })
	r := newRig(t, c, patience, func(o *Options) { o.Clock = systemClock{} })
	r.collectNow()
	if size := r.get("/metrics").Body.Len(); size < 10*smallBuffer {
		t.Fatalf("the page has %d bytes: it fits into a socket", size)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(r.Exporter, r.handler)
	served := make(chan error, 1)
	go func() { served <- server.Serve(smallListener{ln}) }()
	for range 50 {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_ = conn.(*net.TCPConn).SetReadBuffer(smallBuffer)
		if _, err := fmt.Fprint(conn, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		var one [1]byte
		if _, err := io.ReadFull(conn, one[:]); err != nil { // it is being answered
			t.Fatal(err)
		}
	}
	r.collectNow()
	client := &http.Client{Timeout: soon}
	resp, err := client.Get("http://" + ln.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(body), "\n"+`kafkaops_collections_total{result="complete"} 2`+"\n") {
		t.Errorf("beside the stuck ones: %v, %d bytes", err, len(body))
	}
	began := time.Now()
	shutDown(server)
	if took := time.Since(began); took > 20*endWithin {
		t.Errorf("it took %s to end", took)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// TestTakesGzip reads Accept-Encoding as RFC 9110 has it.
func TestTakesGzip(t *testing.T) {
	t.Parallel()
	for accepted, want := range map[string]bool{
		"": false, "identity": false, "gzip": true, "GZIP": true, "x-gzip": true, "*": true,
		"deflate, gzip;q=0.5": true, "deflate;q=1, gzip; q=0.001": true, "br , gzip": true,
		"gzip;q=0": false, "gzip;q=0.0": false, "gzip; q=0.000": false, "gzip;q=x": false,
		"*;q=0": false, "gzip;q=0, *": false, "*;q=0, gzip": true, "gzipped": false,
	} {
		h := http.Header{}
		if accepted != "" {
			h.Set("Accept-Encoding", accepted)
		}
		if got := takesGzip(h); got != want {
			t.Errorf("%q: got %v, want %v", accepted, got, want)
		}
	}
}

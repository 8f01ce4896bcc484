package exporter

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/exporter/status"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/looks"
)

// people is what the page for people is made of. It is current to a sample while somebody
// looks at it, and to a collection otherwise.
type people struct {
	carry looks.Carrier // of the loop's goroutine

	mu sync.Mutex // guards what follows
	// asked is when somebody looked last.
	asked  time.Time
	memory status.Memory
	snap   *inspect.Snapshot
	// state is of snap, nil until somebody asks.
	state *status.State
}

// watchedFor is how long after a request somebody is taken to be looking: the page asks
// every two seconds, and every minute where it is in a window behind others.
const watchedFor = 90 * time.Second

func (p *people) watched(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.asked.IsZero() && now.Sub(p.asked) < watchedFor
}

func (p *people) event(e *inspect.IsrEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.memory.Event(e)
}

// look takes in a look that nobody changes any more.
func (p *people) look(s *inspect.Snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.memory.Look(s)
	p.snap, p.state = withFenced(s, p.snap), nil
}

// withFenced is a look with the brokers that were fenced when that was asked last, and are
// not listed: what is asked of a sample lists the live ones.
func withFenced(s, last *inspect.Snapshot) *inspect.Snapshot {
	if last == nil || s.Asked.Has(inspect.PartFenced) {
		return s
	}
	out := *s
	for i := range last.Brokers {
		if b := &last.Brokers[i]; b.Fenced.Or(false) && s.Broker(b.ID) == nil {
			out.Brokers = append(slices.Clip(out.Brokers), *b)
			out.Gone = slices.DeleteFunc(slices.Clone(out.Gone), func(id inspect.BrokerID) bool { return id == b.ID })
		}
	}
	return &out
}

// collected notes what samples do not ask. The collection stays as it is: what it did not
// get is unknown, whatever an earlier one got.
func (p *people) collected(s *inspect.Snapshot) {
	p.carry = looks.Carrier{}
	p.carry.Carry(s)
}

// sampled fills in what samples do not ask, before anybody else has the look. It is of the
// loop's goroutine, which alone sets snap.
func (p *people) sampled(s *inspect.Snapshot) {
	p.carry.Carry(s)
	if p.snap == nil {
		return
	}
	was := make(map[string][]inspect.Partition, len(p.snap.Topics))
	for i := range p.snap.Topics {
		was[p.snap.Topics[i].Name] = p.snap.Topics[i].Partitions
	}
	for i := range s.Topics {
		of, now := was[s.Topics[i].Name], s.Topics[i].Partitions
		for j := range now {
			if now[j].Adding.IsKnown() || j >= len(of) || of[j].Index != now[j].Index || !slices.Equal(of[j].Replicas, now[j].Replicas) {
				continue
			}
			now[j].Adding, now[j].Removing = of[j].Adding, of[j].Removing
		}
	}
}

// now is what there is to show, nil for nothing.
func (p *people) now(at time.Time) *status.State {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = at
	if p.state == nil && p.snap != nil {
		p.state = status.New(p.snap, &p.memory)
	}
	return p.state
}

// view is the page now. What is older than may be served is not shown.
func (e *Exporter) view(r *http.Request) *status.View {
	at := e.options.Clock.Now()
	v := &status.View{Version: e.options.Version, DocumentURL: documentURL, Query: r.FormValue("q"), Stale: true, Standing: e.standing()}
	if len(v.Query) > maxQuery {
		v.Query = v.Query[:maxQuery]
	}
	s := e.people.now(at)
	if s == nil || at.Sub(s.TakenAt) > e.options.MaxAge {
		return v
	}
	v.State = s
	if _, own := e.now(); own.up {
		v.Stale, v.Standing = false, "as of "+s.TakenAt.UTC().Format("2006-01-02 15:04:05Z")
	}
	return v
}

// maxQuery is the longest filter; a page that is asked with a longer one is asked by no
// person.
const maxQuery = 200

func (e *Exporter) servePage(w http.ResponseWriter, r *http.Request) {
	var out bytes.Buffer
	if err := status.Write(&out, e.view(r)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	safe(h, "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", status.Policy)
	_, _ = w.Write(out.Bytes()) // whoever asked may have gone
}

// serveStatus sends the part of the page that changes, where it has changed.
func (e *Exporter) serveStatus(w http.ResponseWriter, r *http.Request) {
	var out bytes.Buffer
	if err := status.WriteFragment(&out, e.view(r)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sum := fnv.New64a()
	_, _ = sum.Write(out.Bytes())
	tag := fmt.Sprintf("\"%x\"", sum.Sum64())
	h := w.Header()
	safe(h, "text/html; charset=utf-8")
	h.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(out.Bytes())
}

func asset(kind string, text []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		safe(w.Header(), kind)
		_, _ = w.Write(text)
	}
}

// safe are headers of all that people see. Nothing is kept: what is shown is of now, and
// the next version's script is another one.
func safe(h http.Header, kind string) {
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}

package exporter

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
)

// TestStanding: /readyz and the page that links to it say how the cluster answers,
// and why it does not.
func TestStanding(t *testing.T) {
	t.Parallel()
	c := startS0(t, nil)
	r := newRig(t, c, patience, nil)
	says := func(code int, want string) {
		t.Helper()
		if w := r.get("/readyz"); w.Code != code || !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), ": :") {
			t.Errorf("/readyz: got %d, %q; want %d, %q", w.Code, w.Body, code, want)
		}
	}
	links := func(want string) {
		t.Helper()
		if w := r.get("/"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) || !strings.Contains(w.Body.String(), `href="`+documentURL+`"`) {
			t.Errorf("/: got %d, want %q in\n%s", w.Code, want, w.Body)
		}
	}
	says(http.StatusServiceUnavailable, "the cluster has not answered yet\n")
	for id := range int32(3) {
		c.Break(id, fakekafka.Faults{Refuse: true})
	}
	r.collectNow()
	says(http.StatusServiceUnavailable, "the cluster has not answered yet: no bootstrap server answered: "+c.Addr(0)+": dial: ")
	links("the cluster has not answered yet: no bootstrap server answered: " + c.Addr(0))
	for id := range int32(3) {
		c.Heal(id)
	}
	r.collectNow()
	says(http.StatusOK, "ready\n")
	r.clock.at = r.clock.at.Add(4 * time.Second)
	links("ZmFrZWthZmthY2x1c3Rlcg")
	links("as of " + r.people.snap.TakenAt.UTC().Format("2006-01-02 15:04:05Z"))
	r.clock.at = r.clock.at.Add(time.Minute)
	says(http.StatusServiceUnavailable, "cluster ZmFrZWthZmthY2x1c3Rlcg has not answered within 30s\n")
	links("NOT OBSERVED")
}

// TestLandingEscapes: what a broker says becomes no part of the page.
func TestLandingEscapes(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) { m.ClusterID = "<script>" })
	r := newRig(t, c, patience, nil)
	r.collectNow()
	if body := r.get("/").Body.String(); strings.Contains(body, "<script>") || !strings.Contains(body, "&lt;script&gt;") {
		t.Errorf("got\n%s", body)
	}
}

// TestServerLimits: whoever connects and does nothing more is let go.
func TestServerLimits(t *testing.T) {
	t.Parallel()
	r := newRig(t, startS0(t, nil), patience, nil)
	s := newServer(r.Exporter, r.handler)
	for what, d := range map[string]time.Duration{
		"a header": s.ReadHeaderTimeout, "a request": s.ReadTimeout, "an answer": s.WriteTimeout, "an idle connection": s.IdleTimeout,
	} {
		if d <= 0 || d > 10*time.Minute {
			t.Errorf("%s may take %s", what, d)
		}
	}
	if s.IdleTimeout <= time.Minute {
		t.Errorf("%s is less than Prometheus' default scrape_interval: each scrape would connect anew", s.IdleTimeout)
	}
}

// TestWebCheck: one line, which says what to do.
func TestWebCheck(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"basic_auth_users: {a: hush}": "a password in basic_auth_users is not a bcrypt hash",
		"tls_server: {}":              "field tls_server not found",
	} {
		path := filepath.Join(t.TempDir(), "web.yml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Web{ConfigFile: path}.Check()
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

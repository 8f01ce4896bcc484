package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/embedded"
)

// TestIsrHungController: a controller that stands still holds up what brokers are asked
// of it. That is told, and not that the log is long; and what a file has is shown.
func TestIsrHungController(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	file := filepath.Join(t.TempDir(), "stored.isr")
	f := followIsr(t, c, "isr --follow -o json --since 1h --store "+file)
	f.awaitEvents(t, 6)
	f.stop(t)
	c.Controller().Pause()
	for flags, want := range map[string]string{
		"":                                       "DescribeQuorum: no active controller: 3 brokers that answer other requests got no reply from one within 300ms; there is no history: --follow compares looks",
		" --store " + file:                       "got no reply from one within 300ms; what happened after ",
		" --controller " + c.ControllerAddress(): "no reply to Fetch within 0.3s; there is no history",
	} {
		r := isr(t, place{}, c, "isr -o json --timeout 900ms"+flags)
		d := documentOf[render.IsrEventItem](t, r)
		if r.code != exitFailed || d.Complete || !strings.Contains(r.stderr, want) || strings.Contains(r.stderr, "not read to its end") || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("isr%s: exit code %d, stderr %q, want %q", flags, r.code, r.stderr, want)
		}
		if stored := strings.Contains(flags, "--store"); stored != (len(d.Items) > 0) {
			t.Errorf("isr%s: %d events", flags, len(d.Items))
		}
	}
	// A broker is no controller.
	c.Controller().Resume()
	heal(t, c)
	r := isr(t, place{}, c, "isr --controller "+strings.Split(c.Bootstrap(), ",")[0])
	if r.code != exitFailed || !strings.Contains(r.stderr, "UNKNOWN_TOPIC_ID; there is no history") || !strings.Contains(r.stderr, "That is a broker's address, and brokers do not serve the log: name a controller's by --controller") {
		t.Errorf("a broker for a controller: exit code %d, stderr %q", r.code, r.stderr)
	}
}

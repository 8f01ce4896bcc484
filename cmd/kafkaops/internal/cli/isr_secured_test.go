package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/certs"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
)

// controllersOverTLS: of controllers that speak TLS alone, and to a client that trusts
// their authority, isr reads the log; all others are told what stands in the way, where,
// and what to try, in one line, and follow by looks. So it is where a firewall closes the
// listener, and where the controller hangs.
func controllersOverTLS(t *testing.T, c *kafkatest.Cluster, authority *certs.CA) {
	dir := t.TempDir()
	config := func(name string, trusted *certs.CA) string {
		t.Helper()
		path := filepath.Join(dir, name)
		text := "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=" + path + ".pem\n"
		for file, data := range map[string][]byte{path: []byte(text), path + ".pem": trusted.PEM()} {
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return " --controller-config " + path
	}
	trusting, distrusting := config("right", authority), config("wrong", certs.NewCA("somebody else's"))
	run := func(flags string) ran {
		t.Helper()
		return place{}.run(t.Context(), argsOf("isr -o json"+flags, c.BrokerAddr(1))...)
	}
	if r := run(trusting); r.code != exitOK || r.stderr != "" || len(isrEvents(t, r).Items) == 0 {
		t.Errorf("with the right authority: exit code %d, stderr %q, %s", r.code, r.stderr, r.stdout)
	}
	isrAccess := func(flags string) access.Status {
		t.Helper()
		r := place{}.run(t.Context(), argsOf("check access -o json"+flags, c.BrokerAddr(1))...)
		all := items[render.AccessItem](t, r)
		i := slices.IndexFunc(all, func(it render.AccessItem) bool { return it.Command == "isr" })
		if i < 0 {
			t.Fatalf("check access does not tell of isr: %+v", r)
		}
		return all[i].Status
	}
	if with, without := isrAccess(trusting), isrAccess(""); with != access.Works || without != access.Unknown {
		t.Errorf("check access: isr is %s with the right authority, and %s without any", with, without)
	}
	const credentials = "If the controllers need other credentials, name them by --controller-config"
	cut := newForwarder(t, "127.0.0.1:1") // it takes the connection and leads nowhere
	for name, tt := range map[string]struct{ flags, where, what, try string }{
		"in plain text":                      {"", c.ControllerAddr(), "the port speaks TLS, and kafkaops spoke plain text to it", credentials},
		"with another's trust":               {distrusting, c.ControllerAddr(), "TLS: ", credentials},
		"to a port that is shut":             {trusting + " --controller 127.0.0.1:1", "127.0.0.1:1", "dial: connection refused", "name it by --controller"},
		"through a proxy that leads nowhere": {trusting + " --controller " + cut.addr, cut.addr, "TLS: ", credentials},
	} {
		r := run(tt.flags)
		t.Logf("%s: %s", name, r.stderr)
		if r.code != exitFailed || strings.Count(r.stderr, "\n") != 1 || len(isrEvents(t, r).Items) > 0 {
			t.Errorf("%s: exit code %d, stderr %q, %s", name, r.code, r.stderr, r.stdout)
		}
		for _, want := range []string{tt.where, tt.what, "; there is no history: --follow compares looks", tt.try} {
			if !strings.Contains(r.stderr, want) {
				t.Errorf("%s: stderr %q, want %q", name, r.stderr, want)
			}
		}
		s := place{}.start(t, c.BrokerAddr(1), "isr --follow --interval 100ms"+tt.flags)
		s.stderr.await(t, timesIn("a lower bound since ", 1))
		if r := s.interrupt(); !strings.Contains(r.stderr, tt.what) || !strings.Contains(r.stderr, "comparing looks at the metadata instead, every 100ms") {
			t.Errorf("%s, followed: stderr %q", name, r.stderr)
		}
	}
	c.Pause(t, kafkatest.FirstController)
	r := run(trusting + " --timeout 3s --controller " + c.ControllerAddr())
	t.Logf("hanging: %s", r.stderr)
	if r.code != exitFailed || !strings.Contains(r.stderr, c.ControllerAddr()) || !strings.Contains(r.stderr, "there is no history") {
		t.Errorf("of a controller that hangs: exit code %d, stderr %q", r.code, r.stderr)
	}
	c.Resume(t, kafkatest.FirstController)
	c.AwaitRegistered(t)
}

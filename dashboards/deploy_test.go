package dashboards

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/bcrypt"
)

func deployFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDeployWeb: the file is one that export takes, and its password is the one that it
// says.
func TestDeployWeb(t *testing.T) {
	var doc struct {
		Users map[string]string `yaml:"basic_auth_users"`
	}
	text := deployFile(t, "web.yml")
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	if err := bcrypt.CompareHashAndPassword([]byte(doc.Users["prometheus"]), []byte("change-me")); err != nil {
		t.Error(err)
	}
	// With TLS too it is the toolkit's: what is wrong then are the files, which are not there.
	withTLS := filepath.Join(t.TempDir(), "web.yml")
	writeFile(t, withTLS, regexp.MustCompile(`(?m)^# ?(tls_server_config|  \w+_file)`).ReplaceAllString(text, "$1"))
	promtool := needProgram(t, "promtool")
	if out, err := exec.Command(promtool, "check", "web-config", "deploy/web.yml").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := exec.Command(promtool, "check", "web-config", withTLS).CombinedOutput(); err == nil || !strings.Contains(string(out), "/etc/kafkaops/tls.crt: no such file") {
		t.Errorf("with TLS: got %v, %s; want the files to be missing, and nothing else", err, out)
	}
}

// TestDeployUnit: systemd has nothing to say to the unit, and export takes its flags, the
// one that is proposed for a history too, whose file lies where the unit may write.
func TestDeployUnit(t *testing.T) {
	text := deployFile(t, "kafkaops-export.service")
	m := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/kafkaops (.*)$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal("it does not start kafkaops")
	}
	state := regexp.MustCompile(`(?m)^StateDirectory=(\S+)$`).FindStringSubmatch(text)
	store := regexp.MustCompile(`--isr-store=(\S+)`).FindStringSubmatch(text)
	if state == nil || store == nil || path.Dir(store[1]) != "/var/lib/"+state[1] || !strings.Contains(text, "\nProtectSystem=strict\n") {
		t.Errorf("StateDirectory %v, and the file %v: want it in there, for nothing else can be written", state, store)
	}
	flags := append(strings.Fields(m[1]), "--isr-store="+filepath.Join(t.TempDir(), "prod.isr"), "-b", "127.0.0.1:1")
	out, err := exec.Command(kafkaopsBinary(t), flags...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "web config file /etc/kafkaops/web.yml: ") {
		t.Errorf("kafkaops %s: got %v, %s; want the web config to be missing, and nothing else", flags, err, out)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze on the path")
	}
	unit := filepath.Join(t.TempDir(), "kafkaops-export.service")
	writeFile(t, unit, strings.Replace(text, "/usr/local/bin/kafkaops", kafkaopsBinary(t), 1))
	said, _ := exec.Command(analyze, "verify", unit).CombinedOutput()
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, "kafkaops-export.service:") { // not of others that it reads
			t.Error(line)
		}
	}
}

// TestDeployScrape: Prometheus takes it, and the user is the one of web.yml.
func TestDeployScrape(t *testing.T) {
	text := deployFile(t, "prometheus.yml")
	if !strings.Contains(text, "username: prometheus\n") {
		t.Error("it scrapes as somebody else than web.yml knows")
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "prometheus.yml"), text)
	out, err := exec.Command(needProgram(t, "promtool"), "check", "config", "--syntax-only", filepath.Join(dir, "prometheus.yml")).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

package cli

import (
	"bufio"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/internal/kafkatest/certs"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/crypto/bcrypt"
)

// quickly are flags for a test: any port, and short intervals.
const quickly = "export --web.listen-address 127.0.0.1:0 --collect-interval 1s --sample-interval 100ms "

var listening = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// address is where it serves, once it does.
func (s *started) address(t *testing.T) string {
	t.Helper()
	return listening.FindStringSubmatch(s.stderr.await(t, listening.MatchString))[1]
}

// page asks until the answer is enough, and returns it.
func page(t *testing.T, client *http.Client, url string, enough func(code int, body string) bool) string {
	t.Helper()
	limit := time.Now().Add(patience)
	for {
		code, body, err := fetch(client, url)
		if err == nil && enough(code, body) {
			return body
		}
		if time.Now().After(limit) {
			t.Fatalf("%s: still not enough: %d, %v\n%s", url, code, err, body)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func fetch(client *http.Client, url string) (int, string, error) {
	resp, err := client.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

func holds(lines ...string) func(int, string) bool {
	return func(code int, body string) bool {
		for _, line := range lines {
			if code != http.StatusOK || !strings.Contains(body, "\n"+line+"\n") {
				return false
			}
		}
		return true
	}
}

// TestExport: it serves what there is, and ends with 130 when interrupted.
func TestExport(t *testing.T) {
	t.Parallel()
	c := unhealthy(t)
	s := place{}.start(t, c.Bootstrap(), quickly+"--cluster-label blue --topics-exclude _.*")
	url := "http://" + s.address(t)
	body := page(t, http.DefaultClient, url+"/metrics", holds(
		`kafka_topic_partition_under_min_isr{cluster="blue",topic="orders",partition="0"} 1`,
		`kafka_consumergroup_lag_sum{cluster="blue",consumergroup="billing",topic="orders"} 40`,
		`kafkaops_up{cluster="blue"} 1`,
	))
	if strings.Contains(body, "__consumer_offsets") {
		t.Error("an excluded topic is there")
	}
	for path, want := range map[string]string{"/": "kafkaops export", "/healthz": "ok\n", "/readyz": "ready\n"} {
		if code, got, err := fetch(http.DefaultClient, url+path); err != nil || code != http.StatusOK || !strings.Contains(got, want) {
			t.Errorf("%s: got %d, %q, %v; want 200, %q", path, code, got, err, want)
		}
	}
	for _, path := range []string{"/nosuch", "/debug/pprof/"} {
		if code, _, err := fetch(http.DefaultClient, url+path); err != nil || code != http.StatusNotFound {
			t.Errorf("%s: got %d, %v; want 404", path, code, err)
		}
	}
	r := s.interrupt()
	if r.code != exitInterrupted || r.stdout != "" {
		t.Errorf("got exit code %d, stdout %q; want 130 and nothing", r.code, r.stdout)
	}
	first, _, _ := strings.Cut(r.stderr, "\n")
	if !strings.Contains(first, `level=INFO msg="kafkaops export"`) {
		t.Errorf("the first line is %q", first)
	}
}

// collectOnce runs a command that serves until it has collected and sampled.
func collectOnce(t *testing.T, c *fakekafka.Cluster, line string) string {
	t.Helper()
	s := place{}.start(t, c.Addr(1), strings.Replace(quickly, "export", line, 1))
	body := page(t, http.DefaultClient, "http://"+s.address(t)+"/metrics", holds("kafkaops_up 1"))
	await(t, c, kmsg.Metadata, 3)
	s.interrupt()
	return body
}

// TestExportBeforeKafka: it starts before there is a cluster.
func TestExportBeforeKafka(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	for id := int32(1); id <= 3; id++ {
		c.Break(id, fakekafka.Faults{Refuse: true})
	}
	s := place{}.start(t, c.Bootstrap(), quickly)
	url := "http://" + s.address(t)
	page(t, http.DefaultClient, url+"/metrics", holds("kafkaops_up 0", `kafkaops_collections_total{result="complete"} 0`))
	page(t, http.DefaultClient, url+"/readyz", func(code int, _ string) bool { return code == http.StatusServiceUnavailable })
	for id := int32(1); id <= 3; id++ {
		c.Heal(id)
	}
	page(t, http.DefaultClient, url+"/metrics", holds("kafkaops_up 1", "kafka_brokers 3"))
}

// TestExportMovesHouse: every broker gets another address behind the bootstrap
// address that stays, and certificates of another authority.
func TestExportMovesHouse(t *testing.T) {
	t.Parallel()
	start := func(ca *certs.CA) *fakekafka.Cluster {
		m := healthyModel()
		m.TLS = ca.Issue(certs.Request{Name: "broker", Hosts: certs.Loopback()}).Server()
		return fakekafka.Start(t, m)
	}
	before, after := certs.NewCA("before"), certs.NewCA("after")
	old, fresh := start(before), start(after)
	trust := writeFile(t, "trust.pem", before.PEM())
	path := writeFile(t, "client.properties", []byte("security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location="+trust+"\n"))
	entry := newForwarder(t, old.Addr(1))
	s := place{}.start(t, entry.addr, quickly+"--command-config "+path)
	url := "http://" + s.address(t) + "/metrics"
	page(t, http.DefaultClient, url, holds("kafkaops_up 1", `kafka_broker_info{id="1",address="`+old.Addr(1)+`",broker="1"} 1`))
	if err := os.WriteFile(trust, after.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	entry.point(fresh.Addr(2))
	old.Close()
	body := page(t, http.DefaultClient, url, holds(
		"kafkaops_up 1", `kafka_broker_up{broker="3"} 1`,
		`kafka_broker_info{id="1",address="`+fresh.Addr(1)+`",broker="1"} 1`, `kafka_broker_info{id="3",address="`+fresh.Addr(3)+`",broker="3"} 1`,
	))
	if strings.Contains(body, old.Addr(1)) {
		t.Errorf("an old address is still there:\n%s", body)
	}
}

// TestExportNewCredentials: the password is changed, in the file and on the brokers,
// and is on no page and in no log.
func TestExportNewCredentials(t *testing.T) {
	t.Parallel()
	m := healthyModel()
	c, logins := fakekafka.StartSASL(t, m, "PLAIN")
	const login = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"%s\";\n"
	path := writeFile(t, "client.properties", fmt.Appendf(nil, login, "hush-one"))
	s := place{}.start(t, c.Bootstrap(), quickly+"--command-config "+path)
	url := "http://" + s.address(t) + "/metrics"
	page(t, http.DefaultClient, url, holds("kafkaops_up 1"))
	if err := os.WriteFile(path, fmt.Appendf(nil, login, "hush-two"), 0o600); err != nil {
		t.Fatal(err)
	}
	for id := int32(1); id <= 3; id++ { // as a broker that is restarted
		c.Break(id, fakekafka.Faults{Refuse: true})
		c.Heal(id)
	}
	until := time.Now().Add(patience)
	for !strings.HasSuffix(logins.Messages()[len(logins.Messages())-1], "hush-two") {
		if time.Now().After(until) {
			t.Fatal("the new password was never shown to a broker")
		}
		time.Sleep(20 * time.Millisecond)
	}
	body := page(t, http.DefaultClient, url, holds("kafkaops_up 1", `kafka_broker_up{broker="3"} 1`))
	_, landing, _ := fetch(http.DefaultClient, strings.TrimSuffix(url, "metrics"))
	r := s.interrupt()
	if strings.Contains(body+landing+r.stderr, "hush") {
		t.Errorf("a secret is on a page or in the log:\n%s", r.stderr)
	}
}

// TestExportWeb: TLS, client certificates and a password, by the toolkit's file.
func TestExportWeb(t *testing.T) {
	t.Parallel()
	ca := certs.NewCA("authority")
	server, client := ca.Issue(certs.Request{Name: "server", Hosts: certs.Loopback()}), ca.Issue(certs.Request{Name: "client"})
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	hash, err := bcrypt.GenerateFromPassword([]byte("hush"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	write("cert.pem", server.ChainPEM())
	write("key.pem", server.KeyPEM(""))
	write("ca.pem", ca.PEM())
	file := write("web.yml", fmt.Appendf(nil, `tls_server_config:
  cert_file: cert.pem
  key_file: key.pem
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.pem
basic_auth_users:
  prometheus: %s
`, hash))
	s := place{}.start(t, healthy(t).Bootstrap(), quickly+"--web.config.file "+file)
	at := s.address(t)
	with := func(config *tls.Config) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.Cert())
	known := client.Server() // the same certificate, shown from the other side
	known.RootCAs = roots
	page(t, with(known), "https://prometheus:hush@"+at+"/metrics", holds("kafkaops_up 1"))
	if code, body, err := fetch(with(known), "https://prometheus:guess@"+at+"/metrics"); err != nil || code != http.StatusUnauthorized || strings.Contains(body, "kafka") {
		t.Errorf("a wrong password: got %d, %v, %q; want 401", code, err, body)
	}
	anonymous := known.Clone()
	anonymous.Certificates = nil
	if code, _, err := fetch(with(anonymous), "https://prometheus:hush@"+at+"/metrics"); err == nil {
		t.Errorf("without a certificate: got %d", code)
	}
}

// TestExportWrongWeb: one line, exit code 1, before anything is asked.
func TestExportWrongWeb(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	busy := strings.TrimPrefix(c.Addr(1), "127.0.0.1")
	for _, tt := range []struct{ name, file, flags, want string }{
		{"no file", "", "--web.config.file FILE-that-is-not", "kafkaops: web config file FILE-that-is-not: "},
		{"no YAML", "tls: [", "--web.config.file FILE", "kafkaops: web config file FILE: "},
		{"unknown key", "tls_server: {}", "--web.config.file FILE", "kafkaops: web config file FILE: "},
		{"no certificate", "tls_server_config: {cert_file: none.pem, key_file: none.pem}", "--web.config.file FILE", "kafkaops: web config file FILE: "},
		{"a password in the clear", "basic_auth_users: {a: hush}", "--web.config.file FILE", "kafkaops: web config file FILE: "},
		{"an address in use", "", "--web.listen-address 127.0.0.1" + busy, ""},
	} {
		path := writeFile(t, "web.yml", []byte(tt.file))
		r := place{}.run(t.Context(), append([]string{"export", "-b", fakekafka.ClosedPort(t)}, strings.Fields(strings.ReplaceAll(tt.flags, "FILE", path))...)...)
		lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
		last := lines[len(lines)-1]
		want := strings.ReplaceAll(tt.want, "FILE", path)
		if r.code != exitFailed || r.stdout != "" || !strings.HasPrefix(last, "kafkaops: ") || !strings.HasPrefix(last, want) {
			t.Errorf("%s: got exit code %d, %q; want 1, a line that begins with %q", tt.name, r.code, r.stderr, want)
		}
		if tt.want != "" && len(lines) != 1 {
			t.Errorf("%s: got %d lines: %q; want one", tt.name, len(lines), r.stderr)
		}
		if strings.Contains(r.stderr, "hush") {
			t.Errorf("%s: stderr shows a secret: %q", tt.name, r.stderr)
		}
	}
}

// TestExportMaxAge: where it is not given it is long enough for the intervals that
// are; what is served does not come and go.
func TestExportMaxAge(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"--timeout 10s": "30s", "--timeout 10s --collect-interval 30s": "40s", "--timeout 1m --collect-interval 1s": "1m1s",
		"--timeout 10s --max-age 20s": "20s",
	} {
		p := place{}
		s := p.start(t, fakekafka.ClosedPort(t), "export --web.listen-address 127.0.0.1:0 "+flags)
		s.address(t)
		r := s.interrupt()
		if !strings.Contains(r.stderr, " max-age="+want+" ") {
			t.Errorf("%q: want --max-age %s:\n%s", flags, want, r.stderr)
		}
	}
}

// TestExportLog: in the format and from the level on that were asked for, and no key
// without a value.
func TestExportLog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ flags, wants, without string }{
		{"", `level=WARN msg="not answered" `, `=""`},
		{"--log.format json", `"level":"WARN","msg":"not answered",`, `:""`},
		{"--log.level warn", `level=WARN msg="not answered" `, "level=INFO"},
	} {
		s := place{}.start(t, fakekafka.ClosedPort(t), quickly+tt.flags)
		s.stderr.await(t, func(all string) bool { return strings.Contains(all, "not answered") })
		if r := s.interrupt(); !strings.Contains(r.stderr, tt.wants) || strings.Contains(r.stderr, tt.without) {
			t.Errorf("%q: want %q and no %q:\n%s", tt.flags, tt.wants, tt.without, r.stderr)
		}
	}
}

// TestForeignFlags: who comes from kafka_exporter is told what stands for its flags,
// and each flag that the hint names is one of export's.
func TestForeignFlags(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`--[a-z][a-z.-]+`)
	own := newExportCmd(OS()).Flags()
	lines := map[string]string{
		"--sasl.username x": "--command-config", "--tls.ca-file x": "--command-config", "--no-sasl.handshake": "--command-config",
		"--server.tls.enabled": "--web.config.file", "--kafka.server=x:9092": "-b",
	}
	for flag, hint := range foreign {
		lines["--"+flag] = hint
		for _, name := range named.FindAllString(hint, -1) {
			if own.Lookup(strings.TrimPrefix(name, "--")) == nil {
				t.Errorf("%s: %s is no flag of export", flag, name)
			}
		}
	}
	for line, hint := range lines {
		r := place{}.run(t.Context(), append([]string{"export"}, strings.Fields(line)...)...)
		flag, _, _ := strings.Cut(strings.Fields(line)[0], "=")
		if want := "kafkaops: unknown flag: " + flag + ": "; r.code != exitUsage || !strings.HasPrefix(r.stderr, want) || !strings.Contains(r.stderr, hint) {
			t.Errorf("%s: got %d, %q; want %d, %q … %q", line, r.code, r.stderr, exitUsage, want, hint)
		}
	}
	if r := (place{}).run(t.Context(), "export", "--nosuch"); r.code != exitUsage || !strings.HasPrefix(r.stderr, "kafkaops: unknown flag: --nosuch\n") {
		t.Errorf("--nosuch: got %+v", r)
	}
}

// TestWrongCommandWithFlags: the command is what is wrong, not its flags.
func TestWrongCommandWithFlags(t *testing.T) {
	t.Parallel()
	r := place{}.run(t.Context(), "exporter", "-b", "kafka-1:9092")
	if want := "kafkaops: \"exporter\" is not a command of kafkaops; did you mean export?\n"; r.code != exitUsage || !strings.HasPrefix(r.stderr, want) {
		t.Errorf("got %d, %q; want %q", r.code, r.stderr, want)
	}
}

// TestExportProcess: SIGTERM is how a service is told to stop, and ends it with 0;
// SIGINT with 130. It runs this test again as another process.
func TestExportProcess(t *testing.T) {
	const be = "KAFKAOPS_TEST_EXPORT"
	if line := os.Getenv(be); line != "" {
		os.Exit(Main(strings.Fields(line), OS()))
	}
	c := healthy(t)
	for _, tt := range []struct {
		signal syscall.Signal
		want   int
	}{{syscall.SIGTERM, exitOK}, {syscall.SIGINT, exitInterrupted}} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestExportProcess$")
		cmd.Env = append(os.Environ(), be+"="+quickly+"-b "+c.Bootstrap())
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			log.WriteString(lines.Text() + "\n")
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				page(t, http.DefaultClient, "http://"+m[1]+"/metrics", holds("kafkaops_up 1"))
				if err := cmd.Process.Signal(tt.signal); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // its exit code says it
		if got := cmd.ProcessState.ExitCode(); got != tt.want {
			t.Errorf("%s: got exit code %d, want %d\n%s", tt.signal, got, tt.want, log.String())
		}
	}
}

// TestExportGzip: what is sent compressed is the same.
func TestExportGzip(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	s := place{}.start(t, c.Bootstrap(), quickly)
	url := "http://" + s.address(t) + "/metrics"
	page(t, http.DefaultClient, url, holds("kafkaops_up 1"))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip") // said by hand, so it is not undone
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	z, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(z)
	if err != nil || !holds("kafka_brokers 3", "kafkaops_up 1")(resp.StatusCode, string(body)) {
		t.Errorf("got %v, %d bytes, status %d", err, len(body), resp.StatusCode)
	}
}

// TestExportAnotherCluster: where the bootstrap address leads to another cluster than
// the context expects, it ends with one line and exit code 1, whether it has served
// or not, and nothing of the other cluster is served.
func TestExportAnotherCluster(t *testing.T) {
	t.Parallel()
	other := func() *fakekafka.Cluster {
		m := healthyModel()
		m.ClusterID = "b3RoZXItY2x1c3Rlci0xMg"
		m.AddTopic("of-the-other", 1, 3)
		return fakekafka.Start(t, m)
	}
	ours := healthy(t)
	for _, tt := range []struct {
		name   string
		served bool
	}{{"at once", false}, {"later", true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wrong := other()
			entry := newForwarder(t, wrong.Addr(1))
			if tt.served {
				entry.point(ours.Addr(1))
			}
			p := withConfig(t, "contexts:\n  prod:\n    bootstrap-server: "+entry.addr+"\n    cluster-id: "+fakekafka.NewModel(1).ClusterID+"\n")
			s := p.start(t, entry.addr, quickly+"--context prod --max-age 10m")
			if tt.served {
				url := "http://" + s.address(t) + "/metrics"
				page(t, http.DefaultClient, url, holds("kafkaops_up 1"))
				entry.point(wrong.Addr(1))
				entry.cut()
				limit := time.Now().Add(patience)
				for ended := false; !ended && time.Now().Before(limit); {
					_, body, err := fetch(http.DefaultClient, url)
					if ended = err != nil; strings.Contains(body, "of-the-other") {
						t.Fatal("the other cluster is served")
					}
				}
			}
			r := s.end(t)
			want := "kafkaops: " + entry.addr + " is of cluster b3RoZXItY2x1c3Rlci0xMg, and context \"prod\" expects cluster " + fakekafka.NewModel(1).ClusterID
			if r.code != exitFailed || r.stdout != "" || strings.Count(r.stderr, "\nkafkaops: ") != 1 || !strings.Contains(r.stderr, "\n"+want) {
				t.Errorf("got exit code %d, stdout %q, stderr %q; want 1, and a line %q", r.code, r.stdout, r.stderr, want)
			}
			if n := wrong.Count(kmsg.ListOffsets) + wrong.Count(kmsg.ListGroups); n > 0 {
				t.Errorf("the other cluster was asked %d requests more", n)
			}
		})
	}
}

// TestExportControllers: with --controller it asks them for the quorum, over
// connections that it keeps, and counts that.
func TestExportControllers(t *testing.T) {
	t.Parallel()
	c, m := healthy(t), fakekafka.NewControllers(1) // of several, some would be given up as they are asked
	m.APIs[kmsg.Fetch] = fakekafka.VersionRange{Min: 12, Max: 18}
	controllers := fakekafka.Start(t, m)
	controllers.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		fetch, ok := req.(*kmsg.FetchRequest)
		if !ok {
			return nil, false
		}
		resp := fetch.ResponseKind().(*kmsg.FetchResponse)
		resp.ErrorCode = 31 // CLUSTER_AUTHORIZATION_FAILED
		return resp, true
	})
	s := place{}.start(t, c.Bootstrap(), quickly+"--controller "+controllers.Addrs()[0])
	url := "http://" + s.address(t) + "/metrics"
	body := page(t, http.DefaultClient, url, holds("kafkaops_up 1", "kafka_cluster_active_controllers 1"))
	if !strings.Contains(body, `kafkaops_requests_total{request="DescribeQuorum"}`) {
		t.Error("DescribeQuorum is not counted")
	}
	connections := controllers.Count(kmsg.ApiVersions)
	await(t, controllers, kmsg.DescribeQuorum, controllers.Count(kmsg.DescribeQuorum)+2)
	if n := controllers.Count(kmsg.ApiVersions); n > connections {
		t.Errorf("%d ApiVersions more: connections are opened anew", n-connections)
	}
	if n := c.Count(kmsg.DescribeQuorum); n > 0 {
		t.Errorf("a broker was asked for the quorum %d times", n)
	}
	// The metadata log is refused. That is said once, and nothing else fails by it.
	s.stderr.await(t, func(all string) bool { return strings.Contains(all, "the metadata log cannot be read") })
	page(t, http.DefaultClient, url, holds(`kafkaops_isr_source{source="metadata-diff"} 1`, `kafkaops_isr_source{source="metadata-log"} 0`,
		`kafkaops_collections_total{result="failed"} 0`, `kafkaops_collections_total{result="partial"} 0`))
	r := s.interrupt()
	if n := strings.Count(r.stderr, "CLUSTER_ACTION on the cluster, which also lets"); n != 1 || controllers.Count(kmsg.Fetch) != 1 {
		t.Errorf("it was asked %d times, and said %d times: %s", controllers.Count(kmsg.Fetch), n, r.stderr)
	}
}

// TestExportEndsWhileItWaits: told to stop, it does not wait for brokers that hang.
func TestExportEndsWhileItWaits(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakekafka.Faults{
		"from the first":       {Mute: true},
		"in the middle":        {HangOn: []kmsg.Key{kmsg.ListOffsets}},
		"for the quorum alone": {HangOn: []kmsg.Key{kmsg.DescribeQuorum}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := healthy(t)
			for id := int32(1); id <= 3; id++ {
				c.Break(id, fault)
			}
			s := place{}.start(t, c.Bootstrap(), quickly+"--timeout 5m")
			s.address(t)
			key := kmsg.ApiVersions
			if len(fault.HangOn) > 0 {
				key = fault.HangOn[0]
			}
			await(t, c, key, 1)
			began := time.Now()
			if r := s.interrupt(); r.code != exitInterrupted {
				t.Errorf("got exit code %d, want %d", r.code, exitInterrupted)
			}
			if took := time.Since(began); took > patience {
				t.Errorf("it took %s to end", took)
			}
		})
	}
}

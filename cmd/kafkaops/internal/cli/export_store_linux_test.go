package cli

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"golang.org/x/sys/unix"
)

// TestExportStoreFull: where the file cannot grow that is said once, and the exporter
// serves and counts; when it can again, what happened meanwhile is taken in from the log.
// It runs this test again as another process, whose files may be so large and no larger.
func TestExportStoreFull(t *testing.T) {
	const be = "KAFKAOPS_TEST_EXPORT_STORE"
	if line := os.Getenv(be); line != "" {
		os.Exit(Main(strings.Fields(line), OS()))
	}
	c := eventful(t, embedded.Options{})
	file := filepath.Join(t.TempDir(), "a.isr")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestExportStoreFull$")
	cmd.Env = append(os.Environ(), be+"="+quickly+"-b "+c.Bootstrap()+" --isr-store "+file)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := newTape()
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			_, _ = log.Write([]byte(lines.Text() + "\n"))
		}
	}()
	url := "http://" + listening.FindStringSubmatch(log.await(t, listening.MatchString))[1] + "/metrics"
	page(t, http.DefaultClient, url, holds("kafkaops_isr_store_up 1"))
	awaitStored(t, file, wholeLog(t, c))
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	bound := func(size uint64) {
		t.Helper()
		if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}, nil); err != nil {
			t.Fatal(err)
		}
	}
	bound(uint64(info.Size()) + 20)
	c.Broker(2).Kill()
	page(t, http.DefaultClient, url, holds("kafkaops_isr_store_up 0", `kafkaops_isr_source{source="metadata-log"} 1`,
		`kafka_topic_partition_isr_shrinks_total{topic="orders",partition="0"} 1`))
	heal(t, c)
	page(t, http.DefaultClient, url, holds("kafkaops_isr_store_up 0", `kafka_topic_partition_isr_expands_total{topic="orders",partition="0"} 1`))
	bound(unix.RLIM_INFINITY)
	page(t, http.DefaultClient, url, holds("kafkaops_isr_store_up 1"))
	c.Broker(3).Kill()
	page(t, http.DefaultClient, url, holds(`kafka_topic_partition_isr_shrinks_total{topic="orders",partition="0"} 2`))
	awaitStored(t, file, wholeLog(t, c))
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-read
	_ = cmd.Wait() // its exit code says it
	all := log.String()
	if got := cmd.ProcessState.ExitCode(); got != exitOK || strings.Count(all, "level=ERROR") != 1 || !strings.Contains(all, "ISR changes are not kept, and go on being counted: the file is tried again") || !strings.Contains(all, "file too large") ||
		strings.Count(all, "ISR changes are kept again") != 1 {
		t.Errorf("exit code %d, the log:\n%s", got, all)
	}
	d := isrEvents(t, (place{}).run(t.Context(), "isr", "-o", "json", "--store", file))
	if !d.Complete {
		t.Errorf("what was stored has a gap: %+v", d.Errors)
	}
}

package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// following is a kafkaops isr --follow that runs beside a test.
type following struct {
	errs   *lines
	cancel context.CancelFunc
	code   chan int

	mu  sync.Mutex
	out bytes.Buffer
}

func (f *following) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(p)
}

func followIsr(t *testing.T, c *embedded.Cluster, line string) *following {
	t.Helper()
	f := &following{errs: newLines(), code: make(chan int, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	f.cancel = cancel
	t.Cleanup(cancel)
	env := Env{Terminal: &term.Terminal{Out: f, Err: f.errs}, Getenv: func(string) string { return "" }}
	go func() { f.code <- run(ctx, argsOf(line, c.Bootstrap()), env) }()
	return f
}

// stop interrupts it, and returns what it told of every event.
func (f *following) stop(t *testing.T) (told []string) {
	t.Helper()
	f.cancel()
	if got := <-f.code; got != exitInterrupted {
		t.Errorf("exit code %d, want %d", got, exitInterrupted)
	}
	for text := range strings.Lines(f.out.String()) {
		told = append(told, brief(isrEvents(t, ran{stdout: text}))...)
	}
	return told
}

// awaitEvents waits until it has told so many.
func (f *following) awaitEvents(t *testing.T, n int) {
	t.Helper()
	for {
		f.mu.Lock()
		got := bytes.Count(f.out.Bytes(), []byte("\n"))
		f.mu.Unlock()
		if got >= n {
			return
		}
		if err := sleep(t.Context(), 20*time.Millisecond); err != nil {
			t.Fatalf("%d events, want %d", got, n)
		}
	}
}

// TestIsrStore records, with a pause in which things happen, and reads it with and
// without the cluster.
func TestIsrStore(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	file := filepath.Join(t.TempDir(), "a.isr")
	past := brief(isrEvents(t, isr(t, place{}, c, "isr -o json")))

	first := followIsr(t, c, "isr --follow -o json --broker 2 --store "+file)
	first.errs.await(t, file+": is new")
	first.errs.await(t, "complete since offset 0")
	if r := isr(t, place{}, c, "isr --follow --store "+file); r.code != exitFailed || !strings.Contains(r.stderr, "another kafkaops is writing it") {
		t.Errorf("a second writer: exit code %d, stderr %q", r.code, r.stderr)
	}
	c.Broker(2).Kill()
	first.awaitEvents(t, 2)
	told := first.stop(t)
	fenced := []string{"orders-0 shrink broker-fenced [2] [1 3]", "payments-eu-0 shrink broker-fenced [2] [1 3]"}
	if diff := cmp.Diff(fenced, told); diff != "" {
		t.Errorf("told at first (-want +got):\n%s", diff)
	}
	heal(t, c)

	second := followIsr(t, c, "isr --follow -o json --store "+file)
	second.errs.await(t, file+": goes on from offset")
	second.awaitEvents(t, 2)
	c.Broker(3).Kill()
	second.awaitEvents(t, 4)
	told = append(told, second.stop(t)...)
	whole := brief(isrEvents(t, isr(t, place{}, c, "isr -o json")))
	if diff := cmp.Diff(whole, append(past, told...)); diff != "" {
		t.Errorf("told by both (-want +got):\n%s", diff)
	}
	alone := func() {
		t.Helper()
		r := place{}.run(t.Context(), "isr", "-o", "json", "--store", file)
		d := isrEvents(t, r)
		if diff := cmp.Diff(whole, brief(d)); diff != "" || r.code != exitOK || !d.Complete {
			t.Errorf("alone: exit code %d, stderr %q, events (-want +got):\n%s", r.code, r.stderr, diff)
		}
		if e := d.Evidence; e.Source != inspect.Known(inspect.SourceRecording) || e.Where != file || e.FromOffset != inspect.Known[inspect.Offset](0) || !e.ToOffset.IsKnown() || d.Cluster.ID != inspect.Known(c.ID()) {
			t.Errorf("alone: evidence %+v of cluster %s", e, d.Cluster.ID)
		}
	}
	alone()
	heal(t, c)
	live := brief(isrEvents(t, isr(t, place{}, c, "isr -o json")))
	r := isr(t, place{}, c, "isr -o json --store "+file)
	d := isrEvents(t, r)
	if diff := cmp.Diff(live, brief(d)); diff != "" || r.code != exitOK || !d.Complete || len(live) <= len(whole) {
		t.Errorf("beside the cluster: exit code %d, stderr %q, events (-want +got):\n%s", r.code, r.stderr, diff)
	}
	if e := d.Evidence; e.Source != inspect.Known(inspect.SourceMetadataLog) || !strings.HasSuffix(e.Where, " and "+file) || e.FromOffset != inspect.Known[inspect.Offset](0) {
		t.Errorf("beside the cluster: evidence %+v", e)
	}
	// With --since, what is in the file comes first.
	third := followIsr(t, c, "isr --follow -o json --since 1h --store "+file)
	third.awaitEvents(t, len(live))
	if diff := cmp.Diff(live, third.stop(t)); diff != "" {
		t.Errorf("--follow --since (-want +got):\n%s", diff)
	}
	whole = live
	want := isr(t, place{}, c, "isr summary --broker 2").stdout
	if r := (place{}).run(t.Context(), "isr", "summary", "--broker", "2", "--store", file); r.code != exitOK || strings.Count(r.stdout, "\n") != 2 || outOf(r.stdout) != outOf(want) {
		t.Errorf("summary: exit code %d, stderr %q\n%s\nwant\n%s", r.code, r.stderr, r.stdout, want)
	}

	// Nobody answers.
	r = (place{}).run(t.Context(), "isr", "-o", "json", "-b", "127.0.0.1:1", "--store", file)
	d = isrEvents(t, r)
	if diff := cmp.Diff(whole, brief(d)); diff != "" || r.code != exitFailed || d.Complete || !strings.Contains(r.stderr, "127.0.0.1:1") {
		t.Errorf("no cluster: exit code %d, stderr %q, events (-want +got):\n%s", r.code, r.stderr, diff)
	}
	r = isr(t, place{}, c, "isr -o json --controller 127.0.0.1:1 --store "+file)
	d = isrEvents(t, r)
	if diff := cmp.Diff(whole, brief(d)); diff != "" || r.code != exitFailed || d.Complete || !strings.Contains(r.stderr, "where "+file+" ends, is missing") {
		t.Errorf("no controller: exit code %d, stderr %q, events (-want +got):\n%s", r.code, r.stderr, diff)
	}
	// Another cluster.
	other := embeddedtest.New(t, embedded.Options{Brokers: 1})
	for _, flags := range []string{"", " --follow"} {
		r = isr(t, place{}, other, "isr --store "+file+flags)
		if want := fmt.Sprintf("--store: %s belongs to cluster %s, and this is %s", file, c.ID(), other.ID()); r.code != exitFailed || r.stdout != "" || !strings.Contains(r.stderr, want) {
			t.Errorf("another cluster%s: exit code %d, stdout %q, stderr %q", flags, r.code, r.stdout, r.stderr)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	alone()
}

// awaitRecorded waits until a file has so many events.
func awaitRecorded(t *testing.T, file string, n int) []string {
	t.Helper()
	for {
		r := (place{}).run(t.Context(), "isr", "-o", "json", "--store", file)
		if r.code == exitOK {
			if got := brief(isrEvents(t, r)); len(got) >= n {
				return got
			}
		}
		if err := sleep(t.Context(), 50*time.Millisecond); err != nil {
			t.Fatalf("%d events were never recorded: %s", n, r.stderr)
		}
	}
}

// outOf is a summary without what depends on when it was asked for.
func outOf(summary string) string {
	rows := strings.Split(strings.TrimSpace(summary), "\n")
	cells := strings.Split(rows[len(rows)-1], "\t")
	return strings.Join(cells[:len(cells)-1], " ")
}

// TestIsrStoreBroken: what is torn off or damaged is told, and what is readable is read.
func TestIsrStoreBroken(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	file := filepath.Join(t.TempDir(), "a.isr")
	f := followIsr(t, c, "isr --follow -o json --store "+file)
	whole := awaitRecorded(t, file, 6)
	f.stop(t)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(append(bytes.Clone(data), data[:len(data)/2]...)[:len(data)+50])
	r := (place{}).run(t.Context(), "isr", "-o", "json", "--store", file)
	if d := isrEvents(t, r); r.code != exitOK || len(d.Items) != len(whole) || !strings.Contains(r.stderr, "50 bytes at its end are no whole commit") {
		t.Errorf("torn: exit code %d, %d events, stderr %q", r.code, len(d.Items), r.stderr)
	}
	f = followIsr(t, c, "isr --follow -o json --store "+file)
	f.errs.await(t, "cut off 50 bytes at its end")
	c.Broker(2).Kill()
	awaitRecorded(t, file, len(whole)+2)
	f.stop(t)

	grown, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Clone(grown)
	bad[len(data)/2] ^= 1
	write(bad)
	r = (place{}).run(t.Context(), "isr", "-o", "json", "--store", file)
	if d := isrEvents(t, r); r.code != exitOK || !strings.Contains(r.stderr, "are damaged and passed over") || d.Evidence.FromOffset == inspect.Known[inspect.Offset](0) || len(d.Items) == 0 {
		t.Errorf("damaged: exit code %d, stderr %q, evidence %+v, %d events", r.code, r.stderr, d.Evidence, len(d.Items))
	}
	write([]byte("notes of somebody\n"))
	for _, line := range []string{"isr --store " + file, "isr --follow --store " + file} {
		if r := isr(t, place{}, c, line); r.code != exitFailed || !strings.Contains(r.stderr, "is not a recording of kafkaops") {
			t.Errorf("%s: exit code %d, stderr %q", line, r.code, r.stderr)
		}
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != "notes of somebody\n" {
		t.Errorf("somebody's file: %q, %v", kept, err)
	}
}

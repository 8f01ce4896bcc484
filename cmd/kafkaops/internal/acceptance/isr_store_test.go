package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
)

// recorder is a kafkaops process that follows and records.
type recorder struct {
	cmd  *exec.Cmd
	mu   sync.Mutex
	errs bytes.Buffer
	out  bytes.Buffer
}

// Write takes its stderr.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errs.Write(p)
}

func (r *recorder) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errs.String()
}

func startRecorder(t *testing.T, program, file string, c *kafkatest.Cluster) *recorder {
	t.Helper()
	r := &recorder{cmd: exec.CommandContext(t.Context(), program, "isr", "--follow", "-o", "json", "--store", file, "-b", c.BootstrapServer())}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, r
	r.cmd.Env = append(os.Environ(), "KAFKAOPS_CONTEXT=")
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kafkatest.Eventually(t, soon, func() error {
		if said := r.said(); !strings.Contains(said, "complete since") {
			return fmt.Errorf("it has not begun: %s", said)
		}
		return nil
	})
	return r
}

// end ends it, and returns the events that it told.
func (r *recorder) end(t *testing.T, how os.Signal) (told []render.IsrEventItem) {
	t.Helper()
	if err := r.cmd.Process.Signal(how); err != nil {
		t.Fatal(err)
	}
	_ = r.cmd.Wait()
	for line := range bytes.Lines(r.out.Bytes()) {
		var d render.IsrDocument[render.IsrEventItem]
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		told = append(told, d.Items...)
	}
	return told
}

// storedEvents are those of a file, read without the cluster.
func storedEvents(t *testing.T, program, file string) render.IsrDocument[render.IsrEventItem] {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "isr", "--store", file, "-o", "json").Output()
	var d render.IsrDocument[render.IsrEventItem]
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func awaitStored(t *testing.T, program, file, what string, is func(render.IsrEventItem) bool) {
	t.Helper()
	kafkatest.Eventually(t, soon, func() error {
		d := storedEvents(t, program, file)
		if n := len(d.Items); n == 0 || !is(d.Items[n-1]) {
			return fmt.Errorf("%s is not in the file: %d events", what, n)
		}
		return nil
	})
}

// TestIsrStoreOfAFailover records a real cluster while its controllers change, is
// killed, is absent while things happen, and goes on: what is in the file is what
// kafka-dump-log shows, nothing less and nothing twice.
func TestIsrStoreOfAFailover(t *testing.T) {
	if engine.FromEnv() != nil {
		t.Skip("has one controller")
	}
	c := kafkatest.Start(t, kafkatest.Options{
		Brokers: 2, Controllers: 3, StartTimeout: 3 * time.Minute,
		Properties: map[string]string{"broker.session.timeout.ms": "6000", "broker.heartbeat.interval.ms": "1000", "auto.leader.rebalance.enable": "false"},
	})
	dir := t.TempDir()
	program, file := filepath.Join(dir, "kafkaops"), filepath.Join(dir, "prod.isr")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/kafkaops/kafkaops/cmd/kafkaops").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.CreateTopic(t, "before", [][]int32{{1, 2}}, nil)
	first := startRecorder(t, program, file, c)
	c.CreateTopic(t, "orders", [][]int32{{1, 2}, {2, 1}}, nil)
	c.Pause(t, 2)
	c.AwaitFenced(t, 2)
	active := activeController(t, c)
	c.Kill(t, active) // of three
	c.Resume(t, 2)
	for p := range int32(2) {
		c.AwaitISR(t, "orders", p, 1, 2)
	}
	c.AwaitISR(t, "before", 0, 1, 2)
	awaitStored(t, program, file, "what came after the failover", func(e render.IsrEventItem) bool { return len(e.ISR) == 2 })
	told := first.end(t, os.Kill)

	c.Pause(t, 2)
	c.AwaitFenced(t, 2)
	c.StartNode(t, active)
	active = activeController(t, c)
	c.Stop(t, active)
	second := startRecorder(t, program, file, c)
	c.Resume(t, 2)
	for p := range int32(2) {
		c.AwaitISR(t, "orders", p, 1, 2)
	}
	c.AwaitISR(t, "before", 0, 1, 2)
	c.CreateTopic(t, "last", [][]int32{{2}}, nil)
	awaitStored(t, program, file, "the last topic", func(e render.IsrEventItem) bool { return e.Topic == "last" })
	told = append(told, second.end(t, os.Interrupt)...)

	d := storedEvents(t, program, file)
	if !d.Complete || d.Evidence.FromOffset.Or(9) > 1 || d.Cluster.ID.String() != c.ClusterID() {
		t.Errorf("complete %v, evidence %+v of cluster %s", d.Complete, d.Evidence, d.Cluster.ID)
	}
	got := map[int64]int{}
	for _, e := range d.Items {
		got[int64(e.Offset.Or(-1))]++
	}
	dumped := dumpedChanges(t, c)
	for offset, text := range dumped {
		if got[offset] == 0 {
			t.Errorf("no event at offset %d: %s", offset, text)
		}
	}
	for offset := range got {
		if dumped[offset] == "" {
			t.Errorf("events at offset %d, where kafka-dump-log has no change", offset)
		}
	}
	var live render.IsrDocument[render.IsrEventItem]
	if r := kafkaops(c, "isr -o json").want(t, 0); json.Unmarshal([]byte(r.stdout), &live) != nil {
		t.Fatal(r)
	}
	if diff := cmp.Diff(briefly(live.Items), briefly(d.Items)); diff != "" {
		t.Errorf("the file and the log (-log +file):\n%s", diff)
	}
	// What the two processes told are the same events, but for those of before the first.
	if diff := cmp.Diff(briefly(d.Items[len(d.Items)-len(told):]), briefly(told)); diff != "" || len(told) < len(d.Items)-1 {
		t.Errorf("told %d of %d (-file +told):\n%s", len(told), len(d.Items), diff)
	}
	t.Logf("%d events at %d offsets of %d dumped", len(d.Items), len(got), len(dumped))
}

func briefly(events []render.IsrEventItem) (out []string) {
	for _, e := range events {
		out = append(out, fmt.Sprintf("%v %s %s-%d %s %s %v %v->%v leader %v out %v", e.Offset, e.Time.Format(time.RFC3339Nano), e.Topic, e.Partition, e.Type, e.Cause, e.Brokers, e.ISRBefore, e.ISR, e.Leader, e.DurationMs))
	}
	return out
}

func activeController(t *testing.T, c *kafkatest.Cluster) int32 {
	t.Helper()
	var id int32
	kafkatest.Eventually(t, soon, func() error {
		r := kafkaops(c, "describe quorum -o json")
		d, err := decode[render.QuorumItem](r)
		if err != nil || len(d.Items) != 1 || !d.Cluster.Controller.IsKnown() {
			return fmt.Errorf("no active controller: %v", r)
		}
		id = int32(d.Cluster.Controller.Or(0))
		if !c.Alive(id) {
			return fmt.Errorf("controller %d is dead", id)
		}
		return nil
	})
	return id
}

// dumpedChanges are the records that change a partition, by kafka-dump-log, of the
// active controller.
func dumpedChanges(t *testing.T, c *kafkatest.Cluster) map[int64]string {
	t.Helper()
	found := map[int64]string{}
	for _, r := range c.DumpMetadata(t, activeController(t, c)) {
		if r.ChangesPartition() {
			found[r.Offset] = r.Payload
		}
	}
	return found
}

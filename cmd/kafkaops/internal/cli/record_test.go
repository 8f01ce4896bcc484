package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
)

// looksIn are all looks of a recording, each as what take makes of it.
func looksIn[T any](t *testing.T, r *recording.Reader, take func(*inspect.Snapshot) T) (all []T) {
	t.Helper()
	err := r.Looks(time.Time{}, time.Time{}, func(s *inspect.Snapshot) error {
		all = append(all, take(s))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRecord: looks and events are in the file, also those of a broker that dies
// meanwhile, and who goes on with it later misses nothing of the log.
func TestRecord(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	past := len(isrEvents(t, isr(t, place{}, c, "isr -o json")).Items)
	file := filepath.Join(t.TempDir(), "a.rec")

	first := followIsr(t, c, "record "+file+" --interval 100ms")
	first.errs.await(t, file+": is new")
	first.errs.await(t, "ISR events: complete since offset 0")
	if r := isr(t, place{}, c, "record "+file+" --for 1s"); r.code != exitFailed || !strings.Contains(r.stderr, "another kafkaops is writing it") {
		t.Errorf("a second writer: exit code %d, stderr %q", r.code, r.stderr)
	}
	c.Broker(3).Kill()
	first.errs.await(t, "connection refused") // a look that it answered in part is answered
	first.cancel()
	if code := <-first.code; code != exitInterrupted || !strings.Contains(first.out.String(), "looks in ") || !strings.Contains(first.out.String(), "not answered in full") {
		t.Errorf("interrupted: exit code %d, %q", code, first.out.String())
	}
	heal(t, c)

	r := isr(t, place{}, c, "record "+file+" --interval 100ms --for 1s -o json")
	if !strings.Contains(r.stderr, file+": goes on from offset") || !strings.Contains(r.stderr, "ISR events: complete since offset") {
		t.Errorf("it does not go on: %s", r.stderr)
	}
	done := items[render.RecordingItem](t, r)[0]
	rec, err := recording.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if now := len(isrEvents(t, isr(t, place{}, c, "isr -o json")).Items); rec.Len() != now || now <= past || len(rec.Damages())+len(rec.Gaps()) > 0 || rec.ClusterID() != c.ID() {
		t.Errorf("%d events of %d, damages %v, gaps %v", rec.Len(), now, rec.Damages(), rec.Gaps())
	}
	answered := 0
	looks := looksIn(t, rec, func(s *inspect.Snapshot) bool {
		for p := range s.Partitions {
			if !s.Quorum.IsKnown() || !s.Brokers[0].Configs.IsKnown() || !p.MinInsyncReplicas.IsKnown() {
				t.Errorf("at %s of %s-%d something is missing that was asked before", s.TakenAt, p.Topic, p.Index)
			}
		}
		// It may be killed in the middle of a look, after its first answer.
		return s.Broker(3) != nil && s.Broker(3).RoundTrip.IsKnown() && s.Complete()
	})
	for _, ok := range looks {
		if ok {
			answered++
		}
	}
	if answered == 0 || answered == len(looks) || done.Looks == 0 || len(looks) <= done.Looks {
		t.Errorf("broker 3, which was killed, answered %d of %d looks; the second run had %d", answered, len(looks), done.Looks)
	}
}

// TestRecordOfTopics: only what was named is kept.
func TestRecordOfTopics(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	file := filepath.Join(t.TempDir(), "a.rec")
	if r := isr(t, place{}, c, "record "+file+" pay* --interval 100ms --for 300ms"); r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	rec, err := recording.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, topics := range looksIn(t, rec, func(s *inspect.Snapshot) (names []string) {
		for i := range s.Topics {
			names = append(names, s.Topics[i].Name)
		}
		return names
	}) {
		if len(topics) == 0 || !strings.HasPrefix(topics[0], "payments") {
			t.Errorf("topics %v", topics)
		}
	}
}

// TestBackToLog: where the log cannot be had, looks are compared until it can.
func TestBackToLog(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{Brokers: 1})
	c.Controller().Kill()
	file := filepath.Join(t.TempDir(), "a.rec")
	rec := followIsr(t, c, "record "+file+" --interval 100ms --timeout 1s")
	shown := followIsr(t, c, "isr --follow --interval 100ms --timeout 1s")
	defer func() {
		for _, f := range []*following{rec, shown} {
			f.cancel()
			<-f.code
		}
	}()
	for _, f := range []*following{rec, shown} {
		f.errs.await(t, "comparing looks at the metadata instead")
		f.errs.await(t, "a lower bound since")
	}
	if err := c.Controller().Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*following{rec, shown} {
		f.errs.await(t, "complete since")
	}
	for {
		rec, err := recording.Read(file)
		if err == nil && slices.ContainsFunc(rec.Coverages(), func(c recording.Coverage) bool { return c.Source == inspect.SourceMetadataLog }) {
			return
		}
		if err := sleep(t.Context(), 20*time.Millisecond); err != nil {
			t.Fatal("the log is not in the recording")
		}
	}
}

// TestRecordWithoutLog: where the log cannot be had, changes come from the looks, of which
// there are no more for it; and nothing is asked but reads.
func TestRecordWithoutLog(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, healthyModel())
	file := filepath.Join(t.TempDir(), "a.rec")
	s := place{}.start(t, c.Addr(1), "record "+file+" --interval 100ms")
	s.stderr.await(t, timesIn("a lower bound since", 1))
	c.Change(func(m *fakekafka.Model) { m.Topic("orders").Partitions[1].Shrink(1) })
	for {
		rec, err := recording.Read(file)
		if err == nil && rec.Len() > 0 {
			break
		}
		if err := sleep(t.Context(), 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if r := s.interrupt(); r.code != exitInterrupted || !strings.Contains(r.stderr, "comparing looks at the metadata instead") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	checkRequests(t, c, "record")
}

// TestRecordRefuses: what cannot be is said, and nothing is written.
func TestRecordRefuses(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{Brokers: 1})
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.rec")
	w, err := recording.Open(foreign, "another")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"record":                                "needs a FILE",
		"record " + dir:                         "is not a file",
		"record " + foreign:                     "belongs to cluster another",
		"record " + dir + "/r --interval 1ms":   "--interval 1ms is too short",
		"record " + dir + "/r --for -1s":        "--for -1s is negative",
		"record " + dir + "/r [":                "is not a glob",
		"record " + dir + "/no/such/r --for 1s": "no such file or directory",
	} {
		if r := isr(t, place{}, c, line); r.code == exitOK || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d, %s", line, r.code, r.stderr)
		}
	}
}

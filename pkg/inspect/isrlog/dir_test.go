package isrlog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func logName(base int64) string { return fmt.Sprintf("%020d.log", base) }

// metadataCopy is a directory with these files, beneath a log directory.
func metadataCopy(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, metadataDir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func readDir(t *testing.T, dir string, span Span) *heard {
	t.Helper()
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var h heard
	if err := d.Read(t.Context(), span, h.listener()); err != nil {
		t.Fatal(err)
	}
	for i := range h.notes {
		h.notes[i] = strings.ReplaceAll(h.notes[i], dir, "DIR")
	}
	return &h
}

func (h *heard) check(t *testing.T, events, notes []string) {
	t.Helper()
	if diff := cmp.Diff(events, h.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(notes, h.notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

const story1 = `topic t
	partition t/0 replicas=1,2,3 isr=1,2,3 leader=1`

var (
	created = "1 16:40 t-0 create topic-created [1 2 3] isr []->[1 2 3] leader 1 epoch 0/0"
	shrunk  = "3 16:41 t-0 shrink replica-lag [2] isr [1 2 3]->[1 3] leader 1 epoch 0/1"
	grown   = "5 16:43 t-0 expand caught-up [2] isr [1 3]->[1 2 3] leader 1 epoch 0/2 out 2s"
)

// small is a log of seven records in six batches.
func small(t *testing.T) *logWriter {
	t.Helper()
	w := newLog(0)
	w.records(t, story1)
	w.noOp()
	w.timeMs += 1000
	w.records(t, "change t/0 isr=1,3")
	w.noOp()
	w.timeMs += 2000
	w.records(t, "change t/0 isr=1,2,3")
	w.noOp()
	return w
}

func TestDirWhole(t *testing.T) {
	t.Parallel()
	dir := metadataCopy(t, map[string][]byte{
		logName(0): small(t).bytes, "leader-epoch-checkpoint": nil, "quorum-state": nil, "partition.metadata": nil,
		"00000000000000000000.index": make([]byte, 100), "00000000000000000000-0000000000.checkpoint": {1},
		"00000000000000000007.snapshot": nil, "00000000000000000007-0000000001.checkpoint.part": nil,
	})
	h := readDir(t, dir, Span{})
	h.check(t, []string{created, shrunk, grown}, nil)
	if got := h.evidence; got.From != inspect.Known[inspect.Offset](0) || got.To != inspect.Known[inspect.Offset](7) ||
		got.Tentative != inspect.Known[inspect.Offset](0) || got.Source != inspect.SourceMetadataDir {
		t.Errorf("evidence %+v", got)
	}
	inner := readDir(t, filepath.Join(dir, metadataDir), Span{})
	inner.check(t, h.events, nil)
	from := time.UnixMilli(1_001_000)
	readDir(t, dir, Span{Since: from, Until: from.Add(time.Second)}).check(t, []string{shrunk}, nil)
}

func TestDirIsNone(t *testing.T) {
	t.Parallel()
	if _, err := OpenDir(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no metadata log") {
		t.Errorf("an empty directory: %v", err)
	}
	if _, err := OpenDir(filepath.Join(t.TempDir(), "nowhere")); !os.IsNotExist(err) {
		t.Errorf("no directory: %v", err)
	}
}

// TestDirTorn cuts the log at every byte: what is whole is read.
func TestDirTorn(t *testing.T) {
	t.Parallel()
	whole := small(t).bytes
	want := readDir(t, metadataCopy(t, map[string][]byte{logName(0): whole}), Span{}).events
	reached := map[int]bool{}
	for n := range whole {
		h := readDir(t, metadataCopy(t, map[string][]byte{logName(0): whole[:n]}), Span{})
		if len(h.events) > len(want) || !slices.Equal(h.events, want[:len(h.events)]) {
			t.Fatalf("%d bytes: %q", n, h.events)
		}
		reached[len(h.events)] = true
		torn := slices.ContainsFunc(h.notes, func(s string) bool { return strings.Contains(s, "ends within a batch") })
		if _, _, err := cutAll(whole[:n]); (err != nil) != torn {
			t.Fatalf("%d bytes: torn %v, notes %q", n, err, h.notes)
		}
	}
	if len(reached) != 4 {
		t.Errorf("lengths of what was told: %v, want 0 to 3", reached)
	}
}

// cutAll cuts data into batches as far as it goes.
func cutAll(data []byte) (n int, rest []byte, err error) {
	for len(data) > 0 {
		_, size, err := cutBatch(data)
		if err != nil {
			return n, data, err
		}
		data = data[size:]
		n++
	}
	return n, nil, nil
}

func TestDirDamaged(t *testing.T) {
	t.Parallel()
	w := small(t)
	data := slices.Clone(w.bytes)
	data[len(data)-1] ^= 1
	h := readDir(t, metadataCopy(t, map[string][]byte{logName(0): data}), Span{})
	h.check(t, []string{created, shrunk, grown}, h.notes)
	if len(h.notes) != 1 || !strings.Contains(h.notes[0], "at offset 6: batch at offset 6: checksum") {
		t.Errorf("notes %q", h.notes)
	}
	// What was never written is zeros.
	h = readDir(t, metadataCopy(t, map[string][]byte{logName(0): append(slices.Clone(w.bytes), make([]byte, 100)...)}), Span{})
	h.check(t, []string{created, shrunk, grown}, []string{
		"DIR/" + metadataDir + "/" + logName(0) + ": ends within a batch, at offset 7: torn off there; what comes before was read",
	})
}

// TestDirHole: a segment is missing. What comes behind it is told where the state is
// known from a snapshot, and named where it is not.
func TestDirHole(t *testing.T) {
	t.Parallel()
	later := newLog(20)
	later.timeMs += 9000
	later.records(t, "change t/0 isr=1,2") // of a partition that nothing is known of
	later.noOp()
	at := later.next
	later.records(t, "change t/0 isr=1,2,3")
	later.noOp()
	snap := newLog(0)
	snap.control(t, &kraft.SnapshotHeader{})
	snap.records(t, "topic t\npartition t/0 replicas=1,2,3 isr=1,2 leader=1 pepoch=5")
	whole := newLog(0)
	whole.bytes = append(whole.bytes, snap.bytes...)
	whole.control(t, &kraft.SnapshotFooter{})
	files := map[string][]byte{
		logName(0): small(t).bytes, logName(20): later.bytes, "notes.txt": nil, "copy.log": nil,
		fmt.Sprintf("%020d-0000000001.checkpoint", at): whole.bytes,
	}
	grownLater := "22 16:49 t-0 expand caught-up [3] isr [1 2]->[1 2 3] leader 1 epoch 0/6"
	notes := []string{
		"DIR/" + metadataDir + "/copy.log: not a file of a metadata log, passed over",
		"DIR/" + metadataDir + "/notes.txt: not a file of a metadata log, passed over",
		"DIR/" + metadataDir + ": offsets 7 to 19 are missing: no events of those",
		"DIR/" + metadataDir + ": 1 changes of partitions whose state before is not known: no events come of those",
	}
	h := readDir(t, metadataCopy(t, files), Span{})
	h.check(t, []string{created, shrunk, grown, grownLater}, notes)
	if h.evidence.From != inspect.Known(inspect.Offset(at)) || h.evidence.Tentative != inspect.Known(inspect.Offset(at)) {
		t.Errorf("evidence %+v, want it from %d on", h.evidence, at)
	}

	// A snapshot without its footer is none.
	files[fmt.Sprintf("%020d-0000000001.checkpoint", at)] = snap.bytes
	h = readDir(t, metadataCopy(t, files), Span{})
	h.check(t, []string{created, shrunk, grown}, slices.Concat(notes[:3], []string{
		fmt.Sprintf("DIR/%s/%020d-0000000001.checkpoint: a snapshot without its end", metadataDir, at),
		"DIR/" + metadataDir + ": 2 changes of partitions whose state before is not known: no events come of those",
	}))
	if h.evidence.From.IsKnown() {
		t.Errorf("evidence %+v, want none that is whole", h.evidence)
	}
}

// TestDirOfOther: the log of another topic has the same name.
func TestDirOfOther(t *testing.T) {
	t.Parallel()
	w := newLog(0)
	w.values(0, nil, [][]byte{[]byte("an order of 12 books")})
	h := readDir(t, metadataCopy(t, map[string][]byte{logName(0): w.bytes, logName(1): nil}), Span{})
	h.check(t, nil, h.notes)
	if len(h.notes) != 1 || !strings.Contains(h.notes[0], "record at offset 0: not a metadata record") {
		t.Errorf("notes %q", h.notes)
	}
}

// TestDirUntil: behind the span, and clocks that differ, nothing more is read.
func TestDirUntil(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.timeMs += 2 * clockSkew.Milliseconds()
	w.noOp()
	w.bytes = append(w.bytes, "what would be an error"...)
	dir := metadataCopy(t, map[string][]byte{logName(0): w.bytes, logName(50): {1, 2, 3}})
	readDir(t, dir, Span{Until: time.UnixMilli(1_001_001)}).check(t, []string{created, shrunk}, nil)
}

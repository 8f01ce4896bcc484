package isrlog

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// versions are those of which testdata/dirs has the controller's directory, with what
// kafka-dump-log of that version shows of it.
var versions = []string{"3.3.2", "3.5.2", "3.7.2", "3.9.1", "4.1.1"}

// The names in such an archive besides the directory's own.
const (
	dumpName = "dump.txt" // offset, type and payload of what changes a partition, one a line
	toldName = "told.txt" // what was provoked, as brief has it, in the order of the log
)

// TestVersionsProvoked lives through the same on older versions of Kafka, by readings
// of the controller's log, and compares both directories with what that version's
// kafka-dump-log has. Snapshots are frequent, and so what --since reads is taken back from
// them. KAFKAOPS_DIRS names a directory for archives of what was seen.
func TestVersionsProvoked(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: starts six versions of Kafka; set KAFKAOPS_LONG=1")
	}
	for _, version := range append(slices.Clone(versions), kafkatest.DefaultVersion) {
		t.Run(version, func(t *testing.T) { provokeVersion(t, version) })
	}
}

// since reads from every event on, behind most of which snapshots lie.
func (p *provoking) since(t *testing.T) {
	t.Helper()
	l := *p.log
	l.reach.skew = 0
	for i := range p.seen {
		from := p.seen[i].Time
		var events []inspect.IsrEvent
		if err := l.Read(t.Context(), Span{Since: from}, reads(&events)); err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for j := range events {
			got = append(got, withoutOut(&events[j]))
		}
		for j := range p.seen {
			if !p.seen[j].Time.Before(from) {
				want = append(want, withoutOut(&p.seen[j]))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("since %s (-want +got):\n%s", from, diff)
		}
	}
}

func provokeVersion(t *testing.T, version string) {
	properties := map[string]string{
		"replica.lag.time.max.ms":      "60000",
		"broker.session.timeout.ms":    "15000",
		"broker.heartbeat.interval.ms": "1000",
		"auto.leader.rebalance.enable": "false",
		// Segments and snapshots that are small, and so several.
		"metadata.log.max.record.bytes.between.snapshots": "1500",
	}
	if strings.HasPrefix(version, "3.") {
		properties["metadata.log.segment.bytes"], properties["metadata.log.segment.min.bytes"] = "3000", "1000"
	} else {
		properties["internal.metadata.log.segment.bytes"] = "3000"
	}
	c := kafkatest.Start(t, kafkatest.Options{
		Version: version, Brokers: 3, Properties: properties,
		BrokerProperties: map[int32]map[string]string{1: {"replica.lag.time.max.ms": "5000"}},
	})
	p := &provoking{Cluster: c, log: NewLog(
		connect.Config{Bootstrap: c.Bootstrap()}, &connect.Config{Bootstrap: []string{c.ControllerAddr()}}, 30*time.Second,
	)}
	p.lagAndFencing(t)
	p.step(t, "a stop", func() {
		c.Stop(t, 1)
		c.StartNode(t, 1)
		c.AwaitISR(t, "t", 0, 1, 2, 3)
	},
		"t-0 shrink controlled-shutdown [1] isr [2 3] leader 2",
		"t-0 leader controlled-shutdown [1 2] isr [2 3] leader 2",
		"t-0 expand caught-up [1] isr [1 2 3] leader 2")
	p.moveAndDelete(t)
	p.compareDirs(t)
	p.since(t)
	if to := os.Getenv("KAFKAOPS_DIRS"); to != "" {
		p.archive(t, filepath.Join(to, version+".zip"))
	}
}

// archive keeps the controller's directory and what is true of it.
func (p *provoking) archive(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	add := func(name string, data []byte) {
		out, err := w.Create(name)
		if err == nil {
			_, err = out.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var dump, told strings.Builder
	for _, r := range p.DumpMetadata(t, kafkatest.FirstController) {
		if r.ChangesPartition() {
			fmt.Fprintf(&dump, "%d %s %s\n", r.Offset, r.Type, r.Payload)
		}
	}
	for i := range p.seen {
		fmt.Fprintln(&told, brief(&p.seen[i]))
	}
	add(dumpName, []byte(dump.String()))
	add(toldName, []byte(told.String()))
	files, err := filepath.Glob(filepath.Join(p.LogDirs(kafkatest.FirstController)[0], metadataDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.Contains(filepath.Ext(file), "index") {
			continue // preallocated
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		add(path.Join(metadataDir, filepath.Base(file)), data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// archived is one of those directories.
type archived struct {
	files fstest.MapFS // of the metadata log directory alone
	told  []string
	dump  map[int64]string
}

func openArchive(t *testing.T, version string) *archived {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join("testdata", "dirs", version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	a := &archived{files: fstest.MapFS{}, dump: map[int64]string{}}
	for _, f := range z.File {
		data, err := fs.ReadFile(z, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		switch text := strings.TrimSpace(string(data)); f.Name {
		case toldName:
			a.told = strings.Split(text, "\n")
		case dumpName:
			for _, one := range strings.Split(text, "\n") {
				offset, rest, _ := strings.Cut(one, " ")
				n, err := strconv.ParseInt(offset, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				a.dump[n] = rest
			}
		default:
			a.files[path.Base(f.Name)] = &fstest.MapFile{Data: data}
		}
	}
	return a
}

// read reads files as if they lay in a directory.
func (a *archived) read(t *testing.T, files fstest.MapFS) ([]inspect.IsrEvent, *heard) {
	t.Helper()
	var h heard
	var events []inspect.IsrEvent
	to := h.listener()
	to.Event = func(e inspect.IsrEvent) { events = append(events, e) }
	if err := (&Dir{name: "DIR", fsys: files}).Read(t.Context(), Span{}, to); err != nil {
		t.Fatal(err)
	}
	return events, &h
}

func (a *archived) segments() (names []string) {
	for name := range a.files {
		if strings.HasSuffix(name, ".log") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func briefs(events []inspect.IsrEvent) (out []string) {
	for i := range events {
		out = append(out, brief(&events[i]))
	}
	return out
}

// TestVersionDirs reads directories that Kafka 3.3 to 4.1 wrote: the events are those
// that were provoked, one for each record of kafka-dump-log, and damage takes away no
// more than what it damages.
func TestVersionDirs(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			a := openArchive(t, version)
			events, h := a.read(t, a.files)
			if diff := cmp.Diff(a.told, briefs(events)); diff != "" {
				t.Errorf("events (-provoked +got):\n%s", diff)
			}
			if len(h.notes) > 0 {
				t.Errorf("notes %q", h.notes)
			}
			var got, want []int64
			for offset := range a.dump {
				want = append(want, offset)
			}
			for i := range events {
				got = append(got, int64(events[i].Offset.Or(-1)))
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
				t.Errorf("offsets (-kafka-dump-log +got):\n%s", diff)
			}
			a.tear(t, events)
			a.lose(t, events)
			a.disturb(t, events)
		})
	}
}

// tear cuts the last segment at every byte of its last batches: what is whole is read,
// and of the rest nothing comes but a note.
func (a *archived) tear(t *testing.T, events []inspect.IsrEvent) {
	t.Helper()
	names := a.segments()
	last := names[len(names)-1]
	whole := a.files[last].Data
	files := fstest.MapFS{}
	for name, f := range a.files { // a snapshot of what is cut off would say so
		if strings.HasSuffix(name, ".log") {
			files[name] = f
		}
	}
	for n := max(0, len(whole)-160); n < len(whole); n++ {
		files[last] = &fstest.MapFile{Data: whole[:n]}
		got, h := a.read(t, files)
		if len(got) > len(events) || !slices.Equal(lines(got), lines(events[:len(got)])) {
			t.Fatalf("%s cut at %d: %q", last, n, lines(got))
		}
		_, _, err := cutAll(whole[:n])
		if torn := slices.ContainsFunc(h.notes, func(s string) bool { return strings.Contains(s, "ends within a batch") }); torn != (err != nil) {
			t.Fatalf("%s cut at %d (%v): notes %q", last, n, err, h.notes)
		}
	}
}

// lose takes away one segment after the other: the hole is named, and what is told of
// the rest is what is told of the whole.
func (a *archived) lose(t *testing.T, events []inspect.IsrEvent) {
	t.Helper()
	names := a.segments()
	if len(names) < 3 {
		t.Fatalf("segments %q: want three or more", names)
	}
	all := map[string]bool{}
	for i := range events {
		all[withoutOut(&events[i])] = true
	}
	for i, gone := range names[:len(names)-1] {
		files := fstest.MapFS{}
		for name, f := range a.files {
			if name != gone {
				files[name] = f
			}
		}
		got, h := a.read(t, files)
		for j := range got {
			if text := withoutOut(&got[j]); !all[text] {
				t.Errorf("without %s: %q, which is not told of the whole", gone, text)
			}
		}
		named := slices.ContainsFunc(h.notes, func(s string) bool { return strings.Contains(s, "are missing: no events of those") })
		if named != (i > 0) { // what comes first begins where it begins
			t.Errorf("without %s: notes %q", gone, h.notes)
		}
	}
}

// disturb adds what does not belong there.
func (a *archived) disturb(t *testing.T, events []inspect.IsrEvent) {
	t.Helper()
	files := fstest.MapFS{"notes.txt": {Data: []byte("mine")}, "orders-0.log": {Data: []byte("no log")}}
	for name, f := range a.files {
		files[name] = f
	}
	got, h := a.read(t, files)
	if diff := cmp.Diff(lines(events), lines(got)); diff != "" {
		t.Errorf("beside foreign files (-want +got):\n%s", diff)
	}
	want := []string{"DIR/notes.txt: not a file of a metadata log, passed over", "DIR/orders-0.log: not a file of a metadata log, passed over"}
	if diff := cmp.Diff(want, h.notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

package quorum

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

const (
	snapshotSuffix = ".checkpoint"
	partSuffix     = ".part"
)

// snapshot is a checkpoint on the disk: the state before offset, which the epoch
// led to.
type snapshot struct {
	offset int64
	epoch  int32
	bytes  int64
}

// bootstrap reports whether it is 0-0, with which Kafka formats a directory and
// which no follower gets (Snapshots.BOOTSTRAP_SNAPSHOT_ID).
func (s snapshot) bootstrap() bool { return s.offset == 0 && s.epoch == 0 }

func (s snapshot) file() string {
	return fmt.Sprintf("%020d-%010d%s", s.offset, s.epoch, snapshotSuffix)
}

// parseSnapshot reads a checkpoint's name; false for other names.
func parseSnapshot(name string) (snapshot, bool) {
	id, ok := strings.CutSuffix(name, snapshotSuffix)
	if !ok || len(id) != 20+1+10 || id[20] != '-' {
		return snapshot{}, false
	}
	offset, err1 := strconv.ParseInt(id[:20], 10, 64)
	epoch, err2 := strconv.ParseInt(id[21:], 10, 32)
	if err1 != nil || err2 != nil || offset < 0 || epoch < 0 {
		return snapshot{}, false
	}
	return snapshot{offset: offset, epoch: int32(epoch)}, true
}

// loadSnapshots finds the checkpoints, and removes what did not become one.
func (n *Node) loadSnapshots() error {
	dir := n.log.Path("")
	infos, err := n.opts.FS.ReadDir(dir)
	if err != nil {
		return diskError("list", dir, err)
	}
	for _, in := range infos { // by name, and so by offset
		if strings.HasSuffix(in.Name, snapshotSuffix+partSuffix) {
			name := path.Join(dir, in.Name)
			if err := n.opts.FS.Remove(name); err != nil {
				return diskError("remove", name, err)
			}
		}
		if s, ok := parseSnapshot(in.Name); ok && !in.Dir {
			s.bytes = in.Size
			n.snapshots = append(n.snapshots, s)
		}
	}
	// A name that a killed process had not synced must stay.
	return diskError("sync directory", dir, n.opts.FS.SyncDir(dir))
}

// restore replays the newest snapshot that is whole and returns where the log
// goes on.
func (n *Node) restore(r *replay, now machine.Time) (storage.Offset, error) {
	for i := len(n.snapshots) - 1; i >= 0; i-- {
		s := n.snapshots[i]
		name := n.log.Path(s.file())
		from := newReplay()
		err := from.snapshot(n.opts.FS, name)
		var bad *invalidSnapshot
		switch {
		case errors.As(err, &bad):
			// Nobody wrote that: it was synced before it got its name. An older one and
			// the log say the same, if they are there.
			n.notes = append(n.notes, fmt.Sprintf("%s is not used: %v", name, bad))
			n.snapshots = n.snapshots[:i]
			continue
		case err != nil:
			return 0, err
		case s.bootstrap():
			// The log's first records say the same, and more (see takeOver).
			voters := from.voters
			from = newReplay()
			from.voters = voters
		}
		*r = *from
		at := storage.Offset(s.offset)
		if at > n.log.End() {
			// The log that led to it is lost, or was never here: it begins there.
			if err := n.log.TruncateFullyAndStartAt(at, now.Wall); err != nil {
				return 0, err
			}
		}
		if at >= n.log.Start() {
			return at, nil
		}
		return 0, fmt.Errorf("metadata log %s begins at offset %d, its newest snapshot ends at %d: what was between is gone; "+
			"restore the directory from a copy", n.log.Path(""), n.log.Start(), at)
	}
	if n.log.Start() > 0 {
		return 0, fmt.Errorf("metadata log %s begins at offset %d and no snapshot says what was before; "+
			"restore the directory from a copy", n.log.Path(""), n.log.Start())
	}
	return 0, nil
}

// invalidSnapshot says that a file is no whole snapshot.
type invalidSnapshot struct{ err error }

func (e *invalidSnapshot) Error() string { return e.err.Error() }
func (e *invalidSnapshot) Unwrap() error { return e.err }

// snapshot replays one, from its header to its footer.
func (r *replay) snapshot(fsys vfs.FS, name string) error {
	data, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return diskError("read", name, err)
	}
	if err := r.whole(data); err != nil {
		return &invalidSnapshot{err}
	}
	return nil
}

var (
	errNoHeader = errors.New("it does not begin with a snapshot header")
	errNoFooter = errors.New("it does not end with a snapshot footer")
)

func (r *replay) whole(data []byte) error {
	if err := frame(data); err != nil {
		return err
	}
	for s := record.Scan(data); s.Next(); {
		b := s.Batch()
		if err := r.batch(b, 0); err != nil {
			return err
		}
	}
	return nil
}

// frame checks every batch's CRC, and that header and footer are there.
func frame(data []byte) error {
	var first, last record.Control
	s := record.Scan(data)
	for s.Next() {
		b := s.Batch()
		if err := b.CheckCRC(); err != nil {
			return err
		}
		last = nil
		if !b.Control() {
			if first == nil {
				return errNoHeader
			}
			continue
		}
		rs, err := b.Records(nil)
		if err != nil {
			return err
		}
		for rs.Next() {
			c, err := record.ParseControl(rs.Record())
			if err != nil {
				return err
			}
			if first == nil {
				first = c
			}
			last = c
		}
	}
	if s.Err() != nil {
		return s.Err()
	}
	if _, ok := first.(record.SnapshotHeader); !ok {
		return errNoHeader
	}
	if _, ok := last.(record.SnapshotFooter); !ok || s.End() != len(data) {
		return errNoFooter
	}
	return nil
}

// snapshotBatchRecords is how many records a batch of a snapshot has at most.
const snapshotBatchRecords = 1000

// snapshotOrder writes one.
type snapshotOrder struct {
	fs     vfs.FS
	dir    string
	voters *record.KRaftVoters
	id     snapshot
	recs   func() []kraft.Record
	level  kraft.MetadataVersion
	lastMs int64
	err    error
}

// Run is Order's. The file has its name only once it is whole and synced.
func (o *snapshotOrder) Run() {
	data, err := o.encode()
	if err != nil {
		o.err = err
		return
	}
	o.id.bytes = int64(len(data))
	o.err = writeSnapshot(o.fs, path.Join(o.dir, o.id.file()), data)
}

func writeSnapshot(fsys vfs.FS, name string, data []byte) error {
	part := name + partSuffix
	f, err := fsys.Open(part, vfs.Create)
	if err != nil {
		return diskError("create", part, err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.Append(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return diskError("write", part, err)
	}
	if err := fsys.Rename(part, name); err != nil {
		return diskError("rename to "+name, part, err)
	}
	return diskError("sync directory", path.Dir(name), fsys.SyncDir(path.Dir(name)))
}

func (o *snapshotOrder) encode() ([]byte, error) {
	opts := record.Options{LeaderEpoch: o.id.epoch}
	head := []record.Control{record.SnapshotHeader{LastContainedLogTimestampMs: o.lastMs}}
	if o.voters != nil {
		head = append(head, record.KRaftVersion{Version: 1}, *o.voters)
	}
	data, err := record.AppendControl(nil, opts, o.lastMs, head...)
	if err != nil {
		return nil, err
	}
	opts.BaseOffset = int64(len(head))
	builder := &record.Builder{}
	for recs := o.recs(); len(recs) > 0; {
		k := min(len(recs), snapshotBatchRecords)
		b, err := encode(builder, opts, o.lastMs, o.level, recs[:k])
		if err != nil {
			return nil, err
		}
		data, recs = append(data, b...), recs[k:]
		opts.BaseOffset += int64(k)
	}
	return record.AppendControl(data, opts, o.lastMs, record.SnapshotFooter{})
}

// snapshotDue reports whether there is anything that the newest snapshot has not,
// and one is written at all.
func (n *Node) snapshotDue() bool {
	if n.lossy || n.snapshotting {
		return false
	}
	return n.durable > n.newestSnapshot().offset
}

// newestSnapshot is the zero value if there is none.
func (n *Node) newestSnapshot() snapshot {
	if i := len(n.snapshots); i > 0 {
		return n.snapshots[i-1]
	}
	return snapshot{}
}

// startSnapshot writes one if there is much that the last has not, or that is old
// (SnapshotGenerator).
func (n *Node) startSnapshot(now machine.Time, out []machine.Effect) []machine.Effect {
	much := n.opts.SnapshotBytes > 0 && n.sinceBytes >= n.opts.SnapshotBytes
	if n.closing || !n.snapshotDue() || !much && now.Mono < n.nextSnapshotMs {
		return out
	}
	n.snapshotting = true
	n.sinceBytes, n.nextSnapshotMs = 0, after(now.Mono, n.opts.SnapshotMs)
	o := &snapshotOrder{
		fs: n.opts.FS, dir: n.log.Path(""), voters: n.voters, recs: n.image.Records, level: n.image.MetadataVersion(), lastMs: n.lastMs,
		id: snapshot{offset: n.durable, epoch: n.epochBefore(n.durable)},
	}
	return n.run(laneSnapshot, o, out)
}

// epochBefore is the epoch of the last record before an offset.
func (n *Node) epochBefore(offset int64) int32 {
	epoch := int32(0)
	for _, e := range n.epochs.Entries() {
		if int64(e.Start) < offset {
			epoch = int32(e.Epoch)
		}
	}
	return epoch
}

// done takes the snapshot into use. One that failed is no harm: the log is there,
// and the next is due as if it had not.
func (o *snapshotOrder) done(n *Node, _ machine.Time, out []machine.Effect) []machine.Effect {
	n.snapshotting = false
	if o.err != nil {
		return append(out, machine.Note{Text: fmt.Sprintf("no snapshot at offset %d: %v; the log is kept", o.id.offset, o.err)})
	}
	n.snapshots = append(n.snapshots, o.id)
	return out
}

// writeBootstrapSnapshot writes 0-0, by which Kafka knows a formatted directory.
func (n *Node) writeBootstrapSnapshot(now machine.Time) error {
	image := metadata.NewReplay(metadata.Empty())
	var recs []kraft.Record
	for _, rec := range bootstrapRecords(n.opts) {
		if f, ok := rec.(*kraft.FeatureLevel); ok {
			recs = append(recs, f)
		}
		if err := image.Apply(rec); err != nil {
			return err
		}
	}
	o := &snapshotOrder{
		fs: n.opts.FS, dir: n.log.Path(""), voters: n.voters, lastMs: now.Wall, level: image.Image().MetadataVersion(),
		recs: func() []kraft.Record { return recs },
	}
	if o.Run(); o.err != nil {
		return o.err
	}
	n.snapshots = append(n.snapshots, o.id)
	return nil
}

// after is a time later, never if the time is not above 0.
func after(nowMs, laterMs int64) int64 {
	if laterMs <= 0 {
		return machine.Never
	}
	return nowMs + laterMs
}

// snapshotRead reads a piece of a snapshot.
type snapshotRead struct {
	fs    vfs.FS
	name  string
	at    int64
	bytes []byte // as long as what is wanted
	err   error

	then func(now machine.Time, out []machine.Effect) []machine.Effect
}

// Run is Order's.
func (o *snapshotRead) Run() {
	f, err := o.fs.Open(o.name, vfs.Read)
	if err != nil {
		o.err = err
		return
	}
	n, err := f.ReadAt(o.bytes, o.at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	o.bytes = o.bytes[:n]
	o.err = errors.Join(err, f.Close())
}

func (o *snapshotRead) done(_ *Node, now machine.Time, out []machine.Effect) []machine.Effect {
	return o.then(now, out)
}

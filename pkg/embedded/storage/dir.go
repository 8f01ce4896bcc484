package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Dir is a log directory: the logs of a broker's partitions, and the checkpoints
// that they share. It is for one goroutine.
type Dir struct {
	fs       vfs.FS
	lock     io.Closer
	identity Identity
	clean    bool
	epoch    int64
	logs     map[TopicPartition]*Log
	// scratch is what a look-up reads into: an index's entries, then batches'
	// headers. One is enough for one goroutine.
	scratch []byte
	// inflater is for cleanings, made when there is one.
	inflater *record.Inflater
	// written is what the checkpoints hold: what is the same is not written again, and a
	// file is made with the first entry.
	written map[string][]byte
	repairs []Repair
	// noCheckpoints: it is a metadata log's, see OpenMetadata.
	noCheckpoints bool
	closed        bool
}

// scratchBytes holds an index's block, or the batches between two entries.
const scratchBytes = 8160

func (d *Dir) buf() []byte { return d.scratch }

func (d *Dir) inflate() *record.Inflater {
	if d.inflater == nil {
		d.inflater = record.NewInflater(record.DefaultInflateLimit)
	}
	return d.inflater
}

// Options say whose directory it is.
type Options struct {
	Identity Identity
	// Config gives a topic's settings while its logs are opened; nil is
	// DefaultConfig for all. Compacted matters then; the rest can follow by
	// Log.Configure.
	Config func(topic string) Config
}

// Open opens a log directory with all of its logs, or makes one of an empty
// directory. fsys's root is the directory.
//
// Errors: vfs.ErrLocked if another one has it open, ErrWrongDir if it is not this
// node's, else an [Error].
func Open(fsys vfs.FS, opts Options, nowMs int64) (*Dir, error) {
	d, err := lock(fsys)
	if err != nil {
		return nil, err
	}
	if err := d.load(opts, nowMs); err != nil {
		return nil, errors.Join(err, d.Abandon())
	}
	return d, nil
}

// lock takes the directory, with nothing open in it yet.
func lock(fsys vfs.FS) (*Dir, error) {
	lock, err := fsys.Lock(lockFile)
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("%s: %w; stop the other node first", lockFile, err)
	}
	if err != nil {
		return nil, failed("lock", lockFile, NoOffset, err)
	}
	return &Dir{fs: fsys, lock: lock, epoch: -1, logs: map[TopicPartition]*Log{}, written: map[string][]byte{}, scratch: make([]byte, scratchBytes)}, nil
}

func (d *Dir) load(opts Options, nowMs int64) error {
	var err error
	if d.identity, err = identify(d.fs, opts.Identity); err != nil {
		return err
	}
	if d.epoch, d.clean, err = d.takeCleanShutdown(); err != nil {
		return err
	}
	// Whoever wrote the checkpoints that are read now may have been killed between
	// a rename and its sync: without this one, they could be gone again later.
	if err := d.fs.SyncDir("."); err != nil {
		return failed("sync directory", ".", NoOffset, err)
	}
	points, err := d.readCheckpoint(recoveryCheckpoint, "every log is scanned")
	if err != nil {
		return err
	}
	starts, err := d.readCheckpoint(startCheckpoint, "every log starts where its first segment does")
	if err != nil {
		return err
	}
	hws, err := d.readCheckpoint(hwCheckpoint, "every HW is the log's start until the leader tells it")
	if err != nil {
		return err
	}
	cleaned, err := d.readCheckpoint(cleanerCheckpoint, "compaction begins at every log's start")
	if err != nil {
		return err
	}
	infos, err := d.fs.ReadDir(".")
	if err != nil {
		return failed("list", ".", NoOffset, err)
	}
	for _, in := range infos {
		tp, ok := parseDirName(in.Name)
		if !ok || !in.Dir || tp.Topic == metadataTopic {
			continue
		}
		f := found{start: starts[tp], hw: hws[tp], clean: d.clean}
		f.recovery, f.recoveryKnown = points[tp]
		f.cleaned, f.cleanedKnown = cleaned[tp]
		l := d.newLog(tp, opts.config(tp.Topic))
		if l.topicID, err = readTopicID(d.fs, l.name); err != nil {
			return err
		}
		if err := l.load(f, nowMs); err != nil {
			return errors.Join(err, l.abandon())
		}
		d.logs[tp] = l
	}
	// Entries of logs that are gone must not speak of new ones of that name.
	return d.Checkpoint()
}

func (o Options) config(topic string) Config {
	if o.Config == nil {
		return DefaultConfig()
	}
	return o.Config(topic)
}

func (d *Dir) newLog(tp TopicPartition, cfg Config) *Log {
	return &Log{dir: d, fs: d.fs, tp: tp, name: tp.String(), cfg: cfg}
}

// Identity is whose directory it is.
func (d *Dir) Identity() Identity { return d.identity }

// CleanShutdown reports whether the directory had been closed when it was opened,
// and the broker epoch of who closed it, -1 if unknown: what a broker registers
// with, so that the controller keeps it in the ELR (KIP-966).
func (d *Dir) CleanShutdown() (brokerEpoch int64, clean bool) { return d.epoch, d.clean }

// Log returns a partition's log, nil if there is none.
func (d *Dir) Log(tp TopicPartition) *Log { return d.logs[tp] }

// Logs returns all logs, by name.
func (d *Dir) Logs() []*Log {
	logs := make([]*Log, 0, len(d.logs))
	for _, l := range d.logs {
		logs = append(logs, l)
	}
	slices.SortFunc(logs, func(a, b *Log) int { return a.tp.compare(b.tp) })
	return logs
}

// Create makes the log of a new partition; topicID is base64. fs.ErrExist if it
// is there.
func (d *Dir) Create(tp TopicPartition, topicID string, cfg Config, nowMs int64) (*Log, error) {
	if d.logs[tp] != nil {
		return nil, fmt.Errorf("create log of %s: it is there already", tp)
	}
	l := d.newLog(tp, cfg)
	l.topicID, l.producers = topicID, &logstate.Producers{}
	if err := d.fs.MkdirAll(l.name); err != nil {
		return nil, failed("make directory", l.name, NoOffset, err)
	}
	// Syncs come last, so that a driver can do those of many new logs at once.
	if err := l.makeSegment(0, nowMs); err != nil {
		return nil, err
	}
	if err := writeTopicID(d.fs, l.name, topicID); err != nil { // with the directory's sync
		return nil, err
	}
	if err := d.fs.SyncDir("."); err != nil {
		return nil, failed("sync directory", ".", NoOffset, err)
	}
	d.logs[tp] = l
	return l, nil
}

// Delete takes a log out of service: its directory becomes
// topic-partition.unique-delete, at once and durably, whatever its size.
// [Dir.RemoveDeleted] removes it, once nobody reads it any more.
func (d *Dir) Delete(tp TopicPartition, unique string) error {
	return d.setAside(tp, unique, deleteSuffix)
}

// SetAside keeps a log that is not this cluster's any more, of a topic that was
// deleted and made anew, as topic-partition.unique-stray. Nothing here removes it.
func (d *Dir) SetAside(tp TopicPartition, unique string) error {
	return d.setAside(tp, unique, straySuffix)
}

func (d *Dir) setAside(tp TopicPartition, unique, suffix string) error {
	l := d.logs[tp]
	if l == nil {
		return nil
	}
	delete(d.logs, tp)
	// Some systems rename no directory with open files.
	if err := l.abandon(); err != nil {
		return err
	}
	to := asideName(tp, unique, suffix)
	if err := d.fs.Rename(l.name, to); err != nil {
		return failed("rename to "+to, l.name, NoOffset, err)
	}
	if err := d.fs.SyncDir("."); err != nil {
		return failed("sync directory", ".", NoOffset, err)
	}
	return d.Checkpoint()
}

// RemoveDeleted removes what Delete left, now or in an earlier life, and returns
// the names.
func (d *Dir) RemoveDeleted() ([]string, error) {
	infos, err := d.fs.ReadDir(".")
	if err != nil {
		return nil, failed("list", ".", NoOffset, err)
	}
	var gone []string
	for _, in := range infos {
		if !in.Dir || !strings.HasSuffix(in.Name, deleteSuffix) {
			continue
		}
		if err := vfs.RemoveAll(d.fs, in.Name); err != nil {
			return gone, failed("remove", in.Name, NoOffset, err)
		}
		gone = append(gone, in.Name)
	}
	return gone, nil
}

// Checkpoint writes all checkpoints: HWs, recovery points, log starts, and where
// compaction has come to.
func (d *Dir) Checkpoint() error {
	if err := d.CheckpointHWs(); err != nil {
		return err
	}
	if err := d.CheckpointRecoveryPoints(); err != nil {
		return err
	}
	if err := d.writeStarts(); err != nil {
		return err
	}
	return d.writeCleaned()
}

// writeCleaned writes cleaner-offset-checkpoint, with the logs that were compacted.
func (d *Dir) writeCleaned() error {
	return d.write(cleanerCheckpoint, func(l *Log) (Offset, bool) { return l.cleanedTo, l.cleaned })
}

// CheckpointHWs writes replication-offset-checkpoint: every
// replica.high.watermark.checkpoint.interval.ms.
func (d *Dir) CheckpointHWs() error {
	return d.write(hwCheckpoint, func(l *Log) (Offset, bool) { return l.hw, true })
}

// CheckpointRecoveryPoints writes recovery-point-offset-checkpoint, by which the
// next start knows what it need not scan: every
// log.flush.offset.checkpoint.interval.ms.
func (d *Dir) CheckpointRecoveryPoints() error {
	if err := d.write(recoveryCheckpoint, func(l *Log) (Offset, bool) { return l.flushed, true }); err != nil {
		return err
	}
	for _, l := range d.logs {
		l.persisted = l.flushed
	}
	return nil
}

// writeStarts writes log-start-offset-checkpoint, with the logs that do not
// begin where their first segment does.
func (d *Dir) writeStarts() error {
	return d.write(startCheckpoint, func(l *Log) (Offset, bool) { return l.start, len(l.segs) > 0 && l.start > l.segs[0].base })
}

func (d *Dir) write(name string, of func(l *Log) (Offset, bool)) error {
	if d.noCheckpoints {
		return nil
	}
	offsets := make(map[TopicPartition]Offset, len(d.logs))
	for tp, l := range d.logs {
		if o, ok := of(l); ok {
			offsets[tp] = o
		}
	}
	text := formatOffsets(offsets)
	if old, ok := d.written[name]; ok && bytes.Equal(old, text) {
		return nil
	}
	// If it fails it is not known which is there.
	delete(d.written, name)
	if err := vfs.WriteFile(d.fs, name, text); err != nil {
		return failed("write", name, NoOffset, err)
	}
	d.written[name] = text
	return nil
}

// Close flushes all logs, writes the checkpoints and then the mark of a clean
// stop, with the broker's epoch. On error there is no mark, and the next Open
// scans. It may be called twice.
func (d *Dir) Close(brokerEpoch, nowMs int64) error {
	if d.closed {
		return nil
	}
	var errs []error
	for _, l := range d.Logs() {
		if err := l.seal(nowMs); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		if err := d.Checkpoint(); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 && !d.noCheckpoints {
		if err := writeCleanShutdown(d.fs, brokerEpoch); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, d.Abandon())...)
}

// Abandon closes the files and writes nothing: what is left of a process that was
// killed, or of a disk that failed. It may be called twice, and after Close.
func (d *Dir) Abandon() error {
	if d.closed {
		return nil
	}
	d.closed = true
	var errs []error
	for _, l := range d.Logs() {
		errs = append(errs, l.abandon())
	}
	return errors.Join(append(errs, d.lock.Close())...)
}

// Path is where a partition's files lie in the FS.
func (l *Log) Path(file string) string { return path.Join(l.name, file) }

package storage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Repair is one thing that was not as it should be and that the log could do
// without: what, where, and what was done about it.
type Repair struct {
	// File is a name in the FS that the Dir lies in.
	File string
	// Offset is the first one that it matters to, NoOffset if it is not known.
	Offset Offset
	// Err is ErrCorrupt, with what was found.
	Err error
	// Done is what was done: "cut there, 120 bytes dropped".
	Done string
}

// OfRecords reports whether it concerns the records themselves, and not what can be
// made anew from them.
func (r Repair) OfRecords() bool { return strings.HasSuffix(r.File, logSuffix) }

// OfCheckpoint reports whether a checkpoint of the log directory counts as lost. Those are
// written to another file and renamed, so that no crash leaves one that cannot be read.
// Kafka warns too and goes on without the recovery points and the log starts
// (LogManager.loadLogs); without the HWs it takes the directory for failed
// (CheckpointFileWithFailureHandler.read).
func (r Repair) OfCheckpoint() bool {
	switch r.File {
	case recoveryCheckpoint, startCheckpoint, hwCheckpoint, cleanerCheckpoint:
		return r.Offset == NoOffset
	}
	return false
}

// String is the sentence for a log.
func (r Repair) String() string {
	if r.Offset == NoOffset {
		return fmt.Sprintf("%s: %v: %s", r.File, r.Err, r.Done)
	}
	return fmt.Sprintf("%s at offset %d: %v: %s", r.File, r.Offset, r.Err, r.Done)
}

// maxRepairs bounds what waits for [Dir.Repairs]: a disk that rots would else fill
// the memory of who never asks.
const maxRepairs = 1000

// Repairs returns what was repaired since it was last asked, at first by Open, in
// order; of more than a thousand the first ones. A batch that was cut off by a
// crash is among them, a file that is missing is not.
func (d *Dir) Repairs() []Repair {
	rs := d.repairs
	d.repairs = nil
	return rs
}

func (d *Dir) repaired(file string, o Offset, err error, format string, args ...any) {
	if len(d.repairs) < maxRepairs {
		d.repairs = append(d.repairs, Repair{File: file, Offset: o, Err: err, Done: fmt.Sprintf(format, args...)})
	}
}

// keep is called before the log is made to end at l.end, and what lies behind a
// position of segment i goes. What was durable once cannot be missing because of a
// crash: the disk has damaged it, and what comes behind the damage may be whole and
// the only copy. So that is kept beside the log, durably: the rest of that segment in
// a file, each that follows in one, by the first offset.
func (l *Log) keep(i int, position int64, recovery Offset, why error) error {
	from, n, done := max(l.end, l.segs[i].base), l.bytesFrom(i)-position, "dropped"
	durable := l.end < recovery
	if l.dir.noCheckpoints {
		// Nothing says how far it was durable, but what is whole behind the damage tells
		// that it was no append that a crash has torn.
		var err error
		if durable, err = l.wholeBehind(i, position); err != nil {
			return err
		}
	}
	if durable {
		done = "kept in " + offsetName(l.name, from, corruptSuffix)
		for _, s := range l.segs[i:] {
			if err := l.copyTail(s, position, offsetName(l.name, max(from, s.base), corruptSuffix)); err != nil {
				return err
			}
			position = 0
		}
		if err := l.fs.SyncDir(l.name); err != nil {
			return failed("sync directory", l.name, from, err)
		}
	}
	l.dir.repaired(l.segs[i].name, from, why, "the log ends at offset %d, %d bytes behind are %s", l.end, n, done)
	return nil
}

func (l *Log) copyTail(s *segment, position int64, to string) error {
	if err := s.open(); err != nil {
		return err
	}
	tmp := to + ".tmp"
	f, err := l.fs.Open(tmp, vfs.Create)
	if err != nil {
		return failed("create", tmp, s.base, err)
	}
	buf := scanBuffer([]*segment{s})
	err = f.Truncate(0)
	for at := position; err == nil && at < s.size; at += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), s.size-at)]
		if err = s.readAt(buf, at, s.base); err == nil {
			_, err = f.WriteAt(buf, at-position)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return failed("write", tmp, s.base, err)
	}
	return failed("rename", tmp, s.base, l.fs.Rename(tmp, to))
}

// wholeBehind reports whether there is a whole batch behind a position of segment i.
// It looks at the first megabytes only: a batch is far smaller.
func (l *Log) wholeBehind(i int, position int64) (bool, error) {
	const enough = 8 << 20
	for _, s := range l.segs[i:] {
		if err := s.open(); err != nil {
			return false, err
		}
		tail := make([]byte, max(0, min(s.size-position, enough)))
		if err := s.readAt(tail, position, s.base); err != nil {
			return false, err
		}
		if findBatch(tail, l.end) {
			return true, nil
		}
		position = 0
	}
	return false, nil
}

// findBatch looks for a batch from an offset on, at any byte.
func findBatch(b []byte, from Offset) bool {
	const atMagic = 16
	for ; len(b) >= record.HeaderSize; b = b[1:] {
		if b[atMagic] != record.Magic {
			continue
		}
		if s := record.Scan(b); s.Next() && Offset(s.Batch().BaseOffset()) >= from && s.Batch().CheckCRC() == nil {
			return true
		}
	}
	return false
}

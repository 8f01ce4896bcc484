package storage

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Layout of a producer snapshot; see the package comment.
const (
	snapshotVersion    = 1
	snapshotHeadBytes  = 10 // version, CRC, count
	snapshotEntryBytes = 46
	snapshotCRCFrom    = 6
)

// formatSnapshot writes producers as ProducerStateManager.writeSnapshot does.
func formatSnapshot(producers []logstate.Producer) []byte {
	be := binary.BigEndian
	dst := make([]byte, 0, snapshotHeadBytes+len(producers)*snapshotEntryBytes)
	dst = be.AppendUint16(dst, snapshotVersion)
	dst = be.AppendUint32(dst, 0)
	dst = be.AppendUint32(dst, uint32(len(producers)))
	for i := range producers {
		p := &producers[i]
		last := logstate.Appended{LastSequence: logstate.NoSequence, BaseOffset: NoOffset, LastOffset: NoOffset}
		if bs := p.Batches(); len(bs) > 0 {
			last = bs[len(bs)-1]
		}
		dst = be.AppendUint64(dst, uint64(p.ID))
		dst = be.AppendUint16(dst, uint16(p.Epoch))
		dst = be.AppendUint32(dst, uint32(last.LastSequence))
		dst = be.AppendUint64(dst, uint64(last.LastOffset))
		dst = be.AppendUint32(dst, uint32(last.LastOffset-last.BaseOffset))
		dst = be.AppendUint64(dst, uint64(p.LastTimestampMs))
		dst = be.AppendUint32(dst, uint32(p.CoordinatorEpoch))
		dst = be.AppendUint64(dst, uint64(p.TxnStart))
	}
	be.PutUint32(dst[2:], crc32.Checksum(dst[snapshotCRCFrom:], castagnoli))
	return dst
}

// parseSnapshot reads what formatSnapshot wrote. Of each producer it has the last
// batch only. Errors are ErrCorrupt.
func parseSnapshot(b []byte) ([]logstate.Producer, error) {
	be := binary.BigEndian
	if len(b) < snapshotHeadBytes || be.Uint16(b) != snapshotVersion {
		return nil, fmt.Errorf("%w: not a producer snapshot of version %d", ErrCorrupt, snapshotVersion)
	}
	if got, want := crc32.Checksum(b[snapshotCRCFrom:], castagnoli), be.Uint32(b[2:]); got != want {
		return nil, fmt.Errorf("%w: CRC is %d, the snapshot says %d", ErrCorrupt, got, want)
	}
	n := int64(be.Uint32(b[snapshotCRCFrom:]))
	if int64(len(b)-snapshotHeadBytes) != n*snapshotEntryBytes {
		return nil, fmt.Errorf("%w: %d bytes for %d entries", ErrCorrupt, len(b), n)
	}
	ps := make([]logstate.Producer, 0, n)
	for e := b[snapshotHeadBytes:]; len(e) > 0; e = e[snapshotEntryBytes:] {
		p := logstate.Producer{
			ID: int64(be.Uint64(e)), Epoch: int16(be.Uint16(e[8:])),
			LastTimestampMs: int64(be.Uint64(e[26:])), CoordinatorEpoch: int32(be.Uint32(e[34:])), TxnStart: Offset(be.Uint64(e[38:])),
		}
		last, delta := Offset(be.Uint64(e[14:])), Offset(int32(be.Uint32(e[22:])))
		if last != NoOffset {
			p.Restore(logstate.Appended{
				LastSequence: int32(be.Uint32(e[10:])), BaseOffset: last - delta, LastOffset: last, TimestampMs: p.LastTimestampMs,
			})
		}
		ps = append(ps, p)
	}
	return ps, nil
}

func readSnapshot(fsys vfs.FS, name string) ([]logstate.Producer, error) {
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return nil, failed("read", name, NoOffset, err)
	}
	ps, err := parseSnapshot(b)
	return ps, failed("read", name, NoOffset, err)
}

// writeSnapshot writes the producer state as of offset o, where the log ends or a
// segment begins.
func (l *Log) writeSnapshot(o Offset) error {
	name := offsetName(l.name, o, snapshotSuffix)
	if err := vfs.WriteFile(l.fs, name, formatSnapshot(l.producers.Snapshot())); err != nil {
		return failed("write", name, o, err)
	}
	if i, found := slices.BinarySearch(l.snapshots, o); !found {
		l.snapshots = slices.Insert(l.snapshots, i, o)
	}
	return nil
}

// removeSnapshots removes those whose offset fits, durably.
func (l *Log) removeSnapshots(fits func(o Offset) bool) error {
	var kept []Offset
	for _, o := range l.snapshots {
		if !fits(o) {
			kept = append(kept, o)
			continue
		}
		if err := removeFile(l.fs, offsetName(l.name, o, snapshotSuffix)); err != nil {
			return err
		}
	}
	if len(kept) == len(l.snapshots) {
		return nil
	}
	l.snapshots = kept
	return failed("sync directory", l.name, NoOffset, l.fs.SyncDir(l.name))
}

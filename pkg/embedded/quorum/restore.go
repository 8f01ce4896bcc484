package quorum

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

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
		var bad *invalidSnapshotError
		switch {
		case errors.As(err, &bad):
			// Nobody wrote that: it was synced before it got its name. An older one and
			// the log say the same, if they are there.
			n.warnf("%s is not used: %v", name, bad)
			n.snapshots = n.snapshots[:i]
			continue
		case err != nil:
			return 0, err
		case s.bootstrap():
			// The log's first records say the same, and more (see takeOver).
			formatted := from
			from = newReplay()
			from.voters, from.formatted = formatted.voters, formatted.Image()
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

// invalidSnapshotError says that a file is no whole snapshot.
type invalidSnapshotError struct{ err error }

func (e *invalidSnapshotError) Error() string { return e.err.Error() }
func (e *invalidSnapshotError) Unwrap() error { return e.err }

// snapshot replays one, from its header to its footer.
func (r *replay) snapshot(fsys vfs.FS, name string) error {
	data, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return diskError("read", name, err)
	}
	if err := r.whole(data); err != nil {
		return &invalidSnapshotError{err}
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

package recording

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/fields"
)

// Damage is a stretch of the file that holds no block, or a block of nothing that this
// format has.
type Damage struct {
	// At is where in the file, Bytes how much.
	At, Bytes int64
}

// NotOneError says that a file is not a recording, or not one for this program.
type NotOneError struct{ Name, Why string }

func (e *NotOneError) Error() string { return fmt.Sprintf("%s: %s", e.Name, e.Why) }

// ForeignError says that a file belongs to another cluster.
type ForeignError struct{ Name, Holds, Asked string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s belongs to cluster %s, and this is %s: name another file", e.Name, e.Holds, e.Asked)
}

// maxDamages bounds what is kept of a file that is damaged all over.
const maxDamages = 1000

// maxForeign is how far into a file the first block is looked for.
const maxForeign = 64 << 20

// survey is what a pass over a file finds.
type survey struct {
	head    head
	covered coverages
	last    *Coverage // of the file's order
	damages []Damage
	// end is where the last commit ends, or the head; size, the file.
	end, size int64
	// events are those that are committed.
	events int
	// looks are the commits of looks; lookOpen: the last one goes on in the next block;
	// lookBroken: something between it and the next one is missing.
	looks                []lookCommit
	lookOpen, lookBroken bool
}

// scan reads a file from its beginning.
func scan(name string, f *os.File) (*survey, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s := &survey{}
	blocks := newScanner(f, info.Size())
	open := 0 // events of a commit that has not ended
	for {
		b, err := blocks.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		ended := err != nil
		s.size = blocks.end()
		switch {
		case ended && s.head.clusterID == "", s.end == 0 && blocks.bad > maxForeign:
			return nil, notOne(name, s.size)
		case ended:
			s.tail()
			s.endLooks()
			return s, nil //nolint:nilerr // the end of the file
		}
		if blocks.bad > 0 {
			s.damaged(blocks.start()-blocks.bad, blocks.bad)
			s.breakLooks()
			s.events += open
			open = 0
		}
		if b.kind == kindLooks {
			s.takeLooks(&b, blocks.start(), blocks.end())
		}
		committed, err := s.take(name, &b, &open)
		switch {
		case errors.Is(err, fields.ErrNotOurs):
			s.damaged(blocks.start(), int64(blocks.size))
			s.events += open
			open = 0
		case err != nil:
			return nil, err
		case committed:
			s.end = blocks.end()
			s.events += open
			open = 0
		}
	}
}

func notOne(name string, size int64) error {
	if size == 0 {
		return &NotOneError{name, "is empty: nothing was recorded"}
	}
	return &NotOneError{name, "is not a recording of kafkaops, or nothing in it says of which cluster"}
}

// take takes a block, and reports whether all up to its end is committed.
func (s *survey) take(name string, b *block, open *int) (committed bool, err error) {
	switch b.kind {
	case kindHead:
		h, err := decodeHead(b.payload)
		switch {
		case err != nil:
			return false, err
		case h.version > version:
			return false, &NotOneError{name, fmt.Sprintf("is in format %d, and this kafkaops reads format %d: it was written by a newer one", h.version, version)}
		case h.clusterID == "":
			return false, &NotOneError{name, "names no cluster"}
		case s.head.clusterID != "" && s.head.clusterID != h.clusterID:
			return false, &NotOneError{name, fmt.Sprintf("holds the recordings of two clusters, %s and %s", s.head.clusterID, h.clusterID)}
		}
		s.head = h
		return true, nil
	case kindIsr:
		c, whole, err := decodeIsr(b.payload, func(inspect.IsrEvent) error { *open++; return nil })
		if err != nil {
			return false, err
		}
		if c != nil && whole == *open {
			s.covered.add(c)
			s.last = c
		}
		return b.flags&flagMore == 0, nil
	}
	return b.flags&flagMore == 0, nil // looks, or for a later version
}

// tail: what lies behind the last commit is no damage but one that never came.
func (s *survey) tail() {
	for n := len(s.damages); n > 0 && s.damages[n-1].At >= s.end; n = len(s.damages) {
		s.damages = s.damages[:n-1]
	}
}

func (s *survey) damaged(at, bytes int64) {
	if len(s.damages) < maxDamages {
		s.damages = append(s.damages, Damage{at, bytes})
	}
}

// Reader reads a recording, up to the commit that was its last when it was opened.
type Reader struct {
	name  string
	found *survey
}

// Read opens a recording for reading. A writer may be at work. It fails with a
// *[NotOneError] where the file is none.
func Read(name string) (*Reader, error) {
	f, err := openRegular(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, err := scan(name, f)
	if err != nil {
		return nil, err
	}
	return &Reader{name, found}, nil
}

// openRegular opens nothing that would block, or that cannot be cut off.
func openRegular(name string, flags int) (*os.File, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, &NotOneError{name, "is not a file"}
	case err != nil && (flags&os.O_CREATE == 0 || !errors.Is(err, os.ErrNotExist)):
		return nil, err
	}
	return os.OpenFile(name, flags, 0o644)
}

// Name is the file's.
func (r *Reader) Name() string { return r.name }

// ClusterID is that of the cluster to which the recording belongs.
func (r *Reader) ClusterID() string { return r.found.head.clusterID }

// Coverages are the stretches that were seen, by their beginning. What of a file is
// damaged is not in them.
func (r *Reader) Coverages() []Coverage { return r.found.covered.settled() }

// Gaps are the stretches between them.
func (r *Reader) Gaps() []Gap { return gapsOf(r.Coverages()) }

// Damages are where the file is damaged, up to 1000 of them.
func (r *Reader) Damages() []Damage { return r.found.damages }

// Torn is how many bytes lie behind the last commit: another is being written, or was
// when the writer ended.
func (r *Reader) Torn() int64 { return r.found.size - r.found.end }

// Size is how many bytes the file had when it was opened.
func (r *Reader) Size() int64 { return r.found.size }

// Len is the number of events, those of looks included where the log was read too.
func (r *Reader) Len() int { return r.found.events }

// Events calls take with every event, in the order in which they were appended. Where
// the log was read, the events of looks are left out. It ends with take's error.
func (r *Reader) Events(take func(inspect.IsrEvent) error) error {
	f, err := openRegular(r.name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	blocks := newScanner(f, r.found.end)
	for {
		b, err := blocks.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if b.kind != kindIsr {
			continue
		}
		_, _, err = decodeIsr(b.payload, func(e inspect.IsrEvent) error {
			if r.found.covered.superseded(&e) {
				return nil
			}
			return take(e)
		})
		if err != nil && !errors.Is(err, fields.ErrNotOurs) { // it was told with the damages
			return err
		}
	}
}

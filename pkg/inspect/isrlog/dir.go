package isrlog

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Dir is a copy of the metadata log on disk, of which every broker and every
// controller keeps one: <metadata.log.dir>/__cluster_metadata-0. It reaches further
// back than what a controller serves, and needs no cluster. It is opened for reading
// alone, and may be in use.
type Dir struct {
	name string
	fsys fs.FS
}

// metadataDir is what Kafka calls the directory of the log.
const metadataDir = "__cluster_metadata-0"

// OpenDir takes that directory, or the log directory in which it lies.
func OpenDir(name string) (*Dir, error) {
	if inner := filepath.Join(name, metadataDir); isDir(inner) {
		name = inner
	}
	if _, err := os.ReadDir(name); err != nil {
		return nil, err
	}
	d := &Dir{name: name, fsys: os.DirFS(name)}
	files, err := d.list()
	if err != nil {
		return nil, err
	}
	if len(files.segments)+len(files.snapshots) == 0 {
		return nil, fmt.Errorf("%s holds no metadata log: name the directory %s of a broker or controller, or the log directory that it lies in", name, metadataDir)
	}
	return d, nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// Read implements [Source]. It does not follow.
func (d *Dir) Read(ctx context.Context, span Span, to Listener) error {
	files, err := d.list()
	if err != nil {
		return err
	}
	for _, name := range files.foreign {
		to.Note(fmt.Sprintf("%s: not a file of a metadata log, passed over", path.Join(d.name, name)), false)
	}
	r := &dirReading{dir: d, files: files, span: span, to: to}
	r.evidence = Evidence{Source: inspect.SourceMetadataDir, Where: d.name}
	r.begin()
	for _, s := range files.segments {
		if r.ended {
			break
		}
		if err := r.segment(ctx, s); err != nil {
			return err
		}
	}
	r.end()
	return nil
}

// dirReading is one pass over a directory.
type dirReading struct {
	dir      *Dir
	files    dirFiles
	span     Span
	to       Listener
	replay   *Replay
	evidence Evidence
	gaps     Gaps // of replays that ended at a hole
	next     inspect.Offset
	// whole: the state is known. Where it is not, snapshots are what it is taken from.
	whole bool
	// ended: what comes next is behind the span.
	ended bool
}

func (r *dirReading) begin() {
	if r.replay != nil {
		r.replay.Flush()
		r.addGaps()
	}
	r.replay = NewReplay(inspect.SourceMetadataDir, func(e inspect.IsrEvent) {
		if r.span.contains(e.Time) {
			r.to.Event(e)
		}
	})
	r.whole = r.next == 0
}

func (r *dirReading) addGaps() {
	g := r.replay.Gaps()
	r.gaps.Strays += g.Strays
	r.gaps.Newer += g.Newer
}

func (r *dirReading) end() {
	r.replay.Flush()
	r.addGaps()
	r.evidence.Gaps = r.gaps
	// A log that ends below a snapshot, or is not there at all: there is no more.
	if n := len(r.files.snapshots); n > 0 && !r.ended {
		newest := r.files.snapshots[n-1]
		if !r.evidence.To.IsKnown() || r.next < newest.offset {
			r.to.Note(fmt.Sprintf("%s: there is a snapshot of offset %d, and no log up to there: what happened before it is not known", r.dir.name, newest.offset), true)
		}
		if r.next > newest.offset && r.evidence.To.IsKnown() {
			r.evidence.Tentative = inspect.Known(newest.offset)
		}
	} else if r.evidence.To.IsKnown() && n == 0 {
		r.evidence.Tentative = r.evidence.From
	}
	if r.gaps.Strays > 0 {
		r.to.Note(fmt.Sprintf("%s: %d changes of partitions whose state before is not known: no events come of those", r.dir.name, r.gaps.Strays), true)
	}
	r.to.Evidence(r.evidence)
}

// segment reads one file. Only ctx ends the reading; whatever is wrong with the file
// is a note.
func (r *dirReading) segment(ctx context.Context, s segment) error {
	name := path.Join(r.dir.name, s.name)
	f, err := r.dir.fsys.Open(s.name)
	if err != nil {
		r.to.Note(fmt.Sprintf("%s: %v", name, err), true) // retention took it meanwhile, or nobody may read it
		return nil
	}
	defer f.Close()
	if r.evidence.To.IsKnown() && s.base > r.next {
		r.to.Note(fmt.Sprintf("%s: offsets %d to %d are missing: no events of those", r.dir.name, r.next, s.base-1), true)
	}
	if s.base > r.next || !r.evidence.To.IsKnown() {
		r.next = s.base
		r.evidence.restart()
		r.begin()
	}
	batches := newBatchReader(f)
	for !r.ended {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := batches.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errTorn):
			r.to.Note(fmt.Sprintf("%s: ends within a batch, at offset %d: torn off there; what comes before was read", name, r.next), true)
			return nil
		case err != nil:
			r.to.Note(fmt.Sprintf("%s: at offset %d: %v; what comes before was read", name, r.next, err), true)
			return nil
		}
		if err := r.take(&b); err != nil {
			r.to.Note(fmt.Sprintf("%s: %v; what comes before was read", name, err), true)
			return nil
		}
		r.ended = r.span.ended(b.time())
	}
	return nil
}

func (r *dirReading) take(b *batch) error {
	if inspect.Offset(b.FirstOffset) < r.next {
		return nil // a segment that overlaps the one before
	}
	if !r.whole {
		r.load(inspect.Offset(b.FirstOffset))
	}
	if err := b.replay(r.replay, r.next); err != nil {
		return err
	}
	r.next = b.next()
	if r.whole {
		r.evidence.read(b)
	} else {
		r.evidence.To, r.evidence.Until = inspect.Known(b.next()), inspect.Known(b.time())
	}
	return nil
}

// load takes the state from a snapshot of that offset, if there is one.
func (r *dirReading) load(at inspect.Offset) {
	i := slices.IndexFunc(r.files.snapshots, func(s snapshot) bool { return s.offset == at })
	if i < 0 {
		return
	}
	name := r.files.snapshots[i].name
	f, err := r.dir.fsys.Open(name)
	if err == nil {
		defer f.Close()
		_, err = loadSnapshot(f, r.replay)
	}
	if err != nil {
		r.to.Note(fmt.Sprintf("%s: %v", path.Join(r.dir.name, name), err), true)
		return
	}
	r.whole = true
	r.evidence.restart()
}

// loadSnapshot takes the state from a snapshot, for what is not known of it. A
// snapshot is whole where its footer ends it, and else nothing is taken. at is when
// the last record was written that it contains, zero where it does not say.
func loadSnapshot(in io.Reader, to *Replay) (at time.Time, err error) {
	batches := newBatchReader(in)
	scratch := NewReplay(to.source, nil)
	scratch.only = to.only
	footer := false
	for {
		b, err := batches.next()
		switch {
		case errors.Is(err, io.EOF) && footer:
			to.adopt(scratch)
			return at, nil
		case errors.Is(err, io.EOF), errors.Is(err, errTorn):
			return at, errors.New("a snapshot without its end")
		case err != nil:
			return at, err
		}
		footer = false
		b.controls(func(rec kraft.ControlRecord) {
			switch rec := rec.(type) {
			case *kraft.SnapshotHeader:
				at = time.UnixMilli(rec.LastContainedLogTimestamp).UTC()
			case *kraft.SnapshotFooter:
				footer = true
			}
		})
		if err := b.load(scratch); err != nil {
			return at, err
		}
	}
}

// batchReader reads batches one after the other. A batch is good until the next.
type batchReader struct {
	in  *bufio.Reader
	buf []byte
}

func newBatchReader(in io.Reader) *batchReader {
	return &batchReader{in: bufio.NewReaderSize(in, 256<<10)}
}

// next returns io.EOF behind the last batch, and errTorn within one.
func (r *batchReader) next() (b batch, err error) {
	head, err := r.in.Peek(batchHead)
	switch {
	case err != nil && len(head) == 0:
		return b, err
	case errors.Is(err, io.EOF), err == nil && isZero(head):
		return b, errTorn // after a crash a file may end with what was never written
	case err != nil:
		return b, err
	}
	size := batchHead + int64(int32(binary.BigEndian.Uint32(head[8:])))
	if size < batchLeast || size > batchHead+maxBatch {
		_, _, err := cutBatch(head) // says what is wrong with it
		return b, err
	}
	r.buf = slices.Grow(r.buf[:0], int(size))[:size]
	if _, err := io.ReadFull(r.in, r.buf); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errTorn
		}
		return b, err
	}
	b, _, err = cutBatch(r.buf)
	return b, err
}

func isZero(b []byte) bool { return strings.Trim(string(b), "\x00") == "" }

package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/fields"
)

// ErrInUse says that another Writer has the file.
var ErrInUse = errors.New("another kafkaops is writing it: a file has one writer")

// commitEvery is how often a coverage is written that has grown by nothing but time.
// After a crash so much is read again.
const commitEvery = time.Minute

// headEvery is after how many bytes another head is written, for a file whose beginning
// is damaged.
const headEvery = 1 << 20

// Writer appends to a recording. What appends events and commits them, and what appends
// looks, may be two goroutines.
type Writer struct {
	mu   sync.Mutex
	f    *os.File
	name string
	// last is what was written last, lastLog the last of a log and lastLooks the last of
	// looks, and later what has not been written yet because nothing happened in it.
	last, lastLog, lastLooks, later *Coverage
	// committed is where the last commit ends, end where the next block goes.
	committed, end int64
	head           head
	headAt         int64
	found          Found
	// open is the block in the making.
	open   block
	events int // of the next commit
	looks  lookWriter
	failed error
	buf    []byte
}

// Open opens a recording to append to it, and creates it where there is none. What lies
// behind the last commit is cut off; [Writer.Found] says how much. Errors are ErrInUse,
// *[ForeignError], *[NotOneError], and those of the file system.
func Open(name, clusterID string) (*Writer, error) {
	if clusterID == "" {
		return nil, noID(name)
	}
	p, err := Prepare(name)
	if err != nil {
		return nil, err
	}
	return p.Open(clusterID)
}

func noID(name string) error {
	return fmt.Errorf("%s: the cluster tells no id: nothing would say whose recording this is", name)
}

func (w *Writer) begin(p *Prepared) error {
	found := p.found
	switch {
	case w.isUnbegun():
		return w.create()
	case found == nil:
		return p.notOne
	case found.head.clusterID != w.head.clusterID:
		return &ForeignError{w.name, found.head.clusterID, w.head.clusterID}
	}
	w.last, w.committed, w.end = found.last, found.end, found.end
	w.found = Found{Cut: found.size - found.end, Damages: found.damages}
	if w.last != nil {
		w.found.To, w.found.Until = w.last.To, inspect.Known(w.last.Until.UTC())
	}
	if n := len(found.covered.logs); n > 0 {
		w.lastLog = &found.covered.logs[n-1]
	}
	if n := len(found.covered.looks); n > 0 {
		w.lastLooks = &found.covered.looks[n-1]
	}
	if w.found.Cut > 0 {
		if err := w.f.Truncate(found.end); err != nil {
			return err
		}
	}
	return w.writeHead()
}

// isUnbegun reports a file that is new, or whose writer ended before its head was whole.
func (w *Writer) isUnbegun() bool {
	whole := (&block{kind: kindHead, payload: w.head.encode()}).appendTo(nil)
	begun := make([]byte, len(whole))
	n, err := w.f.ReadAt(begun, 0)
	return errors.Is(err, io.EOF) && n < len(whole) && bytes.Equal(begun[:n], whole[:n])
}

func (w *Writer) create() error {
	if err := w.f.Truncate(0); err != nil {
		return err
	}
	if err := w.writeHead(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(w.name))
}

func (w *Writer) writeHead() error {
	w.headAt = w.end
	if err := w.write(&block{kind: kindHead, payload: w.head.encode()}); err != nil {
		return err
	}
	return w.sync()
}

// Name is the file's.
func (w *Writer) Name() string { return w.name }

// Size is how many bytes the file has.
func (w *Writer) Size() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end
}

// Resume is the coverage of the log that a reader goes on from, at its To; false for
// none.
func (w *Writer) Resume() (Coverage, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return known(w.lastLog)
}

// Last is the coverage that was committed last, of the log or of looks; false for none.
func (w *Writer) Last() (Coverage, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return known(w.newest())
}

// Found is what Open found of a file that it goes on with.
type Found struct {
	// Cut is how many bytes were cut off behind the last commit, that its last writer did
	// not finish.
	Cut int64
	// Damages are where the file is damaged, up to 1000 of them.
	Damages []Damage
	// To is the offset of the metadata log that comes next, where that was read last, and
	// Until the time up to which it was written; both are unknown of a new one.
	To    inspect.Opt[inspect.Offset]
	Until inspect.Opt[time.Time]
}

// Found is what Open found.
func (w *Writer) Found() Found { return w.found }

func known(c *Coverage) (Coverage, bool) {
	if c == nil {
		return Coverage{}, false
	}
	return *c, true
}

func (w *Writer) newest() *Coverage {
	if w.later != nil {
		return w.later
	}
	return w.last
}

// Append adds an event to the next commit. The file has it once that is done.
func (w *Writer) Append(e inspect.IsrEvent) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	field := fields.AppendBytes(nil, 1, appendEvent(nil, &e))
	const room = 64 << 10 // for the coverage
	if len(field) > maxPayload-room {
		return w.fail(fmt.Errorf("an event of %d bytes", len(field)))
	}
	if len(w.open.payload) > 0 && len(w.open.payload)+len(field) > fullPayload {
		w.open.flags = flagMore
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.open.payload = append(w.open.payload, field...)
	w.events++
	ms := e.Time.UnixMilli()
	if w.open.first == 0 || ms < w.open.first {
		w.open.first = ms
	}
	w.open.last = max(w.open.last, ms)
	return nil
}

// hasOpen reports events that wait for a commit.
func (w *Writer) hasOpen() bool { return w.events > 0 }

// Commit says that c is covered, with the events that were appended since the last
// commit. c may begin where the reading began; what was committed of it before counts
// once. Where nothing was appended it is written once a minute of c's time, by Close, and
// once a log has told all that looks had.
func (w *Writer) Commit(c Coverage) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	if len(c.Where) > 1<<10 {
		c.Where = c.Where[:1<<10]
	}
	if w.later != nil && !c.goesOn(w.later) {
		if err := w.commitLater(); err != nil {
			return err
		}
	}
	c = w.onward(c)
	if !w.hasOpen() {
		if last := w.last; last != nil && c.goesOn(last) && c.Until.Sub(last.Until) < commitEvery && !w.supersedesLooks(&c) {
			w.later = &c
			return nil
		}
	}
	w.later = nil
	return w.commit(&c)
}

// supersedesLooks reports whether c is the first that reaches as far as looks had: readers
// leave out their events from then on.
func (w *Writer) supersedesLooks(c *Coverage) bool {
	looks := w.lastLooks
	return looks != nil && c.ofLog() && w.last.Until.Before(looks.Until) && !c.Until.Before(looks.Until)
}

// onward cuts off what of c has been written.
func (w *Writer) onward(c Coverage) Coverage {
	before := w.last
	if c.ofLog() {
		before = w.lastLog
	}
	if !c.goesOn(before) {
		return c
	}
	if c.ofLog() {
		c.From = before.To
		if c.To.Or(0) < before.To.Or(0) {
			c.To, c.Epoch = before.To, before.Epoch
		}
	}
	c.Since = before.Until
	if c.Until.Before(c.Since) {
		c.Until = c.Since
	}
	return c
}

func (w *Writer) commitLater() error {
	c := *w.later
	w.later = nil
	if w.hasOpen() {
		return nil // what was appended belongs to what comes
	}
	return w.commit(&c)
}

func (w *Writer) commit(c *Coverage) error {
	w.open.payload = fields.AppendBytes(w.open.payload, 2, c.encode())
	if w.events > 0 {
		w.open.payload = fields.AppendUint(w.open.payload, 3, uint64(w.events))
	}
	if w.open.first == 0 {
		w.open.first = c.Since.UnixMilli()
	}
	w.open.last = max(w.open.last, c.Until.UnixMilli())
	w.open.flags = 0
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.sync(); err != nil {
		return err
	}
	w.last, w.events = c, 0
	if c.ofLog() {
		w.lastLog = c
	} else {
		w.lastLooks = c
	}
	if err := w.headInTime(); err != nil {
		return err
	}
	return w.flushLooks()
}

func (w *Writer) headInTime() error {
	if w.end-w.headAt > headEvery {
		return w.writeHead()
	}
	return nil
}

// flush writes the open block, and begins another.
func (w *Writer) flush() error {
	w.open.kind = kindIsr
	if err := w.write(&w.open); err != nil {
		return err
	}
	w.open = block{payload: w.open.payload[:0]}
	return nil
}

func (w *Writer) write(b *block) error {
	w.buf = b.appendTo(w.buf[:0])
	if _, err := w.f.WriteAt(w.buf, w.end); err != nil {
		return w.fail(err)
	}
	w.end += int64(len(w.buf))
	return nil
}

func (w *Writer) sync() error {
	if err := w.f.Sync(); err != nil {
		return w.fail(err)
	}
	w.committed = w.end
	return nil
}

// fail takes back what was not committed. After a failed write or sync nobody knows
// what the file holds: it is not written to any more.
func (w *Writer) fail(err error) error {
	w.failed = fmt.Errorf("%s: %w", w.name, err)
	_ = w.f.Truncate(w.committed)
	return w.failed
}

// Discard takes back what was appended since the last commit.
func (w *Writer) Discard() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.discard()
}

func (w *Writer) discard() error {
	if w.failed != nil {
		return w.failed
	}
	w.open, w.events = block{payload: w.open.payload[:0]}, 0
	if w.end > w.committed {
		if err := w.f.Truncate(w.committed); err != nil {
			return w.fail(err)
		}
		w.end = w.committed
	}
	return nil
}

// Close takes back what was not committed, writes how far it is covered and what was
// looked at, and gives the file free.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.discard()
	if err == nil && w.later != nil {
		err = w.commitLater()
	}
	if err == nil {
		err = w.flushLooks()
	}
	return errors.Join(err, w.f.Close())
}

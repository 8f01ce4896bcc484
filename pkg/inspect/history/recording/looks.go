package recording

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/fields"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/looks"
	"github.com/klauspost/compress/zstd"
)

const (
	// looksEvery is after how much time looks are written: so much of them a crash costs.
	looksEvery = 10 * time.Second
	// fullLooks is after how many bytes they are, before they are compressed.
	fullLooks = 1 << 20
	// wholeEvery and wholeBytes are how often a look is written whole, so that a reader
	// finds its place, and damage costs no more than that.
	wholeEvery = 10 * time.Minute
	wholeBytes = 8 << 20
	// maxLooks bounds what a reader expands, far beyond a whole look of a cluster of a
	// million partitions.
	maxLooks = 1 << 30
	// lookPayload is how much of a commit of looks goes into a block.
	lookPayload = 512 << 10
)

// flagWhole: the first look of the commit is whole.
const flagWhole uint16 = 2

// lookWriter holds the looks that are not written yet.
type lookWriter struct {
	enc         looks.Encoder
	zip         *zstd.Encoder
	raw         []byte
	flags       uint16
	first, last int64 // ms
	// wholeAt is where in the file, and when, the last whole look went.
	wholeAt   int64
	wholeTime int64
	begun     bool
}

// AppendLook adds a look at the cluster: what [looks.Encoder] keeps of it. It is written
// with those around it, every 10 s of their time, and by Close, or soon after where a
// commit of events is under way.
func (w *Writer) AppendLook(s *inspect.Snapshot) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	l := &w.looks
	ms := s.TakenAt.UnixMilli()
	if len(l.raw) == 0 {
		l.first, l.last, l.flags = ms, ms, 0
		if !l.begun || ms-l.wholeTime >= wholeEvery.Milliseconds() || ms < l.wholeTime || w.end-l.wholeAt >= wholeBytes {
			l.enc.Reset()
			l.begun, l.flags, l.wholeTime, l.wholeAt = true, flagWhole, ms, w.end
		}
	}
	look := l.enc.Append(nil, s)
	l.raw = fields.AppendBytes(l.raw, 1, look)
	l.first, l.last = min(l.first, ms), max(l.last, ms)
	if ms-l.first < looksEvery.Milliseconds() && len(l.raw) < fullLooks {
		return nil
	}
	return w.flushLooks()
}

// flushLooks writes what was looked at. Not in the middle of a commit of events: the
// looks wait for its end.
func (w *Writer) flushLooks() error {
	l := &w.looks
	if len(l.raw) == 0 || w.end > w.committed {
		return nil
	}
	if l.zip == nil {
		zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderCRC(false))
		if err != nil {
			return w.fail(err)
		}
		l.zip = zip
	}
	payload := l.zip.EncodeAll(l.raw, nil)
	l.raw = l.raw[:0]
	for part := range slices.Chunk(payload, lookPayload) {
		b := block{kind: kindLooks, flags: l.flags, first: l.first, last: l.last, payload: part}
		if payload = payload[len(part):]; len(payload) > 0 {
			b.flags |= flagMore
		}
		if err := w.write(&b); err != nil {
			return err
		}
	}
	if err := w.sync(); err != nil {
		return err
	}
	return w.headInTime()
}

// lookCommit is one, as the survey finds it.
type lookCommit struct {
	at, end     int64 // where in the file
	first, last int64 // ms
	whole       bool
	// after: nothing is missing between it and the one before.
	after bool
}

// takeLooks takes a block of looks.
func (s *survey) takeLooks(b *block, at, end int64) {
	n := len(s.looks)
	if s.lookOpen {
		s.looks[n-1].end = end
	} else {
		s.looks = append(s.looks, lookCommit{at, end, b.first, b.last, b.flags&flagWhole != 0, !s.lookBroken})
	}
	s.lookOpen, s.lookBroken = b.flags&flagMore != 0, false
}

// breakLooks: what was in the middle of a commit of looks is no use, nor is what comes
// after, up to a whole look.
func (s *survey) breakLooks() {
	s.endLooks()
	s.lookBroken = true
}

// endLooks leaves out a commit of looks that has not come to its end.
func (s *survey) endLooks() {
	if s.lookOpen {
		s.looks = s.looks[:len(s.looks)-1]
	}
	s.lookOpen = false
}

// Span is a stretch of time in which the cluster was looked at, again and again.
type Span struct{ Since, Until time.Time }

// Looked are the stretches with looks, the oldest first. Between them nobody looked, or
// the file is damaged.
func (r *Reader) Looked() (spans []Span) {
	for _, c := range r.found.usableLooks() {
		since, until := time.UnixMilli(c.first).UTC(), time.UnixMilli(c.last).UTC()
		n := len(spans)
		if n > 0 && c.after && (!c.whole || since.Sub(spans[n-1].Until) < 2*looksEvery) {
			spans[n-1].Until = until
			continue
		}
		spans = append(spans, Span{since, until})
	}
	return spans
}

// usableLooks are those that can be read: from a whole one on.
func (s *survey) usableLooks() (out []lookCommit) {
	usable := false
	for _, c := range s.looks {
		usable = c.whole || usable && c.after
		if usable {
			out = append(out, c)
		}
	}
	return out
}

// LastLook is when the last look was, false where there is none.
func (r *Reader) LastLook() (time.Time, bool) {
	commits := r.found.usableLooks()
	if len(commits) == 0 {
		return time.Time{}, false
	}
	return time.UnixMilli(commits[len(commits)-1].last).UTC(), true
}

// Looks calls take with the looks from since on, up to until, in their order; zero times
// are the first and the last. A Snapshot is good until take returns, and not to be
// changed. It ends with take's error.
func (r *Reader) Looks(since, until time.Time, take func(*inspect.Snapshot) error) error {
	commits := r.found.usableLooks()
	if !since.IsZero() {
		from := since.UnixMilli()
		for i := len(commits) - 1; i > 0; i-- {
			if commits[i].whole && commits[i].first <= from {
				commits = commits[i:]
				break
			}
		}
	}
	if len(commits) == 0 {
		return nil
	}
	f, err := openRegular(r.name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxLooks))
	if err != nil {
		return err
	}
	defer unzip.Close()
	in := lookReader{r: r, f: f, unzip: unzip}
	for _, c := range commits {
		if !until.IsZero() && c.first > until.UnixMilli() {
			return nil
		}
		err := in.commit(c, func(s *inspect.Snapshot) error {
			if s.TakenAt.Before(since) || !until.IsZero() && s.TakenAt.After(until) {
				return nil
			}
			return take(s)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

type lookReader struct {
	r     *Reader
	f     *os.File
	unzip *zstd.Decoder
	dec   looks.Decoder
	buf   []byte
	raw   []byte
}

// commit reads the looks of one. What is not readable in spite of its checksums is
// passed over, with what stands on it.
func (l *lookReader) commit(c lookCommit, take func(*inspect.Snapshot) error) error {
	l.buf = l.buf[:0]
	blocks := newScanner(io.NewSectionReader(l.f, c.at, c.end-c.at), c.end-c.at)
	for {
		b, err := blocks.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.r.name, err)
		}
		if b.kind == kindLooks {
			l.buf = append(l.buf, b.payload...)
		}
	}
	raw, err := l.unzip.DecodeAll(l.buf, l.raw[:0])
	if err != nil {
		l.dec.Reset()
		return nil //nolint:nilerr // it is passed over
	}
	l.raw = raw
	err = fields.Each(raw, func(f fields.Field) error {
		if f.Number != 1 {
			return nil
		}
		s, err := l.dec.Apply(f.Bytes)
		if err != nil {
			return fields.ErrNotOurs
		}
		return take(s)
	})
	if errors.Is(err, fields.ErrNotOurs) {
		l.dec.Reset()
		return nil
	}
	return err
}

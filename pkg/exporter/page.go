package exporter

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
)

// page is what is served of one collection: encoded once, sent as it is.
type page struct {
	takenAt time.Time
	// zipped is one member of a gzip file; members one after the other are a file
	// too (RFC 1952), which is how the exporter's own metrics come behind it.
	zipped []byte
	// plain is kept up to keepPlain, and else made of zipped for who asks for it:
	// Prometheus does not.
	plain []byte
	// view is kept for Collectors only.
	view *view
}

// keepPlain bounds what is kept twice. A page is ten to thirty times smaller zipped.
const keepPlain = 8 << 20

func newPage(v *view, cluster string) *page {
	out := newPageWriter()
	write(newEncoder(out, cluster), catalog(), v)
	return &page{takenAt: v.takenAt, plain: out.plain.Bytes(), zipped: out.close(), view: v}
}

// writePlain sends the page as text.
func (p *page) writePlain(w io.Writer) error {
	if len(p.plain) > 0 {
		_, err := w.Write(p.plain)
		return err
	}
	z, err := gzip.NewReader(bytes.NewReader(p.zipped))
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	_, err = io.Copy(w, z)
	return err
}

// pageWriter compresses what comes, and keeps it as it is while it is small.
type pageWriter struct {
	zipped, plain bytes.Buffer
	z             *gzip.Writer
	isLarge       bool
}

// newPageWriter compresses fast: the labels repeat so much that more effort gains
// little.
func newPageWriter() *pageWriter {
	w := &pageWriter{}
	w.z, _ = gzip.NewWriterLevel(&w.zipped, gzip.BestSpeed) // the level is valid
	return w
}

// Write implements io.Writer; it cannot fail.
func (w *pageWriter) Write(text []byte) (int, error) {
	if !w.isLarge {
		w.plain.Write(text)
	}
	if w.plain.Len() > keepPlain {
		w.isLarge, w.plain = true, bytes.Buffer{}
	}
	return w.z.Write(text)
}

func (w *pageWriter) close() []byte {
	_ = w.z.Close() // a buffer takes all
	return w.zipped.Bytes()
}

// zip compresses a small text.
func zip(plain []byte) []byte {
	w := newPageWriter()
	w.isLarge = true
	_, _ = w.Write(plain)
	return w.close()
}

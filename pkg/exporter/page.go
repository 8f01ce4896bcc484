package exporter

import (
	"bytes"
	"time"

	"github.com/klauspost/compress/gzip"
)

// page is what is served of one collection: encoded once, sent as it is.
type page struct {
	takenAt time.Time
	plain   []byte
	// zipped is one member of a gzip file; members one after the other are a file
	// too (RFC 1952), which is how the exporter's own metrics come behind it.
	zipped []byte
	// view is kept for Collectors only.
	view *view
}

func newPage(v *view, cluster string, sizeHint int) *page {
	var plain bytes.Buffer
	plain.Grow(sizeHint)
	write(newEncoder(&plain, cluster), catalog(), v)
	return &page{takenAt: v.takenAt, plain: plain.Bytes(), zipped: zip(plain.Bytes()), view: v}
}

// zip compresses fast: the labels repeat so much that more effort gains little.
func zip(plain []byte) []byte {
	const ratio = 10
	var out bytes.Buffer
	out.Grow(len(plain) / ratio)
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // the level is valid
	_, _ = w.Write(plain)                             // a buffer takes all
	_ = w.Close()
	return out.Bytes()
}

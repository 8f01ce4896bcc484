package exporter

import (
	"bytes"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// TestPageWriter: a page is the same zipped or not, small or large, and no large one
// is kept twice.
func TestPageWriter(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1000, keepPlain, keepPlain + 1, 3 * keepPlain} {
		text := bytes.Repeat([]byte("kafka_topic_partition_offline 0\n"), size/32+1)[:size]
		w := newPageWriter()
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 1<<16)
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		p := &page{plain: w.plain.Bytes(), zipped: w.close()}
		if kept := len(p.plain) > 0; kept != (size > 0 && size <= keepPlain) {
			t.Errorf("%d bytes: kept as they are: %v", size, kept)
		}
		var plain bytes.Buffer
		if err := p.writePlain(&plain); err != nil || !bytes.Equal(plain.Bytes(), text) {
			t.Errorf("%d bytes: got %d, %v", size, plain.Len(), err)
		}
		z, err := gzip.NewReader(bytes.NewReader(append(p.zipped, zip([]byte("own\n"))...)))
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(all, append(text, "own\n"...)) {
			t.Errorf("%d bytes, zipped, with the exporter's own behind: got %d, %v", size, len(all), err)
		}
	}
}

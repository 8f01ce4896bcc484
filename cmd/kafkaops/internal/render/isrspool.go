package render

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/jmx"
)

// IsrSpool holds the events of a JSON or YAML document, of which there may be a million.
// In the document errors stand before them, and are known only when all have been read:
// so each is held as it will be written, packed, a few dozen bytes in place of some
// thousand.
type IsrSpool struct {
	packed bytes.Buffer
	packer *flate.Writer
	n      int
}

// NewIsrSpool returns an empty one.
func NewIsrSpool() *IsrSpool {
	s := &IsrSpool{}
	s.packer, _ = flate.NewWriter(&s.packed, flate.BestSpeed) // which is a level that there is
	return s
}

// Add takes the next event.
func (s *IsrSpool) Add(e *inspect.IsrEvent) error {
	line, err := encode(IsrEventItems([]inspect.IsrEvent{*e})[0], View{Format: FormatJSON, Stream: true})
	if err != nil {
		return err
	}
	s.n++
	_, err = s.packer.Write(line)
	return err
}

// Write writes the document of isr, once. The arguments are those of [Isr].
func (s *IsrSpool) Write(w io.Writer, v View, snap *inspect.Snapshot, e *isrlog.Evidence, meters []jmx.Meters) error {
	doc, err := encode(&IsrDocument[IsrEventItem]{
		Document: *NewDocument(KindIsrEvent, snap, []IsrEventItem{}), Evidence: evidenceItem(e), Meters: meterItems(meters),
	}, v)
	if err != nil {
		return err
	}
	if s.n == 0 {
		_, err = w.Write(doc)
		return err
	}
	form := jsonItems
	if v.Format == FormatYAML {
		form = yamlItems
	}
	// Within a text a quote is escaped, and a new line.
	head, tail, ok := bytes.Cut(doc, []byte(form.none))
	if !ok {
		return errors.New("encode document: it has no items")
	}
	out := bufio.NewWriterSize(w, 64<<10)
	write := func(parts ...[]byte) {
		for _, p := range parts {
			_, _ = out.Write(p) // an error stays, and is Flush's
		}
	}
	write(head, []byte(form.open))
	if err := s.lines(func(i int, line []byte) error {
		if i > 0 {
			write([]byte(form.between))
		}
		item, err := form.item(line)
		write(item)
		return err
	}); err != nil {
		return err
	}
	write([]byte(form.shut), tail)
	return out.Flush()
}

// lines calls take with every event, as one line of JSON.
func (s *IsrSpool) lines(take func(i int, line []byte) error) error {
	if err := s.packer.Close(); err != nil {
		return err
	}
	in := bufio.NewReader(flate.NewReader(&s.packed))
	for i := range s.n {
		line, err := in.ReadBytes('\n')
		if err == nil {
			err = take(i, bytes.TrimSuffix(line, []byte("\n")))
		}
		if err != nil {
			return fmt.Errorf("encode document: event %d of %d: %w", i, s.n, err)
		}
	}
	return nil
}

// itemsForm is how a document has its items: none is what stands there where there are
// none, in place of open, the items with what is between them, and shut.
type itemsForm struct {
	none, open, between, shut string
	item                      func(line []byte) ([]byte, error)
}

var (
	jsonItems = itemsForm{
		none: `"items": []`, open: `"items": [` + "\n    ", between: ",\n    ", shut: "\n  ]",
		item: func(line []byte) ([]byte, error) {
			var b bytes.Buffer
			err := json.Indent(&b, line, "    ", "  ")
			return b.Bytes(), err
		},
	}
	yamlItems = itemsForm{
		none: "\nitems: []\n", open: "\n" + yamlItemsHead,
		item: func(line []byte) ([]byte, error) {
			out, err := toYAML([]byte(`{"items":[`+string(line)+`]}`), false)
			return bytes.TrimPrefix(out, []byte(yamlItemsHead)), err
		},
	}
)

const yamlItemsHead = "items:\n"

package cli

import (
	"fmt"
	"io"

	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
)

// openFrom opens the recording of --from, and tells of what in it cannot be read. The rest
// is of use.
func openFrom(file string, stderr io.Writer) (*recording.Reader, error) {
	rec, err := recording.Read(file)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	for _, d := range rec.Damages() {
		fmt.Fprintf(stderr, "kafkaops: %s: %d bytes at %d are damaged: what they held is left out\n", rec.Name(), d.Bytes, d.At)
	}
	if n := rec.Torn(); n > 0 {
		fmt.Fprintf(stderr, "kafkaops: %s: %d bytes at %d, where it ends, are no whole commit: its writer is at work, or was cut off\n", rec.Name(), n, rec.Size()-n)
	}
	return rec, nil
}

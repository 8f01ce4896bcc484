package render

import (
	"fmt"
	"io"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// KindRecording is record, when it has ended: one RecordingItem.
const KindRecording Kind = "Recording"

// RecordingItem is what a run of record has added to its file.
type RecordingItem struct {
	File string `json:"file"`
	// Bytes is the size of the file, with what it had before.
	Bytes int64 `json:"bytes"`
	// Since and Until are the first and the last look of this run; null for none.
	Since inspect.Opt[Time] `json:"since"`
	Until inspect.Opt[Time] `json:"until"`
	// Looks were written, Partial of them with something that was not answered; Missed
	// were not taken, since nobody answered.
	Looks   int `json:"looks"`
	Partial int `json:"partial"`
	Missed  int `json:"missed"`
	// Partitions are those of the last look.
	Partitions int `json:"partitions"`
	// Events are the changes of ISRs that were written.
	Events int64 `json:"events"`
}

// Recorded is what record prints at its end.
func Recorded(w io.Writer, v View, s *inspect.Snapshot, item *RecordingItem) error {
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindRecording, s, []RecordingItem{*item}))
	}
	_, err := io.WriteString(w, recordedText(v, item))
	return err
}

// RecordingScreen is what record shows on a terminal while it goes on: troubles are
// those of the last look, notes what was said lately.
func RecordingScreen(v View, s *inspect.Snapshot, item *RecordingItem, troubles, notes []string) string {
	out := Paint(v.Color, Strong, "recording "+Clean(item.File)) + "   " + Clean(s.ClusterID.Or("cluster unknown")) + "\n" + recordedText(v, item)
	for _, line := range troubles {
		out += Paint(v.Color, Warn, Clean(line)) + "\n"
	}
	for _, line := range notes {
		out += Paint(v.Color, Dim, Clean(line)) + "\n"
	}
	return out + Paint(v.Color, Dim, "ends with ^C") + "\n"
}

func recordedText(v View, item *RecordingItem) string {
	took := ""
	since, begun := item.Since.Get()
	until, ended := item.Until.Get()
	if begun && ended {
		took = fmt.Sprintf(" in %s", until.Sub(since.Time).Round(time.Second))
	}
	parts := []string{
		v.count(item.Looks, "look", "looks") + took,
		v.count(item.Partitions, "partition", "partitions"),
		v.count(int(item.Events), "ISR event", "ISR events"),
	}
	if item.Partial > 0 {
		parts = append(parts, v.count(item.Partial, "look", "looks")+" not answered in full")
	}
	if item.Missed > 0 {
		parts = append(parts, v.count(item.Missed, "look", "looks")+" missed")
	}
	return flow(v, Plain, "", "", "   ", append(parts, Clean(item.File)+" has "+Bytes(item.Bytes)))
}

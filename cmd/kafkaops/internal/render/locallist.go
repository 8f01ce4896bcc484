package render

import (
	"io"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// KindLocalClusterEntry is cluster list, with an item for each cluster of this machine,
// by name.
const KindLocalClusterEntry Kind = "LocalClusterEntry"

// LocalEntryItem is a cluster that is up, or has data where names have it.
type LocalEntryItem struct {
	Name string `json:"name"`
	// State is up, starting, silent (a process has it and does not answer) or down.
	State string `json:"state"`
	// Brokers is null where it is not known yet.
	Brokers inspect.Opt[int] `json:"brokers"`
	// PID is the process that runs it; null where none does, or does not tell.
	PID inspect.Opt[int] `json:"pid"`
	// Data is the directory of its logs; null in memory.
	Data inspect.Opt[string] `json:"data"`
	// Bootstrap are the brokers' addresses as host:port; none where it is not up.
	Bootstrap []string `json:"bootstrapServers"`
}

// The states of a LocalEntryItem.
const (
	LocalUp       = "up"
	LocalStarting = "starting"
	LocalSilent   = "silent"
	LocalDown     = "down"
)

// LocalClusters is the screen of cluster list.
func LocalClusters(w io.Writer, v View, at time.Time, items []LocalEntryItem) error {
	if v.Format.Structured() {
		for i := range items {
			items[i].Bootstrap = list(items[i].Bootstrap)
		}
		return write(w, v, NewDocument(KindLocalClusterEntry, &inspect.Snapshot{TakenAt: at}, items))
	}
	if v.Terminal && len(items) == 0 {
		_, err := io.WriteString(w, "no cluster is up, and none has data\n")
		return err
	}
	t := &Table{Columns: []Column{
		{Name: "NAME", Elastic: true},
		{Name: "STATE", Keep: true},
		{Name: "BROKERS", Right: true},
		{Name: "PID", Right: true},
		{Name: "DATA", Elastic: true},
		{Name: "BOOTSTRAP-SERVERS", Only: InPipe},
	}}
	for i := range items {
		c := &items[i]
		style := map[string]Style{LocalUp: Good, LocalSilent: Bad}[c.State]
		pid := Text(Unknown)
		if n, ok := c.PID.Get(); ok {
			pid = Count(n)
			pid.Text = pid.Pipe // a number that is typed, not read
		}
		data := "in memory"
		if dir, ok := c.Data.Get(); ok {
			data = dir
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			Text(c.Name), Text(c.State).Styled(style), Number(c.Brokers), pid, Text(data), optional(strings.Join(c.Bootstrap, ",")),
		}})
	}
	_, err := io.WriteString(w, t.Text(v))
	return err
}

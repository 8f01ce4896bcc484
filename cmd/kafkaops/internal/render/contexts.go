package render

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// KindContext is context list, with an item for each context by name, and context
// show, with one. No cluster is asked for it: cluster.id is null.
const KindContext Kind = "Context"

// ContextItem is a named cluster of the configuration file. What the file does not
// say is null, or an empty list.
type ContextItem struct {
	Name string `json:"name"`
	// Current: it is used where no context is named.
	Current bool `json:"current"`
	// Bootstrap are addresses as host:port; context show takes those of the command
	// config where the context has none.
	Bootstrap []string `json:"bootstrapServers"`
	// CommandConfig and ControllerConfig are the paths of client.properties.
	CommandConfig    inspect.Opt[string] `json:"commandConfig"`
	Controllers      []string            `json:"controllers"`
	ControllerConfig inspect.Opt[string] `json:"controllerConfig"`
	JMX              inspect.Opt[string] `json:"jmx"`
	// ClusterID is the only id that the cluster may have; null for any.
	ClusterID inspect.Opt[string] `json:"clusterId"`
	// ReadOnly: commands that change a cluster refuse this one.
	ReadOnly bool `json:"readonly"`
	// File and Line say where it is written.
	File string `json:"file"`
	Line int    `json:"line"`
}

// Contexts is the screen of context list.
func Contexts(w io.Writer, v View, at time.Time, items []ContextItem) error {
	if v.Format.Structured() {
		return writeContexts(w, v, at, items)
	}
	t := &Table{Columns: []Column{
		{Name: "CURRENT"},
		{Name: "NAME", Elastic: true, Keep: true},
		{Name: "BOOTSTRAP-SERVERS", Elastic: true},
		{Name: "CLUSTER-ID", HideBlank: true, Spare: 1},
		{Name: "READONLY", HideBlank: true},
		{Name: "COMMAND-CONFIG", Elastic: true, HideBlank: true, Spare: cheap},
		{Name: "CONTROLLERS", Elastic: true, HideBlank: true, Spare: cheap + 1},
	}}
	for i := range items {
		c := &items[i]
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			mark(c.Current, "*"), Text(c.Name), optional(strings.Join(c.Bootstrap, ",")), optional(c.ClusterID.Or("")),
			mark(c.ReadOnly, "readonly"), optional(c.CommandConfig.Or("")), optional(strings.Join(c.Controllers, ",")),
		}})
	}
	_, err := io.WriteString(w, t.Text(v))
	return err
}

// mark is a word, or blank, and yes or no for programs.
func mark(on bool, word string) Cell {
	if on {
		return Cell{Text: word, Pipe: "yes"}
	}
	return Cell{Pipe: "no"}
}

// optional is a text that may be missing.
func optional(s string) Cell {
	if s == "" {
		return Cell{Pipe: Unknown}
	}
	return Text(s)
}

// Context is the screen of context show: a line for each field.
func Context(w io.Writer, v View, at time.Time, c *ContextItem) error {
	if v.Format.Structured() {
		return writeContexts(w, v, at, []ContextItem{*c})
	}
	t := &Table{Columns: []Column{{Name: "FIELD"}, {Name: "VALUE", Elastic: true}}}
	for _, field := range []struct{ name, value string }{
		{"name", c.Name},
		{"current", yes(c.Current)},
		{"bootstrap-server", strings.Join(c.Bootstrap, ",")},
		{"command-config", c.CommandConfig.Or("")},
		{"controller", strings.Join(c.Controllers, ",")},
		{"controller-config", c.ControllerConfig.Or("")},
		{"jmx", c.JMX.Or("")},
		{"cluster-id", c.ClusterID.Or("")},
		{"readonly", yes(c.ReadOnly)},
		{"file", c.File + ":" + strconv.Itoa(c.Line)},
	} {
		value := Text(Unknown)
		if field.value != "" {
			value = Text(field.value)
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{Text(field.name), value}})
	}
	_, err := io.WriteString(w, t.Text(v))
	return err
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func writeContexts(w io.Writer, v View, at time.Time, items []ContextItem) error {
	for i := range items {
		items[i].Bootstrap, items[i].Controllers = list(items[i].Bootstrap), list(items[i].Controllers)
	}
	return write(w, v, NewDocument(KindContext, &inspect.Snapshot{TakenAt: at}, items))
}

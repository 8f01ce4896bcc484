package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// KindLocalCluster is cluster status, with one item: what the process that runs a
// local cluster says. cluster.id is the cluster's.
const KindLocalCluster Kind = "LocalCluster"

// LocalClusterItem is a cluster of this machine.
type LocalClusterItem struct {
	Name string `json:"name"`
	// PID is the process that runs it.
	PID int `json:"pid"`
	// Ready is false while it starts; then there are no bootstrap servers and nodes.
	Ready bool `json:"ready"`
	// Since is when the process began.
	Since Time `json:"since"`
	// Bootstrap are the brokers' addresses as host:port.
	Bootstrap []string `json:"bootstrapServers"`
	// Data is the directory of its logs, DataBytes the size of the files there; null in
	// memory, and the size also where it could not be read.
	Data      inspect.Opt[string] `json:"data"`
	DataBytes inspect.Opt[int64]  `json:"dataBytes"`
	// Socket is its control socket.
	Socket string `json:"socket"`
	// Nodes are the brokers by id, then the controller.
	Nodes []LocalNodeItem `json:"nodes"`
	// Faults are those in force, in the order in which they came.
	Faults []LocalFaultItem `json:"faults"`
}

// LocalNodeItem is a broker or the controller.
type LocalNodeItem struct {
	ID inspect.BrokerID `json:"id"`
	// Role is broker or controller.
	Role    string `json:"role"`
	Address string `json:"address"`
	// State is running, paused, stopped, killed or failed.
	State string `json:"state"`
	// Error is why it has failed; null in other states.
	Error inspect.Opt[string] `json:"error"`
}

// LocalFaultItem is a fault in force.
type LocalFaultItem struct {
	Kind string `json:"kind"`
	// Broker is the node that is broken, From and To those of a broken link; null
	// otherwise.
	Broker inspect.Opt[inspect.BrokerID] `json:"broker"`
	From   inspect.Opt[inspect.BrokerID] `json:"from"`
	To     inspect.Opt[inspect.BrokerID] `json:"to"`
	// ByMs is how slow a disk's write or a link is, or how far a clock has jumped; null
	// for other faults. It may be a fraction.
	ByMs inspect.Opt[float64] `json:"byMs"`
	// Since is when it began.
	Since Time `json:"since"`
}

// LocalCluster is the screen of cluster status.
func LocalCluster(w io.Writer, v View, at time.Time, id inspect.Opt[string], c *LocalClusterItem) error {
	if v.Format.Structured() {
		c.Bootstrap, c.Nodes, c.Faults = list(c.Bootstrap), list(c.Nodes), list(c.Faults)
		return write(w, v, NewDocument(KindLocalCluster, &inspect.Snapshot{TakenAt: at, ClusterID: id}, []LocalClusterItem{*c}))
	}
	var b strings.Builder
	if v.Terminal {
		localHead(&b, at, id, c)
	}
	t := &Table{Columns: []Column{
		{Name: "NODE", Right: true},
		{Name: "ROLE"},
		{Name: "ADDRESS"},
		{Name: "STATE", Keep: true},
		{Name: "FAULTS", Elastic: true, HideBlank: true, Keep: true},
		{Name: "PID", Only: InPipe},
		{Name: "ERROR", Elastic: true, HideBlank: true, Keep: true},
	}}
	for _, n := range c.Nodes {
		var faults []string
		for i := range c.Faults {
			if text := c.Faults[i].at(n.ID, c.nodeWord(c.Faults[i].To.Or(0)), at, v.Terminal); text != "" {
				faults = append(faults, text)
			}
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			Number(inspect.Known(n.ID)), Text(n.Role), Text(n.Address), Text(n.State).Styled(stateStyle(n.State)),
			optional(strings.Join(faults, "; ")).Styled(Warn), Count(c.PID), optional(n.Error.Or("")).Styled(Bad),
		}})
	}
	b.WriteString(t.Text(v))
	_, err := io.WriteString(w, b.String())
	return err
}

func localHead(b *strings.Builder, at time.Time, id inspect.Opt[string], c *LocalClusterItem) {
	state := "is up"
	if !c.Ready {
		state = "is starting"
	}
	fmt.Fprintf(b, "cluster %s %s, %s old   process %d   %s\n", Clean(c.Name), state, Millis(at.Sub(c.Since.Time).Milliseconds()), c.PID, Clean(id.Or(Unknown)))
	where := "in memory"
	if dir, ok := c.Data.Get(); ok {
		where = Unknown + " in " + Clean(dir)
		if n, ok := c.DataBytes.Get(); ok {
			where = Bytes(n) + " in " + Clean(dir)
		}
	}
	fmt.Fprintf(b, "\n  data       %s\n", where)
	if len(c.Bootstrap) > 0 {
		fmt.Fprintf(b, "  bootstrap  %s\n", Clean(strings.Join(c.Bootstrap, ",")))
	}
	b.WriteByte('\n')
}

// nodeWord is a node as commands take it.
func (c *LocalClusterItem) nodeWord(id inspect.BrokerID) string {
	for _, n := range c.Nodes {
		if n.ID == id && n.Role != "broker" {
			return n.Role
		}
	}
	return strconv.Itoa(int(id))
}

// at is the fault as the node's row shows it; empty where it is another one's. A link
// is shown with who sends, and to whom.
func (f *LocalFaultItem) at(id inspect.BrokerID, to string, now time.Time, terminal bool) string {
	var text string
	switch {
	case f.Broker.Equal(inspect.Known(id)):
		text = f.Kind
	case f.From.Equal(inspect.Known(id)):
		text = fmt.Sprintf("%s to %s", f.Kind, to)
	default:
		return ""
	}
	if ms, ok := f.ByMs.Get(); ok {
		text += " " + time.Duration(ms*float64(time.Millisecond)).String()
	}
	if terminal {
		text += " (" + Millis(now.Sub(f.Since.Time).Milliseconds()) + ")"
	}
	return text
}

func stateStyle(state string) Style {
	if state == "running" {
		return Good
	}
	return Bad
}

package render

import (
	"fmt"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/jmx"
)

// MetersItem is what Kafka's own meters count in one process, since that began: what a
// leader changed because of lag, and not what the controller did. A lower bound.
type MetersItem struct {
	// Address is the agent's.
	Address string `json:"address"`
	// Broker is the node; null where the agent does not say.
	Broker inspect.Opt[inspect.BrokerID] `json:"broker"`
	// Each is null where the process does not have it.
	IsrShrinks             inspect.Opt[int64] `json:"isrShrinks"`
	IsrExpands             inspect.Opt[int64] `json:"isrExpands"`
	FailedIsrUpdates       inspect.Opt[int64] `json:"failedIsrUpdates"`
	UncleanLeaderElections inspect.Opt[int64] `json:"uncleanLeaderElections"`
}

func meterItems(all []jmx.Meters) []MetersItem {
	if all == nil {
		return nil
	}
	out := make([]MetersItem, 0, len(all))
	for _, m := range all {
		out = append(out, MetersItem{m.Address, m.Broker, m.Shrinks, m.Expands, m.FailedUpdates, m.UncleanElections})
	}
	return out
}

// metersRemark is what one has to know about them.
const metersRemark = "Kafka's own meters (JMX), since each process began: they count what leaders changed because of lag, and nothing that the controller did (fenced, stopped)"

// metersText is the part of a screen that has them.
func metersText(v View, all []jmx.Meters) string {
	if !v.Terminal || len(all) == 0 {
		return ""
	}
	t := &Table{Columns: []Column{
		{Name: "BROKER", Right: true},
		{Name: "SHRINKS", Right: true},
		{Name: "EXPANDS", Right: true},
		{Name: "FAILED", Right: true},
		{Name: "UNCLEAN", Right: true},
		{Name: "AGENT", Elastic: true},
	}}
	for i := range all {
		m := &all[i]
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			Number(m.Broker), Number(m.Shrinks), Number(m.Expands), Number(m.FailedUpdates), Number(m.UncleanElections), Text(m.Address),
		}})
	}
	var b strings.Builder
	b.WriteByte('\n')
	paragraph(&b, v, Plain, metersRemark)
	b.WriteString(t.Text(v))
	return b.String()
}

// MetersLine is the same of one agent, for a pipe.
func MetersLine(m *jmx.Meters) string {
	return Clean(fmt.Sprintf("%s: broker %s counts by itself, since it began: IsrShrinks %s, IsrExpands %s, FailedIsrUpdates %s, UncleanLeaderElections %s; only what leaders changed because of lag",
		m.Address, m.Broker, m.Shrinks, m.Expands, m.FailedUpdates, m.UncleanElections))
}

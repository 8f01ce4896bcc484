package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Quorum is the screen of describe quorum.
func Quorum(w io.Writer, v View, s *inspect.Snapshot) error {
	items := QuorumItems(s)
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindQuorum, s, items))
	}
	var b strings.Builder
	if v.Terminal {
		quorumHead(&b, v, s, items)
	}
	if len(items) > 0 && items[0].Leader.IsKnown() || !v.Terminal {
		b.WriteString(QuorumTable(v, items).Text(v))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// quorumHead says in a line or two what there is to know before the rows.
func quorumHead(b *strings.Builder, v View, s *inspect.Snapshot, items []QuorumItem) {
	verdict := s.Verdict()
	if len(items) == 0 {
		if s.Complete() {
			paragraph(b, v, Plain, "this cluster has no controller quorum that can be asked (ZooKeeper mode, or a service that hides it)")
		}
		return
	}
	q := &items[0]
	leader, ok := q.Leader.Get()
	if !ok {
		for _, reason := range verdict.Reasons {
			if strings.HasPrefix(reason, "no active controller") {
				paragraph(b, v, Bad, reason)
			}
		}
		return
	}
	parts := []string{
		"leader " + strconv.Itoa(int(leader)), "epoch " + q.LeaderEpoch.String(),
		"HW " + Number(q.HighWatermark).Text, v.count(len(q.Voters), "voter", "voters") + tolerance(q),
	}
	if lag, ok := q.MaxFollowerLag.Get(); ok {
		parts = append(parts, "largest voter lag "+Thousands(lag))
	}
	b.WriteString(flow(v, Plain, "quorum", "   ", "   ", parts))
	b.WriteByte('\n')
}

func tolerance(q *QuorumItem) string {
	left, ok := q.Tolerates.Get()
	switch {
	case !ok:
		return ""
	case left < 0:
		return ", no majority left"
	case left == 0:
		return ", may lose none"
	}
	return fmt.Sprintf(", may lose %d", left)
}

// QuorumTable is the table of describe quorum, with the columns of
// kafka-metadata-quorum.sh describe --replication and what they mean.
func QuorumTable(v View, items []QuorumItem) *Table {
	t := &Table{Columns: []Column{
		{Name: "NODE", Right: true},
		{Name: "ROLE"},
		{Name: "STATE", Keep: true},
		{Name: "LEO", Right: true},
		{Name: "LAG", Right: true, Keep: true},
		{Name: "LAST-FETCH", Right: v.Terminal, Spare: 2},
		{Name: "CAUGHT-UP", Right: v.Terminal, Spare: 1},
		{Name: "ADDRESS", Elastic: true, HideBlank: true, Spare: cheap},
		{Name: "DIRECTORY-ID", HideBlank: true, Spare: cheap + 1},
	}}
	if v.wide() {
		t.Columns = append(t.Columns, Column{Name: "EPOCH", Only: InPipe}, Column{Name: "HW", Only: InPipe})
	}
	for i := range items {
		q := &items[i]
		for _, group := range []struct {
			role     string
			replicas []QuorumReplicaItem
		}{{"voter", q.Voters}, {"observer", q.Observers}} {
			for j := range group.replicas {
				cells := quorumCells(group.role, &group.replicas[j])
				if v.wide() {
					cells = append(cells, Number(q.LeaderEpoch), Number(q.HighWatermark))
				}
				t.Rows = append(t.Rows, Row{Cells: cells})
			}
		}
	}
	return t
}

func quorumCells(role string, r *QuorumReplicaItem) []Cell {
	directory := Cell{Pipe: Unknown}
	if id, ok := r.DirectoryID.Get(); ok {
		directory = Text(id)
	}
	return []Cell{
		Text(strconv.Itoa(int(r.ID))), Text(role), Text(string(r.State)).Styled(voterStyle(r.State)),
		Number(r.LogEndOffset), Number(r.Lag),
		ago(r, r.LastFetch, r.LastFetchMs), ago(r, r.LastCaughtUp, r.LastCaughtUpMs),
		endpointCell(r.Endpoints), directory,
	}
}

func voterStyle(s inspect.VoterState) Style {
	switch s {
	case inspect.VoterLeading, inspect.VoterOK:
		return Good
	case inspect.VoterLost:
		return Bad
	}
	return Warn
}

// ago is an age for people, and the time itself for programs.
func ago(r *QuorumReplicaItem, at inspect.Opt[Time], ms inspect.Opt[int64]) Cell {
	t, ok := at.Get()
	age, known := ms.Get()
	switch {
	case !ok && r.State == inspect.VoterUnknown, ok && !known:
		return Text(Unknown)
	case !ok:
		return Text("never")
	}
	cell := Cell{Text: Millis(age) + " ago", Pipe: t.UTC().Format(rfc3339Millis)}
	if r.State == inspect.VoterLeading || age == 0 {
		cell.Text = "now"
	}
	return cell
}

const rfc3339Millis = "2006-01-02T15:04:05.000Z07:00"

// endpointCell is where a voter listens; the listener's name only for programs.
func endpointCell(endpoints []EndpointItem) Cell {
	if len(endpoints) == 0 {
		return Cell{Pipe: "none"}
	}
	var text, pipe []string
	for _, e := range endpoints {
		addr := hostPort(e.Host, e.Port)
		text = append(text, addr)
		pipe = append(pipe, Clean(e.Name)+"://"+addr)
	}
	return Cell{Text: strings.Join(text, ","), Pipe: strings.Join(pipe, ",")}
}
